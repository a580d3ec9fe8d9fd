"""Trips by hand: their days and gaps, plans and bookings in them, archived with an undo, deleted, and the calendar."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import re
from typing import Any

import httpx
import pytest

from mcp_server.toolkit.context import Caller
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.rest.test_bookings_page import send, text_of
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture

PAGE = "/dashboard/trips"
TRIP = {"name": "Lisbon & Porto", "destination": "Lisbon", "start_date": "2027-05-08", "end_date": "2027-05-12"}


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test", "premium")


def make_trip(world: World) -> tuple[int, str]:
    """The number of a new trip and its page."""
    made = send(world, f"{PAGE}/new", **TRIP)
    assert made.status_code == 303
    page = made.headers["location"].removesuffix("?done=made")
    return int(page.rpartition("/")[2]), page


def fill_trip(use: Any, ann: Caller, trip: int) -> tuple[int, int]:
    """A flight and a stay of two of the four nights."""
    flight = {"airline": "TP", "origin": "LAX", "destination": "LIS", "cabin_class": "business", "passengers": 2}
    flight |= {"points_spent": 70000, "taxes_paid": 87, "departure_date": "2027-05-08", "workspace_trip_id": trip}
    stay = {"hotel_id": "Casa Zorblatt", "city": "Lisbon", "kind": "cash", "original_pay_rate_usd": 540}
    stay |= {"check_in_date": "2027-05-08", "check_out_date": "2027-05-10", "trip_id": trip}
    booked = use(ann, "add_flight_booking", **flight), use(ann, "add_hotel_booking", **stay)
    return booked[0]["booking"]["booking_id"], booked[1]["booking"]["booking_id"]


def press(world: World, page: str, action: str, words: str) -> httpx.Response:
    """The button of these words on a page."""
    forms = re.findall(rf'<form method="post" action="{action}">(.*?)</form>', world.get(page).text, re.S)
    form = next(form for form in forms if words in form)
    return world.http.post(world.url + action, data=dict(re.findall(r'name="(\w+)" value="([^"]*)"', form)))


def test_a_trip_is_made_changed_and_deleted_by_hand(world: World, ann: Caller, use: Any) -> None:
    _, page = make_trip(world)
    assert "Lisbon & Porto" in text_of(world.get(PAGE).text)
    assert send(world, f"{page}/edit", name="Porto", destination="").status_code == 303
    (trip,) = use(ann, "list_trips")["trips"]
    assert (trip["name"], trip["destination"], trip["end_date"]) == ("Porto", None, "2027-05-12")
    assert "Delete this trip?" in world.get(f"{page}/delete").text
    assert press(world, f"{page}/delete", f"{page}/delete", "Delete").headers["location"] == f"{PAGE}?done=deleted"
    assert [world.get(path).status_code for path in (page, f"{page}/edit", f"{page}/delete")] == [404] * 3
    make_trip(world)
    send(world, f"{PAGE}/new", name="Oslo", start_date="2027-06-01", end_date="2027-06-05")
    listed = text_of(world.get(PAGE).text)
    assert listed.index("Lisbon") < listed.index("Oslo"), "the next trip stands first"


@pytest.mark.parametrize(("field", "typed"), [("name", ""), ("end_date", "2027-05-01"), ("start_date", "soon")])
def test_a_fault_of_a_trip_stands_at_its_field(world: World, ann: Caller, field: str, typed: str) -> None:
    refused = send(world, f"{PAGE}/new", **TRIP | {field: typed})
    assert refused.status_code == 422
    assert f'id="{field}-fault" role="alert"' in refused.text
    assert 'value="Lisbon"' in refused.text
    page = make_trip(world)[1]
    refused = send(world, f"{page}/edit", **{field: typed})
    assert (refused.status_code, f'id="{field}-fault"' in refused.text) == (422, True)


def test_a_trip_stands_day_by_day_with_its_gaps_and_costs(world: World, ann: Caller, use: Any) -> None:
    number, page = make_trip(world)
    fill_trip(use, ann, number)
    words = text_of(world.get(page).text.split("<main")[1])
    days = ["Sat 8 May 2027", "LAX to LIS", "Casa Zorblatt", "Mon 10 May 2027", "No bed"]
    assert [words.index(day, words.index("Day by day")) for day in days] == sorted(
        words.index(day, words.index("Day by day")) for day in days
    )
    assert re.search(r"70,000 \w.*\$627", words)
    assert "70,000 points + $87 taxes for two" in words


def test_a_plan_is_added_changed_and_removed(world: World, ann: Caller, use: Any) -> None:
    number, page = make_trip(world)
    typed = {
        "title": "Tile <Museum>",
        "day": "2027-05-10",
        "start_time": "10:30",
        "location": "Rua 4",
        "kind": "activity",
    }
    assert send(world, f"{page}/items/new", **typed).headers["location"] == f"{page}?done=item_saved"
    (item,) = use(ann, "get_trip", trip_id=number)["itinerary"]
    one = f"{page}/items/{item['item_id']}"
    assert "Tile &lt;Museum&gt;" in world.get(page).text
    assert send(world, one, start_time="11:00", location="").status_code == 303
    (item,) = use(ann, "get_trip", trip_id=number)["itinerary"]
    assert (item["start_time"], item["location"], item["title"]) == ("11:00", None, "Tile <Museum>")
    refused = send(world, one, start_time="")
    assert (refused.status_code, "This cannot be emptied" in refused.text) == (422, True)
    assert press(world, f"{one}/remove", f"{one}/remove", "Remove").headers["location"] == f"{page}?done=item_removed"
    assert use(ann, "get_trip", trip_id=number)["itinerary"] == []
    assert [world.get(path).status_code for path in (one, f"{one}/remove")] == [404, 404]


def test_a_fault_of_a_plan_stands_at_its_field(world: World, ann: Caller) -> None:
    page = make_trip(world)[1]
    refused = send(world, f"{page}/items/new", title="Dinner", start_time="25:00")
    assert (refused.status_code, 'id="start_time-fault"' in refused.text) == (422, True)
    assert 'value="Dinner"' in refused.text


def test_a_booking_is_put_into_a_trip_and_taken_out_on_its_page(world: World, ann: Caller, use: Any) -> None:
    number, page = make_trip(world)
    flight, stay = fill_trip(use, ann, number)
    for booking in (f"flight-{flight}", f"hotel-{stay}"):
        assert press(world, page, f"{page}/bookings", f'value="{booking}"').headers["location"] == f"{page}?done=taken"
    counts = use(ann, "list_trips")["trips"][0]["counts"]
    assert (counts["flight_bookings"], counts["hotel_bookings"]) == (0, 0)
    assert send(world, page, f"{page}/bookings", booking=f"hotel-{stay}").headers["location"] == f"{page}?done=filed"
    assert use(ann, "list_trips")["trips"][0]["counts"]["hotel_bookings"] == 1


def test_an_archived_trip_comes_back_with_what_was_filed_under_it(world: World, ann: Caller, use: Any) -> None:
    number, page = make_trip(world)
    fill_trip(use, ann, number)
    watch = {"origin": "LAX", "destination": "LIS", "earliest_date": "2027-05-01", "latest_date": "2027-05-05"}
    monitor = use(ann, "create_route_monitor", **watch)["monitor"]["monitor_id"]
    use(ann, "link_trip_items", trip_id=number, monitor_ids=[monitor])
    assert f'href="/dashboard/watches/route/{monitor}"' in world.get(page).text
    archived = press(world, page, f"{page}/archive", "Archive").headers["location"]
    assert use(ann, "list_trips")["trips"] == []
    assert "Lisbon" in world.get(f"{PAGE}/archived").text
    back = press(world, archived, f"{page}/back", "Bring it back")
    assert back.headers["location"] == f"{page}?done=back"
    counts = use(ann, "list_trips")["trips"][0]["counts"]
    assert [counts[kind] for kind in ("flight_bookings", "hotel_bookings", "monitors")] == [1, 1, 1]


def test_a_second_trip_on_the_free_plan_is_a_sentence_with_a_way_out(world: World) -> None:
    sign_up(world, "bob@example.test")
    make_trip(world)
    refused = send(world, f"{PAGE}/new", **TRIP | {"name": "Another"})
    assert (refused.status_code, 'href="/plans"' in refused.text) == (403, True)
    assert "Archive the active trip" in refused.text


def test_a_trip_with_much_in_it_has_pages_and_none_is_heavy(world: World, ann: Caller, use: Any) -> None:
    number, page = make_trip(world)
    for hour in range(30):
        use(ann, "save_itinerary_item", trip_id=number, title=f"{hour:02}" + "T" * 158, day="2027-05-09",
            location="L" * 160, start_time=f"{hour % 24:02}:00")  # fmt: skip
    answer = world.get(page)
    assert len(answer.content) < 30_000
    assert "Page 1 of 2" in text_of(answer.text)
    assert world.get(f"{page}?page=2").status_code == 200


def test_nobody_sees_or_changes_another_persons_trip(world: World, ann: Caller, use: Any) -> None:
    number, page = make_trip(world)
    use(ann, "save_itinerary_item", trip_id=number, title="Dinner")
    world.http.cookies.clear()
    sign_up(world, "eve@example.test", "premium")
    paths = (page, f"{page}/edit", f"{page}/delete", f"{page}/items/new", f"{page}/items/1", f"{PAGE}/x")
    assert [world.get(path).status_code for path in paths] == [404] * len(paths)


# --- the calendar


def test_the_calendar_address_is_shown_when_asked_for_and_replaced(world: World, ann: Caller, use: Any) -> None:
    page = "/dashboard/calendar"
    assert "/feeds/" not in world.get(page).text
    first = re.search(r"http\S+/feeds/\S+\.ics", press(world, page, page, "Show my").text)
    assert first is not None
    assert use(ann, "get_calendar_feed")["url"] == first[0]
    assert world.http.get(first[0]).status_code == 200
    renewed = press(world, page, f"{page}/reset", "Replace")
    second = re.search(r"http\S+/feeds/\S+\.ics", renewed.text)
    assert second is not None
    assert f'href="webcal{second[0][4:]}"' in renewed.text
    assert (second[0] != first[0], world.http.get(first[0]).status_code) == (True, 404)


def test_a_trip_is_shared_by_a_link_and_the_link_is_ended(world: World, ann: Caller, use: Any) -> None:
    number, page = make_trip(world)
    assert press(world, page, f"{page}/share", "Make a link").headers["location"] == f"{page}?done=shared"
    url = str(use(ann, "get_trip", trip_id=number)["share_url"])
    assert f'<code class="copy">{url}</code>' in world.get(f"{page}?done=shared").text
    assert "Lisbon &amp; Porto" in httpx.get(url, trust_env=False).text
    assert press(world, page, f"{page}/unshare", "End the link").headers["location"] == f"{page}?done=unshared"
    assert (httpx.get(url, trust_env=False).status_code, "Make a link" in world.get(page).text) == (404, True)
