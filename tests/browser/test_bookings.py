"""Bookings, trips and forwarded mail in a real browser: they fit, can be read, and lead to a booking that stands."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.domain.plans import Plan
from tests.browser.judges import look_everywhere
from tests.browser.test_pages import signed_in
from tests.mcp_server.rest.conftest import World, running, world  # noqa: F401 - fixtures
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture
from tests.mcp_server.tools.test_inbound_mail import arrive
from tests.shared.domain.confirmations.mails import data, flight, mail
from tests.support.browser import Tab
from tests.support.sandbox_seats import set_stay

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser
STAY = "Confirmation Number: 99887766\n12 Main Street, Osaka\nCheck-in: 4 Dec 2027\nCheck-out: 6 Dec 2027\n"


def find_caller() -> Caller:
    with transaction() as session:
        row = session.scalars(select(Account)).one()
    return Caller(row.id, row.public_id, Plan.PREMIUM, False, "client-of-tests", "Tests")


def fill_trip(use: Any) -> tuple[int, int, int, int]:
    """A trip with a flight, a stay with prices, a plan and a missing night; and a flight without a trip."""
    caller, today = find_caller(), clock.today()
    day = {days: str(today + timedelta(days=days)) for days in (20, 21, 22, 24, 25, 40)}
    dates = {"start_date": day[20], "end_date": day[25]}
    trip = use(caller, "create_trip", name="Portugal and Spain", destination="Lisbon", **dates)["trip"]["trip_id"]
    flight = {"airline": "TP", "origin": "LAX", "destination": "LIS", "cabin_class": "business", "passengers": 2}
    flight |= {"points_spent": 70000, "taxes_paid": 87.5, "departure_time": "15:10", "arrival_time": "12:05"}
    flight |= {"flight_number": "TP284", "confirmation_number": "TKP4QZ", "program": "TAP Miles&Go"}
    booked = use(caller, "add_flight_booking", **flight, departure_date=day[20], workspace_trip_id=trip)
    use(caller, "add_flight_booking", **flight, departure_date=day[40])
    stay = {"hotel_id": "Conrad Tokyo", "check_in_date": day[21], "check_out_date": day[24], "trip_id": trip}
    set_stay("points:80000", "htl_conrad-tokyo", day[21])
    slept = use(caller, "add_hotel_booking", **stay, original_points=900000, room_type="King of the unbroken name")
    stay_id = slept["booking"]["booking_id"]
    assert use(caller, "check_hotel_booking_price", booking_id=stay_id)["status"] == "ok"
    plan = {"title": "Tile Museum", "day": day[22], "start_time": "10:30", "location": "W" * 80, "kind": "activity"}
    item = use(caller, "save_itinerary_item", trip_id=trip, **plan)["item"]["item_id"]
    return trip, booked["booking"]["booking_id"], stay_id, item


def test_bookings_and_trips_fit_and_can_be_read(tab: Tab, world: World, use: Any) -> None:
    signed_in(tab, world.url, "premium")
    trip, flight, stay, item = fill_trip(use)
    board, one = world.url + "/dashboard/bookings", f"{world.url}/dashboard/trips/{trip}"
    shared = use(find_caller(), "update_trip", trip_id=trip, share=True)["share_url"]
    pages = {
        board: "Portugal and Spain",
        f"{board}/cancelled": "Nothing here is cancelled",
        f"{board}/flights/{flight}": "70,000 points",
        f"{board}/flights/{flight}/edit": "Flight number",
        f"{board}/flights/{flight}/delete": "Keep it",
        f"{board}/stays/{stay}": "Offered for less now",
        f"{board}/stays/{stay}/edit": "Check-out",
        one: "End the link",
        shared: "Times are local to each place",
        f"{one}/edit": "Last day",
        f"{one}/delete": "Keep it",
        f"{one}/items/{item}": "Where",
        f"{one}/items/{item}/remove": "Keep it",
    }
    for page, words in pages.items():
        tab.go(page)
        tab.wait(f"location.href === {page!r} && document.body.innerText.includes({words!r})")
        assert look_everywhere(tab) == [], page
        assert tab.run("document.scripts.length") == 0
    assert tab.run("performance.getEntriesByType('resource').every((r) => r.name.startsWith(location.origin))")


@pytest.mark.parametrize("page", ["bookings/flights/new", "bookings/stays/new", "trips/new"])
def test_faults_of_forms_fit_and_can_be_read(tab: Tab, world: World, page: str) -> None:
    signed_in(tab, world.url, "premium")
    tab.go(f"{world.url}/dashboard/{page}")
    tab.wait("document.querySelector('form.form')")
    tab.run("document.querySelector('form.form').noValidate = true")
    tab.press("form.form button.primary")
    tab.wait("document.querySelector('.fault')")
    assert look_everywhere(tab) == []


def receive(use: Any, *mails: bytes) -> list[str]:
    """The paths of the mails that wait once these arrived."""
    caller = find_caller()
    for raw in mails:
        arrive(use, caller, raw)
    waiting = use(caller, "list_inbox_messages")["messages"]
    return [f"/dashboard/inbox/{message['message_id']}" for message in waiting]


def test_forwarded_mails_fit_and_can_be_read(tab: Tab, world: World, use: Any) -> None:
    signed_in(tab, world.url, "premium")
    legs = [{"departureTime": f"2027-05-{day:02}T08:25:00+01:00", "flightNumber": f"{day}"} for day in (4, 6, 8, 10)]
    free: dict[str, Any] = {"totalPrice": None, "priceCurrency": None}
    flights = mail(page=data(*(flight(leg=leg, **free) for leg in legs)), subject="W" * 90, id="two@airline.test")
    paths = receive(use, mail(STAY), flights, mail("We look forward to welcoming you.", id="three@airline.test"))
    assert len(paths) == 3
    inbox = "/dashboard/inbox"
    for path in (inbox, f"{inbox}?state=all", *paths, f"{paths[0]}?type=flight", f"{paths[1]}/discard"):
        tab.go(world.url + path)
        tab.wait(f"location.href.endsWith({path!r}) && document.title")
        assert look_everywhere(tab) == [], path
    for path in (inbox, "/dashboard/calendar"):
        tab.go(world.url + path)
        tab.wait(f"location.pathname === {path!r} && document.querySelector('main button.primary')")
        tab.press("main button.primary")
        tab.wait("document.querySelector('code.copy')")
        assert look_everywhere(tab) == [], path


def test_a_forwarded_mail_becomes_a_booking_in_timeline_and_calendar(tab: Tab, world: World, use: Any) -> None:
    """Something is open in it: it waits, is corrected on its page, and stands wherever bookings do."""
    signed_in(tab, world.url, "premium")
    (path,) = receive(use, mail(STAY, subject="Your stay"))
    tab.look(390)
    tab.go(world.url + "/dashboard/inbox")
    tab.wait("document.body.innerText.includes('Waits for you')")
    tab.press(f"a[href='{path}']")
    tab.wait("document.title.startsWith('Is this booking right?')")
    assert "2 fields need you" in tab.text()
    tab.fill("hotel_name-0", "Conrad Tokyo")
    tab.press("form.form button.primary")
    tab.wait("document.body.innerText.includes('This is still needed')")
    assert tab.run("document.getElementById('hotel_name-0').value") == "Conrad Tokyo"
    tab.fill("kind-0", "award")
    tab.fill("original_points-0", "95,000")
    tab.press("form.form button.primary")
    tab.wait("document.body.innerText.includes('The stay of your mail is filed')")
    booking = tab.run("location.pathname")
    tab.go(world.url + "/dashboard/bookings")
    tab.wait("document.querySelector('.tl')")
    assert "Sat 4 Dec 2027" in tab.text()
    assert "95,000 points for the room" in tab.text()
    assert tab.run("document.querySelector('.tl a').pathname") == booking
    tab.go(world.url + "/dashboard/calendar")
    tab.wait("document.querySelector('main button.primary')")
    tab.press("main button.primary")
    tab.wait("document.querySelector('code.copy')")
    feed = world.http.get(tab.run("document.querySelector('code.copy').innerText")).text.replace("\r\n ", "")
    assert "SUMMARY:Conrad Tokyo" in feed
    assert f"{booking}\r\n" in feed
