"""Stories of searches, plans and watches, for one person and for the party."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

from shared import clock
from tests.mcp_server.tools.conftest import Use
from tests.support.fake_seats import WithSources, seat, selling
from tests.support.people import People

LATE_MAY = {"origin": "BOS", "destination": "Rome", "earliest_date": "2027-05-20", "latest_date": "2027-05-31"}


def hold(use: Use, people: People, **balances: int) -> None:
    for program, points in balances.items():
        slug = program.replace("_", "-")
        assert use(people.alice, "update_points_balance", program=slug, balance=points)["status"] == "ok"


def test_two_of_us_want_business_seats_and_little_taxes(people: People, use: Use) -> None:
    hold(use, people, amex_membership_rewards=180_000, bilt_rewards=60_000)
    journey: dict[str, Any] = LATE_MAY | {"cabin": "business", "passengers": 2}
    refused = use(people.alice, "plan_trip", **journey, max_cash=60)
    assert refused["best"] is None
    assert "The nearest plan: with " in refused["message"]
    assert "USD taxes for two travellers instead of 60 USD" in refused["message"]
    planned = use(people.alice, "plan_trip", **journey, max_cash=600)
    assert "each, " in planned["message"]
    assert "for two" in planned["message"]
    assert "Confirm the seat before you transfer: transfers cannot be undone." in planned["message"]
    assert "Points that stay: " in planned["message"]
    award = planned["best"]["award"]
    assert (award["per"], award["party_points"]) == ("person", 2 * award["points"])
    assert planned["best"]["taxes_total"] <= 600


def test_each_of_us_books_one_ticket_where_points_cannot_be_joined(
    people: People, use: Use, with_sources: WithSources
) -> None:
    day = clock.today() + timedelta(days=90)
    offer = {"program": "delta-skymiles", "points": 48_000, "taxes": Decimal(80), "taxes_currency": "USD"}
    with_sources(selling("shop", seat(day, **offer, seats=2)))
    for member in ({}, {"member": "Joe"}):
        answer = use(people.alice, "update_points_balance", program="Delta miles", balance=50_000, **member)
        assert answer["balance"]["program"] == "delta-skymiles"
    days = {"earliest_date": day.isoformat(), "latest_date": day.isoformat()}
    asked: dict[str, Any] = {"origin": "LHR", "destination": "JFK", "cabin": "business", "passengers": 2} | days
    answer = use(people.alice, "plan_trip", **asked)
    best = answer["best"]
    assert best is not None, answer["message"]
    assert "48,000 already with Delta SkyMiles and 48,000 already with Delta SkyMiles of Joe" in answer["message"]
    assert "Of these, book 1 ticket from Joe's account of Delta SkyMiles, 48,000 points each." in best["steps"]
    assert best["pay_with"]["balance"]["points"] == 48_000
    assert [(m["member"], m["points"]) for m in best["pay_with"]["from_members"]] == [("Joe", 48_000)]
    lacking = use(people.alice, "plan_trip", **asked | {"passengers": 3})
    assert lacking["nearest"] is None or lacking["nearest"]["lacking"][0]["points"] == 48_000


def test_instant_points_go_before_a_transfer_of_days(people: People, use: Use) -> None:
    hold(use, people, chase_ultimate_rewards=73_210, capital_one_miles=52_000, marriott_bonvoy=185_000)
    answer = use(people.alice, "plan_trip", **LATE_MAY, cabin="business", passengers=2, max_cash=1400)
    assert answer["best"] is not None
    steps = " ".join(answer["best"]["steps"])
    assert "transfer" in steps
    assert "Marriott" not in steps
    assert not re.search(r"[a-z]+-[a-z]+-[a-z]+", steps), steps  # names, no slugs


def test_the_family_flies_to_honolulu(people: People, use: Use) -> None:
    hold(use, people, chase_ultimate_rewards=250_000, marriott_bonvoy=400_000)
    journey = {"origin": "ORD", "destination": "HNL", "earliest_date": "2027-02-06", "latest_date": "2027-02-20"}
    answer = use(people.alice, "plan_trip", **journey, nights=7, passengers=4)
    assert "for four" in answer["message"]
    assert "both ways" in answer["message"]
    assert "worth" not in answer["message"]
    assert "-plus" not in answer["message"]  # names, no slugs


def test_a_search_says_what_the_party_pays(people: People, use: Use, with_sources: WithSources) -> None:
    day = clock.today() + timedelta(days=60)
    with_sources(selling("shop", seat(day, points=47_500, taxes=Decimal(255), taxes_currency="USD", seats=2)))
    asked = {"origin": "LHR", "destination": "JFK", "date": day.isoformat(), "cabin": "business"}
    answer = use(people.alice, "search_all_airlines", **asked, passengers=2)
    assert "47,500 points" in answer["message"]
    assert "each, 95,000 for two, 510 USD taxes" in answer["message"]
    (offer,) = answer["options"]
    assert (offer["per"], offer["party_points"], offer["party_taxes"]) == ("person", 95_000, 510)


def test_a_watch_knows_where_the_airline_flies_and_when_seats_open(people: People, use: Use) -> None:
    window = {"earliest_date": "2027-10-25", "latest_date": "2027-11-20"}
    watch = {"origin": "LHR", "destination": "NRT", "cabin": "first", "airlines": ["JL"]} | window
    answer = use(people.alice, "create_route_monitor", **watch)
    assert answer["status"] == "ok", answer["message"]
    assert "HND" in answer["message"]
    assert "2027" in answer["message"]


def test_are_my_points_better_than_cash(people: People, use: Use) -> None:
    figures = {"program": "Virgin Atlantic", "points": 95_000, "taxes": 420, "cash": 2300}
    check = use(people.alice, "get_points_valuation", **figures)["check"]
    assert (check["cents_per_point"], check["better"]) == (1.98, "points")


def test_a_return_fare_for_two_is_the_total(people: People, use: Use) -> None:
    asked = {"origin": "LHR", "destination": "JFK", "date": "2027-03-01", "return_date": "2027-03-10", "passengers": 2}
    answer = use(people.alice, "search_cash_flights", **asked)
    assert "the total for two travellers, there and back" in answer["message"]
    assert {"BA", "VS"} <= {fare["carriers"][0] for fare in answer["fares"] if fare["stops"] == 0}


def test_points_to_a_hub_and_cash_from_there(people: People, use: Use) -> None:
    asked = {"origin": "BOS", "destination": "ATH", "date": "2027-05-24", "passengers": 2}
    answer = use(people.alice, "search_hybrid", **asked)
    assert "They are two separate tickets." in answer["message"]
    assert "for two" in answer["message"]


def test_nothing_is_on_sale_as_far_as_is_known(people: People, use: Use) -> None:
    answer = use(people.alice, "whats_on_sale")
    assert "newer ones may exist" in answer["message"]


def test_a_free_account_meets_the_paywall_with_a_way_on(people: People, use: Use) -> None:
    asked = {"origin": "BOS", "destination": "FCO", "date": "2027-05-24", "cabin": "business"}
    answer = use(people.bob, "search_all_airlines", **asked)
    assert answer["status"] == "paywall"
    assert "Premium" in answer["message"]


def test_an_order_for_every_monday_names_what_works_instead(people: People, use: Use) -> None:
    prompt = "Every Monday look for business seats from BOS to FCO in May and mail me"
    answer = use(people.alice, "create_standing_order", prompt=prompt, cadence="weekly")
    assert answer["status"] != "ok"
    assert "a route monitor looks every few hours and mails what opens" in answer["message"]


def test_a_delay_alert_says_what_it_does(people: People, use: Use) -> None:
    answer = use(people.alice, "create_delay_alert", airport="BOS", min_delay_minutes=45)
    assert answer["status"] == "ok"
    assert "is told of" not in answer["message"]
    assert "45 minutes" in answer["message"]


def test_a_plan_from_a_city_looks_at_its_airports(people: People, use: Use) -> None:
    hold(use, people, amex_membership_rewards=300_000)
    asked = LATE_MAY | {"origin": "NYC", "cabin": "economy"}
    answer = use(people.alice, "plan_trip", **asked)
    assert answer["best"]["award"]["origin"] in {"JFK", "EWR", "LGA"}
    assert {"JFK", "EWR", "LGA"} <= set(re.findall(r"\b[A-Z]{3}\b", str(answer["searched"])))


def test_a_party_that_no_flight_seats_is_told_how_it_fits(people: People, use: Use, with_sources: WithSources) -> None:
    hold(use, people, british_airways_club=900_000)
    for at, (airlines, words) in enumerate(
        (
            (("BA", "BA", "AA"), "In two bookings all four fit on "),
            (("BA",), "Most together are 2 seats with British Airways on "),
            (("BA", "BA"), "Most together are 2 seats with British Airways on "),  # perhaps the same two
        )
    ):
        day = clock.today() + timedelta(days=60 + 40 * at)
        with_sources(selling("shop", *(seat(day, airline=code, seats=2) for code in airlines)))
        party: dict[str, Any] = {"origin": "LHR", "destination": "JFK", "passengers": 4, "cabin": "business"}
        on_day, month = {"date": day.isoformat()}, {"month": f"{day:%Y-%m}"}
        window = {"earliest_date": day.isoformat(), "latest_date": day.isoformat()}
        for tool, asked in (
            ("search_all_airlines", on_day),
            ("search_availability", on_day | {"airline": "BA"}),
            ("search_monthly_availability", month | {"airline": "BA"}),
            ("plan_trip", window),
        ):
            assert words in use(people.alice, tool, **party, **asked)["message"], tool
