"""Flight bookings, called through the gate: legs with points or cash, listed, changed and removed."""

from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

import anyio
import pytest
from sqlalchemy import select, update

from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.registry import TOOLS
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db.base import transaction
from shared.db.bookings import FlightBooking
from shared.db.observations import FareObservation
from shared.db.trips import Trip
from shared.db.vouchers import Voucher
from shared.services.bookings import bookings as store
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

pytestmark = pytest.mark.usefixtures("account_is_locked_first")

JOURNEY = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"
FAR = "2031-05-04"
LEG: dict[str, Any] = {
    "airline": "British Airways",
    "origin": "LHR",
    "destination": "JFK",
    "departure_date": FAR,
    "cabin_class": "business",
}


def day(offset: int) -> str:
    return (clock.today() + timedelta(days=offset)).isoformat()


def add(use: Use, who: Caller, **more: Any) -> dict[str, Any]:
    made = use(who, "add_flight_booking", **LEG | {"again": True} | more)
    assert made["status"] == "ok", made
    return made


def a_trip(who: Caller) -> int:
    with transaction(who.account_id) as session:
        session.add(row := Trip(name="Japan"))
        session.flush()
        return row.id


def a_voucher(who: Caller, booking: int) -> int:
    with transaction(who.account_id) as session:
        session.add(row := Voucher(voucher_slug="ba-companion", flight_booking_id=booking))
        session.flush()
        return row.id


@pytest.mark.spec(
    "s2.2.one_record_per_leg",
    "s2.2.trip_id_absent_single_leg",
    "s2.2.kind_default_award",
    "s2.2.taxes_currency_usd",
    "s2.2.workspace_trip_id_integer",
    "s2.2.flight_number",
    "s2.2.taxes_paid",
)
def test_add_flight_booking_keeps_every_field(people: People, use: Use) -> None:
    trip = a_trip(people.alice)
    plain = add(use, people.alice)["booking"]
    assert (plain["kind"], plain["taxes_currency"], plain["trip_id"], plain["state"]) == (
        "award",
        "USD",
        None,
        "upcoming",
    )
    full = {
        "points_spent": 160_000,
        "program": "british-airways-club",
        "flight_number": "BA117",
        "return_date": "2031-05-11",
        "taxes_paid": 450.5,
        "taxes_currency": "GBP",
        "passengers": 2,
        "confirmation_number": "ABC123",
        "notes": "Window",
        "workspace_trip_id": trip,
    }
    made = add(use, people.alice, **full)
    assert {name: made["booking"][name] for name in full} == full
    assert made["booking"]["airline"] == "BA"
    assert made["legs"] == [made["booking"]]


@pytest.mark.spec("s2.2.trip_id_uuid", "s2.2.trip_id_either_case", "s4.4.add_flight_booking.cost_on_first_leg")
def test_legs_of_one_journey_share_an_id_and_one_cost(people: People, use: Use) -> None:
    first = add(use, people.alice, trip_id=JOURNEY, points_spent=160_000, program="BA Avios", taxes_paid=450)
    second = add(
        use,
        people.alice,
        trip_id=JOURNEY.lower(),
        origin="JFK",
        destination="LHR",
        departure_date="2031-05-11",
        points_spent=0,
        program="Avios",
        taxes_paid=0,
    )
    assert [leg["booking_id"] for leg in second["legs"]] == [
        first["booking"]["booking_id"],
        second["booking"]["booking_id"],
    ]
    assert {leg["trip_id"] for leg in second["legs"]} == {JOURNEY.lower()}
    assert "More than one leg" not in second["message"]
    listed = use(people.alice, "list_flight_bookings", trip_id=JOURNEY)
    assert listed["totals"]["points_by_program"] == {"british-airways-club": 160_000}
    twice = add(use, people.alice, trip_id=JOURNEY, departure_date="2031-05-12", points_spent=5)
    assert "More than one leg has a cost" in twice["message"]


def test_another_accounts_journey_of_the_same_id_stays_apart(people: People, use: Use) -> None:
    add(use, people.alice, trip_id=JOURNEY)
    assert len(add(use, people.charlie, trip_id=JOURNEY)["legs"]) == 1


@pytest.mark.spec("s2.2.kind_default_award", "s2.2.cash_paid")
def test_a_cash_leg_needs_what_was_paid(people: People, use: Use) -> None:
    refused = use(people.alice, "add_flight_booking", **LEG, kind="cash")
    assert (refused["status"], refused["errors"][0]["field"]) == ("invalid", "cash_paid")
    made = add(use, people.alice, kind="cash", cash_paid=612.4, taxes_currency="eur")
    assert (made["booking"]["cash_paid"], made["booking"]["taxes_currency"]) == (612.4, "EUR")


@pytest.mark.spec(
    "s2.2.airline_required",
    "s2.2.airports_upper_case_only",
    "s2.2.cabin_class_required",
    "s2.2.passengers_from_one",
    "s2.2.points_spent",
    "s2.2.trip_id_uuid",
)
@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"airline": None}, "airline"),
        ({"airline": "  "}, "airline"),
        ({"departure_date": None}, "departure_date"),
        ({"origin": "lhr"}, "origin"),
        ({"destination": "jfk"}, "destination"),
        ({"origin": "ZZZ"}, "origin"),
        ({"destination": "LHR"}, "destination"),
        ({"cabin_class": None}, "cabin_class"),
        ({"cabin_class": "coach"}, "cabin_class"),
        ({"kind": "gift"}, "kind"),
        ({"points_spent": -1}, "points_spent"),
        ({"points_spent": 10**13}, "points_spent"),
        ({"points_spent": 1.5}, "points_spent"),
        ({"cash_paid": 100}, "cash_paid"),
        ({"kind": "cash", "cash_paid": 100, "program": "flying-blue"}, "program"),
        ({"passengers": 0}, "passengers"),
        ({"passengers": 10**6}, "passengers"),
        ({"taxes_paid": -1}, "taxes_paid"),
        ({"trip_id": "3F2504E04F8941D39A0C0305E82C3301"}, "trip_id"),
        ({"trip_id": "3F2504E0-4F89-41D3-9A0C-0305E82C330Z"}, "trip_id"),
        ({"trip_id": 7}, "trip_id"),
        ({"return_date": "2031-05-03"}, "return_date"),
        ({"notes": "x" * 4001}, "notes"),
    ],
)
def test_a_leg_that_cannot_be_is_refused(people: People, use: Use, given: dict[str, Any], field: str) -> None:
    answer = use(people.alice, "add_flight_booking", **LEG | given)
    assert answer["status"] == "invalid"
    assert field in {error["field"] for error in answer["errors"]}
    assert use(people.alice, "list_flight_bookings")["bookings"] == []


@pytest.mark.spec("s4.4.add_flight_booking.paid")
def test_logging_a_flight_needs_a_paid_plan_and_reading_none(people: People, use: Use) -> None:
    assert use(people.bob, "add_flight_booking", **LEG)["status"] == "paywall"
    assert use(people.bob, "list_flight_bookings")["status"] == "ok"
    assert TOOLS["add_flight_booking"].description.endswith("Paid.")


def test_names_are_resolved_and_nothing_is_lost_with_a_carrier_nobody_listed(people: People, use: Use) -> None:
    shared = use(people.alice, "add_flight_booking", **LEG | {"airline": "Ryanair", "program": "Avios"})
    assert (shared["status"], shared["saved"]) == ("candidates", False)
    unknown = use(people.alice, "add_flight_booking", **LEG | {"program": "Flying Bleu"})
    assert unknown["status"] == "not_found"
    assert unknown["nearest"]
    own = add(use, people.alice, airline="Iberia", program="Avios")
    assert own["booking"]["program"] == "iberia-club"
    kept = add(use, people.alice, airline="Sunrise Air")
    assert kept["booking"]["airline"] == "Sunrise Air"
    assert "kept as you wrote it" in kept["message"]
    assert use(people.alice, "list_flight_bookings", airline="sunrise air")["paging"]["total"] == 1
    known = add(use, people.alice, airline="Ryanair")
    assert (known["booking"]["airline"], "kept as you wrote it" in known["message"]) == ("FR", False)
    with transaction() as session:  # as it was kept before the carrier was known
        session.execute(update(FlightBooking).where(FlightBooking.airline == "FR").values(airline="Ryanair"))
    assert use(people.alice, "list_flight_bookings", airline="ryanair")["paging"]["total"] == 1
    assert use(people.alice, "list_flight_bookings", airline="British Airways")["paging"]["total"] == 0


def test_a_point_is_valued_only_by_a_fare_seen_for_the_very_seat(people: People, use: Use) -> None:
    award = {"points_spent": 100_000, "taxes_paid": 350, "passengers": 1}
    assert add(use, people.alice, **award)["cents_per_point"] is None
    fare = {
        "source": "sandbox",
        "origin": "LHR",
        "destination": "JFK",
        "date": date.fromisoformat(FAR),
        "cabin": "business",
        "currency": "USD",
        "carriers": ["BA"],
    }
    with transaction(people.bob.account_id) as session:
        session.add(FareObservation(**fare, passengers=1, price=Decimal(1850)))
        session.add(FareObservation(**fare, passengers=2, price=Decimal(9999)))
        session.add(FareObservation(**fare, passengers=1, price=Decimal(900), city_wide=True))
        session.add(FareObservation(**fare, passengers=1, price=Decimal(1), asker_id=people.bob.account_id))
    assert add(use, people.alice, **award)["cents_per_point"] == 1.5
    assert add(use, people.alice, **award | {"passengers": None})["cents_per_point"] is None
    assert add(use, people.alice, **award, trip_id=JOURNEY)["cents_per_point"] == 1.5
    later = add(use, people.alice, **award, trip_id=JOURNEY, departure_date="2031-05-09")
    assert later["cents_per_point"] is None


def test_get_flight_booking_shows_the_legs_the_vouchers_and_what_cancelling_costs(people: People, use: Use) -> None:
    one = add(use, people.alice, trip_id=JOURNEY, program="united", airline="United")["booking"]["booking_id"]
    add(use, people.alice, trip_id=JOURNEY, departure_date="2031-05-09")
    mine = a_voucher(people.alice, one)
    answer = use(people.alice, "get_flight_booking", booking_id=one)
    assert answer["booking"]["voucher_ids"] == [mine]
    assert [v["voucher_id"] for v in answer["vouchers"]] == [mine]
    assert [leg["departure_date"] for leg in answer["legs"]] == [FAR, "2031-05-09"]
    assert answer["cancellation"].keys() >= {
        "amount",
        "currency",
        "unit",
        "exempt_tiers",
        "source_url",
        "verified_on",
    }
    paid = add(use, people.alice, kind="cash", cash_paid=1)["booking"]["booking_id"]
    assert use(people.alice, "get_flight_booking", booking_id=paid)["cancellation"] is None


def test_list_flight_bookings_is_filtered_and_its_totals_cover_all_that_fits(people: People, use: Use) -> None:
    for number in range(3):
        add(use, people.alice, departure_date=day(20 + number), points_spent=10_000, program="flying-blue")
    add(use, people.alice, departure_date=day(-20), kind="cash", cash_paid=99.5, taxes_paid=1, taxes_currency="EUR")
    gone = add(use, people.alice, departure_date=day(30), points_spent=7, program="flying-blue")["booking"]
    cancel(people.alice, gone["booking_id"])
    add(use, people.alice, departure_date=day(-21), points_spent=0)
    page = use(people.alice, "list_flight_bookings", per_page=1)
    assert (page["paging"]["total"], page["paging"]["has_more"], len(page["bookings"])) == (6, True, 1)
    assert page["totals"] == {
        "points_by_program": {"flying-blue": 30_000},
        "cash_by_currency": {"EUR": 99.5},
        "taxes_by_currency": {"EUR": 1.0},
    }
    upcoming = use(people.alice, "list_flight_bookings", when="upcoming")
    assert [b["departure_date"] for b in upcoming["bookings"]] == [day(20), day(21), day(22)]
    past = use(people.alice, "list_flight_bookings", when="past")
    assert [b["state"] for b in past["bookings"]] == ["past", "past"]
    cancelled = use(people.alice, "list_flight_bookings", when="cancelled")
    assert [b["booking_id"] for b in cancelled["bookings"]] == [gone["booking_id"]]
    assert cancelled["totals"]["points_by_program"] == {"flying-blue": 7}
    window = use(people.alice, "list_flight_bookings", from_date=day(21), to_date=day(22), program="Flying Blue")
    assert window["paging"]["total"] == 2
    assert use(people.alice, "list_flight_bookings", from_date=day(2), to_date=day(1))["status"] == "invalid"


def cancel(who: Caller, booking: int) -> list[int]:
    with transaction(who.account_id) as session:
        row = session.get(FlightBooking, booking)
        assert row is not None
        return store.cancel(session, row, clock.now())


@pytest.mark.parametrize(
    ("hour", "origin", "departs", "state"),
    [
        (23, "HND", "2031-05-04", "past"),
        (23, "LAX", "2031-05-04", "upcoming"),
        (3, "LAX", "2031-05-03", "upcoming"),
        (3, "LHR", "2031-05-03", "past"),
        (3, "TYO", "2031-05-04", "upcoming"),
        (11, "CXI", "2031-05-04", "past"),
    ],
)
def test_the_day_of_the_airport_decides_in_the_list_as_in_the_record(
    people: People, use: Use, standing_clock: StandingClock, hour: int, origin: str, departs: str, state: str
) -> None:
    made = add(use, people.alice, origin=origin, departure_date=departs)["booking"]["booking_id"]
    moment = clock.now().replace(year=2031, month=5, day=4, hour=hour)
    standing_clock.set(moment)
    assert use(people.alice, "get_flight_booking", booking_id=made)["booking"]["state"] == state
    assert use(people.alice, "list_flight_bookings", when=state)["paging"]["total"] == 1
    other = "past" if state == "upcoming" else "upcoming"
    assert use(people.alice, "list_flight_bookings", when=other)["paging"]["total"] == 0


def test_update_flight_booking_changes_only_what_is_sent(people: People, use: Use) -> None:
    before = add(use, people.alice, points_spent=9, program="flying-blue", notes="Window")["booking"]
    one = before["booking_id"]
    answer = use(people.alice, "update_flight_booking", booking_id=one, notes="Aisle", cabin_class="business")
    assert answer["changed"] == ["notes"]
    assert answer["booking"] == before | {"notes": "Aisle", "updated_at": answer["booking"]["updated_at"]}
    cleared = use(people.alice, "update_flight_booking", booking_id=one, clear=["notes", "points_spent"])
    assert set(cleared["changed"]) == {"notes", "points_spent"}
    assert (cleared["booking"]["notes"], cleared["booking"]["points_spent"]) == (None, None)
    clash = use(people.alice, "update_flight_booking", booking_id=one, notes="x", clear=["notes"])
    assert (clash["status"], clash["errors"][0]["field"]) == ("invalid", "clear")


def test_another_kind_empties_what_only_the_old_one_had(people: People, use: Use) -> None:
    one = add(use, people.alice, points_spent=9, program="flying-blue")["booking"]["booking_id"]
    refused = use(people.alice, "update_flight_booking", booking_id=one, kind="cash")
    assert (refused["status"], refused["errors"][0]["field"]) == ("invalid", "cash_paid")
    kept = use(people.alice, "get_flight_booking", booking_id=one)["booking"]
    assert (kept["kind"], kept["points_spent"]) == ("award", 9)
    answer = use(people.alice, "update_flight_booking", booking_id=one, kind="cash", cash_paid=250)
    assert set(answer["changed"]) == {"kind", "cash_paid", "points_spent", "program"}
    assert use(people.alice, "update_flight_booking", booking_id=one, clear=["cash_paid"])["status"] == "invalid"
    both = use(people.alice, "update_flight_booking", booking_id=one, kind="award", cash_paid=1)
    assert both["status"] == "invalid"


def test_an_update_is_held_against_the_whole_leg(people: People, use: Use) -> None:
    one = add(use, people.alice, return_date="2031-05-11")["booking"]["booking_id"]
    for given in ({"departure_date": "2031-05-12"}, {"origin": "JFK"}, {"cash_paid": 1}):
        assert use(people.alice, "update_flight_booking", booking_id=one, **given)["status"] == "invalid"
    assert use(people.alice, "update_flight_booking", booking_id=one, workspace_trip_id=999)["status"] == "not_found"
    renamed = use(people.alice, "update_flight_booking", booking_id=one, airline="Iberia", program="avios")
    assert (renamed["booking"]["airline"], renamed["booking"]["program"]) == ("IB", "iberia-club")
    assert use(people.bob, "update_flight_booking", booking_id=one)["status"] == "paywall"


@pytest.mark.spec("s4.4.delete_flight_booking.id")
def test_delete_flight_booking_removes_the_leg_and_frees_its_vouchers(people: People, use: Use) -> None:
    one = add(use, people.alice, confirmation_number="ABC123")["booking"]["booking_id"]
    mine = a_voucher(people.alice, one)
    gone = use(people.alice, "delete_flight_booking", booking_id=one)
    assert gone["removed"] == {
        "booking_id": one,
        "route": "LHR-JFK",
        "departure_date": FAR,
        "confirmation_number": "ABC123",
    }
    assert gone["vouchers_detached"] == [mine]
    assert use(people.alice, "delete_flight_booking", booking_id=one)["status"] == "not_found"
    held = use(people.alice, "list_my_vouchers", voucher_id=mine)["vouchers"][0]
    assert (held["state"], held["applied_to"]) == ("held", None)
    assert use(people.alice, "delete_flight_booking", booking_id=0)["status"] == "invalid"


def at_once(who: Caller, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    """Calls that start together, and how each ended."""
    ended = [""] * len(calls)

    async def once(number: int) -> None:
        ended[number] = (await dispatch(*calls[number], who, "mcp")).status

    async def all_of_them() -> None:
        async with anyio.create_task_group() as group:
            for number in range(len(calls)):
                group.start_soon(once, number)

    limiter.cache_clear()
    anyio.run(all_of_them)
    return ended


def test_two_deletions_at_once_remove_it_once(people: People, use: Use) -> None:
    one = add(use, people.alice)["booking"]["booking_id"]
    deletion = ("delete_flight_booking", {"booking_id": one})
    assert sorted(at_once(people.alice, deletion, deletion)) == ["not_found", "ok"]


def test_a_trip_deleted_while_legs_are_filed_under_it_leaves_the_legs(people: People, use: Use) -> None:
    for _ in range(5):
        trip = a_trip(people.alice)
        one = add(use, people.alice, workspace_trip_id=trip)["booking"]["booking_id"]
        deleted, added, updated = at_once(
            people.alice,
            ("delete_trip", {"trip_id": trip, "permanently": True}),
            ("add_flight_booking", LEG | {"workspace_trip_id": trip, "again": True}),
            ("update_flight_booking", {"booking_id": one, "workspace_trip_id": trip, "notes": "Window"}),
        )
        assert deleted == "ok"
        assert {added, updated} <= {"ok", "not_found"}
    rows = use(people.alice, "list_flight_bookings")["bookings"]
    assert len(rows) >= 5
    assert {row["workspace_trip_id"] for row in rows} == {None}


def test_a_cancellation_keeps_the_leg_and_frees_its_vouchers(people: People, use: Use) -> None:
    one = add(use, people.alice)["booking"]["booking_id"]
    mine = a_voucher(people.alice, one)
    assert cancel(people.alice, one) == [mine]
    shown = use(people.alice, "get_flight_booking", booking_id=one)["booking"]
    assert (shown["state"], shown["voucher_ids"]) == ("cancelled", [])
    first = shown["cancelled_at"]
    assert cancel(people.alice, one) == []
    assert use(people.alice, "get_flight_booking", booking_id=one)["booking"]["cancelled_at"] == first
    with transaction(people.alice.account_id) as session:
        assert session.scalar(select(Voucher.flight_booking_id).where(Voucher.id == mine)) is None


NIGHT = {
    "airline": "BA", "origin": "JFK", "destination": "LHR", "departure_date": "2027-01-21", "cabin_class": "business",
    "points_spent": 60000,
}  # fmt: skip


def test_get_flight_booking_says_when_the_flight_leaves_and_lands(people: People, use: Use) -> None:
    added = use(people.alice, "add_flight_booking", **NIGHT, departure_time="22:10", arrival_time="10:05")
    booking = use(people.alice, "get_flight_booking", booking_id=added["booking"]["booking_id"])
    leg = booking["booking"]
    assert (leg["departure_time"], leg["departure_zone"]) == ("22:10", "America/New_York")
    assert (leg["arrival_date"], leg["arrival_time"], leg["arrival_zone"]) == ("2027-01-22", "10:05", "Europe/London")
    sentence = "JFK-LHR on Thu 21 Jan 2027, 22:10 to 10:05 +1, Fri 22 Jan 2027"
    assert sentence in added["message"]
    assert sentence in booking["message"]


def test_times_go_when_the_flight_becomes_another_unless_they_are_sent(people: People, use: Use) -> None:
    added = use(people.alice, "add_flight_booking", **NIGHT, departure_time="22:10", arrival_time="10:05")
    call = {"booking_id": added["booking"]["booking_id"]}
    later = use(people.alice, "update_flight_booking", **call, departure_time="23:00", arrival_time="11:00")["booking"]
    assert (later["departure_time"], later["arrival_date"]) == ("23:00", "2027-01-22")
    moved = use(people.alice, "update_flight_booking", **call, departure_date="2027-01-23")["booking"]
    assert (moved["departure_time"], moved["arrival_date"], moved["arrival_time"]) == (None, None, None)
    wrong = use(people.alice, "update_flight_booking", **call, arrival_date="2027-03-01")
    assert (wrong["status"], wrong["errors"][0]["field"]) == ("invalid", "arrival_date")
    assert use(people.alice, "update_flight_booking", **call, departure_time="25:00")["status"] == "invalid"


@pytest.mark.parametrize(
    ("terms", "field", "words"),
    [
        ({"departure_time": "08:25", "arrival_time": "08:20"}, "arrival_time", "LHR to JFK take 4 h 55 min"),
        ({"departure_time": "08:25", "arrival_time": "07:00"}, "arrival_time", "4 h 57 min to 12 h 5 min"),
        ({"departure_time": "08:25", "arrival_time": "11:15", "arrival_date": "2031-05-05"}, "arrival_date", "31 h"),
        ({"destination": "CDG", "departure_time": "08:00", "arrival_time": "09:20"}, "arrival_time", "20 min"),
        ({"destination": "LHR"}, "destination", "is the origin too"),
        ({"destination": "LON"}, "destination", "same city"),
    ],
)
def test_times_and_airports_of_no_flight_are_refused(
    people: People, use: Use, terms: dict[str, Any], field: str, words: str
) -> None:
    refused = use(people.alice, "add_flight_booking", **LEG | terms)
    assert (refused["status"], refused["errors"][0]["field"]) == ("invalid", field), refused
    assert words in refused["message"]
    kept = add(use, people.alice, departure_time="08:25", arrival_time="11:15")["booking"]["booking_id"]
    assert use(people.alice, "update_flight_booking", booking_id=kept, **terms)["status"] == "invalid"
    stored = use(people.alice, "get_flight_booking", booking_id=kept)["booking"]
    assert (stored["destination"], stored["arrival_time"]) == ("JFK", "11:15")


def test_no_one_is_on_two_flights_of_one_booking_at_once(people: People, use: Use) -> None:
    add(use, people.alice, trip_id=JOURNEY, flight_number="BA117", departure_time="08:25", arrival_time="11:15")
    onward = {"trip_id": JOURNEY, "origin": "JFK", "destination": "LAX", "points_spent": 0}
    early = use(people.alice, "add_flight_booking", **LEG | onward, departure_time="10:30", arrival_time="13:45")
    assert (early["status"], early["errors"][0]["field"]) == ("invalid", "departure_time")
    assert "before BA117 LHR-JFK" in early["message"]
    late = add(use, people.alice, **onward, departure_time="13:30", arrival_time="16:45")["booking"]["booking_id"]
    moved = use(people.alice, "update_flight_booking", booking_id=late, departure_time="10:30", arrival_time="13:45")
    assert (moved["status"], moved["errors"][0]["field"]) == ("invalid", "departure_time")
    add(use, people.alice, **onward, departure_time="10:30", arrival_time="13:45", member="Anna")  # another person


def test_a_flight_whose_old_times_cannot_be_can_still_be_changed_otherwise(people: People, use: Use) -> None:
    kept = add(use, people.alice, departure_time="08:25", arrival_time="11:15")["booking"]["booking_id"]
    with transaction(people.alice.account_id) as session:
        session.execute(update(FlightBooking).where(FlightBooking.id == kept).values(arrival_time=time(9)))
    changed = use(people.alice, "update_flight_booking", booking_id=kept, notes="Aisle seat")
    assert (changed["status"], changed["changed"]) == ("ok", ["notes"])


def test_flight_bookings_say_whose_they_are(people: People, use: Use) -> None:
    saved = add(use, people.alice, member="Anna")
    flight = saved["booking"]["booking_id"]
    assert saved["booking"]["member"] == "Anna"
    assert saved["message"].startswith(f"Saved as flight booking {flight} of Anna: ")
    assert use(people.alice, "get_flight_booking", booking_id=flight)["message"].startswith("Flight of Anna: ")
    assert add(use, people.alice, member="anna")["booking"]["member"] == "Anna"
    own = use(people.alice, "update_flight_booking", booking_id=flight, member="")
    assert (own["changed"], own["booking"]["member"]) == (["member"], None)
    listed = use(people.alice, "list_flight_bookings")["bookings"]
    assert sorted(b["member"] or "" for b in listed) == ["", "Anna"]


def test_flight_bookings_keep_the_price_an_award_replaced(people: People, use: Use) -> None:
    award = {"points_spent": 100_000, "taxes_paid": 350, "cash_price": 2350}
    saved = add(use, people.alice, **award)
    flight = saved["booking"]["booking_id"]
    assert (saved["booking"]["cash_price"], saved["cents_per_point"]) == (2350, 2)
    wrong = {"kind": "cash", "cash_paid": 5, "cash_price": 6}
    assert use(people.alice, "add_flight_booking", **LEG | wrong)["status"] == "invalid"
    turned = use(people.alice, "update_flight_booking", booking_id=flight, kind="cash", cash_paid=900)
    assert (turned["booking"]["cash_price"], "cash_price" in turned["changed"]) == (None, True)


def test_update_flight_booking_notes_a_cancellation_and_adds_the_points_back_only_when_told(
    people: People, use: Use
) -> None:
    award = LEG | {"kind": "award", "program": "american-airlines-aadvantage", "points_spent": 57_500}
    award |= {"departure_date": day(90)}
    number = use(people.alice, "add_flight_booking", **award)["booking"]["booking_id"]
    one = {"booking_id": number}
    window = {"origin": "LHR", "destination": "JFK", "earliest_date": day(90), "latest_date": day(90)}
    monitor = use(people.alice, "create_route_monitor", **one, **window)["monitor"]["monitor_id"]
    early = use(people.alice, "update_flight_booking", **one, points_back=57_500)
    assert (early["status"], early["errors"][0]["field"]) == ("invalid", "points_back")
    told = use(people.alice, "update_flight_booking", **one, cancelled_on=day(0))
    assert (told["booking"]["state"], told["balance_offer"]) == ("cancelled", None)
    assert told["message"].endswith("Did the 57,500 points of American Airlines AAdvantage come back?")
    stopped = use(people.alice, "get_route_monitor", monitor_id=monitor)["monitor"]
    assert stopped["state"] == "cancelled"
    none = use(people.alice, "update_flight_booking", **one, points_back=57_500, credit_points_back=True)
    assert "No balance of American Airlines AAdvantage is saved" in none["message"]
    use(people.alice, "update_points_balance", program="american-airlines-aadvantage", balance=12_000)
    offered = use(people.alice, "update_flight_booking", **one, money_back=5.6)
    assert "57,500 points and 5.60 USD came back. Add 57,500 to American Airlines AAdvantage" in offered["message"]
    assert (offered["balance_offer"]["points"], offered["balance_offer"]["balance"]) == (57_500, 12_000)
    added = use(people.alice, "update_flight_booking", **one, credit_points_back=True)
    assert "now holds 69,500" in added["message"]
    again = use(people.alice, "update_flight_booking", **one, credit_points_back=True)
    assert "were added before" in again["message"]
    assert use(people.alice, "list_points_balances")["balances"][0]["balance"] == 69_500
    assert use(people.alice, "list_flight_bookings", when="upcoming")["bookings"] == []
    assert [b["booking_id"] for b in use(people.alice, "list_flight_bookings", when="cancelled")["bookings"]] == [
        number
    ]
    back = use(people.alice, "update_flight_booking", **one, clear=["cancelled_on"])["booking"]
    assert (back["state"], back["points_back"], back["cancelled_on"]) == ("upcoming", None, None)


def test_delete_flight_booking_does_not_say_that_a_cancelled_booking_stands(people: People, use: Use) -> None:
    number = use(people.alice, "add_flight_booking", **LEG)["booking"]["booking_id"]
    late = use(people.alice, "update_flight_booking", booking_id=number, cancelled_on=day(3))
    assert (late["status"], late["errors"][0]["field"]) == ("invalid", "cancelled_on")
    use(people.alice, "update_flight_booking", booking_id=number, cancelled_on=day(-1))
    gone = use(people.alice, "delete_flight_booking", booking_id=number)
    assert gone["message"] == f"Flight booking {number}, LHR-JFK, is removed here."
