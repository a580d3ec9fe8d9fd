"""Bookings by hand: the timeline, and the forms of flights and stays, which go through the tools."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import html
import re
from datetime import date
from decimal import Decimal
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from auth_server.pages.booking_timeline import Entry, group_by_day, group_by_trip
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.bookings import FlightBooking, HotelBooking
from shared.services.bookings import bookings
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture
from tests.support.sandbox_seats import set_stay

PAGE = "/dashboard/bookings"
FLIGHT = {"airline": "United", "origin": "lax", "destination": "den", "departure_date": "2027-03-19",
          "departure_time": "22:10", "arrival_time": "01:30", "cabin_class": "economy", "kind": "cash",
          "cash_paid": "1,140.50", "taxes_currency": "usd", "flight_number": "UA1142"}  # fmt: skip
STAY = {"hotel_id": "Conrad Tokyo", "check_in_date": "2027-03-20", "check_out_date": "2027-03-23", "kind": "award",
        "original_points": "95,000", "confirmation_number": "H-1"}  # fmt: skip


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test", "premium")


def send(world: World, page: str, action: str = "", **typed: str) -> httpx.Response:
    """The form of a page that goes to `action`, with what stands in it and what is typed."""
    form = world.get(page).text.split(f'action="{action or page}"')[1].split("</form>")[0]
    fields = re.findall(r'name="([\w-]+)" type="\w+" value="([^"]*)"', form)
    fields += re.findall(r'type="hidden" name="([\w-]+)" value="([^"]*)"', form)
    fields += [
        (name, text.strip())
        for name, text in re.findall(r'<textarea id="[\w-]+" name="([\w-]+)"[^>]*>(.*?)<', form, re.S)
    ]
    for name, options in re.findall(r'<select id="[\w-]+" name="([\w-]+)"[^>]*>(.*?)</select>', form, re.S):
        fields += [(name, value) for value in re.findall(r'value="([^"]*)" selected', options)[:1]]
    return world.http.post(
        world.url + (action or page), data={name: html.unescape(value) for name, value in fields} | typed
    )


def read_flight() -> FlightBooking:
    with transaction() as session:
        return session.scalars(select(FlightBooking)).one()


def read_stay() -> HotelBooking:
    with transaction() as session:
        return session.scalars(select(HotelBooking)).one()


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)))


def test_a_flight_is_added_changed_and_deleted_by_hand(world: World, ann: Caller) -> None:
    added = send(world, f"{PAGE}/flights/new", **FLIGHT, notes="Window\r\nplease")
    row = read_flight()
    one = f"{PAGE}/flights/{row.id}"
    assert (added.status_code, added.headers["location"]) == (303, f"{one}?done=added")
    assert (row.airline, row.origin, str(row.cash_paid), str(row.arrival_date)) == (
        "UA", "LAX", "1140.50", "2027-03-20")  # fmt: skip
    words = text_of(world.get(one).text)
    assert "Fri 19 Mar 2027, 22:10 to 01:30 +1" in words
    assert "$1,140" in words
    assert send(world, f"{one}/edit", departure_date="2027-03-21", flight_number="").status_code == 303
    row = read_flight()
    assert (str(row.departure_date), str(row.arrival_date), row.flight_number) == ("2027-03-21", "2027-03-22", None)
    assert (str(row.departure_time), row.notes) == ("22:10:00", "Window\nplease")
    assert "Delete this flight?" in world.get(f"{one}/delete").text
    assert send(world, f"{one}/delete").headers["location"] == f"{PAGE}?done=deleted"
    assert world.get(one).status_code == 404


def test_times_that_no_flight_can_have_are_shown_at_their_field(world: World, ann: Caller) -> None:
    refused = send(world, f"{PAGE}/flights/new", **FLIGHT | {"departure_time": "22:10", "arrival_time": "23:00"})
    assert refused.status_code == 422
    assert "makes the flight from" in text_of(refused.text)
    with transaction() as session:
        assert session.scalars(select(FlightBooking)).all() == []


def test_a_form_that_changes_nothing_sends_nothing(world: World, ann: Caller) -> None:
    send(world, f"{PAGE}/flights/new", **FLIGHT)
    before = read_flight()
    saved = send(world, f"{PAGE}/flights/{before.id}/edit")
    assert saved.headers["location"] == f"{PAGE}/flights/{before.id}?done=saved"
    assert read_flight().updated_at == before.updated_at


def test_a_flight_paid_with_points_becomes_one_paid_with_money(world: World, ann: Caller) -> None:
    award = FLIGHT | {"kind": "award", "points_spent": "25,000", "program": "United MileagePlus", "cash_paid": ""}
    send(world, f"{PAGE}/flights/new", **award)
    edit = f"{PAGE}/flights/{read_flight().id}/edit"
    assert send(world, edit, kind="cash", cash_paid="99").status_code == 303
    row = read_flight()
    paid: tuple[object, ...] = (row.kind, row.points_spent, row.program, row.cash_paid)
    assert paid == ("cash", None, None, Decimal(99))


def test_a_stay_is_added_changed_and_deleted_by_hand(world: World, ann: Caller) -> None:
    send(world, f"{PAGE}/stays/new", **STAY)
    row = read_stay()
    one = f"{PAGE}/stays/{row.id}"
    assert (row.hotel_name, row.original_points) == ("Conrad Tokyo", 95000)
    words = text_of(world.get(one).text)
    assert "Sat 20 Mar 2027 to Tue 23 Mar 2027, 3 nights" in words
    assert "Checked daily" in words
    assert send(world, f"{one}/edit", check_out_date="2027-03-25", room_type="King").status_code == 303
    row = read_stay()
    assert (str(row.check_out_date), row.room_type, row.confirmation_number) == ("2027-03-25", "King", "H-1")
    assert send(world, f"{one}/delete").headers["location"] == f"{PAGE}?done=deleted"
    assert world.get(one).status_code == 404


@pytest.mark.parametrize(
    ("kind", "form", "field", "typed"),
    [
        ("flights", FLIGHT, "origin", "ZZZ"),
        ("flights", FLIGHT, "departure_date", "2027-02-30"),
        ("flights", FLIGHT, "cash_paid", "much"),
        ("flights", FLIGHT, "points_spent", "5"),
        ("flights", FLIGHT, "return_date", "2027-01-01"),
        ("stays", STAY, "check_out_date", "2027-03-20"),
        ("stays", STAY, "hotel_id", "Hyatt"),
        ("stays", STAY, "original_points", "many"),
    ],
)
def test_a_fault_stands_at_its_field_and_what_was_typed_stays(
    world: World, ann: Caller, kind: str, form: dict[str, str], field: str, typed: str
) -> None:
    refused = send(world, f"{PAGE}/{kind}/new", **form | {"notes": "Kept <b>"} | {field: typed})
    assert refused.status_code == 422
    assert f'id="{field}-fault" role="alert"' in refused.text
    assert "Kept &lt;b&gt;" in refused.text
    assert f'value="{typed}"' in refused.text


def test_a_fault_of_a_change_keeps_the_name_and_what_was_typed(world: World, ann: Caller) -> None:
    send(world, f"{PAGE}/stays/new", **STAY)
    edit = f"{PAGE}/stays/{read_stay().id}/edit"
    refused = send(world, edit, check_out_date="2027-03-01", room_type="Suite")
    assert (refused.status_code, 'value="Suite"' in refused.text, "Conrad Tokyo" in refused.text) == (422, True, True)
    assert str(read_stay().check_out_date) == "2027-03-23"


def test_on_the_free_plan_one_looks_and_deletes_and_is_told_what_needs_another_plan(world: World, use: Any) -> None:
    bob = sign_up(world, "bob@example.test")
    for kind in ("flights", "stays"):
        page = world.get(f"{PAGE}/{kind}/new").text
        assert "needs the Premium plan" in page
        assert 'href="/plans"' in page
        assert f'action="{PAGE}/{kind}/new"' not in page
    with transaction(bob.account_id) as session:
        terms = {"airline": "UA", "origin": "LAX", "destination": "DEN", "departure_date": clock.today()}
        from shared.reference.load import reference

        terms |= {"cabin_class": "economy", "points_spent": 1}
        bookings.add_flight(session, reference(), bookings.leg(reference(), terms))
    one = f"{PAGE}/flights/{read_flight().id}"
    assert send(world, one, f"{one}/alert").status_code == 403
    assert send(world, f"{one}/delete").status_code == 303


@pytest.mark.parametrize("newest_first", [False, True])
def test_what_has_no_day_comes_last_in_either_order(newest_first: bool) -> None:
    days = sorted((date(2027, 1, 1), date(2027, 1, 2)), reverse=newest_first)
    entries = [Entry("note", day, "Museum") for day in (None, *days)]
    assert [day.day for day in group_by_day(entries, newest_first=newest_first)] == [*days, None]
    groups = group_by_trip(entries, newest_first=newest_first)
    assert [day.day for group in groups for day in group.days] == [*days, None]


def test_the_timeline_stands_by_trip_soonest_first(world: World, ann: Caller, use: Any) -> None:
    trip = use(ann, "create_trip", name="Colorado <b>")["trip"]["trip_id"]
    first, later = FLIGHT | {"departure_date": "2027-01-05"}, FLIGHT | {"departure_date": "2027-04-05"}
    for form in (first, FLIGHT | {"workspace_trip_id": str(trip)}, later):
        assert send(world, f"{PAGE}/flights/new", **form).status_code == 303
    send(world, f"{PAGE}/stays/new", **STAY | {"trip_id": str(trip)})
    page = world.get(PAGE).text
    words = text_of(page.split("<main")[1])
    marks = ["Without a trip", "Tue 5 Jan 2027", "Colorado <b>", "Fri 19 Mar 2027", "Conrad Tokyo", "Mon 5 Apr 2027"]
    assert [words.index(mark) for mark in marks] == sorted(words.index(mark) for mark in marks)
    assert f'href="/dashboard/trips/{trip}"' in page
    assert "Nothing here is past." in text_of(world.get(f"{PAGE}/past").text)
    with transaction(ann.account_id) as session:
        bookings.cancel(session, session.scalars(select(HotelBooking)).one(), clock.now())
    assert "Conrad Tokyo" not in world.get(PAGE).text
    assert "Cancelled" in text_of(world.get(f"{PAGE}/cancelled").text.split('class="tl"')[1])


def test_a_long_list_has_pages_and_none_is_heavy(world: World, ann: Caller, use: Any) -> None:
    flight = {"airline": "UA", "origin": "LAX", "destination": "DEN", "cabin_class": "premium_economy"}
    for day in range(1, 26):
        use(ann, "add_flight_booking", **flight, departure_date=f"2027-03-{day:02}", points_spent=250000,
            taxes_paid=87.5, passengers=2, confirmation_number="C" * 40, flight_number="UA1142",
            departure_time="10:10", arrival_time="13:30", member="M" * 60)  # fmt: skip
        stay = {"check_in_date": f"2027-05-{day:02}", "check_out_date": f"2027-05-{day + 1:02}"}
        use(ann, "add_hotel_booking", hotel_id="H" * 80, city="C" * 80, **stay, room_type="R" * 120,
            original_points=100000, confirmation_number="C" * 40, member="M" * 60)  # fmt: skip
    page = world.get(PAGE)
    assert len(page.content) < 30_000
    assert "Page 1 of 3" in text_of(page.text)
    last = text_of(world.get(f"{PAGE}?page=3").text)
    assert "Thu 25 Mar 2027" in last
    assert "Fri 12 Mar 2027" not in last
    assert "nothing on this page" in world.get(f"{PAGE}?page=9").text


def test_a_programme_is_shown_by_its_name(world: World, ann: Caller) -> None:
    award = {"kind": "award", "points_spent": "12,500", "program": "aadvantage", "cash_paid": ""}
    send(world, f"{PAGE}/flights/new", **FLIGHT | award)
    page = text_of(world.get(f"{PAGE}/flights/{read_flight().id}").text)
    assert "Programme American Airlines AAdvantage" in page


def test_a_booking_is_filed_under_a_trip_and_taken_out(world: World, ann: Caller, use: Any) -> None:
    trip = use(ann, "create_trip", name="Colorado")["trip"]["trip_id"]
    send(world, f"{PAGE}/flights/new", **FLIGHT)
    one = f"{PAGE}/flights/{read_flight().id}"
    assert send(world, one, f"{one}/trip", trip=str(trip)).headers["location"] == f"{one}?done=filed"
    assert read_flight().workspace_trip_id == trip
    assert send(world, one, f"{one}/trip", trip="none").status_code == 303
    assert read_flight().workspace_trip_id is None


def test_a_delay_alert_is_turned_on_and_off(world: World, ann: Caller, use: Any) -> None:
    send(world, f"{PAGE}/flights/new", **FLIGHT)
    one = f"{PAGE}/flights/{read_flight().id}"
    states = []
    for _ in range(3):
        assert send(world, one, f"{one}/alert").status_code == 303
        states += [[(alert["airport"], alert["active"]) for alert in use(ann, "list_delay_alerts")["alerts"]]]
    assert states == [[("LAX", True)], [("LAX", False)], [("LAX", True)]]


def test_the_price_of_a_stay_is_checked_and_its_history_shown(world: World, ann: Caller) -> None:
    set_stay("points:20000", "htl_conrad-tokyo", STAY["check_in_date"])
    send(world, f"{PAGE}/stays/new", **STAY)
    one = f"{PAGE}/stays/{read_stay().id}"
    checked = send(world, one, f"{one}/check")
    assert checked.headers["location"] == f"{one}?done=checked"
    page = world.get(one).text
    assert re.search(r'<svg class="chart[^>]* role="img"', page)
    assert "Points for the stay as a table" in text_of(page)


def test_nobody_sees_or_changes_another_persons_booking(world: World, ann: Caller) -> None:
    send(world, f"{PAGE}/flights/new", **FLIGHT)
    one = f"{PAGE}/flights/{read_flight().id}"
    world.http.cookies.clear()
    sign_up(world, "eve@example.test", "premium")
    assert [world.get(path).status_code for path in (one, f"{one}/edit", f"{one}/delete")] == [404] * 3
    for path in ("x", "0", "9" * 30):
        assert world.get(f"{PAGE}/flights/{path}").status_code == 404


def test_the_same_flight_is_saved_twice_only_with_a_tick(world: World, ann: Caller) -> None:
    assert send(world, f"{PAGE}/flights/new", **FLIGHT).status_code == 303
    assert 'name="again"' not in world.get(f"{PAGE}/flights/new").text
    told = send(world, f"{PAGE}/flights/new", **FLIGHT)
    assert (told.status_code, 'name="again"' in told.text, 'value="UA1142"' in told.text) == (422, True, True)
    assert "The same is already saved, so nothing was added." in told.text
    read_flight()  # one
    assert send(world, f"{PAGE}/flights/new", **FLIGHT, again="yes").status_code == 303
    with transaction() as session:
        assert len(session.scalars(select(FlightBooking)).all()) == 2


def test_a_cancellation_is_noted_with_what_came_back_and_taken_back(world: World, ann: Caller, use: Any) -> None:
    use(ann, "update_points_balance", program="united-mileageplus", balance=1_000)
    award = {"kind": "award", "points_spent": "25,000", "program": "United MileagePlus", "cash_paid": ""}
    send(world, f"{PAGE}/flights/new", **FLIGHT | award)
    one = f"{PAGE}/flights/{read_flight().id}"
    assert "Cancelled…" in world.get(one).text
    told = {"points_back": "25,000", "money_back": "5.60", "credit_points_back": "on"}
    done = send(world, f"{one}/cancel", **told)
    assert done.headers.get("location") == f"{one}?done=cancelled", done.text
    words = text_of(world.get(one).text)
    assert "Came back 25,000 points and $5.60" in words
    assert use(ann, "list_points_balances")["balances"][0]["balance"] == 26_000
    assert "LAX to DEN" in text_of(world.get(f"{PAGE}/cancelled").text)
    assert "still stands" not in world.get(f"{one}/delete").text
    assert send(world, f"{one}/cancel", cancelled_on="").headers["location"] == f"{one}?done=saved"
    assert read_flight().cancelled_at is None


def test_flights_of_one_day_stand_in_the_order_of_their_hours(world: World, ann: Caller, use: Any) -> None:
    early = FLIGHT | {"departure_time": "07:05", "arrival_time": "", "flight_number": "UA1", "confirmation_number": "E"}
    for form in (FLIGHT, early):
        send(world, f"{PAGE}/flights/new", **form)
    legs = use(ann, "list_flight_bookings", when="upcoming")["bookings"]
    assert [leg["departure_time"] for leg in legs] == ["07:05", "22:10"]
    assert world.get(PAGE).text.count('<div class="slip">') == 2
    words = text_of(world.get("/dashboard").text)
    assert words.index("07:05") < words.index("22:10")
