"""What flights count towards status, against the numbers the carriers publish."""

from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from shared.domain.earning import FlownLeg, count_points
from shared.reference import statuses
from shared.reference.load import reference

BA, FB, AA = "british-airways-club", "flying-blue", "american-airlines-aadvantage"


def scheme(program: str) -> Any:
    return statuses.build_scheme(reference(), program)


def over(miles: int, *, domestic: bool = False, european: bool = False) -> FlownLeg:
    return FlownLeg(miles, domestic, european)


@pytest.mark.parametrize(
    ("leg", "cabin", "extra"),
    [
        (over(1_510, european=True), "economy", 75),
        (over(1_510, european=True), "business", 175),
        (over(3_451), "economy", 150),
        (over(3_451), "premium", 275),
        (over(3_451), "business", 400),
        (over(3_451), "first", 550),
    ],
)
def test_british_airways_adds_its_published_extra_to_one_point_per_pound(leg: FlownLeg, cabin: str, extra: int) -> None:
    assert count_points(scheme(BA), [leg], cabin, Decimal(1_000)).amount == 1_000 + extra
    assert count_points(scheme(BA), [leg] * 2, cabin, Decimal(1_000)).amount == 1_000 + 2 * extra


def test_a_fare_based_programme_without_a_fare_gives_no_amount_but_its_fixed_part() -> None:
    result = count_points(scheme(BA), [over(3_451)], "first")
    assert (result.amount, result.fixed) == (None, 550)


def test_a_cabin_that_short_flights_lack_counts_as_the_one_below_and_says_so() -> None:
    result = count_points(scheme(BA), [over(500, european=True)], "premium", Decimal(100))
    assert result.amount == 175
    assert any("no such cabin" in note for note in result.notes)


def test_a_short_flight_out_of_europe_names_the_other_reading() -> None:
    result = count_points(scheme(BA), [over(2_230)], "business", Decimal(100))
    assert result.amount == 275
    assert any("the extra is 400" in note for note in result.notes)


# band -> economy, premium, business, first
XP = {
    (400, True): (2, 4, 6, 10),
    (0, False): (5, 10, 15, 25),
    (1_999, False): (5, 10, 15, 25),
    (2_000, False): (8, 16, 24, 40),
    (3_500, False): (8, 16, 24, 40),
    (3_501, False): (10, 20, 30, 50),
    (5_000, False): (10, 20, 30, 50),
    (5_001, False): (12, 24, 36, 60),
    (9_500, False): (12, 24, 36, 60),
}


@pytest.mark.parametrize("flight", XP)
def test_flying_blue_xp_of_every_band_and_cabin(flight: tuple[int, bool]) -> None:
    leg = FlownLeg(flight[0], domestic=flight[1], european=False)
    cabins = ("economy", "premium", "business", "first")
    assert tuple(count_points(scheme(FB), [leg], c).amount for c in cabins) == XP[flight]


def test_flying_blue_adds_up_segments_each_by_its_own_band() -> None:
    legs = [over(248), over(432, domestic=True), over(432, domestic=True), over(248)]
    assert count_points(scheme(FB), legs, "business").amount == 42


def test_a_long_domestic_flight_names_what_its_distance_alone_would_give() -> None:
    result = count_points(scheme(FB), [over(2_475, domestic=True)], "business")
    assert result.amount == 6
    assert any("24 XP" in note for note in result.notes)


@pytest.mark.parametrize(
    ("tier", "points"),
    [("Member", 5), ("Gold", 7), ("Platinum", 8), ("Platinum Pro", 9), ("Executive Platinum", 11), ("", 5)],
)
def test_aadvantage_loyalty_points_per_dollar_by_tier(tier: str, points: int) -> None:
    assert count_points(scheme(AA), [over(2_475)], "economy", Decimal(200), tier).amount == 200 * points


# Counted by hand: XP with Flying Blue, and with British Airways the points that need no fare.
RUNS = {
    "ba-ams-lhr-sin-ret": 1_150,
    "ba-bud-lhr-bos-ret": 700,
    "ba-dub-lhr-jfk-ret": 1_150,
    "ba-lcy-ams-ret": 150,
    "ba-lhr-ath-ret": 350,
    "ba-lhr-dub-ret": 150,
    "ba-lhr-edi-ret": 150,
    "ba-lhr-ist-ret": 350,
    "ba-lhr-sof-ret": 350,
    "ba-osl-lhr-lax-ret": 1_150,
    "fb-ams-cdg-nce-ret": 42,
    "fb-arn-ams-agp-ret": 60,
    "fb-arn-cdg-sin-ret": 102,
    "fb-bud-ams-dub-ret": 60,
    "fb-cph-ams-lis-ret": 60,
    "fb-cph-cdg-nrt-ret": 102,
    "fb-dub-cdg-ath-ret": 60,
    "fb-ist-ams-jfk-ret": 90,
    "fb-lhr-ams-ath-ret": 60,
    "fb-lhr-cdg-yul-ret": 52,
    "fb-osl-cdg-tun-ret": 60,
    "fb-otp-cdg-jfk-ret": 90,
}


def test_every_known_run_counts_what_was_counted_by_hand() -> None:
    for program in (BA, FB):
        for run in statuses.list_runs(reference(), program):
            fixed = count_points(scheme(program), statuses.build_legs(reference(), run.stops), run.cabin).fixed
            assert fixed == RUNS[run.slug], run.slug


def test_every_leg_of_a_run_is_a_flight_that_is_known() -> None:
    for row in reference().rows("status_run_routes.csv"):
        for start, end in pairwise(row.routing.split("-")):
            assert reference().find_flight(row.carrier, start, end).route == "known", row.slug


def test_only_the_carriers_own_flights_are_runs() -> None:
    carriers = {program: {r.carrier for r in statuses.list_runs(reference(), program)} for program in (BA, FB, AA)}
    assert carriers == {BA: {"BA"}, FB: {"AF", "KL"}, AA: {"AA"}}
