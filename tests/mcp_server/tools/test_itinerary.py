"""Itineraries through the gate: entries are added, changed, ordered by day and place, and removed."""

from typing import Any

import pytest
from sqlalchemy import select

from shared.db.base import transaction
from shared.db.trips import ItineraryItem
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.test_trip_items import kept, trip
from tests.support.people import People


def save(use: Use, people: People, there: int, **given: Any) -> dict[str, Any]:
    made = use(people.alice, "save_itinerary_item", trip_id=there, **given)
    assert made["status"] == "ok", made["message"]
    item: dict[str, Any] = made["item"]
    return item


def test_save_itinerary_item_keeps_every_field(people: People, use: Use) -> None:
    there, ids = trip(use, people.alice), kept(people.alice)
    given = {
        "title": "Fly to New York",
        "day": "2027-05-01",
        "start_time": "22:05",
        "end_time": "01:10",
        "kind": "flight",
        "location": "Heathrow",
        "notes": "Terminal 5\nSeat 1A",
        "flight_booking_id": ids["flight_bookings"],
        "hotel_booking_id": ids["hotel_bookings"],
        "position": 3,
    }
    answer = use(people.alice, "save_itinerary_item", trip_id=there, **given)
    assert (answer["status"], answer["created"], answer["trip_id"]) == ("ok", True, there)
    assert answer["item"] == given | {
        "item_id": answer["item"]["item_id"],
        "trip_id": there,
        "points_transfer": None,
    }
    assert use(people.alice, "get_trip", trip_id=there)["itinerary"] == [answer["item"]]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "title"),
        ({"title": "  "}, "title"),
        ({"title": "x" * 161}, "title"),
        ({"title": "x", "start_time": "24:00"}, "start_time"),
        ({"title": "x", "end_time": "9:30"}, "end_time"),
        ({"title": "x", "end_time": "09:60"}, "end_time"),
        ({"title": "x", "kind": "party"}, "kind"),
        ({"title": "x", "position": -1}, "position"),
        ({"title": "x", "position": 10**7}, "position"),
        ({"title": "x", "day": "2027-02-29"}, "day"),
        ({"item_id": 1, "title": ""}, "title"),
    ],
)
def test_save_itinerary_item_refuses_bad_input(people: People, use: Use, given: dict[str, Any], field: str) -> None:
    there = trip(use, people.alice)
    answer = use(people.alice, "save_itinerary_item", trip_id=there, **given)
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", field)
    assert use(people.alice, "get_trip", trip_id=there)["itinerary"] == []


def test_save_itinerary_item_changes_only_what_is_sent_of_an_entry_that_exists(people: People, use: Use) -> None:
    there = trip(use, people.alice)
    first = save(use, people, there, title="Dinner", day="2027-05-01", kind="meal", notes="By the window")
    answer = use(people.alice, "save_itinerary_item", trip_id=there, item_id=first["item_id"], start_time="19:30")
    assert (answer["created"], answer["item"]) == (False, first | {"start_time": "19:30"})
    again = save(use, people, there, item_id=first["item_id"], kind="note", notes="", title="Late dinner")
    assert again == first | {"start_time": "19:30", "kind": "note", "notes": None, "title": "Late dinner"}
    same = use(people.alice, "save_itinerary_item", trip_id=there, item_id=first["item_id"], title="Late dinner")
    assert same["message"].startswith("Late dinner is as it was in the itinerary")


def test_itinerary_goes_by_day_and_place_with_the_undated_last(people: People, use: Use) -> None:
    there = trip(use, people.alice)
    undated = save(use, people, there, title="Buy a map")
    for title, day in (("B1", "2027-05-02"), ("A1", "2027-05-01"), ("B2", "2027-05-02"), ("A2", "2027-05-01")):
        save(use, people, there, title=title, day=day)
    save(use, people, there, title="A0", day="2027-05-01", position=0)

    def titles() -> list[str]:
        return [i["title"] for i in use(people.alice, "get_trip", trip_id=there)["itinerary"]]

    assert titles() == ["A1", "A0", "A2", "B1", "B2", "Buy a map"]  # of one place the older first
    moved = save(use, people, there, item_id=undated["item_id"], day="2027-05-01")
    assert (moved["position"], titles()) == (2, ["A1", "A0", "A2", "Buy a map", "B1", "B2"])


def test_an_entry_of_another_trip_is_not_found(people: People, use: Use) -> None:
    first, second = trip(use, people.alice), trip(use, people.alice, "Peru")
    item = save(use, people, first, title="Dinner")
    answer = use(people.alice, "save_itinerary_item", trip_id=second, item_id=item["item_id"], title="Lunch")
    assert (answer["status"], answer["what"]) == ("not_found", "itinerary item")
    assert use(people.alice, "get_trip", trip_id=first)["itinerary"] == [item]


def test_an_archived_trip_keeps_its_itinerary_and_takes_no_new_entry(people: People, use: Use) -> None:
    there = trip(use, people.alice)
    item = save(use, people, there, title="Dinner")
    gone = use(people.alice, "delete_trip", trip_id=there)
    assert gone["trip"]["counts"]["itinerary_items"] == 1
    refused = use(people.alice, "save_itinerary_item", trip_id=there, title="Lunch")
    assert (refused["status"], refused["errors"][0]["field"]) == ("invalid", "trip_id")
    assert use(people.alice, "get_trip", trip_id=there)["itinerary"] == [item]
    use(people.alice, "delete_trip", trip_id=there, permanently=True)
    with transaction(people.alice.account_id) as session:
        assert session.scalars(select(ItineraryItem)).all() == []


@pytest.mark.parametrize(("parameter", "kind"), [("flight_booking_id", "flight"), ("hotel_booking_id", "hotel")])
def test_an_entry_names_no_booking_of_another_account(people: People, use: Use, parameter: str, kind: str) -> None:
    there, hers = trip(use, people.charlie), kept(people.alice)
    for id in (hers[f"{kind}_bookings"], 10**9):
        answer = use(people.charlie, "save_itinerary_item", trip_id=there, title="x", **{parameter: id})
        assert (answer["status"], answer["what"], answer["id"]) == ("not_found", f"{kind} booking", id)
    assert use(people.charlie, "get_trip", trip_id=there)["itinerary"] == []


def test_remove_itinerary_item_removes_it_and_keeps_the_booking(people: People, use: Use) -> None:
    there, ids = trip(use, people.alice), kept(people.alice)
    item = save(use, people, there, title="Fly", flight_booking_id=ids["flight_bookings"])["item_id"]
    assert use(people.charlie, "remove_itinerary_item", item_id=item)["status"] == "not_found"
    answer = use(people.alice, "remove_itinerary_item", item_id=item)
    assert answer["removed"] == {"item_id": item, "trip_id": there, "title": "Fly"}
    assert use(people.alice, "remove_itinerary_item", item_id=item)["status"] == "not_found"
    filed = use(people.alice, "assign_bookings_to_trip", trip_id=there, flight_booking_ids=[ids["flight_bookings"]])
    assert filed["moved"]["flights"] == [ids["flight_bookings"]]


def test_saving_an_entry_takes_few_statements(people: People, use: Use, queries: list[str]) -> None:
    there, ids = trip(use, people.alice), kept(people.alice)
    both = {"flight_booking_id": ids["flight_bookings"], "hotel_booking_id": ids["hotel_bookings"]}
    queries.clear()
    item = save(use, people, there, title="All", **both)
    assert len(queries) <= 7, "\n".join(queries)
    queries.clear()
    save(use, people, there, item_id=item["item_id"], title="All day", day="2027-05-01", **both)
    assert len(queries) <= 6, "\n".join(queries)


CHASE_TO_HYATT = {"from_program": "Chase", "to_program": "Hyatt", "points": 60_000}


def test_save_itinerary_item_follows_a_transfer_of_points_until_it_posts(people: People, use: Use) -> None:
    there = trip(use, people.alice)
    days = {"day": "2026-11-20", "expected_on": "2026-11-21"}
    item = save(use, people, there, **CHASE_TO_HYATT, **days)
    assert item["kind"] == "points_transfer"
    assert item["title"] == "60,000 points, Chase Ultimate Rewards to World of Hyatt"
    assert item["points_transfer"] == {
        "from_program": "chase-ultimate-rewards",
        "to_program": "world-of-hyatt",
        "points": 60_000,
        "expected_on": "2026-11-21",
        "posted_on": None,
        "state": "late",
    }
    assert f"expected by 21 Nov 2026: {item['title']}" in use(people.alice, "get_trip", trip_id=there)["message"]
    later = save(use, people, there, item_id=item["item_id"], expected_on="2026-12-01")
    assert later["points_transfer"]["state"] == "under_way"
    assert "Under way: 60,000 points" in use(people.alice, "get_trip", trip_id=there)["message"]
    posted = save(use, people, there, item_id=item["item_id"], posted_on="2026-11-22")
    assert posted["points_transfer"]["state"] == "posted"
    assert "60,000" not in use(people.alice, "get_trip", trip_id=there)["message"]


@pytest.mark.parametrize(
    ("given", "status", "field"),
    [
        (CHASE_TO_HYATT | {"points": None}, "invalid", "points"),
        (CHASE_TO_HYATT | {"to_program": None}, "invalid", "to_program"),
        (CHASE_TO_HYATT | {"to_program": "Zorblatt"}, "not_found", None),
        (CHASE_TO_HYATT | {"day": "2026-11-20", "posted_on": "2026-11-19"}, "invalid", "posted_on"),
        ({"title": "Dinner", "points": 5}, "invalid", "from_program"),
        (CHASE_TO_HYATT | {"kind": "meal"}, "invalid", "kind"),
    ],
)
def test_save_itinerary_item_refuses_half_a_transfer(
    people: People, use: Use, given: dict[str, Any], status: str, field: str | None
) -> None:
    there = trip(use, people.alice)
    sent = {name: value for name, value in given.items() if value is not None}
    no = use(people.alice, "save_itinerary_item", trip_id=there, **sent)
    assert no["status"] == status
    assert field is None or no["errors"][0]["field"] == field
    assert use(people.alice, "get_trip", trip_id=there)["itinerary"] == []
