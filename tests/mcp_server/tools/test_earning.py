"""Earnings through the gate: points towards status of a route, and percent of distance by booking class."""

from typing import Any

import pytest

from shared import clock
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

BA, FB, AA = "british-airways-club", "flying-blue", "american-airlines-aadvantage"
TOOL = "calculate_flight_earnings"


def calculate(use: Use, who: Any, **changes: Any) -> float | None:
    return use(who, TOOL, **({"origin": "LHR", "destination": "JFK"} | changes)).get("earned")


@pytest.mark.spec("s4.4.calculate_flight_earnings.result", "s4.4.calculate_flight_earnings.fare_price")
def test_calculate_flight_earnings_of_a_fare_counts_pounds_and_the_extra(people: People, use: Use) -> None:
    answer = use(people.bob, TOOL, origin="lhr", destination="JFK", program=BA, cabin="business", fare_price=1000)
    assert (answer["status"], answer["metric"], answer["method"]) == ("ok", "tier_points", "revenue")
    assert (answer["earned"], answer["per_segment"]) == (1_400, None)
    assert (answer["distance_miles"], answer["distance_km"]) == (3_451, 5_555)
    assert any("400 extra tier points" in a for a in answer["assumptions"])
    assert answer["source_url"].startswith("https://")


@pytest.mark.spec("s4.4.calculate_flight_earnings.segments")
def test_calculate_flight_earnings_multiplies_what_is_counted_by_the_flight(people: People, use: Use) -> None:
    assert calculate(use, people.bob, program=FB) == 8
    assert calculate(use, people.bob, program=FB, segments=2, cabin="business") == 48
    assert calculate(use, people.bob, program=BA, segments=2, cabin="first", fare_price=5_000) == 6_100
    assert calculate(use, people.bob, program=AA, segments=2, fare_price=500) == 2_500


@pytest.mark.spec("s4.4.calculate_flight_earnings.methods", "s4.4.calculate_flight_earnings.three_programmes")
def test_calculate_flight_earnings_of_xp_needs_no_fare_and_knows_three_programmes(people: People, use: Use) -> None:
    answer = use(people.bob, TOOL, origin="CDG", destination="SIN", program=FB, cabin="business")
    assert (answer["metric"], answer["method"], answer["earned"]) == ("xp", "fixed_by_distance", 36)
    assert answer["per_segment"] == 36
    assert use(people.bob, TOOL, origin="CDG", destination="SIN", program="delta-skymiles")["status"] == "invalid"


@pytest.mark.parametrize("program", [BA, AA])
def test_calculate_flight_earnings_without_a_fare_is_no_data_and_no_guess(
    people: People, use: Use, program: str
) -> None:
    answer = use(people.bob, TOOL, origin="LHR", destination="JFK", program=program)
    assert (answer["status"], answer["missing"]) == ("no_data", ["fare_price"])
    assert "earned" not in answer


@pytest.mark.spec("s4.4.calculate_flight_earnings.fare_currency")
def test_calculate_flight_earnings_takes_the_home_currency_and_converts_nothing(people: People, use: Use) -> None:
    assert calculate(use, people.bob, program=AA, fare_price=300) == 1_500
    assert calculate(use, people.bob, program=AA, fare_price=300, fare_currency="usd") == 1_500
    other = use(people.bob, TOOL, origin="LHR", destination="JFK", program=AA, fare_price=300, fare_currency="GBP")
    assert (other["status"], other["missing"]) == ("no_data", ["exchange rate"])


@pytest.mark.spec("s4.4.calculate_flight_earnings.cabin")
def test_calculate_flight_earnings_takes_four_cabins_and_economy_when_absent(people: People, use: Use) -> None:
    cabins = ("economy", "premium", "business", "first")
    assert [calculate(use, people.bob, program=FB, cabin=c) for c in cabins] == [8, 16, 24, 40]
    assert calculate(use, people.bob, program=FB) == 8
    assert use(people.bob, TOOL, origin="LHR", destination="JFK", program=FB, cabin="suite")["status"] == "invalid"


def test_calculate_flight_earnings_uses_the_recorded_tier_and_says_so(people: People, use: Use) -> None:
    use(people.bob, "set_loyalty_status", program=AA, tier="Platinum Pro")
    answer = use(people.bob, TOOL, origin="JFK", destination="LAX", program=AA, fare_price=200)
    assert answer["earned"] == 1_800
    assert any("Platinum Pro" in a for a in answer["assumptions"])
    stranger = use(people.charlie, TOOL, origin="JFK", destination="LAX", program=AA, fare_price=200)
    assert stranger["earned"] == 1_000


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"origin": "QQQ"}, "not_found"),
        ({"destination": "LHR"}, "invalid"),
        ({"segments": 0}, "invalid"),
        ({"segments": 101}, "invalid"),
        ({"fare_price": -1}, "invalid"),
        ({"fare_price": ""}, "invalid"),
    ],
)
def test_calculate_flight_earnings_refuses_what_cannot_be(
    people: People, use: Use, given: dict[str, Any], status: str
) -> None:
    asked = {"origin": "LHR", "destination": "JFK", "program": FB} | given
    assert use(people.bob, TOOL, **asked)["status"] == status


def test_calculate_flight_earnings_understands_city_codes(people: People, use: Use) -> None:
    answer = use(people.bob, TOOL, origin="LON", destination="NYC", program=FB, cabin="business")
    assert (answer["status"], answer["earned"]) == ("ok", 24)


@pytest.mark.spec("s4.4.get_earning_rates.program", "s4.4.get_earning_rates.full_table")
def test_get_earning_rates_gives_every_class_of_every_row(people: People, use: Use) -> None:
    fresh = list(reference().fresh_rows("earning_rates.csv", clock.today()))
    for program in sorted({r.program for r in fresh}):
        rows = [r for r in fresh if r.program == program]
        for airline in {r.airline for r in rows}:
            answer = use(people.bob, "get_earning_rates", program=program, airline=airline)
            wanted = {
                (c, float(r.percent_of_distance)) for r in rows if r.airline == airline for c in r.booking_classes
            }
            assert {(r["fare_class"], r["percent"]) for r in answer["rates"]} == wanted
            assert answer["source_url"]


def test_get_earning_rates_of_one_class_in_either_case(people: People, use: Use) -> None:
    answer = use(people.bob, "get_earning_rates", program="atmos-rewards", airline="AA", fare_class="j")
    assert [(r["fare_class"], r["cabin"], r["percent"]) for r in answer["rates"]] == [("J", "business", 125)]
    assert (answer["airline"]["code"], answer["confidence"], answer["unaudited"]) == ("AA", "low", True)
    assert "Confidence is low" in answer["message"]


def test_get_earning_rates_of_a_class_nobody_sells_names_those_there_are(people: People, use: Use) -> None:
    answer = use(people.bob, "get_earning_rates", program="atmos-rewards", airline="AA", fare_class="ZZ")
    assert (answer["status"], len(answer["nearest"]) > 3) == ("not_found", True)


@pytest.mark.spec("s4.4.get_earning_rates.airline_upper_case")
@pytest.mark.parametrize("airline", ["aa", "AAL", "A"])
def test_get_earning_rates_takes_two_capitals_or_digits(people: People, use: Use, airline: str) -> None:
    assert use(people.bob, "get_earning_rates", program="atmos-rewards", airline=airline)["status"] == "invalid"


def test_get_earning_rates_that_are_not_known_are_no_data_and_name_those_that_are(people: People, use: Use) -> None:
    answer = use(people.bob, "get_earning_rates", program="jal-mileage-bank", airline="BA")
    assert (answer["status"], answer["missing"]) == ("no_data", ["earning rates"])
    assert "Known for" in answer["message"]
    assert use(people.bob, "get_earning_rates", program="atmos-rewards", airline="Q9")["status"] == "not_found"


CATHAY = {"program": "cathay-asia-miles", "airline": "CX"}


def test_get_earning_rates_of_cathay_flights_are_miles_by_zone_and_fare(people: People, use: Use) -> None:
    answer = use(people.bob, "get_earning_rates", **CATHAY)
    assert (answer["status"], answer["rates"], answer["zone"], len(answer["by_zone"])) == ("ok", [], None, 84)
    assert all(r["miles"] == r["status_points"] * 100 for r in answer["by_zone"])


@pytest.mark.parametrize(
    ("route", "zone", "miles"),
    [
        (("HKG", "LHR"), "long", 10_000),
        (("HKG", "JFK"), "ultra_long", 12_000),
        (("NRT", "HKG"), "short_type_2", 4_500),
        (("HKG", "SIN"), "short_type_1", 3_500),
        (("HKG", "TPE"), "ultra_short", 2_500),
    ],
)
def test_get_earning_rates_of_a_cathay_route_and_class(
    people: People, use: Use, route: tuple[str, str], zone: str, miles: int
) -> None:
    origin, destination = route
    answer = use(people.bob, "get_earning_rates", **CATHAY, fare_class="i", origin=origin, destination=destination)
    (fare,) = answer["by_zone"]
    assert (answer["zone"], fare["zone"], fare["cabin"], fare["miles"]) == (zone, zone, "business", miles)
    assert "1 fare in the zone" in answer["message"]


def test_get_earning_rates_of_a_class_cathay_does_not_sell(people: People, use: Use) -> None:
    answer = use(people.bob, "get_earning_rates", **CATHAY, fare_class="Z")
    assert (answer["status"], len(answer["nearest"]) > 3) == ("not_found", True)


@pytest.mark.parametrize(("program", "airline", "year"), [("jal-mileage-bank", "QR", 2016)])
def test_get_earning_rates_of_long_ago_are_unknown_today(
    people: People, use: Use, program: str, airline: str, year: int
) -> None:
    answer = use(people.bob, "get_earning_rates", program=program, airline=airline)
    assert answer["status"] == "no_data"
    assert f"The newest source is of {year}; what is older than 5 years is not shown." in answer["message"]


@pytest.mark.parametrize(
    ("program", "airline", "fare_class", "percent"),
    [("virgin-atlantic-flying-club", "VS", "I", 300)],
)
def test_get_earning_rates_of_an_airline_in_its_own_programme(
    people: People, use: Use, program: str, airline: str, fare_class: str, percent: int
) -> None:
    answer = use(people.bob, "get_earning_rates", program=program, airline=airline, fare_class=fare_class)
    assert [rate["percent"] for rate in answer["rates"]] == [percent]
