"""The portfolio through the gate: sums and counts of everything kept, equal to what the lists say."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.balances import PointsBalance
from shared.db.base import transaction
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.cards import Card
from shared.db.delay_alerts import DelayAlert
from shared.db.flight_alerts import FlightAlert
from shared.db.messages import Notification
from shared.db.profile import Profile
from shared.db.route_monitors import RouteMonitor
from shared.db.standing_orders import StandingOrder
from shared.db.statuses import LoyaltyStatus
from shared.db.trips import Trip
from shared.db.vouchers import Voucher
from shared.domain.dates import format_day
from shared.reference.exchange_rates import find_exchange_rate
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

GET = "get_portfolio"
NO_CARDS = {"open": 0, "bonuses_pending": 0, "credits": [], "bonuses": []}
BA, FB = "british-airways-club", "flying-blue"


def keep(who: Caller, *rows: Any) -> None:
    with transaction(who.account_id) as session:
        session.add_all(rows)


def day(offset: int) -> date:
    return clock.today() + timedelta(days=offset)


def leg(offset: int, **given: Any) -> FlightBooking:
    plain = {"airline": "BA", "origin": "LHR", "destination": "JFK", "cabin_class": "first", "kind": "award"}
    return FlightBooking(**{**plain, "taxes_currency": "USD", "departure_date": day(offset)} | given)


def stay(first: int, last: int, **given: Any) -> HotelBooking:
    plain = {"hotel_code": "htl_conrad-tokyo", "hotel_name": "Conrad Tokyo", "kind": "award"}
    dates = {"check_in_date": day(first), "check_out_date": day(last)}
    return HotelBooking(**{**plain, **dates, "cash_rate_currency": "USD"} | given)


def test_get_portfolio_of_nothing_is_all_zeros(people: People, use: Use) -> None:
    keep(people.bob, leg(3), PointsBalance(program=BA, balance=5, as_of=day(0)))
    answer = use(people.alice, GET)
    assert answer["status"] == "ok"
    nothing = {"programs": 0, "points": 0, "by_program": [], "value": 0, "currency": "USD", "top": []}
    assert answer["balances"] == nothing
    assert (answer["cards"], answer["statuses"]) == (NO_CARDS, [])
    assert answer["vouchers"] == {"held": 0, "expiring_soon": 0}
    assert answer["bookings"] == {"upcoming_flights": 0, "upcoming_stays": 0, "next": None}
    assert set(answer["alerts"].values()) == {0}
    assert answer["trips"] == {"active": 0, "archived": 0}
    assert (answer["deadlines"], answer["unread_notifications"]) == ([], 0)
    assert answer["message"] == "No points balances are kept here."
    assert answer["profile"] == use(people.alice, "get_profile")["profile"]
    assert answer["as_of"].startswith(day(0).isoformat())


def test_get_portfolio_values_points_in_the_currency_of_the_profile(people: People, use: Use) -> None:
    programs = [BA, FB, "delta-skymiles", "world-of-hyatt", "marriott-bonvoy", "united-mileageplus"]
    keep(people.alice, *(PointsBalance(program=p, balance=10_000, as_of=day(0)) for p in programs))
    dollars, listed = use(people.alice, GET)["balances"], use(people.alice, "list_points_balances")
    assert (dollars["programs"], dollars["points"]) == (6, None)  # points of several programmes have no sum
    assert {p["program"]: p["points"] for p in dollars["by_program"]} == dict.fromkeys(programs, 10_000)
    assert {p["currency_name"] for p in dollars["by_program"] if p["program"] == BA} == {"Avios"}
    assert dollars["value"] == pytest.approx(listed["total_value"]["amount"], abs=0.05)
    assert len(dollars["top"]) == 5
    assert [t["value"] for t in dollars["top"]] == sorted((t["value"] for t in dollars["top"]), reverse=True)
    keep(people.alice, Profile(currency="EUR"))
    euros = use(people.alice, GET)["balances"]
    assert euros["currency"] == "EUR"
    rate = find_exchange_rate("EUR")
    assert rate
    assert euros["value"] == pytest.approx(dollars["value"] / float(rate.usd_per_unit), abs=0.05)
    assert f"the European Central Bank's rate of {format_day(rate.day)}." in use(people.alice, GET)["message"]


def test_get_portfolio_says_where_no_rate_of_exchange_is_known(people: People, use: Use) -> None:
    keep(people.alice, Profile(currency="KWD"), PointsBalance(program=BA, balance=10_000, as_of=day(0)))
    answer = use(people.alice, GET)
    assert (answer["balances"]["currency"], answer["profile"]["currency"]) == ("USD", "KWD")
    assert "No exchange rate to KWD" in answer["message"]


def test_get_portfolio_counts_what_is_held_and_what_is_to_come(people: People, use: Use) -> None:
    now = clock.now()
    keep(
        people.alice,
        Card(name="Open", custom=True, currency="USD", bonus_status="pending"),
        Card(name="Closed", custom=True, currency="USD", closed_on=day(-1)),
        LoyaltyStatus(program=BA, tier="Gold", lifetime=True),
        Voucher(voucher_slug="a", expires_on=day(30)),
        Voucher(voucher_slug="b"),
        Voucher(voucher_slug="c", expires_on=day(-3)),
        leg(20, flight_number="BA117"),
        leg(-3),
        leg(9, cancelled_at=now),
        stay(15, 17),
        stay(-1, 4),
        stay(5, 6, cancelled_at=now),
        Trip(name="Now"),
        Trip(name="Then", archived_at=now),
        Notification(dedupe_key="a", kind="account", title="t", body="b"),
        Notification(dedupe_key="b", kind="account", title="t", body="b", read_at=now),
    )
    answer = use(people.alice, GET)
    assert [b["card"] for b in answer["cards"].pop("bonuses")] == ["Open"]
    assert answer["cards"] == {"open": 1, "bonuses_pending": 1, "credits": []}
    assert answer["statuses"] == use(people.alice, "list_loyalty_statuses")["statuses"]
    assert answer["vouchers"] == {"held": 2, "expiring_soon": 1}
    coming = answer["bookings"]
    assert (coming["upcoming_flights"], coming["upcoming_stays"]) == (1, 2)
    for kind, shown in (("flight", coming["upcoming_flights"]), ("hotel", coming["upcoming_stays"])):
        assert use(people.alice, f"list_{kind}_bookings", when="upcoming")["paging"]["total"] == shown
    assert (coming["next"]["kind"], coming["next"]["date"]) == ("hotel", day(15).isoformat())
    assert answer["trips"] == {"active": 1, "archived": 1}
    assert answer["unread_notifications"] == 1


def test_get_portfolio_counts_the_alerts_that_watch_now(people: People, use: Use) -> None:
    now = clock.now()
    window = {"earliest_date": day(1), "latest_date": day(2), "origin": "LHR", "destination": "JFK"}
    alert = {"airline": "BA", "departure": "LHR", "destination": "JFK", "date_range_start": day(1)}
    delay = {"airport": "LHR", "channels": ["email"], "min_delay_minutes": 30}
    order = {"prompt": "p", "cadence": "daily", "run_hour": 7}
    keep(
        people.alice,
        *(RouteMonitor(**window, **more) for more in ({}, {}, {"cancelled_at": now}, {"paused_at": now})),
        *(FlightAlert(**alert, date_range_end=day(9), **more) for more in ({}, {"active": False}, {"paused_at": now})),
        *(DelayAlert(**delay, **more) for more in ({}, {"active": False}, {"paused_at": now})),
        *(StandingOrder(**order, **more) for more in ({}, {"stopped_at": now}, {"paused_at": now})),
    )
    counted = use(people.alice, GET)["alerts"]
    assert counted == {"flight_alerts": 1, "delay_alerts": 1, "route_monitors": 2, "standing_orders": 1}


def test_get_portfolio_shows_the_five_soonest_deadlines(people: People, use: Use) -> None:
    keep(people.alice, *(leg(n) for n in (80, 5, 9, 7, 6, 8, 95)))
    keep(
        people.alice,
        Card(
            name="Late",
            custom=True,
            currency="USD",
            bonus_status="pending",
            spend_deadline_on=day(-9),
            spend_requirement=Decimal(1),
        ),
    )
    answer = use(people.alice, GET)
    found = answer["deadlines"]
    assert [d["days_left"] for d in found] == [-9, 5, 6, 7, 8]
    assert found == use(people.alice, "list_upcoming_deadlines")["deadlines"][:5]
    passed = f"Welcome bonus of Late: last day to spend was {format_day(day(-9))}: still marked pending. Was it paid?"
    assert passed in answer["message"]


def test_get_portfolio_shows_credits_by_cycle_and_the_spending_for_a_bonus(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    standing_clock.set(datetime(2026, 11, 22, 12, tzinfo=UTC))
    gold = use(
        people.alice,
        "add_card",
        card="us-amex-gold",
        opened_on="2026-08-20",
        bonus_status="pending",
        bonus_amount=60_000,
        spend_requirement=6_000,
        spend_window_months=6,
    )["card"]["card_id"]
    lines = [
        {"date": "2026-08-25", "description": "Zed Ltd", "amount": "1000", "category": "other"},
        {"date": "2026-09-25", "description": "Zed Ltd", "amount": "2000", "category": "dining"},
        {"date": "2026-10-30", "description": "Zed Ltd", "amount": "1200", "category": "other"},
        {"date": "2026-10-31", "description": "Zed Ltd", "amount": "-80", "category": "other"},  # given back
    ]
    use(people.alice, "import_spending_statement", rows=lines, currency="USD", card_id=gold)
    use(people.alice, "update_card", card_id=gold, credit="resy", credit_used=20)
    answer = use(people.alice, GET)
    credits = {c["credit"]: c for c in answer["cards"]["credits"]}
    assert [c["ends_on"] for c in answer["cards"]["credits"]] == ["2026-11-30"] * 3 + ["2026-12-31"]
    resy = credits["resy"]
    assert (resy["used"], resy["open"], resy["days_left"], resy["due_soon"]) == (20, 30, 39, True)
    assert resy["source_url"].startswith("https://")
    assert "4 card credits of 57 USD in all end soon." in answer["message"]
    progress = answer["cards"]["bonuses"][0]["progress"]
    assert (progress["spent"], progress["remaining"], progress["is_most"]) == (4_120, 1_880, False)
    said = "4,120 of 6,000 USD spent by 31 Oct 2026 as far as statements show; 1,880 to go by Sat 20 Feb 2027."
    assert progress["sentence"] == said
    assert answer["message"].count(said) == 1
    listed = use(people.alice, "list_my_cards")
    assert listed["cards"][0]["bonus_progress"] == progress
    assert said in listed["message"]
    assert all(d["kind"] != "card_credit" for d in answer["deadlines"])


def test_get_portfolio_totals_each_member_of_the_household_and_all(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    standing_clock.set(datetime(2026, 11, 22, 12, tzinfo=UTC))
    use(people.alice, "update_points_balance", program="air-canada-aeroplan", balance=10_000, cents_per_point=2)
    use(
        people.alice,
        "update_points_balance",
        program="air-canada-aeroplan",
        balance=5_000,
        cents_per_point=2,
        member="Anna",
    )
    use(people.alice, "add_card", card="us-amex-gold", member="Anna")
    use(people.alice, "add_card", card="us-chase-sapphire-preferred", opened_on="2025-12-05", member="Anna")
    answer = use(people.alice, GET)
    assert [(m["member"], m["programs"], m["value"], m["open_cards"]) for m in answer["by_member"]] == [
        (None, 1, 200, 0),
        ("Anna", 1, 100, 2),
    ]
    assert (answer["balances"]["value"], answer["balances"]["points"]) == (300, 15_000)
    assert "Of this, Anna has 1 programme worth about 100.00 USD and 2 open cards." in answer["message"]
    assert {c["member"] for c in answer["cards"]["credits"]} == {"Anna"}
    assert "First: Chase Travel hotel credit of Chase Sapphire Preferred of Anna" in answer["message"]
    assert "Annual fee of Chase Sapphire Preferred of Anna" in {d["title"] for d in answer["deadlines"]}


SHEETS = ("balances", "cards", "flights", "stays", "statuses", "vouchers", "trips", "watches", "spending")


def test_each_sheet_holds_the_callers_rows_alone_and_can_be_added_again(people: People, use: Use) -> None:
    for caller, note in ((people.alice, "mine"), (people.bob, "his")):
        use(caller, "update_points_balance", program=BA, balance=42_318, notes=note)
        use(caller, "add_card", card="us-amex-gold", opened_on="2026-01-05", notes=note)
        keep(caller, leg(30, notes=note), stay(40, 42, notes=note), Trip(name=note))
        use(caller, "set_loyalty_status", program=BA, tier="Gold", notes=note)
        keep(caller, Voucher(voucher_slug="ba-companion-voucher", expires_on=day(90), notes=note))
    for name in SHEETS:
        text = use(people.alice, GET, sheet=name)["sheet"]["csv"]
        assert "his" not in text.split("\r\n", 1)[1]
        if name not in ("watches", "spending"):
            assert "mine" in text
        if name in SHEETS[:6]:
            judged = use(people.alice, GET, sheet=name, pasted=text)
            assert [row["state"] for row in judged["sheet"]["rows"]] == ["saved"], (name, judged["sheet"])


def test_a_pasted_table_is_judged_by_the_arguments_of_its_tool_and_nothing_is_saved(people: People, use: Use) -> None:
    table = "Programme;Points;Owner\nAeroplan;42.318;\nNothing Known;5;\nWorld of Hyatt;many;Sam\nAeroplan;42318;\n"
    answer = use(people.alice, GET, sheet="balances", pasted=table)
    rows = answer["sheet"]["rows"]
    assert [row["state"] for row in rows] == ["new", "refused", "refused", "saved"]
    assert rows[0]["arguments"] == {"program": "air-canada-aeroplan", "balance": 42_318}
    assert [(row["line"], row["field"]) for row in rows[1:3]] == [(3, "program"), (4, "balance")]
    assert answer["message"].startswith("1 row to add, 1 already saved, 2 refused. Line 3: program ")
    assert use(people.alice, "list_points_balances")["balances"] == []
    flown = {"origin": "ATL", "destination": "CDG", "departure_date": "2030-03-02", "cabin_class": "economy"}
    use(people.alice, "add_flight_booking", airline="Delta", kind="cash", cash_paid=812.4, **flown)
    table_of_flights = f"airline,{','.join(flown)}\nDelta,{','.join(flown.values())}\n"
    again = use(people.alice, GET, sheet="flights", pasted=table_of_flights)["sheet"]["rows"]
    assert [(row["state"], row["arguments"]["airline"]) for row in again] == [("saved", "DL")]
    assert use(people.alice, GET, sheet="trips", pasted=table)["status"] == "invalid"
    assert use(people.alice, GET, sheet="cards", pasted="no table")["status"] == "invalid"


def test_a_pasted_statement_is_a_proposal_of_a_balance(people: People, use: Use) -> None:
    answer = use(people.alice, GET, pasted="Iberia Club\nSaldo: 42.000 Avios\nPuntos de nivel: 300")
    proposal = answer["sheet"]["balance"]
    assert (proposal["program"], proposal["balance"], proposal["missing"]) == ("iberia-club", 42_000, [])
    assert answer["message"].startswith("Iberia Club: 42,000 points on ")
    assert use(people.alice, "update_points_balance", **proposal["arguments"])["status"] == "ok"
    again = use(people.alice, GET, pasted="Your balance is 50,000 Avios")
    assert again["sheet"]["balance"]["missing"] == ["program"]
