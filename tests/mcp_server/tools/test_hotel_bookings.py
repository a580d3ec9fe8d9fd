"""Stays through the gate: found by any name of the hotel, compared with prices seen since, changed and removed."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select

from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.registry import TOOLS
from shared import clock
from shared.db import runs
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.bookings import HotelBooking, HotelPrice
from shared.db.trips import Trip
from shared.db.vouchers import Voucher
from shared.domain.watch_kinds import HOTEL_PRICE
from shared.reference import hotels
from shared.reference.load import reference
from shared.services.bookings import bookings as store
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

pytestmark = pytest.mark.usefixtures("account_is_locked_first")

TOKYO = "htl_conrad-tokyo"
IN, OUT = date(2031, 5, 4), date(2031, 5, 7)
STAY: dict[str, Any] = {"hotel_id": TOKYO, "check_in_date": IN.isoformat(), "check_out_date": OUT.isoformat()}


def day(offset: int) -> str:
    return (clock.today() + timedelta(days=offset)).isoformat()


def add(use: Use, who: Caller, **more: Any) -> dict[str, Any]:
    made = use(who, "add_hotel_booking", **STAY | {"again": True} | more)
    assert made["status"] == "ok", made
    return made["booking"]


def seen(who: Caller, hours_ago: int = 0, code: str = TOKYO, **price: Any) -> None:
    """A price of the stay, as a check would have kept it."""
    at = clock.now() - timedelta(hours=hours_ago)
    with transaction(who.account_id) as session:
        row = HotelPrice(
            hotel_code=code,
            check_in_date=IN,
            check_out_date=OUT,
            captured_at=at,
            source="sandbox",
            mode="live",
            **price,
        )
        session.add(row)


def stored(who: Caller, booking: int) -> HotelBooking:
    with transaction(who.account_id) as session:
        row = session.get(HotelBooking, booking)
        assert row is not None
        return row


@pytest.mark.spec(
    "s2.3.stay_dates_required",
    "s2.3.kind_default_award",
    "s2.3.cash_rate_currency_usd",
    "s2.3.free_text_fields",
    "s2.3.trip_id_integer",
    "s2.3.award_may_have_pay_rate",
)
def test_add_hotel_booking_keeps_every_field(people: People, use: Use) -> None:
    with transaction(people.alice.account_id) as session:
        session.add(trip := Trip(name="Japan"))
        session.flush()
        number = trip.id
    full = {
        "original_points": 285_000,
        "original_pay_rate_usd": 1860.5,
        "room_type": "King",
        "rate_plan": "Standard",
        "confirmation_number": "3345667788",
        "notes": "High floor",
        "trip_id": number,
    }
    made = add(use, people.alice, **full)
    assert {name: made[name] for name in full} == full
    assert (made["kind"], made["cash_rate_currency"], made["nights"], made["state"]) == ("award", "USD", 3, "upcoming")
    assert made["hotel"] == {
        "hotel_id": hotels.number(hotels.find_hotel(reference(), TOKYO)),
        "hotel_code": TOKYO,
        "name": "Conrad Tokyo",
        "chain": "hilton",
        "city": "Tokyo",
        "country": "JP",
    }
    assert (made["latest"], made["drop"], made["free_cancellation_until"]) == (None, None, None)


@pytest.mark.spec("s2.3.hotel_id_htl_code", "s2.3.hotel_id_numeric", "s2.3.hotel_id_property_code")
@pytest.mark.parametrize(
    "name", [TOKYO, hotels.number(hotels.find_hotel(reference(), TOKYO)), "TYOCICI", "Conrad Tokyo"]
)
def test_a_hotel_goes_by_its_code_its_number_and_its_property_code(people: People, use: Use, name: str) -> None:
    assert add(use, people.alice, hotel_id=name)["hotel"]["hotel_code"] == TOKYO
    if name.isdigit():
        assert use(people.alice, "add_hotel_booking", **STAY | {"hotel_id": int(name)})["status"] == "ok"


def test_a_name_of_several_hotels_saves_nothing(people: People, use: Use) -> None:
    several = use(people.alice, "add_hotel_booking", **STAY | {"hotel_id": "Conrad"})
    assert (several["status"], several["saved"]) == ("candidates", False)
    assert {"hotel_id", "hotel_code", "name", "chain", "city", "country"} == several["candidates"][0].keys()
    none = use(people.alice, "add_hotel_booking", **STAY | {"hotel_id": "Conrad Tokio"})
    assert (none["status"], none["nearest"][0]) == ("not_found", "Conrad Tokyo")
    assert use(people.alice, "list_hotel_bookings")["bookings"] == []


def test_a_stay_at_any_hotel_is_kept_by_its_name_and_not_watched(people: People, use: Use) -> None:
    name = "Hilton Boston Back Bay"
    answer = use(people.alice, "add_hotel_booking", **STAY | {"hotel_id": name, "city": "Boston", "country": "us"})
    booking = answer["booking"]
    assert (booking["hotel"]["hotel_id"], booking["hotel"]["hotel_code"], booking["hotel"]["name"]) == (
        None,
        None,
        name,
    )
    assert (booking["hotel"]["city"], booking["hotel"]["country"]) == ("Boston", "US")
    assert (answer["next_check_on"], booking["monitoring"]["active"]) == (None, False)
    assert "Prices of this hotel are not watched: it is not among the " in answer["message"]
    checked = use(people.alice, "check_hotel_booking_price", booking_id=booking["booking_id"])
    assert (checked["status"], checked["missing"]) == ("no_data", ["price"])
    assert "not watched" in checked["message"]
    assert use(people.alice, "get_hotel_booking", booking_id=booking["booking_id"])["booking"]["state"] == "upcoming"
    assert len(use(people.alice, "list_hotel_bookings", when="upcoming")["bookings"]) == 1


def test_a_slip_of_the_pen_is_asked_about_unless_the_city_is_said(people: People, use: Use) -> None:
    slip = use(people.alice, "add_hotel_booking", **STAY | {"hotel_id": "Conrad Tokio"})
    assert (slip["status"], slip["nearest"]) == ("not_found", ["Conrad Tokyo"])
    meant = use(people.alice, "add_hotel_booking", **STAY | {"hotel_id": "Conrad Tokio", "city": "Tokyo"})
    assert (meant["status"], meant["booking"]["hotel"]["name"]) == ("ok", "Conrad Tokio")
    nowhere = use(people.alice, "get_hotel", hotel_id="Nonexistent Thing 42")
    assert (nowhere["status"], nowhere["nearest"]) == ("not_found", [])


@pytest.mark.spec("s2.3.cash_needs_pay_rate", "s2.3.original_points", "s2.3.stay_dates_required")
@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"check_in_date": None}, "check_in_date"),
        ({"check_out_date": None}, "check_out_date"),
        ({"check_out_date": IN.isoformat()}, "check_out_date"),
        ({"kind": "cash"}, "original_pay_rate_usd"),
        ({"kind": "cash", "original_pay_rate_usd": 100, "original_points": 5}, "original_points"),
        ({"original_points": 0}, "original_points"),
        ({"original_pay_rate_usd": -1}, "original_pay_rate_usd"),
        ({"cash_rate_currency": "DOLLAR"}, "cash_rate_currency"),
        ({"trip_id": 0}, "trip_id"),
        ({"hotel_id": None}, "hotel_id"),
    ],
)
def test_a_stay_that_cannot_be_is_refused(people: People, use: Use, given: dict[str, Any], field: str) -> None:
    answer = use(people.alice, "add_hotel_booking", **STAY | given)
    assert answer["status"] == "invalid"
    assert field in {error["field"] for error in answer["errors"]}


@pytest.mark.spec("s4.4.add_hotel_booking.paid")
def test_logging_a_stay_needs_a_paid_plan_and_reading_none(people: People, use: Use) -> None:
    assert use(people.bob, "add_hotel_booking", **STAY)["status"] == "paywall"
    assert use(people.bob, "list_hotel_bookings")["status"] == "ok"
    assert TOOLS["add_hotel_booking"].description.endswith("Paid.")


def test_a_stay_is_watched_until_it_begins(people: People, use: Use) -> None:
    answer = use(people.alice, "add_hotel_booking", **STAY)
    assert answer["next_check_on"] == day(0)
    assert answer["booking"]["monitoring"] == {
        "active": True,
        "last_checked_at": None,
        "next_check_on": day(0),
        "last_error": None,
    }
    over = use(people.alice, "add_hotel_booking", **STAY | {"check_in_date": day(-9), "check_out_date": day(-5)})
    assert (over["booking"]["state"], over["next_check_on"]) == ("past", None)
    assert over["booking"]["monitoring"]["active"] is False
    with transaction() as session:
        (watch,) = session.scalars(select(runs.Schedule).where(runs.Schedule.kind == HOTEL_PRICE.run))
        watch.next_due_at += watch.every
    assert (watch.subject_id, watch.every) == (answer["booking"]["booking_id"], timedelta(days=1))
    shown = use(people.alice, "get_hotel_booking", booking_id=answer["booking"]["booking_id"])["booking"]
    assert shown["monitoring"]["next_check_on"] == day(1)


def test_get_hotel_booking_compares_the_newest_price_with_what_was_booked(people: People, use: Use) -> None:
    award = add(use, people.alice, original_points=100_000)["booking_id"]
    cash = add(use, people.alice, kind="cash", original_pay_rate_usd=900, cash_rate_currency="EUR")["booking_id"]
    with transaction(people.alice.account_id) as session:
        for row in session.query(HotelBooking):
            row.compared_since = clock.now() - timedelta(days=3)
    seen(people.alice, 90, points=1, cash=Decimal(1), currency="EUR")  # before the comparison began
    seen(people.alice, 20, points=60_000, cash=Decimal(700), currency="EUR")
    seen(people.alice, 10, points=75_000, cash=Decimal("720.50"), currency="EUR")
    seen(people.alice, 1, cash=Decimal(500), currency="USD")
    seen(people.alice, 0, "htl_conrad-osaka", points=5)
    shown = use(people.alice, "get_hotel_booking", booking_id=award)
    assert [s["cash"] for s in shown["snapshots"]] == [500, 720.5, 700]
    assert (shown["booking"]["latest"]["cash"], shown["booking"]["latest"]["mode"]) == (500, "cached")
    assert shown["drop"] == shown["booking"]["drop"]
    assert shown["message"].endswith("It is now 75,000 points, 25,000 (25.0%) less than you booked.")
    assert shown["drop"] | {"captured_at": ""} == {
        "points_saved": 25_000,
        "cash_saved": None,
        "currency": None,
        "percent": 25.0,
        "against": "original_points",
        "captured_at": "",
    }
    drop = use(people.alice, "get_hotel_booking", booking_id=cash)["drop"]
    assert (drop["cash_saved"], drop["currency"], drop["percent"]) == (179.5, "EUR", 19.9)
    listed = use(people.alice, "list_hotel_bookings")
    assert [b["drop"] is not None for b in listed["bookings"]] == [True, True]
    assert listed["totals"] == {"points": 100_000, "cash_by_currency": {"EUR": 900.0}, "drops_found": 2}


def test_prices_another_mode_invented_are_never_compared(people: People, use: Use) -> None:
    one = add(use, people.alice, original_points=100_000)["booking_id"]
    with transaction() as session:
        session.info["synthetic"] = False
        session.add(
            HotelPrice(hotel_code=TOKYO, check_in_date=IN, check_out_date=OUT, points=1, source="real", mode="live")
        )
    shown = use(people.alice, "get_hotel_booking", booking_id=one)
    assert (shown["snapshots"], shown["booking"]["latest"], shown["drop"]) == ([], None, None)
    assert use(people.alice, "list_hotel_bookings")["totals"]["drops_found"] == 0


def test_list_hotel_bookings_finds_stays_by_chain_time_and_drop(people: People, use: Use) -> None:
    soon = add(use, people.alice, check_in_date=day(5), check_out_date=day(7), original_points=10)["booking_id"]
    now = add(use, people.alice, check_in_date=day(-2), check_out_date=day(2), original_points=20)["booking_id"]
    past = add(use, people.alice, check_in_date=day(-9), check_out_date=day(-5), original_points=40)["booking_id"]
    gone = add(use, people.alice, check_in_date=day(8), check_out_date=day(9), original_points=80)["booking_id"]
    cheaper = add(use, people.alice, hotel_id="Andaz Maui at Wailea Resort", original_points=160)["booking_id"]
    with transaction(people.alice.account_id) as session:
        row = session.get(HotelBooking, gone)
        assert row is not None
        store.cancel(session, row, clock.now())
    seen(people.alice, 0, "htl_andaz-maui-at-wailea-resort", points=120)

    def found(**only: Any) -> list[int]:
        return [b["booking_id"] for b in use(people.alice, "list_hotel_bookings", **only)["bookings"]]

    assert found(when="upcoming") == [now, soon, cheaper]
    assert found(when="past") == [past]
    assert found(when="cancelled") == [gone]
    assert found() == [cheaper, gone, soon, now, past]
    assert found(chain="Hyatt") == found(with_drop_only=True) == [cheaper]
    assert found(chain="Hilton Honors", when="past") == [past]
    totals = use(people.alice, "list_hotel_bookings", per_page=1)["totals"]
    assert (totals["points"], totals["drops_found"]) == (230, 1)
    assert use(people.alice, "list_hotel_bookings", when="cancelled")["totals"]["points"] == 80
    assert use(people.alice, "list_hotel_bookings", chain="No one's Inns")["status"] == "not_found"
    states = {b["booking_id"]: b["state"] for b in use(people.alice, "list_hotel_bookings")["bookings"]}
    assert [states[one] for one in (soon, now, past, gone)] == ["upcoming", "current", "past", "cancelled"]


@pytest.mark.parametrize(("hour", "last_night", "state"), [(23, "2031-05-04", "past"), (10, "2031-05-04", "current")])
def test_the_day_of_the_hotel_decides(
    people: People, use: Use, standing_clock: StandingClock, hour: int, last_night: str, state: str
) -> None:
    one = add(use, people.alice, check_in_date="2031-05-01", check_out_date=last_night)["booking_id"]
    moment = clock.now().replace(year=2031, month=5, day=4, hour=hour)
    standing_clock.set(moment)
    assert use(people.alice, "get_hotel_booking", booking_id=one)["booking"]["state"] == state
    listed = {"past": "past", "current": "upcoming"}[state]
    assert use(people.alice, "list_hotel_bookings", when=listed)["paging"]["total"] == 1


@pytest.mark.running_clock  # its rows are dated one after the other
def test_update_hotel_booking_changes_only_what_is_sent_and_may_begin_the_comparison_afresh(
    people: People, use: Use
) -> None:
    before = add(use, people.alice, original_points=100_000, notes="High floor")
    one = before["booking_id"]
    seen(people.alice, 0, points=60_000)
    kept = use(people.alice, "update_hotel_booking", booking_id=one, notes="Low floor", original_points=90_000)
    assert (set(kept["changed"]), kept["snapshots_reset"]) == ({"notes", "original_points"}, False)
    assert kept["booking"]["drop"]["points_saved"] == 30_000
    same = use(people.alice, "update_hotel_booking", booking_id=one, check_in_date=STAY["check_in_date"])
    assert (same["changed"], same["snapshots_reset"]) == ([], False)
    other = use(people.alice, "update_hotel_booking", booking_id=one, room_type="Suite")
    assert (other["changed"], other["snapshots_reset"]) == (["room_type"], True)
    assert (other["booking"]["latest"], other["booking"]["drop"]) == (None, None)
    assert use(people.alice, "get_hotel_booking", booking_id=one)["snapshots"] == []
    moved = use(people.alice, "update_hotel_booking", booking_id=one, check_out_date="2031-05-09")
    assert (moved["snapshots_reset"], moved["booking"]["nights"]) == (True, 5)


def test_an_update_is_held_against_the_whole_stay(people: People, use: Use) -> None:
    one = add(use, people.alice, original_points=9)["booking_id"]
    for given in ({"check_in_date": "2031-05-07"}, {"kind": "cash"}, {"clear": ["kind"]}):
        assert use(people.alice, "update_hotel_booking", booking_id=one, **given)["status"] == "invalid"
    answer = use(people.alice, "update_hotel_booking", booking_id=one, kind="cash", original_pay_rate_usd=250)
    assert set(answer["changed"]) == {"kind", "original_pay_rate_usd", "original_points"}
    cleared = use(people.alice, "update_hotel_booking", booking_id=one, clear=["original_pay_rate_usd"])
    assert cleared["status"] == "invalid"
    assert stored(people.alice, one).original_pay_rate_usd == 250
    assert use(people.alice, "update_hotel_booking", booking_id=one, trip_id=999)["status"] == "not_found"
    assert use(people.bob, "update_hotel_booking", booking_id=one)["status"] == "paywall"


@pytest.mark.spec("s3.hotel_booking.delete_removes", "s4.4.delete_flight_booking.id")
def test_delete_hotel_booking_removes_the_stay_its_watch_and_frees_its_vouchers(people: People, use: Use) -> None:
    one = add(use, people.alice, confirmation_number="3345667788")["booking_id"]
    with transaction(people.alice.account_id) as session:
        session.add(mine := Voucher(voucher_slug="hilton-free-night-reward", hotel_booking_id=one))
        runs.schedule(session, HOTEL_PRICE.run, one, timedelta(days=1))
        session.flush()
        number = mine.id
    shown = use(people.alice, "get_hotel_booking", booking_id=one)
    assert (shown["booking"]["voucher_ids"], shown["vouchers"][0]["voucher_id"]) == ([number], number)
    gone = use(people.alice, "delete_hotel_booking", booking_id=one)
    assert gone["removed"] == {
        "booking_id": one,
        "hotel_name": "Conrad Tokyo",
        "check_in_date": "2031-05-04",
        "confirmation_number": "3345667788",
    }
    assert gone["vouchers_detached"] == [number]
    assert use(people.alice, "list_my_vouchers", voucher_id=number)["vouchers"][0]["state"] == "held"
    assert use(people.alice, "delete_hotel_booking", booking_id=one)["status"] == "not_found"
    assert use(people.alice, "delete_hotel_booking", booking_id=0)["status"] == "invalid"
    with transaction() as session:
        assert session.query(runs.Schedule).count() == 0


def test_a_cancellation_keeps_the_stay_and_stops_its_watch(people: People, use: Use) -> None:
    one = add(use, people.alice)["booking_id"]
    with transaction(people.alice.account_id) as session:
        runs.schedule(session, HOTEL_PRICE.run, one, timedelta(days=1))
        row = session.get(HotelBooking, one)
        assert row is not None
        assert store.cancel(session, row, clock.now()) == []
    shown = use(people.alice, "get_hotel_booking", booking_id=one)["booking"]
    assert (shown["state"], shown["monitoring"]["active"], shown["monitoring"]["next_check_on"]) == (
        "cancelled",
        False,
        None,
    )
    with transaction() as session:
        assert runs.next_due(session, HOTEL_PRICE.run, [one]) == {}


def test_a_hotel_that_left_the_facts_keeps_the_name_it_had(people: People, use: Use) -> None:
    one = add(use, people.alice)["booking_id"]
    with transaction(people.alice.account_id) as session:
        row = session.get(HotelBooking, one)
        assert row is not None
        row.hotel_code, row.hotel_name = "htl_gone", "The Gone Hotel"
    shown = use(people.alice, "list_hotel_bookings")["bookings"][0]["hotel"]
    assert (shown["name"], shown["hotel_id"], shown["chain"]) == ("The Gone Hotel", None, None)


def test_add_hotel_booking_says_whether_a_lower_price_is_mailed(people: People, use: Use) -> None:
    with transaction() as session:
        session.get_one(Account, people.alice.account_id).email_confirmed_at = clock.now()
    assert (
        "A lower price is mailed and appears as a notice" in use(people.alice, "add_hotel_booking", **STAY)["message"]
    )
    use(people.alice, "update_profile", mail={"hotel_price_drops": False})
    assert "mails about it are switched off" in use(people.alice, "add_hotel_booking", **STAY, again=True)["message"]
    assert "without a confirmed email address" in use(people.paula, "add_hotel_booking", **STAY)["message"]


def test_hotel_bookings_say_whose_they_are(people: People, use: Use) -> None:
    saved = use(people.alice, "add_hotel_booking", **STAY, member="Anna")
    stay = saved["booking"]["booking_id"]
    assert saved["booking"]["member"] == "Anna"
    assert saved["message"].startswith(f"Saved as hotel booking {stay} of Anna: ")
    assert use(people.alice, "get_hotel_booking", booking_id=stay)["message"].startswith("Stay of Anna: ")
    own = use(people.alice, "update_hotel_booking", booking_id=stay, member="")
    assert (own["changed"], own["booking"]["member"], own["snapshots_reset"]) == (["member"], None, False)
    assert use(people.alice, "list_hotel_bookings")["bookings"][0]["member"] is None


def test_update_hotel_booking_notes_a_cancellation_and_ends_what_watches_the_stay(people: People, use: Use) -> None:
    number = use(people.alice, "add_hotel_booking", **STAY)["booking"]["booking_id"]
    done = use(people.alice, "update_hotel_booking", booking_id=number, cancelled_on=str(clock.today()), notes="Rain")
    assert (done["booking"]["state"], done["booking"]["monitoring"]["active"]) == ("cancelled", False)
    assert done["message"].endswith("Changed it: notes now Rain.")
    with transaction() as session:
        assert runs.next_due(session, HOTEL_PRICE.run, [number]) == {}
    gone = use(people.alice, "delete_hotel_booking", booking_id=number)
    assert "still stands" not in gone["message"]
