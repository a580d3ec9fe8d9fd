"""Stories of cards and status: what to use, what is missing, what keeps what one has."""

from datetime import date, timedelta
from typing import Any

from shared import clock
from shared.domain.dates import format_day
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People


def add(use: Use, people: People, slug: str, **more: Any) -> dict[str, Any]:
    answer = use(people.alice, "add_card", card=slug, **more)
    assert answer["status"] == "ok", answer["message"]
    card: dict[str, Any] = answer["card"]
    return card


def test_which_points_expire_soon(people: People, use: Use) -> None:
    sent = {"program": "avianca-lifemiles", "balance": 34_000, "expires_on": "2026-12-20"}
    use(people.alice, "update_points_balance", **sent)
    answer = use(people.alice, "list_upcoming_deadlines")
    assert "LifeMiles of LifeMiles" not in str(answer)
    assert "34,000" in str(answer["deadlines"])


def test_the_next_card_values_what_it_brings_at_once(people: People, use: Use) -> None:
    spend = {"dining": 600, "groceries": 800}
    answer = use(people.alice, "recommend_cards", goal_program="Flying Blue", monthly_spend=spend, country="US")
    best = answer["recommendations"][0]
    assert best["breakdown"]["bonus"]
    assert best["welcome_offer"]["reachable"] in ("yes", "no", "unknown")


def test_cards_that_cannot_reach_hyatt_alone_come_last_and_say_why(people: People, use: Use) -> None:
    rows = use(people.alice, "recommend_cards", goal_program="Hyatt", country="US")["recommendations"]
    reaches = [row["reaches_goal"] for row in rows]
    assert reaches[0] == "alone"
    assert reaches == sorted(reaches, key=lambda word: word != "alone")


def test_which_of_my_cards_for_dinner(people: People, use: Use) -> None:
    add(use, people, "us-amex-gold")
    add(use, people, "us-chase-freedom-unlimited")
    answer = use(people.alice, "recommend_cards", category="dining", only_held=True)
    assert answer["recommendations"][0]["slug"] == "us-amex-gold"
    assert all(row["held"] for row in answer["recommendations"])
    assert "American Express Gold" in answer["message"]


def test_a_new_card_and_its_bonus(people: People, use: Use) -> None:
    narrowed = use(people.alice, "add_card", card="Platinum", country="US")
    assert narrowed["status"] == "candidates"
    assert {c["country"] for c in narrowed["candidates"]} == {"US"}
    bonus = {"bonus_amount": 60_000, "spend_requirement": 6000, "spend_window_months": 6, "opened_on": "2026-08-20"}
    card = add(use, people, "us-amex-gold", **bonus)
    assert card["spend_deadline_on"] == "2027-02-20"
    text = "Date,Description,Amount\n2026-09-13,RESTAURANT,4120.00\n"
    sent = {"statement_text": text, "currency": "USD", "card_id": card["card_id"]}
    assert use(people.alice, "import_spending_statement", **sent)["status"] == "ok"
    assert "1,880" in str(use(people.alice, "list_my_cards"))


def test_what_my_cards_cost_a_year(people: People, use: Use) -> None:
    add(use, people, "us-chase-sapphire-preferred")
    assert use(people.alice, "list_my_cards")["totals"]["annual_fees_by_currency"] == {"USD": 95}


def test_how_far_from_gold_and_what_keeps_silver(people: People, use: Use) -> None:
    use(people.alice, "set_loyalty_status", program="BA", tier="Silver", progress=9_000)
    answer = use(people.alice, "get_status_progress")
    ends = date(clock.today().year + (clock.today() > date(clock.today().year, 3, 31)), 3, 31)  # BA's year of tiers
    left = f"by {format_day(ends)} ({(ends - clock.today()).days} days left)"
    again = f"or 20,000 from {format_day(ends + timedelta(days=1))}"
    assert f"11,000 tier points to Gold {left}, {again}; Silver is kept for another year" in answer["message"]


def test_i_am_globalist_for_life(people: People, use: Use) -> None:
    use(people.alice, "set_loyalty_status", program="Hyatt", tier="Globalist", lifetime=True, progress=12)
    message = use(people.alice, "get_status_progress")["message"]
    assert "yours for life" in message
    assert "nights to" not in message


def test_am_i_1k_with_22000_pqp(people: People, use: Use) -> None:
    use(people.alice, "set_loyalty_status", program="United", tier="Premier Platinum", progress=22_000)
    answer = use(people.alice, "get_status_progress")
    assert "60 PQF (not recorded here), or 6,000 PQP to Premier 1K" in answer["message"]
    assert answer["progress"][0]["on_track"] is None


def test_a_status_run_to_gold_is_priced_after_its_search(people: People, use: Use) -> None:
    goal = {"goal_program": "BA", "goal_tier": "Gold", "deadline": "2027-03-31", "home_airport": "LHR"}
    first = use(people.alice, "find_status_run", **goal)
    search = first["fare_searches"][0]
    assert f"from {search['origin']} to {search['destination']} and back" in first["message"]
    days = {"date": "2027-02-10", "return_date": "2027-02-12"}
    assert use(people.alice, "search_cash_flights", **search, **days)["status"] == "ok"
    run = use(people.alice, "find_status_run", **goal)["runs"][0]
    assert run["fare"] != "no_data"
    assert run["total_cost_at_least"] != "no_data"
    paths = use(people.alice, "recommend_status_path", target_program="BA", target_tier="Gold", home_airport="LHR")[
        "paths"
    ]
    assert any(path["kind"] == "status_run" for path in paths)


def test_what_a_business_ticket_counts(people: People, use: Use) -> None:
    flown = {"program": "british-airways-club", "origin": "LHR", "destination": "JFK", "cabin": "business"}
    answer = use(people.alice, "calculate_flight_earnings", **flown, fare_price=2400, fare_currency="GBP")
    assert (answer["metric"], answer["earned"]) == ("tier_points", 2_800)  # one a pound, and 400 for the flight
