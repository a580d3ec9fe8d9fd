"""Shared trips the whole way a friend of a traveller goes: through the web host, without signing in."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import re
from typing import Any

import httpx
import pytest

from mcp_server.pages import shared_documents
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account, absorb
from shared.db.base import transaction
from shared.db.bookings import FlightBooking
from shared.db.migrations import __name__ as _all_models  # noqa: F401 - a takeover walks every table
from shared.db.trips import ItineraryItem
from shared.settings import settings
from tests.mcp_server.rest.conftest import World, people, running, world  # noqa: F401 - fixtures
from tests.mcp_server.tools.conftest import Use, use  # noqa: F401 - a fixture
from tests.support.people import People

FLIGHT = {"airline": "TP", "flight_number": "TP284", "origin": "LAX", "destination": "LIS", "cabin_class": "business"}
FLIGHT |= {"departure_date": "2027-05-08", "departure_time": "15:10", "arrival_date": "2027-05-09"}
FLIGHT |= {"arrival_time": "12:05", "points_spent": 71234, "taxes_paid": 87.65, "passengers": 2}
FLIGHT |= {"program": "aeroplan", "member": "Zebedee"}
STAY = {"hotel_id": "Casa Zorblatt", "city": "Lisbon", "kind": "cash", "original_pay_rate_usd": 543.21}
STAY |= {"check_in_date": "2027-05-09", "check_out_date": "2027-05-11", "room_type": "Suite Nine", "member": "Zebedee"}
PRIVATE = {"confirmation_number": "QWXZ7K", "notes": "Door code 4711"}
NEVER = ("71234", "71,234", "87.65", "543.21", "USD", "QWXZ7K", "4711", "Zebedee", "Suite Nine", "eroplan", "business")
NEVER += ("55000", "55,000", "alice@", "Alice", "Secret plan", "passenger")
DEAD = f"/shared/trips/{'0' * 40}"


def make_trip(use: Use, caller: Caller, **fields: Any) -> int:
    number = use(caller, "create_trip", **{"name": "Lisbon <& Porto>", "destination": "Portugal"} | fields)
    return int(number["trip"]["trip_id"])


def share(use: Use, caller: Caller, trip: int) -> str:
    """The path of the page."""
    url = str(use(caller, "update_trip", trip_id=trip, share=True)["share_url"])
    assert url.startswith(f"{settings().web_url}/shared/trips/")
    return url.removeprefix(settings().web_url)


@pytest.fixture
def trip(people: People, use: Use) -> int:
    """A trip of Alice's with one of everything that is filed and planned."""
    number = make_trip(use, people.alice, start_date="2027-05-08", end_date="2027-05-12")
    use(people.alice, "add_flight_booking", workspace_trip_id=number, **FLIGHT, **PRIVATE)
    gone = use(people.alice, "add_flight_booking", workspace_trip_id=number, **FLIGHT | {"destination": "OPO"})
    with transaction() as session:
        session.get_one(FlightBooking, gone["booking"]["booking_id"]).cancelled_at = clock.now()
    use(people.alice, "add_hotel_booking", trip_id=number, **STAY, **PRIVATE)
    plan = {"title": "Tile <Museum>", "day": "2027-05-10", "start_time": "10:30", "location": "Rua 4"}
    use(people.alice, "save_itinerary_item", trip_id=number, kind="activity", notes="Door code 4711", **plan)
    use(people.alice, "save_itinerary_item", trip_id=number, title="Secret plan")
    moved = {"from_program": "chase", "to_program": "aeroplan", "points": 55000, "day": "2027-05-01"}
    assert use(people.alice, "save_itinerary_item", trip_id=number, **moved)["status"] == "ok"
    return number


def test_anyone_with_the_link_sees_the_plan_and_nothing_that_is_private(
    world: World, people: People, use: Use, trip: int
) -> None:
    path = share(use, people.alice, trip)
    page = world.get(path)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    words = ["Lisbon &lt;&amp; Porto&gt;", "Portugal", "Sat 8 May 2027", "Los Angeles (LAX) to Lisbon (LIS)"]
    words += ["15:10 to 12:05 +1", "TP284", "Sun 9 May 2027", "Casa Zorblatt", "2 nights, until Tue 11 May 2027"]
    words += [
        "Map of the way from Los Angeles to Lisbon",
        "Mon 10 May 2027",
        "Tile &lt;Museum&gt;",
        "10:30",
        "Rua 4",
        "Times are local to each place.",
    ]
    assert [w for w in words if w not in page.text] == []
    assert [w for w in (*NEVER, "OPO", "<script") if w in page.text] == []
    assert len(page.content) < 30_000


def test_nothing_keeps_indexes_frames_or_passes_on_the_page(world: World, people: People, use: Use, trip: int) -> None:
    for path in (share(use, people.alice, trip), DEAD):
        headers = world.get(path).headers
        assert headers["x-robots-tag"].startswith("noindex")
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "private, no-store"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "set-cookie" not in headers


def test_taken_back_archived_deleted_and_never_made_read_alike(world: World, people: People, use: Use) -> None:
    ends = [("update_trip", {"share": False}), ("update_trip", {"state": "archived"})]
    ends += [("delete_trip", {}), ("delete_trip", {"permanently": True})]
    paths = []
    for tool, fields in ends:
        trip = make_trip(use, people.alice)
        paths.append(share(use, people.alice, trip))
        assert world.get(paths[-1]).status_code == 200
        assert use(people.alice, tool, trip_id=trip, **fields)["status"] == "ok"
    pages = [world.get(path) for path in (*paths, DEAD, "/shared/trips/x", "/shared/trips/%00")]
    assert {page.status_code for page in pages} == {404}
    assert len({page.content for page in pages}) == 1
    assert "This trip is not shared" in pages[0].text


def test_a_link_opens_one_trip_of_one_account(world: World, people: People, use: Use) -> None:
    names = {}
    for who in (people.alice, people.paula):
        for name in ("First", "Second"):
            title = f"{name} of {who.account_id}"
            names[share(use, who, make_trip(use, who, name=title))] = title
    for path, title in names.items():
        page = world.get(path).text
        assert [other for other in names.values() if other in page] == [title]
    feed = str(use(people.alice, "get_calendar_feed")["url"]).rpartition("/")[2].removesuffix(".ics")
    assert world.get(f"/shared/trips/{feed}").status_code == 404
    assert world.get(f"/feeds/{next(iter(names)).rpartition('/')[2]}.ics").status_code == 404


def test_a_suspended_account_shows_nothing_and_one_taken_over_neither(world: World, people: People, use: Use) -> None:
    path = share(use, people.alice, make_trip(use, people.alice))
    for disabled_at, status in ((clock.now(), 404), (None, 200)):
        with transaction() as session:
            session.get_one(Account, people.alice.account_id).disabled_at = disabled_at
        assert world.get(path).status_code == status
    with transaction() as session:
        absorb(session, people.alice.account_id, people.paula.account_id)
    assert world.get(path).status_code == 404
    assert use(people.paula, "list_trips")["trips"][0]["name"] == "Lisbon <& Porto>"


def test_a_long_trip_has_pages_and_none_is_heavy(world: World, people: People, use: Use) -> None:
    trip = make_trip(use, people.alice, name="W" * 120, destination="W" * 120)
    with transaction(people.alice.account_id) as session:
        fields = {"trip_id": trip, "kind": "meal", "location": "é" * 120}
        session.add_all(ItineraryItem(title=f"{n:03} " + "é" * 156, position=n, **fields) for n in range(60))
    path = share(use, people.alice, trip)
    pages = [world.get(f"{path}?page={number}") for number in (1, 2, 3)]
    assert max(len(page.content) for page in pages) < 30_000
    assert sorted(re.findall(r"\b(\d{3}) é", "".join(page.text for page in pages))) == [f"{n:03}" for n in range(60)]
    assert world.get(f"{path}?page=9999").text == pages[2].text
    assert world.get(f"{path}?page=x").text == world.get(path).text == pages[0].text


def test_guessing_is_slowed_by_address(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_documents, "PER_MINUTE", 2)
    answers = [world.get(DEAD) for _ in range(4)]
    assert answers[-1].status_code == 429
    assert re.fullmatch(r"\d+", answers[-1].headers["retry-after"])


def test_the_tool_host_leads_browsers_to_the_site(world: World, people: People, use: Use, trip: int) -> None:
    base, path = world.mcp_url.removesuffix("/mcp"), share(use, people.alice, trip)
    answer = httpx.get(base + path, headers={"accept": "text/html"}, trust_env=False)
    assert (answer.status_code, answer.headers["location"]) == (303, world.url + path)
