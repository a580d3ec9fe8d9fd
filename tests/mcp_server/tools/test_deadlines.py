"""What ends soon, through the gate: every kind with its day, value and advice, on the day it is where it counts."""

from collections.abc import Callable
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
from shared.db.profile import Profile
from shared.db.statuses import LoyaltyStatus
from shared.db.vouchers import Voucher
from shared.reference.exchange_rates import find_exchange_rate
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

LIST = "list_upcoming_deadlines"
BA, FB = "british-airways-club", "flying-blue"
DAY = timedelta(days=1)
Deadlines = Callable[..., list[dict[str, Any]]]


def keep(who: Caller, *rows: Any) -> None:
    with transaction(who.account_id) as session:
        session.add_all(rows)


def day(offset: int) -> date:
    return clock.today() + offset * DAY


def card(**given: Any) -> Card:
    return Card(**{"name": "House card", "custom": True, "currency": "GBP"} | given)


def leg(**given: Any) -> FlightBooking:
    plain = {"airline": "BA", "origin": "LHR", "destination": "JFK", "cabin_class": "first", "kind": "award"}
    return FlightBooking(**{**plain, "taxes_currency": "USD", "departure_date": day(12)} | given)


def stay(**given: Any) -> HotelBooking:
    plain = {"hotel_code": "htl_conrad-tokyo", "hotel_name": "Conrad Tokyo", "kind": "cash"}
    dates = {"check_in_date": day(40), "check_out_date": day(43)}
    paid = {"original_pay_rate_usd": Decimal(900), "cash_rate_currency": "EUR"}
    return HotelBooking(**{**plain, **dates, **paid} | given)


@pytest.fixture
def deadlines(people: People, use: Use) -> Deadlines:
    """deadlines(...) -> what Alice is told."""

    def run(**given: Any) -> list[dict[str, Any]]:
        answer = use(people.alice, LIST, **given)
        assert answer["status"] == "ok"
        assert answer["total"] == len(answer["deadlines"])
        return answer["deadlines"]  # type: ignore[no-any-return]

    return run


@pytest.fixture
def at(standing_clock: StandingClock) -> Callable[..., None]:
    """at(2027, 5, 10, 9, 59): from now on it is that moment."""

    def turn(*moment: int) -> None:
        standing_clock.set(datetime(*moment, tzinfo=UTC))  # type: ignore[misc, arg-type]

    return turn


@pytest.fixture
def noon(at: Callable[..., None]) -> None:
    """Of this day: it has the same date in London, New York and Tokyo."""
    at(*clock.today().timetuple()[:3], 12)


@pytest.mark.usefixtures("noon")
def test_list_upcoming_deadlines_of_every_kind_in_the_order_of_their_days(
    people: People, use: Use, deadlines: Deadlines
) -> None:
    keep(
        people.alice,
        PointsBalance(program=BA, balance=50_000, as_of=day(0), expires_on=day(8)),
        Voucher(voucher_slug="aa-systemwide-upgrade", expires_on=day(7)),
        LoyaltyStatus(program=BA, tier="Gold", lifetime=False, valid_until=day(6)),
        card(bonus_status="pending", bonus_amount=60_000, bonus_currency="Avios", spend_deadline_on=day(5)),
        card(name="Fee card", annual_fee=Decimal("95.50"), opened_on=day(4 - 3 * 365 - 1)),
        leg(departure_date=day(3), flight_number="BA117"),
        stay(free_cancellation_until=day(1), check_in_date=day(2)),
    )
    found = deadlines(within_days=30)
    assert [d["kind"] for d in found if d["kind"] != "annual_fee"] == [
        *["booking"] * 3,
        "card_bonus",
        "status",
        "voucher",
        "points",
    ]
    assert [d["due_on"] for d in found] == sorted(d["due_on"] for d in found)
    assert "annual_fee" in [d["kind"] for d in found]
    assert all(d["days_left"] == (date.fromisoformat(d["due_on"]) - day(0)).days for d in found)
    assert all(d["suggested_action"] and d["title"] and set(d["subject"]) == {"type", "id"} for d in found)
    assert use(people.bob, LIST)["deadlines"] == []


def test_points_carry_their_number_and_value_in_the_currency_of_the_profile(
    people: People, deadlines: Deadlines
) -> None:
    keep(
        people.alice,
        Profile(currency="GBP"),
        PointsBalance(program=BA, balance=50_000, as_of=day(0), expires_on=day(8)),
        PointsBalance(program=FB, balance=0, as_of=day(0), expires_on=day(8)),
    )
    (found,) = deadlines(kinds=["points"])
    assert (found["amount"], found["currency"]) == (50_000, "Avios")
    assert found["value_at_risk"]["currency"] == "GBP"
    cents, rate = reference().programs[BA].value_usd_cents, find_exchange_rate("GBP")
    assert cents
    assert rate
    assert found["value_at_risk"]["amount"] == pytest.approx(float(500 * cents / rate.usd_per_unit), abs=0.01)
    assert found["subject"] == {"type": "points_balance", "id": BA}


def test_a_currency_without_a_rate_of_exchange_leaves_values_in_dollars(people: People, deadlines: Deadlines) -> None:
    keep(
        people.alice,
        Profile(currency="KWD"),
        PointsBalance(program=BA, balance=50_000, as_of=day(0), expires_on=day(8)),
    )
    assert deadlines()[0]["value_at_risk"]["currency"] == "USD"


def test_points_without_a_stored_day_are_named_with_their_rule_and_never_dated(people: People, use: Use) -> None:
    keep(
        people.alice,
        PointsBalance(program=BA, balance=50_000, as_of=day(-2000)),
        PointsBalance(program="delta-skymiles", balance=9, as_of=day(0)),
        PointsBalance(program="world-of-hyatt", balance=0, as_of=day(0)),
    )
    answer = use(people.alice, LIST, within_days=730)
    assert answer["deadlines"] == []
    assert "British Airways Club (activity, 36 months)" in answer["message"]
    assert "Delta" not in answer["message"]
    assert "Hyatt" not in answer["message"]


@pytest.mark.parametrize("field", ["flight_booking_id", "hotel_booking_id"])
def test_a_voucher_that_was_used_and_a_status_for_life_are_not_told(
    people: People, deadlines: Deadlines, field: str
) -> None:
    booking = leg(departure_date=day(300)) if field == "flight_booking_id" else stay(check_in_date=day(200))
    booking.notes = "x"
    if field == "hotel_booking_id":
        booking.check_out_date = day(201)
    with transaction(people.alice.account_id) as session:
        session.add(booking)
        session.flush()
        session.add(Voucher(voucher_slug="aa-systemwide-upgrade", expires_on=day(7), **{field: booking.id}))
    keep(people.alice, LoyaltyStatus(program=BA, tier="Gold", lifetime=True, valid_until=day(6)))
    assert deadlines() == []


def test_a_passed_bonus_day_is_told_until_the_mark_is_moved(people: People, use: Use, deadlines: Deadlines) -> None:
    keep(
        people.alice,
        card(bonus_status="pending", spend_deadline_on=day(-3), spend_requirement=Decimal(3000)),
        card(name="Unmarked", spend_deadline_on=day(-3)),
        card(name="Earned", bonus_status="earned", spend_deadline_on=day(3)),
        card(name="Closed", bonus_status="pending", spend_deadline_on=day(3), closed_on=day(-1)),
    )
    (found,) = deadlines()
    assert (found["days_left"], found["amount"], found["currency"]) == (-3, 3000, "GBP")
    assert "was the bonus earned or missed?" in found["suggested_action"]
    assert "still marked pending" in use(people.alice, LIST)["message"]
    assert use(people.alice, "get_portfolio")["deadlines"] == [found]


def test_a_catalogue_fee_is_told_in_the_currency_of_the_catalogue(people: People, deadlines: Deadlines) -> None:
    gold = reference().cards["us-amex-gold"]
    keep(people.alice, card(slug=gold.slug, name=gold.name, custom=False, currency="GBP", opened_on=day(-300)))
    (found,) = deadlines(kinds=["annual_fee"], within_days=80)
    assert (found["amount"], found["currency"]) == (float(gold.annual_fee or 0), "USD")


def test_a_card_opened_on_a_leap_day_has_its_fee_on_the_28th_of_february(
    people: People, deadlines: Deadlines, at: Callable[..., None]
) -> None:
    keep(people.alice, card(annual_fee=Decimal(95), opened_on=date(2024, 2, 29)))
    for year, due in ((2027, "2027-02-28"), (2028, "2028-02-29")):
        at(year, 2, 1)
        assert [d["due_on"] for d in deadlines(kinds=["annual_fee"])] == [due]


def test_transfer_bonuses_are_told_for_currencies_the_person_has(
    people: People, use: Use, deadlines: Deadlines, at: Callable[..., None]
) -> None:
    at(2026, 9, 1, 12)
    running = use(people.alice, "whats_on_sale", category="transfer")["transfer_bonuses"]
    source = running[0]["from_program"]
    keep(people.alice, PointsBalance(program=source, balance=10, as_of=date(2026, 8, 1)))
    found = deadlines(kinds=["transfer_bonus"], within_days=730)
    mine = [o for o in running if o["from_program"] == source]
    assert [d["due_on"] for d in found] == sorted(o["ends_on"] for o in mine)
    assert {d["subject"]["id"] for d in found} == {f"{source}>{o['to_program']}" for o in mine}
    at(2032, 1, 1)
    assert deadlines(kinds=["transfer_bonus"], within_days=730) == []


@pytest.mark.usefixtures("noon")
@pytest.mark.spec("s4.4.get_calendar_feed.cancelled_out")
def test_bookings_tell_departures_arrivals_and_only_stated_free_cancellations(
    people: People, deadlines: Deadlines
) -> None:
    keep(
        people.alice,
        leg(),
        leg(departure_date=day(-2)),
        leg(cancelled_at=clock.now()),
        stay(free_cancellation_until=day(38)),
        stay(check_in_date=day(50), check_out_date=day(51), kind="award", original_pay_rate_usd=None),
        stay(check_in_date=day(-1), check_out_date=day(3), free_cancellation_until=day(-2)),
        stay(cancelled_at=clock.now(), free_cancellation_until=day(30)),
    )
    found = deadlines(kinds=["booking"])
    assert [(d["title"].split()[0], d["days_left"]) for d in found] == [
        ("Flight", 12),
        ("Free", 38),
        ("Check-in", 40),
        ("Check-in", 50),
    ]
    assert found[1]["value_at_risk"] == {"amount": 900, "currency": "EUR"}
    assert found[1]["subject"] == found[2]["subject"]


def test_today_is_the_day_where_the_person_lives(people: People, deadlines: Deadlines, at: Callable[..., None]) -> None:
    keep(people.alice, LoyaltyStatus(program=BA, tier="Gold", lifetime=False, valid_until=date(2027, 3, 1)))
    at(2027, 3, 1, 12)
    assert [d["days_left"] for d in deadlines()] == [0]
    keep(people.alice, Profile(timezone="Pacific/Auckland"))
    assert deadlines() == []
    with transaction(people.alice.account_id) as session:
        session.query(Profile).one().timezone = "Pacific/Pago_Pago"
    at(2027, 3, 2, 5)
    assert [d["days_left"] for d in deadlines()] == [0]
    at(2027, 3, 2, 12)
    assert deadlines() == []


def test_a_departure_is_counted_on_the_day_of_its_airport(
    people: People, deadlines: Deadlines, at: Callable[..., None]
) -> None:
    keep(people.alice, Profile(timezone="Pacific/Auckland"), leg(origin="LAX", departure_date=date(2027, 3, 1)))
    at(2027, 3, 2, 5)  # the 2nd in Auckland, and still the evening of the 1st in Los Angeles
    assert [d["days_left"] for d in deadlines()] == [0]
    at(2027, 3, 2, 9)
    assert deadlines() == []


def test_the_window_counts_its_last_day(people: People, deadlines: Deadlines) -> None:
    keep(people.alice, leg(departure_date=day(30)), leg(departure_date=day(31)))
    assert len(deadlines(within_days=30)) == 1
    assert len(deadlines(within_days=31)) == 2


@pytest.mark.parametrize("arguments", [{"within_days": 0}, {"within_days": 731}, {"kinds": ["birthdays"]}])
def test_list_upcoming_deadlines_refuses_what_it_does_not_know(
    people: People, use: Use, arguments: dict[str, Any]
) -> None:
    assert use(people.alice, LIST, **arguments)["status"] == "invalid"


def test_a_long_list_is_cut_and_says_how_many_there_are(people: People, use: Use) -> None:
    keep(people.alice, *(leg(departure_date=day(n % 80 + 1)) for n in range(260)))
    answer = use(people.alice, LIST)
    assert (len(answer["deadlines"]), answer["total"]) == (200, 260)
    assert "soonest 200" in answer["message"]


@pytest.mark.parametrize(("zone", "left"), [("Pacific/Auckland", 0), ("UTC", 1), ("Pacific/Pago_Pago", 1)])
def test_every_list_counts_the_days_to_the_same_end_by_the_persons_own_day(
    people: People, use: Use, at: Callable[..., None], deadlines: Deadlines, zone: str, left: int
) -> None:
    at(2028, 2, 28, 12, 30)  # the leap day has begun in Auckland
    ends = date(2028, 2, 29)
    keep(
        people.alice,
        Profile(timezone=zone),
        Voucher(voucher_slug="ba-companion-voucher", expires_on=ends),
        PointsBalance(program=FB, balance=5, expires_on=ends, as_of=date(2028, 1, 1), source="manual"),
        LoyaltyStatus(program=BA, tier="Gold", valid_until=ends),
        card(opened_on=date(2027, 12, 1), spend_deadline_on=ends, bonus_status="pending"),
    )
    assert {d["days_left"] for d in deadlines(kinds=["voucher", "points", "status", "card_bonus"])} == {left}
    (voucher,) = use(people.alice, "list_my_vouchers")["vouchers"]
    (balance,) = use(people.alice, "list_points_balances")["balances"]
    (status,) = use(people.alice, "list_loyalty_statuses")["statuses"]
    (owned,) = use(people.alice, "list_my_cards")["cards"]
    told = [voucher["days_left"], balance["days_left"], status["days_left"], owned["bonus_days_left"]]
    assert told == [left] * 4
    assert [s["days_left"] for s in use(people.alice, "get_portfolio")["statuses"]] == [left]


def test_a_voucher_is_over_when_the_persons_day_is(people: People, use: Use, at: Callable[..., None]) -> None:
    at(2027, 3, 2, 3, 0)  # still the first of March in Honolulu
    keep(people.alice, Profile(timezone="Pacific/Honolulu"), leg(departure_date=date(2027, 5, 4)))
    keep(people.alice, Voucher(voucher_slug="ba-companion-voucher", expires_on=date(2027, 3, 1)))
    (voucher,) = use(people.alice, "list_my_vouchers", state="held")["vouchers"]
    (flight,) = use(people.alice, "list_flight_bookings")["bookings"]
    on = {"booking_type": "flight", "booking_id": flight["booking_id"]}
    assert use(people.alice, "apply_voucher_to_booking", voucher_id=voucher["voucher_id"], **on)["status"] == "ok"
    at(2027, 3, 2, 10, 1)
    assert use(people.alice, "list_my_vouchers", state="expired")["vouchers"] == []  # it is on a booking


def test_a_status_may_be_dated_on_the_persons_own_day(people: People, use: Use, at: Callable[..., None]) -> None:
    at(2027, 3, 1, 12, 0)  # the second of March in Auckland
    keep(people.alice, Profile(timezone="Pacific/Auckland"))
    answer = use(people.alice, "set_loyalty_status", program=BA, tier="Gold", progress=5, progress_as_of="2027-03-02")
    assert answer["status"] == "ok"
    assert (
        use(people.alice, "set_loyalty_status", program=BA, tier="Gold", valid_until="2027-03-01")["status"]
        == "invalid"
    )


def test_list_upcoming_deadlines_lists_credits_that_end_soon_until_they_are_used(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    standing_clock.set(datetime(2026, 11, 22, 12, tzinfo=UTC))
    platinum = use(people.alice, "add_card", card="us-amex-platinum", nickname="Plat")["card"]["card_id"]
    answer = use(people.alice, LIST, kinds=["card_credit"])
    titles = [d["title"] for d in answer["deadlines"]]
    assert titles[-1] == "Hotel credit of Plat: $300 open"
    assert [d["days_left"] for d in answer["deadlines"]] == [8, 8, 8, 39]  # the quarter's are not due yet
    use(people.alice, "update_card", card_id=platinum, credit="hotel")
    use(people.alice, "update_card", card_id=platinum, credit="uber-cash", credit_used=15)
    after = use(people.alice, LIST, kinds=["card_credit"])["deadlines"]
    assert [d["title"] for d in after] == [t for t in titles if not t.startswith(("Hotel", "Uber"))]
    standing_clock.set(datetime(2026, 12, 22, 12, tzinfo=UTC))
    again = [d["title"] for d in use(people.alice, LIST, kinds=["card_credit"])["deadlines"]]
    assert "Uber Cash of Plat: $15 open" in again  # a new month
    assert "Hotel credit of Plat: $300 open" not in again
    assert "lululemon credit of Plat: $75 open" in again


def test_a_bonus_deadline_says_what_statements_show(people: People, use: Use, standing_clock: StandingClock) -> None:
    standing_clock.set(datetime(2026, 11, 22, 12, tzinfo=UTC))
    fields = {"opened_on": "2026-09-01", "spend_requirement": 500, "spend_window_months": 3, "bonus_status": "pending"}
    card = use(people.alice, "add_card", card="House card", custom=True, **fields)["card"]["card_id"]
    lines = [{"date": "2026-10-25", "description": "Zed Ltd", "amount": "120.50", "category": "other"}]
    use(people.alice, "import_spending_statement", rows=lines, currency="USD", card_id=card)
    (due,) = use(people.alice, LIST, kinds=["card_bonus"])["deadlines"]
    assert due["suggested_action"] == (
        "Spend 500.00 USD in all by then. 120.50 of 500 USD spent by 25 Oct 2026 as far as statements show;"
        " 379.50 to go by Tue 1 Dec 2026."
    )


def test_the_message_leads_with_what_is_most_at_stake_and_not_with_the_first_day(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    standing_clock.set(datetime(2026, 11, 28, 12, tzinfo=UTC))
    terms = {"bonus_amount": 75_000, "spend_requirement": 5_000, "spend_deadline_on": "2027-01-15"}
    use(people.alice, "add_card", card="us-chase-sapphire-preferred", bonus_status="pending", **terms)
    use(people.alice, "add_card", card="us-amex-gold")
    lead = (
        "First: Welcome bonus of Chase Sapphire Preferred (75,000 points): last day to spend, 15 Jan 2027 (worth about"
    )
    answer = use(people.alice, LIST)
    assert answer["message"].startswith(lead)
    assert [d["due_on"] for d in answer["deadlines"]] == sorted(d["due_on"] for d in answer["deadlines"])
    assert answer["deadlines"][0]["kind"] == "card_credit"
    portfolio = use(people.alice, "get_portfolio")
    assert portfolio["message"].startswith(lead)
    assert [(b["bonus_amount"], b["spend_deadline_on"], b["progress"]) for b in portfolio["cards"]["bonuses"]] == [
        (75_000, "2027-01-15", None)
    ]


def test_what_a_person_says_they_have_spent_counts_until_a_newer_statement(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    standing_clock.set(datetime(2026, 11, 28, 12, tzinfo=UTC))
    terms = {"spend_requirement": 5_000, "opened_on": "2026-10-15", "spend_window_months": 3, "bonus_status": "pending"}
    card = use(people.alice, "add_card", card="House card", custom=True, **terms)["card"]["card_id"]
    changed = use(people.alice, "update_card", card_id=card, spend_so_far="2100")
    assert changed["card"]["spend_so_far"] == 2_100
    said = "2,100 of 5,000 USD spent by 28 Nov 2026 as you told; 2,900 to go by Fri 15 Jan 2027."
    assert said in changed["message"]
    (bonus,) = use(people.alice, "get_portfolio")["cards"]["bonuses"]
    assert (bonus["progress"]["sentence"], bonus["progress"]["is_told"]) == (said, True)
    assert said in use(people.alice, LIST, kinds=["card_bonus"])["message"]
    standing_clock.set(datetime(2026, 12, 20, 12, tzinfo=UTC))
    lines = [{"date": "2026-12-10", "description": "Zed Ltd", "amount": "3000", "category": "other"}]
    use(people.alice, "import_spending_statement", rows=lines, currency="USD", card_id=card)
    (newer,) = use(people.alice, "get_portfolio")["cards"]["bonuses"]
    assert (newer["progress"]["spent"], newer["progress"]["is_told"]) == (3_000, False)
    use(people.alice, "update_card", card_id=card, spend_so_far="")
    assert use(people.alice, "list_my_cards")["cards"][0]["spend_so_far"] is None


def test_list_upcoming_deadlines_names_a_programme_of_two_members_once(people: People, use: Use) -> None:
    for member in ({}, {"member": "Anna"}):
        use(people.alice, "update_points_balance", program="air-canada-aeroplan", balance=30_000, **member)
    assert use(people.alice, "list_upcoming_deadlines")["message"].count("Aeroplan") == 1


def test_points_that_never_expire_but_have_a_day_are_not_said_to_end_by_their_rule(
    people: People, deadlines: Deadlines
) -> None:
    """A day of the person's own contradicts the rule: the advice names the contradiction, not a rule `never`."""
    united = {"program": "united-mileageplus", "balance": 62340, "expires_on": day(30), "as_of": day(0)}
    keep(people.alice, PointsBalance(**united))
    (row,) = deadlines(kinds=["points"])
    assert "Rule: never" not in row["suggested_action"]
    assert "do not expire by its rule" in row["suggested_action"]


def test_an_annual_fee_is_told_next_to_what_the_card_brought(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    standing_clock.set(datetime(2026, 11, 22, 12, tzinfo=UTC))
    owned = use(people.alice, "add_card", card="us-amex-gold", opened_on="2024-12-20")["card"]["card_id"]

    def read_advice() -> str:
        answer = use(people.alice, LIST, kinds=["annual_fee"])
        return str(answer["deadlines"][0]["suggested_action"])

    assert read_advice().startswith("What it brought is not known")
    use(people.alice, "update_card", card_id=owned, credit="dunkin", credit_used=7)
    assert "credits of 7 USD marked used, points not known without a statement; 318 USD less than the fee" in (
        read_advice().replace(".00", "")
    )
    rows = [{"date": "2026-10-03", "description": "RESTAURANT", "amount": 1_000, "category": "dining"}]
    use(people.alice, "import_spending_statement", card_id=owned, rows=rows, currency="USD")
    advice = read_advice()
    assert "points worth about 80" in advice.replace(".00", "")  # 4,000 points at 2 cents
    assert "as far as known" not in advice
    assert "ask to change it to " in advice
