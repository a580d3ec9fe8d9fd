"""Trip plans, called through the gate: payment from balances, costs, steps, and reasons for no plan."""

import json
import re
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from pydantic_core import to_json

from mcp_server.toolkit.context import Caller
from mcp_server.tools import trip_plans
from shared import clock
from shared.domain.dates import format_short_weekday, format_weekday
from shared.providers.contract import AwardTrip, FaresQuestion, Provider, SeatsQuestion, Segment, Unanswered
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.dates import evaluate
from tests.support.fake_rates import answering, failing_with, fare, fares_of, rates_of
from tests.support.fake_seats import WithSources, live, seat, with_sources
from tests.support.people import People

__all__ = ["live", "with_sources"]
TOOL = "plan_trip"


def travel_day() -> date:
    return clock.today() + timedelta(days=45)


def last_day() -> date:
    return travel_day() + timedelta(days=9)


def search_arguments() -> dict[str, Any]:
    return {
        "origin": "LHR",
        "destination": "JFK",
        "earliest_date": travel_day().isoformat(),
        "latest_date": last_day().isoformat(),
    }


VS = "virgin-atlantic-flying-club"
BA, AMEX, FB = "british-airways-club", "amex-membership-rewards", "flying-blue"
BANK = rates_of(USD="1.12", GBP="0.84")


def seats(*rows: dict[str, Any]) -> tuple[Provider, list[SeatsQuestion]]:
    """A source that has each of these seats on the day it names, both ways."""
    asked: list[SeatsQuestion] = []

    def award_seats(question: SeatsQuestion) -> Any:
        asked.append(question)
        ends = {"origin": question.origin, "destination": question.destination, "cabin": "economy"}
        plain = {"points": 25_000, "taxes": Decimal("84.00"), "taxes_currency": "GBP"}
        found = (seat(**(plain | ends | {"day": travel_day()} | r)) for r in rows)
        return tuple(s for s in found if question.earliest <= s.date <= question.latest)

    return answering("seats", {"award_seats": award_seats}), asked


def holds(use: Use, who: Caller, **balances: int) -> None:
    for program, points in balances.items():
        assert use(who, "update_points_balance", program=program.replace("_", "-"), balance=points)["status"] == "ok"


def test_plan_trip_pays_from_the_saved_balance_and_names_the_cash_fare(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(seats({})[0], fares_of("shop", fare("512.40"), fare("700")), BANK)
    holds(use, people.alice, british_airways_club=60_000)
    answer = use(people.alice, TOOL, **search_arguments(), passengers=2)
    best = answer["best"]
    assert (answer["status"], answer["considered"], answer["no_plan_reasons"]) == ("ok", 1, [])
    assert answer["asked"] == search_arguments() | {
        "nights": None,
        "cabin": "economy",
        "passengers": 2,
        "max_cash": None,
        "stops": [],
        "return_from": None,
        "children": 0,
        "infants": 0,
    }
    assert answer["names"] == {"BA": "British Airways", BA: "The British Airways Club"}
    assert (best["points_total"], best["taxes_total"], best["currency"]) == (50_000, 224, "USD")
    assert best["pay_with"]["balance"] == {"program": BA, "points": 50_000, "balance": 60_000}
    assert best["pay_with"]["route"] is None
    value = reference().programs[BA].value_usd_cents
    assert value is not None
    assert best["effective_cost"] == float(224 + 500 * value)
    assert (best["cash_alternative"]["price"], best["hold"], best["return_award"]) == (512.4, None, None)
    assert answer["fallback"] is None


def test_plan_trip_puts_confirming_the_live_seat_before_any_transfer(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(
        seats({"seats": None}, {"day": last_day(), "airline": "AA"})[0], fares_of("shop", fare("512.40")), BANK
    )
    holds(use, people.alice, amex_membership_rewards=90_000, british_airways_club=5_000)
    answer = use(people.alice, TOOL, **search_arguments())
    for plan in (answer["best"], answer["fallback"]):
        kinds = ["confirm" if "Confirm live" in s else "transfer" if "transfer" in s else "book" for s in plan["steps"]]
        assert kinds == ["confirm", "transfer", "book"]
        assert "Transfers cannot be undone." in plan["warnings"]
    best = answer["best"]
    assert best["pay_with"]["balance"]["points"] == 5_000
    assert (best["pay_with"]["route"]["source_points"], best["pay_with"]["route"]["delivered_points"]) == (
        20_000,
        20_000,
    )
    assert answer["fallback"]["award"]["date"] != best["award"]["date"]
    assert any("does not say how many seats" in w for w in best["warnings"] + answer["fallback"]["warnings"])


def test_plan_trip_adds_a_return_after_so_many_nights(people: People, use: Use, with_sources: WithSources) -> None:
    lands = {"arrives_at": f"{travel_day() + timedelta(days=1)}T06:00"}
    back = travel_day() + timedelta(days=8)
    asked_fares: list[FaresQuestion] = []

    def cash_fares(question: FaresQuestion) -> Any:
        asked_fares.append(question)
        return (fare("900"),)

    source, asked = seats(lands, {"day": back, "program": FB, "points": 18_000}, {"day": back - timedelta(days=1)})
    with_sources(source, answering("shop", {"cash_fares": cash_fares}), BANK)
    holds(use, people.alice, british_airways_club=30_000, flying_blue=30_000)
    answer = use(people.alice, TOOL, **(search_arguments() | {"latest_date": travel_day().isoformat()}), nights=7)
    assert {(q.origin, q.earliest, q.latest) for q in asked} == {
        ("LHR", travel_day(), travel_day()),
        ("JFK", travel_day() + timedelta(days=7), back),
    }
    best = answer["best"]
    assert (best["award"]["date"], best["return_award"]["date"]) == (travel_day().isoformat(), back.isoformat())
    assert (best["pay_with"]["program"], best["return_pay_with"]["program"]) == (BA, FB)
    assert (best["points_total"], best["taxes_total"]) == (43_000, 224)
    assert asked_fares == [FaresQuestion("LHR", "JFK", travel_day(), back, "economy", 1, "USD")]
    assert sum("Confirm live" in s for s in best["steps"]) == 2


def test_plan_trip_without_a_fare_or_taxes_says_no_data(people: People, use: Use, with_sources: WithSources) -> None:
    with_sources(seats({"taxes": None})[0], fares_of("shop"), BANK)
    holds(use, people.alice, british_airways_club=60_000)
    best = use(people.alice, TOOL, **search_arguments())["best"]
    assert (best["taxes_total"], best["effective_cost"], best["cash_alternative"]) == ("no_data",) * 3
    assert any("taxes of an award" in w for w in best["warnings"])


def test_plan_trip_says_when_cash_costs_no_more(people: People, use: Use, with_sources: WithSources) -> None:
    with_sources(seats({})[0], fares_of("shop", fare("99", currency="GBP")), BANK)
    holds(use, people.alice, british_airways_club=60_000)
    best = use(people.alice, TOOL, **search_arguments())["best"]
    assert "Cash costs no more than this plan." in best["warnings"]
    assert best["cash_alternative"]["converted"]["amount"] == 132


def test_plan_trip_says_why_there_is_no_plan(people: People, use: Use, with_sources: WithSources) -> None:
    shop = fares_of("shop", fare("500"))
    with_sources(seats({})[0], shop, BANK)
    bare = use(people.alice, TOOL, **search_arguments())
    assert (bare["status"], bare["best"], bare["considered"]) == ("ok", None, 1)
    assert "No points balances" in " ".join(bare["no_plan_reasons"])
    holds(use, people.alice, british_airways_club=20_000)
    short = use(people.alice, TOOL, **search_arguments())
    assert short["no_plan_reasons"] == ["The balances do not cover the only award journey."]
    assert short["nearest"]["lacking"] == [{"program": BA, "points": 5_000}]
    assert "with 5,000 more points of The British Airways Club: out on" in short["message"]
    holds(use, people.alice, british_airways_club=90_000)
    capped = use(people.alice, TOOL, **search_arguments(), max_cash=111.99)
    assert (capped["best"], capped["considered"]) == (None, 0)
    assert "taxes of at most 111.99 USD" in capped["no_plan_reasons"][-1]
    assert use(people.alice, TOOL, **search_arguments(), max_cash=112)["best"]
    named = use(people.alice, TOOL, **search_arguments(), programs=["Flying Blue"])
    assert "Only awards of Flying Blue" in " ".join(named["no_plan_reasons"])
    with_sources(seats({"day": travel_day() - timedelta(days=1)})[0], shop, BANK)
    gone = use(people.alice, TOOL, **(search_arguments() | {"cabin": "first"}))
    assert gone["no_plan_reasons"] == ["No award from LHR to JFK for a seat in first was seen."]


def test_plan_trip_names_what_was_not_answered(people: People, use: Use, with_sources: WithSources) -> None:
    lost = failing_with("shop", "cash_fares", Unanswered("down", "http_503"))
    with_sources(seats({})[0], lost, BANK)
    holds(use, people.alice, british_airways_club=60_000)
    answer = use(people.alice, TOOL, **search_arguments())
    assert (answer["status"], answer["best"]["cash_alternative"]) == ("partial", "no_data")
    assert answer["coverage"]["failed"] == [{"name": "shop", "reason": "down"}]
    assert "shop (down)" in answer["message"]
    with_sources(failing_with("other", "award_seats", Unanswered("down", "http_500")), lost)
    assert use(people.alice, TOOL, **search_arguments())["status"] == "backend_unavailable"
    with_sources(answering("mine", {"award_seats": lambda _q: ()}, credential="account"))
    assert use(people.alice, TOOL, **search_arguments())["status"] == "connection_required"


def test_plan_trip_plans_with_nobody_elses_balances(people: People, use: Use, with_sources: WithSources) -> None:
    with_sources(seats({})[0], BANK)
    holds(use, people.alice, british_airways_club=60_000)
    assert use(people.charlie, TOOL, **search_arguments())["best"] is None


def test_plan_trip_over_the_sandbox_marks_all_it_shows(people: People, use: Use) -> None:
    holds(use, people.alice, amex_membership_rewards=300_000)
    answer = use(people.alice, TOOL, **search_arguments(), nights=5)
    best = answer["best"]
    assert best["award"]["synthetic"] is best["return_award"]["synthetic"] is True
    assert best["cash_alternative"]["synthetic"] is True
    assert answer["freshness"]["mode"] == "sandbox"


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"latest_date": lambda: (travel_day() + timedelta(days=15)).isoformat()}, "invalid"),
        ({"latest_date": lambda: (travel_day() - timedelta(days=1)).isoformat()}, "invalid"),
        ({"earliest_date": "2020-01-01", "latest_date": "2020-01-03"}, "invalid"),
        ({"destination": "LHR"}, "invalid"),
        ({"destination": "QQQ"}, "not_found"),
        ({"programs": ["zorblatt miles"]}, "not_found"),
        ({"nights": 91}, "invalid"),
        ({"max_cash": -1}, "invalid"),
        ({"return_from": "BOS"}, "invalid"),
        ({"return_from": "LHR", "nights": 7}, "invalid"),
        ({"stops": [{"place": "CDG", "nights": 0}]}, "invalid"),
        ({"stops": [{"place": "zorblatt", "nights": 2}]}, "invalid"),
        ({"stops": [{"place": "LHR", "nights": 2}]}, "invalid"),
        ({"stops": [{"place": "JFK", "nights": 2}], "nights": 3}, "invalid"),
        ({"stops": [{"place": "CDG", "nights": 60}], "nights": 31}, "invalid"),
        ({"stops": [{"place": "CDG", "nights": 1}] * 7}, "invalid"),
        ({"infants": 2}, "invalid"),
    ],
)
def test_plan_trip_refuses_what_cannot_be(people: People, use: Use, given: dict[str, Any], status: str) -> None:
    given = evaluate(given)
    assert use(people.alice, TOOL, **(search_arguments() | given))["status"] == status


def test_plan_trip_is_premium(people: People, use: Use) -> None:
    assert use(people.bob, TOOL, **search_arguments())["status"] == "paywall"


def test_plan_trip_takes_a_last_day_14_days_after_the_first(people: People, use: Use) -> None:
    answer = use(
        people.alice, TOOL, **search_arguments() | {"latest_date": (travel_day() + timedelta(days=14)).isoformat()}
    )
    assert answer["status"] != "invalid"


def test_plan_trip_pays_with_instant_transfers_before_slow_ones(
    people: People, use: Use, with_sources: WithSources, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"program": VS, "points": 47_500, "taxes": Decimal(255), "taxes_currency": "USD"}
    with_sources(seats(row)[0], fares_of("shop"), BANK)
    holds(use, people.alice, chase_ultimate_rewards=95_210, capital_one_miles=52_000, marriott_bonvoy=185_000)
    answer = use(people.alice, TOOL, **search_arguments(), passengers=2, max_cash=520)
    best = answer["best"]
    assert (best["points_total"], best["taxes_total"], best["posting_time"]) == (95_000, 510, "instant")
    assert "marriott" not in json.dumps(best["pay_with"])
    assert {b["program"] for b in best["balances_after"]} <= {"chase-ultimate-rewards", "capital-one-miles", VS}
    assert sum(b["points"] for b in best["balances_after"]) <= 95_210 + 52_000 - 95_000
    assert best["booking_pages"] == {VS: "https://www.virginatlantic.com/"}
    page = "https://www.virginatlantic.com/flight-search/search?"
    assert any(s.startswith(f"Book with Virgin Atlantic Flying Club at {page}") for s in best["steps"])
    price = "47,500 points of Virgin Atlantic Flying Club each, 95,000 for two, 510 USD taxes for two"
    assert price in answer["message"]
    assert "Confirm the seat before you transfer" in answer["message"]
    assert "points of Chase Ultimate Rewards" in answer["message"]
    assert "Points that stay: " in answer["message"]
    monkeypatch.setattr(trip_plans, "_LONG", len(answer["message"]) // 2)
    shorter = use(people.alice, TOOL, **search_arguments(), passengers=2, max_cash=520)
    assert "Points that stay: " not in shorter["message"]
    words = " ".join([answer["message"], *best["steps"], *best["warnings"]])
    assert "arrives at once" in words
    assert not re.search(r"[a-z]-[a-z]+-[a-z]", words.replace("award_trip", ""))  # no slugs


def test_plan_trip_says_how_long_a_slow_transfer_takes_where_it_is_the_only_way(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(seats({"program": VS, "points": 20_000})[0], fares_of("shop"), BANK)
    holds(use, people.alice, marriott_bonvoy=185_000)
    answer = use(people.alice, TOOL, **search_arguments())
    assert answer["best"]["posting_time"] == "days"
    assert (
        "the points take days to arrive. No faster transfer covers it, and the seat may be gone by then."
        in answer["message"]
    )
    transfer = next(s for s in answer["best"]["steps"] if s.startswith("Only then transfer"))
    assert "takes days" in transfer
    assert "the seat may be gone meanwhile" in transfer


def test_plan_trip_gives_the_nearest_plan_when_the_cap_on_cash_fails(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(seats({"taxes": Decimal(255), "taxes_currency": "USD"})[0], fares_of("shop"), BANK)
    holds(use, people.alice, british_airways_club=90_000)
    answer = use(people.alice, TOOL, **search_arguments(), passengers=2, max_cash=300)
    assert (answer["best"], answer["nearest"]["limit"], answer["nearest"]["taxes_total"]) == (None, "max_cash", 510)
    assert "with 510 USD taxes for two travellers instead of 300 USD: out on" in answer["message"]
    assert answer["nearest"]["plan"]["pay_with"]["balance"]["points"] == 50_000


def test_plan_trip_counts_the_cap_on_cash_for_the_party_and_both_ways(
    people: People, use: Use, with_sources: WithSources
) -> None:
    back = travel_day() + timedelta(days=7)
    row = {"taxes": Decimal(100), "taxes_currency": "USD"}
    with_sources(seats(row, row | {"day": back})[0], fares_of("shop"), BANK)
    holds(use, people.alice, british_airways_club=900_000)
    wish = search_arguments() | {"nights": 7, "passengers": 2}
    assert use(people.alice, TOOL, **wish, max_cash=400)["best"]["taxes_total"] == 400
    over = use(people.alice, TOOL, **wish, max_cash=399)
    assert "with 400 USD taxes for two travellers both ways instead of 399 USD" in over["message"]


def test_plan_trip_looks_at_other_days_when_those_wanted_hold_nothing(
    people: People, use: Use, with_sources: WithSources
) -> None:
    later = last_day() + timedelta(days=2)
    source, asked = seats({"day": later})
    with_sources(source, fares_of("shop"), BANK)
    holds(use, people.alice, british_airways_club=90_000)
    answer = use(people.alice, TOOL, **search_arguments())
    assert [(q.earliest, q.latest) for q in asked] == [
        (travel_day(), last_day()),
        (travel_day() - timedelta(days=3), last_day() + timedelta(days=3)),
    ]
    assert (answer["best"], answer["nearest"]["limit"]) == (None, "dates")
    assert answer["nearest"]["plan"]["award"]["date"] == later.isoformat()
    assert f"on {format_weekday(later)} instead" in answer["message"]


def test_plan_trip_searches_the_airports_of_a_city(people: People, use: Use, with_sources: WithSources) -> None:
    source, asked = seats({})
    with_sources(source, fares_of("shop"), BANK)
    holds(use, people.alice, british_airways_club=90_000)
    answer = use(people.alice, TOOL, **(search_arguments() | {"origin": "New York", "destination": "Rome"}))
    assert {(q.origin, q.destination) for q in asked} == {("JFK", "FCO"), ("EWR", "FCO"), ("LGA", "FCO")}
    assert {s["origin"] for s in answer["searched"]} == {"JFK", "EWR", "LGA"}
    assert "NYC means JFK, EWR and LGA. ROM means FCO." in answer["message"]
    assert answer["best"]["award"]["destination"] == "FCO"


def test_plan_trip_names_a_cheaper_airport_nearby_with_its_distance(
    people: People, use: Use, with_sources: WithSources
) -> None:
    def award_seats(question: SeatsQuestion) -> Any:
        points = 10_000 if question.origin == "PVD" else 60_000
        where = {"origin": question.origin, "destination": question.destination, "cabin": "economy"}
        return (seat(travel_day(), **where, points=points, taxes=Decimal(80), taxes_currency="USD"),)

    with_sources(answering("seats", {"award_seats": award_seats}), fares_of("shop"), BANK)
    holds(use, people.alice, british_airways_club=90_000)
    wish = search_arguments() | {"origin": "BOS", "destination": "FCO"}
    assert use(people.alice, TOOL, **wish)["nearby"] is None
    answer = use(people.alice, TOOL, **wish, nearby_km=120)
    assert (answer["best"]["award"]["origin"], answer["best"]["positioning"]) == ("BOS", [])
    assert answer["nearby"]["award"]["origin"] == "PVD"
    way = answer["nearby"]["positioning"][0]
    assert (way["from_airport"], way["to_airport"], way["fare"]) == ("BOS", "PVD", "no_data")
    assert 70 < way["kilometres"] < 90
    assert "positioning cost not known" in answer["nearby"]["steps"][-1]
    same = replace(seats({})[0], name="same price everywhere")
    with_sources(same, fares_of("shop"), BANK)
    assert (
        "Starting or landing at PVD or ORH is not cheaper." in use(people.alice, TOOL, **wish, nearby_km=80)["message"]
    )


def sell(*rows: dict[str, Any]) -> tuple[Provider, list[SeatsQuestion]]:
    """A source that sells each of these seats on its own route and day alone."""
    asked: list[SeatsQuestion] = []

    def award_seats(question: SeatsQuestion) -> Any:
        asked.append(question)
        plain = {"cabin": "economy", "points": 25_000, "taxes": Decimal(50), "taxes_currency": "USD"}
        return tuple(
            seat(**(plain | row))
            for row in rows
            if (row["origin"], row["destination"]) == (question.origin, question.destination)
            and question.earliest <= row["day"] <= question.latest
        )

    return answering("seats", {"award_seats": award_seats}), asked


def fly(origin: str, destination: str, day: int, **more: Any) -> dict[str, Any]:
    return {"origin": origin, "destination": destination, "day": travel_day() + timedelta(days=day)} | more


def test_plan_trip_into_one_place_and_home_from_another_spends_what_the_first_flight_left(
    people: People, use: Use, with_sources: WithSources
) -> None:
    flights = (fly("BOS", "FCO", 0), fly("CDG", "BOS", 7, program=FB), fly("FCO", "BOS", 7, points=1_000))
    with_sources(sell(*flights)[0], fares_of("shop", fare("900")), BANK)
    wish = search_arguments() | {"origin": "BOS", "destination": "Rome", "return_from": "CDG", "nights": 7}
    holds(use, people.alice, amex_membership_rewards=49_000)
    short = use(people.alice, TOOL, **wish)
    assert (short["best"], [lack["points"] for lack in short["nearest"]["lacking"]]) == (None, [1_000])
    holds(use, people.alice, amex_membership_rewards=60_000)
    answer = use(people.alice, TOOL, **wish)
    best = answer["best"]
    assert (answer["asked"]["return_from"], best["points_total"], best["taxes_total"]) == ("CDG", 50_000, 100)
    assert (best["award"]["destination"], best["return_award"]["origin"], best["onward_awards"]) == ("FCO", "CDG", [])
    assert (best["pay_with"]["program"], best["return_pay_with"]["program"]) == (BA, FB)
    assert [(b["program"], b["points"]) for b in best["balances_after"]] == [("amex-membership-rewards", 10_000)]
    assert best["stays"][0] | {"nights": 7, "place": "FCO", "leaves_from": "CDG"} == best["stays"][0]
    assert any(step.startswith("Get from FCO to CDG on your own by ") for step in best["steps"])
    assert best["cash_alternative"] == "no_data"
    assert answer["message"].startswith("Best: out on ")
    assert "CDG-BOS with" in answer["message"]


def test_plan_trip_over_several_places_is_one_plan_with_one_purse(
    people: People, use: Use, with_sources: WithSources
) -> None:
    rome = fly("BOS", "FCO", 0, departs_at=f"{travel_day()}T18:00", arrives_at=f"{travel_day() + timedelta(1)}T08:00")
    flights = (rome, fly("FCO", "CDG", 5, program=FB, points=10_000), fly("CDG", "BOS", 8, program=VS, points=20_000))
    source, asked = sell(*flights)
    with_sources(source, BANK)
    holds(use, people.alice, amex_membership_rewards=60_000)
    wish = search_arguments() | {"origin": "BOS", "destination": "CDG"}
    stops = [{"place": "Rome", "nights": 4}, {"place": "CDG", "nights": 3}]
    answer = use(people.alice, TOOL, **wish, stops=stops)
    best = answer["best"]
    assert {(q.origin, q.destination, (q.earliest - travel_day()).days) for q in asked} == {
        ("BOS", "FCO", 0),
        ("FCO", "CDG", 4),
        ("CDG", "BOS", 7),
    }
    assert answer["asked"]["stops"] == [{"place": "ROM", "nights": 4}, {"place": "CDG", "nights": 3}]
    assert (best["points_total"], best["taxes_total"]) == (55_000, 150)
    assert [o["destination"] for o in best["onward_awards"]] == ["CDG"]
    assert [(s["place"], s["nights"]) for s in best["stays"]] == [("FCO", 4), ("CDG", 3)]
    programs = [best["pay_with"]["program"], best["return_pay_with"]["program"], best["more_pay_with"][0]["program"]]
    assert programs == [BA, VS, FB]
    assert [(b["program"], b["points"]) for b in best["balances_after"]] == [("amex-membership-rewards", 5_000)]
    kinds = [step.split()[0] for step in best["steps"]]
    assert kinds == ["Confirm"] + ["Only"] * 3 + ["Book"] * 3
    assert best["award"]["arrives_at"].endswith("08:00")
    assert "55,000 points per person (3 programmes), 150 USD taxes in all." in answer["message"]
    on = use(people.alice, TOOL, **wish, stops=stops[:1])
    assert (on["best"]["return_award"], on["asked"]["stops"][-1]) == (None, {"place": "CDG", "nights": None})


def test_the_compact_answer_of_a_trip_with_six_places_is_short(
    people: People, use: Use, with_sources: WithSources
) -> None:
    cities = ("BOS", "LHR", "CDG", "FCO", "ATH", "IST", "MAD", "BOS")
    programs, pairs = (BA, FB, VS), list(pairwise(cities))
    ways = [fly(a, b, 2 * at, program=programs[at % 3]) for at, (a, b) in enumerate(pairs)]
    later = [way | {"day": way["day"] + timedelta(days=1), "points": 40_000, "airline": "AF"} for way in ways]
    with_sources(sell(*ways, *later)[0], BANK)
    holds(use, people.alice, amex_membership_rewards=900_000)
    wish = search_arguments() | {"origin": "BOS", "destination": "BOS"}
    stops = [{"place": city, "nights": 2} for city in cities[1:-1]]
    full = use(people.alice, TOOL, **wish, stops=stops, detail="full")
    answer = use(people.alice, TOOL, **wish, stops=stops, detail="compact")
    assert (answer["fallback"], full["fallback"]["award"]["airline"]) == (None, "AF")
    first = f"Fallback: BOS-LHR {format_short_weekday(travel_day() + timedelta(days=1))} with The British Airways Club"
    assert answer["best"]["warnings"][-1].startswith(first)
    assert len(answer["message"]) < 500
    assert len(json.dumps(answer)) < 0.75 * len(json.dumps(full))
    assert len(to_json(answer)) < 12_000
    for way in (answer["best"]["pay_with"], *answer["best"]["more_pay_with"]):
        assert any(f"{way['route']['delivered_points']:,} arrive" in step for step in answer["best"]["steps"])


def test_plan_trip_names_the_nights_that_have_seats_before_points_that_lack(
    people: People, use: Use, with_sources: WithSources
) -> None:
    onward = (fly("FCO", "CDG", 5), fly("FCO", "CDG", 4, points=99_000), fly("CDG", "BOS", 8))
    with_sources(sell(fly("BOS", "FCO", 0), *onward)[0], BANK)
    holds(use, people.alice, british_airways_club=80_000)
    wish = search_arguments() | {"origin": "BOS", "destination": "CDG"}
    stops = [{"place": "Rome", "nights": 4}, {"place": "CDG", "nights": 4}]
    answer = use(people.alice, TOOL, **wish, stops=stops, detail="compact")
    nearest = answer["nearest"]
    assert (answer["best"], nearest["limit"], nearest["lacking"]) == (None, "dates", [])
    assert "The nearest plan: with 5 nights instead of 4 in ROM and 3 nights instead of 4 in CDG" in answer["message"]
    assert [award["destination"] for award in nearest["plan"]["onward_awards"]] == ["CDG"]
    assert nearest["onward_awards"] == []


def test_plan_trip_tells_what_is_known_of_babies_children_and_stopovers(
    people: People, use: Use, with_sources: WithSources
) -> None:
    ana, aeroplan = "ana-mileage-club", "air-canada-aeroplan"
    with_sources(seats({"program": ana}, {"program": aeroplan, "airline": "AC", "points": 99_000})[0], BANK)
    holds(use, people.alice, ana_mileage_club=90_000, air_canada_aeroplan=300_000)
    party = {"passengers": 2, "children": 1, "infants": 1}
    answer = use(people.alice, TOOL, **search_arguments(), **party)
    rules = answer["best"]["rules"]
    assert answer["best"]["points_total"] == 52_500
    assert "25,000 points of ANA Mileage Club each, 50,000 for two and 2,500 for babies" in answer["message"]
    baby, child = (
        "a baby on the lap costs 10% of the adult miles",
        "a child of 2 to 11 costs the same miles as an adult",
    )
    assert f"Babies with ANA Mileage Club: {baby}. The sums count it." in rules
    assert f"Children with ANA Mileage Club: {child}. The sums count children as adults." in rules
    assert any("for each adult, none for a baby on the lap and none for 1 child." in rule for rule in rules)
    rules = answer["fallback"]["rules"]
    assert any(rule.startswith("Aeroplan allows a stopover: one per direction for 5,000") for rule in rules)
    assert any(rule.startswith("Babies with Aeroplan: a baby on the lap costs 2,500 points or a") for rule in rules)
    alone = use(people.alice, TOOL, **search_arguments())
    assert alone["best"]["rules"] == []  # ANA allows a stopover on a return alone


def test_plan_trip_says_which_part_of_the_way_is_in_business_and_which_connection_lasts_a_night(
    people: People, use: Use, with_sources: WithSources
) -> None:
    day, next_day = travel_day(), travel_day() + timedelta(days=1)
    hop = Segment("BA1", "BA", None, "LHR", "HEL", f"{day}T17:00", f"{day}T22:00", "economy", None)
    long = Segment("AY2", "AY", None, "HEL", "JFK", f"{next_day}T09:00", f"{next_day}T11:00", "business", None)
    trip = AwardTrip("row-1", "business", 50_000, None, None, 1, 900, 2, (hop, long), (), None)

    def award_seats(_question: SeatsQuestion) -> Any:
        return (seat(day, origin="LHR", destination="JFK", cabin="business", stops=1, points=50_000),)

    with_sources(answering("seats", {"award_seats": award_seats, "award_trip": lambda _q: (trip,)}), BANK)
    holds(use, people.alice, british_airways_club=90_000)
    answer = use(people.alice, TOOL, **search_arguments(), cabin="business")
    assert "LHR to JFK: business for 78% of the way, economy for 22%." in answer["message"]
    assert "The connection at HEL lasts the night (11 hours): plan a hotel." in answer["best"]["warnings"]


def test_the_flights_behind_all_awards_of_a_plan_are_found_by_one_statement(
    people: People, use: Use, with_sources: WithSources, queries: list[str]
) -> None:
    def award_seats(question: SeatsQuestion) -> Any:
        ends = {"origin": question.origin, "destination": question.destination}
        return (seat(question.earliest, **ends, cabin="business", stops=1, ref=f"row-{question.origin}"),)

    with_sources(answering("seats", {"award_seats": award_seats, "award_trip": lambda _q: ()}), BANK)
    holds(use, people.alice, british_airways_club=900_000)
    for _ in range(2):
        queries.clear()
        answer = use(people.alice, TOOL, **search_arguments(), nights=4, cabin="business")
    assert answer["best"]["return_award"]["stops"] == 1
    assert sum("FROM award_observations" in statement for statement in queries) == 1
    assert len(queries) <= 6


def test_plan_trip_counts_the_companion_voucher_that_makes_it_payable(
    people: People, use: Use, with_sources: WithSources
) -> None:
    back = {"day": travel_day() + timedelta(days=5)}
    with_sources(
        seats({}, back, {"airline": "AA", "points": 20_000}, back | {"airline": "AA", "points": 20_000})[0], BANK
    )
    holds(use, people.alice, british_airways_club=52_000)
    asked = search_arguments() | {"passengers": 2, "nights": 5}
    without = use(people.alice, TOOL, **asked)
    assert (without["best"], without["nearest"]["lacking"][0]["points"]) == (None, 28_000)
    ends = clock.today().isoformat()
    voucher = use(people.alice, "add_voucher", voucher_slug="ba-amex-companion-voucher", expires_on=ends)["voucher"]
    answer = use(people.alice, TOOL, **asked)
    best, name = answer["best"], voucher["name"]
    assert (best["points_total"], best["taxes_total"], best["award"]["airline"]) == (50_000, 448, "BA")
    assert best["award"]["party_points"] + best["return_award"]["party_points"] == 50_000
    assert best["vouchers"] == [{"voucher_id": voucher["voucher_id"], "name": name, "points_off": 50_000}]
    assert (
        "50,000 points of The British Airways Club each, 100,000 for two less 50,000 with your voucher"
        in answer["message"]
    )
    assert f"The sums count your {name}, 50,000 points less." in answer["message"]
    assert "taxes and charges still due for both" in best["rules"][0]
    booking = f"25,000 points each, 50,000 for two, less 25,000 with your {name}, and the taxes."
    assert sum(booking in step for step in best["steps"]) == 2


def test_plan_trip_counts_a_companion_voucher_on_the_flights_there_and_home_of_an_open_jaw(
    people: People, use: Use, with_sources: WithSources
) -> None:
    ways = (fly("LHR", "FCO", 0), fly("FCO", "CDG", 3, program=FB), fly("CDG", "LHR", 6))
    with_sources(sell(*ways, fly("CDG", "LHR", 3))[0], BANK)
    holds(use, people.alice, british_airways_club=52_000, flying_blue=50_000)
    use(people.alice, "add_voucher", voucher_slug="ba-amex-companion-voucher", expires_on=f"{last_day():%Y-12-31}")
    asked = search_arguments() | {"origin": "LHR", "destination": "FCO", "passengers": 2}
    tour = {"destination": "CDG", "stops": [{"place": "FCO", "nights": 3}], "nights": 3}
    for wish, flights in (({"nights": 3, "return_from": "CDG"}, 2), (tour, 3)):
        best = use(people.alice, TOOL, **(asked | wish))["best"]
        assert [voucher["points_off"] for voucher in best["vouchers"]] == [50_000]
        assert best["points_total"] == 50_000 + 50_000 * (flights - 2)
        assert best["rules"][0].startswith("The sums count your BA Amex Companion Voucher")


def test_plan_trip_names_nights_with_seats_both_ways(people: People, use: Use, with_sources: WithSources) -> None:
    with_sources(sell(fly("LHR", "JFK", 0), *(fly("JFK", "LHR", n, points=99_000) for n in (2, 8)))[0], BANK)
    holds(use, people.alice, british_airways_club=50_000)
    message = use(people.alice, TOOL, **search_arguments() | {"nights": 6})["message"]
    assert "No award goes there and back after 6 nights. Seats both ways are open for 8 nights." in message
