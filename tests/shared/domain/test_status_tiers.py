"""Tiers, what is missing to them, and the qualifying years of the programmes."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain import status_tiers
from shared.domain.status_tiers import Ladder, StatusTier
from shared.reference import statuses
from shared.reference.load import reference

BA, FB, AA = "british-airways-club", "flying-blue", "american-airlines-aadvantage"
NOW = date(2026, 11, 21)


def ladder(program: str) -> Ladder:
    return statuses.build_ladder(reference(), program)


def tier(program: str, name: str) -> StatusTier:
    result = ladder(program).tier(name)
    assert result is not None
    return result


def test_the_published_thresholds_of_the_three_programmes() -> None:
    assert [t.threshold for t in ladder(BA).tiers] == [0, 3_500, 7_500, 20_000, 65_000]
    assert [t.threshold for t in ladder(AA).tiers] == [0, 40_000, 75_000, 125_000, 200_000]
    assert [(t.name, t.threshold, t.metric) for t in ladder(FB).tiers][1:] == [
        ("Silver", 100, "xp"),
        ("Gold", 180, "xp"),
        ("Platinum", 300, "xp"),
        ("Ultimate", 900, "uxp"),
    ]


def test_flying_blue_counts_afresh_at_each_tier() -> None:
    assert ladder(FB).find_required("Silver", tier(FB, "Gold")) == 180
    assert ladder(FB).find_required("Silver", tier(FB, "Platinum")) == 480
    assert ladder(FB).find_required(None, tier(FB, "Gold")) == 280
    assert ladder(FB).find_required("Gold", tier(FB, "Gold")) == 180  # kept for another year


def test_a_total_does_not_depend_on_the_tier_held() -> None:
    assert ladder(BA).find_required("Bronze", tier(BA, "Gold")) == 20_000
    assert ladder(AA).find_required(None, tier(AA, "Platinum")) == 75_000


def test_a_tier_counted_in_another_unit_is_no_sum() -> None:
    assert ladder(FB).find_required("Gold", tier(FB, "Ultimate")) is None
    assert ladder(FB).find_required("Platinum", tier(FB, "Ultimate")) == 900


def test_a_tier_reached_in_some_other_way_has_no_threshold() -> None:
    assert tier("accor-live-limitless", "Diamond").threshold is None
    assert "26,000 status points" in (tier("accor-live-limitless", "Diamond").alternative or "")


def test_the_next_tier_skips_the_one_everybody_has() -> None:
    above = [ladder(BA).above(name) for name in (None, "Blue", "Silver", "Gold Guest List")]
    assert [t.name if t else None for t in above] == ["Bronze", "Bronze", "Gold", None]


@pytest.mark.parametrize(
    ("program", "text", "found"),
    [
        (AA, "platinum", ["Platinum"]),
        (AA, "PLATINUM PRO", ["Platinum Pro"]),
        (AA, "Gold status", ["Gold"]),
        (AA, "executive", ["Executive Platinum"]),
        ("marriott-bonvoy", "Titanium Elite", ["Titanium"]),
        ("united-mileageplus", "1K", ["Premier 1K"]),
        ("united-mileageplus", "gold", ["Premier Gold"]),
        ("british-airways-club", "Sapphire", []),
    ],
)
def test_loose_names_of_tiers(program: str, text: str, found: list[str]) -> None:
    assert status_tiers.match_tiers(ladder(program), text) == found


@pytest.mark.parametrize(
    ("period", "on", "year"),
    [
        ("1 Apr - 31 Mar", NOW, (date(2026, 4, 1), date(2027, 3, 31))),
        ("1 Apr - 31 Mar", date(2027, 3, 31), (date(2026, 4, 1), date(2027, 3, 31))),
        ("1 Mar - end Feb", date(2028, 2, 29), (date(2027, 3, 1), date(2028, 2, 29))),
        ("calendar year", NOW, (date(2026, 1, 1), date(2026, 12, 31))),
        ("calendar year; 4 United flights needed", NOW, (date(2026, 1, 1), date(2026, 12, 31))),
        ("12 months", NOW, (None, None)),
        (None, NOW, (None, None)),
    ],
)
def test_qualifying_years(period: str | None, on: date, year: tuple[date | None, date | None]) -> None:
    assert (status_tiers.find_year_start(period, on), status_tiers.find_year_end(period, on)) == year


@settings(max_examples=30)
@given(
    st.sampled_from(["1 Apr - 31 Mar", "1 Mar - end Feb", "calendar year"]),
    st.dates(date(2024, 1, 1), date(2029, 12, 31)),
    st.integers(0, 900),
)
def test_what_is_reported_today_counts_until_the_next_year_begins(period: str, on: date, days: int) -> None:
    """Two figures are told exactly where the deadline lies on a day on which today's progress no longer counts."""
    deadline = on + timedelta(days=days)
    begins = status_tiers.find_next_start(period, deadline, on)
    assert (begins is not None) is status_tiers.is_year_over(on, period, deadline)
    assert begins is None or on < begins <= deadline
    first = status_tiers.find_next_start(period, None, on)
    assert first is not None
    assert not status_tiers.is_year_over(on, period, first - timedelta(days=1))
    assert status_tiers.is_year_over(on, period, first)


def test_on_track_means_at_least_the_part_of_the_year_that_has_gone() -> None:
    half = date(2026, 10, 1)  # 183 of 365 days
    assert status_tiers.is_on_track(Decimal(1_755), 3_500, "1 Apr - 31 Mar", half) is True
    assert status_tiers.is_on_track(Decimal(1_754), 3_500, "1 Apr - 31 Mar", half) is False
    assert status_tiers.is_on_track(Decimal(10), 100, "12 months", half) is None
    assert status_tiers.is_on_track(Decimal(100), 100, "12 months", half) is True


def test_a_report_from_before_the_year_began_is_over() -> None:
    assert status_tiers.is_year_over(date(2026, 3, 31), "1 Apr - 31 Mar", NOW)
    assert not status_tiers.is_year_over(date(2026, 4, 1), "1 Apr - 31 Mar", NOW)
    assert not status_tiers.is_year_over(date(2020, 1, 1), "12 months", NOW)


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({}, "unknown"),
        ({BA: "Gold"}, "yes"),
        ({BA: "Silver"}, "no"),
        ({FB: "Gold"}, "no"),
        ({FB: "Gold", BA: "gold"}, "yes"),
    ],
)
def test_who_can_use_a_match(held: dict[str, str], said: str) -> None:
    assert status_tiers.check_eligibility((BA, AA), ("Gold", "Gold Guest List"), held) == said


def test_a_match_from_any_programme_takes_any_tier_that_is_named() -> None:
    assert status_tiers.check_eligibility(("*",), ("Gold",), {FB: "Gold"}) == "yes"
    assert status_tiers.check_eligibility(("*",), (), {FB: "Silver"}) == "yes"


def test_programmes_that_no_source_names_are_unknown_not_all_of_them() -> None:
    assert status_tiers.check_eligibility((), ("Gold",), {FB: "Gold"}) == "unknown"
    assert status_tiers.check_eligibility((), (), {FB: "Silver"}) == "unknown"
