"""Trips through the gate: opened within the plan, counted, archived and deleted without losing what was filed."""

from datetime import UTC, datetime
from typing import Any

import anyio
import pytest
from sqlalchemy import select

from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.thread_limiter import limiter
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.route_monitors import RouteMonitor
from shared.db.trips import SearchRecord, Trip
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

NOTHING_FILED = dict.fromkeys(
    ("flight_bookings", "hotel_bookings", "monitors", "standing_orders", "searches", "chats"), 0
)


def monitor(trip: int | None = None) -> RouteMonitor:
    day = datetime(2027, 5, 1, tzinfo=UTC).date()
    return RouteMonitor(trip_id=trip, origin="LHR", destination="JFK", earliest_date=day, latest_date=day)


def search(trip: int | None = None) -> SearchRecord:
    return SearchRecord(trip_id=trip, tool="search_availability", arguments={}, summary="None.", outcome="ok")


def file(caller: Caller, *rows: Any) -> None:
    with transaction(caller.account_id) as session:
        session.add_all(rows)


@pytest.mark.spec("s2.7.name_required", "s2.7.destination_and_dates", "s2.7.trip_id")
def test_create_trip_keeps_every_field(people: People, use: Use) -> None:
    made = use(
        people.alice,
        "create_trip",
        name="  Japan ",
        destination="Tokyo",
        start_date="2027-04-01",
        end_date="2027-04-14",
    )
    trip = made["trip"]
    assert (made["status"], made["active_count"], made["cap"]) == ("ok", 1, None)
    assert isinstance(trip["trip_id"], int)
    assert (trip["name"], trip["destination"], trip["state"]) == ("Japan", "Tokyo", "active")
    assert (trip["start_date"], trip["end_date"], trip["archived_at"]) == ("2027-04-01", "2027-04-14", None)
    assert trip["counts"] == {**NOTHING_FILED, "itinerary_items": 0}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": " "}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"name": "x", "start_date": "2027-02-29"}, "start_date"),
        ({"name": "x", "start_date": "2027-03-02", "end_date": "2027-03-01"}, "end_date"),
        ({"name": "x", "trip_id": 1}, "trip_id"),
    ],
)
def test_create_trip_refuses_bad_input(people: People, use: Use, given: dict[str, Any], field: str) -> None:
    made = use(people.alice, "create_trip", **given)
    assert (made["status"], made["errors"][0]["field"]) == ("invalid", field)
    assert use(people.alice, "list_trips", state="all")["paging"]["total"] == 0


@pytest.mark.spec("s4.4.create_trip.free_one", "s3.trip.archive_frees_slot")
def test_create_trip_gives_free_accounts_one_active_trip(people: People, use: Use) -> None:
    first = use(people.bob, "create_trip", name="One")
    second = use(people.bob, "create_trip", name="Two")
    assert (first["active_count"], first["cap"]) == (1, 1)
    assert (second["status"], second["required_tier"], second["current_tier"]) == ("paywall", "premium", "free")
    assert "delete_trip" in second["free_alternative"]
    use(people.bob, "delete_trip", trip_id=first["trip"]["trip_id"])
    assert use(people.bob, "create_trip", name="Two")["status"] == "ok"


@pytest.mark.spec("s4.4.create_trip.free_one")
def test_create_trip_lets_one_of_eight_calls_at_once_win(people: People) -> None:
    made: list[str] = []

    async def one(number: int) -> None:
        made.append((await dispatch("create_trip", {"name": f"Trip {number}"}, people.bob, "mcp")).status)

    async def many() -> None:
        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(one, number)

    limiter.cache_clear()
    anyio.run(many)
    assert (made.count("ok"), made.count("paywall")) == (1, 7)


@pytest.mark.spec("s2.7.groups_everything")
def test_list_trips_counts_what_is_filed_under_each(people: People, use: Use) -> None:
    ids = [use(people.alice, "create_trip", name=n)["trip"]["trip_id"] for n in ("A", "B")]
    file(people.alice, monitor(ids[0]), monitor(ids[0]), search(ids[0]), search(ids[1]), search())
    listed = use(people.alice, "list_trips")
    counted = {t["name"]: (t["counts"]["monitors"], t["counts"]["searches"]) for t in listed["trips"]}
    assert counted == {"A": (2, 1), "B": (0, 1)}
    assert [t["name"] for t in listed["trips"]] == ["B", "A"]


def test_list_trips_tells_states_apart_and_pages(people: People, use: Use) -> None:
    ids = [use(people.alice, "create_trip", name=n)["trip"]["trip_id"] for n in "ABC"]
    use(people.alice, "delete_trip", trip_id=ids[0])
    assert [t["name"] for t in use(people.alice, "list_trips")["trips"]] == ["C", "B"]
    archived = use(people.alice, "list_trips", state="archived")
    assert [(t["name"], t["state"]) for t in archived["trips"]] == [("A", "archived")]
    assert archived["active_count"] == 2
    page = use(people.alice, "list_trips", state="all", page=2, per_page=2)
    assert [t["name"] for t in page["trips"]] == ["A"]
    assert page["paging"] == {"page": 2, "per_page": 2, "total": 3, "has_more": False}


def test_list_trips_sends_no_more_statements_for_more_trips(people: People, use: Use, queries: list[str]) -> None:
    counts = []
    for number in (1, 30):
        file(people.alice, *(Trip(name=f"{number}-{n}") for n in range(number)))
        queries.clear()
        assert use(people.alice, "list_trips", per_page=100)["status"] == "ok"
        counts.append(len(queries))
    assert counts[1] <= min(counts[0], 6)


@pytest.mark.spec("s3.trip.archive_default", "s3.trip.archive_unfiles", "s3.trip.archive_keeps_itinerary")
def test_delete_trip_archives_and_takes_out_what_was_filed(people: People, use: Use) -> None:
    trip = use(people.alice, "create_trip", name="A")["trip"]["trip_id"]
    file(people.alice, monitor(trip), search(trip), search(trip))
    gone = use(people.alice, "delete_trip", trip_id=trip)
    assert (gone["archived"], gone["deleted"], gone["trip"]["state"]) == (True, False, "archived")
    assert gone["unfiled"] == {**NOTHING_FILED, "monitors": 1, "searches": 2}
    with transaction(people.alice.account_id) as session:
        assert [m.trip_id for m in session.scalars(select(RouteMonitor))] == [None]
        assert [s.trip_id for s in session.scalars(select(SearchRecord))] == [None, None]
        assert session.get_one(Trip, trip).archived_at is not None


def test_delete_trip_twice_keeps_the_first_archiving(people: People, use: Use) -> None:
    trip = use(people.alice, "create_trip", name="A")["trip"]["trip_id"]
    first = use(people.alice, "delete_trip", trip_id=trip)["trip"]["archived_at"]
    again = use(people.alice, "delete_trip", trip_id=trip)
    assert (again["status"], again["trip"]["archived_at"]) == ("ok", first)


@pytest.mark.spec("s3.trip.delete_from_either_state", "s3.trip.delete_drops_itinerary_only")
@pytest.mark.parametrize("archived_before", [False, True])
def test_delete_trip_for_good_keeps_what_was_filed(people: People, use: Use, archived_before: bool) -> None:
    trip = use(people.alice, "create_trip", name="A")["trip"]["trip_id"]
    if archived_before:
        use(people.alice, "delete_trip", trip_id=trip)
    file(people.alice, monitor(trip), search(trip))
    gone = use(people.alice, "delete_trip", trip_id=trip, permanently=True)
    assert (gone["trip"], gone["archived"], gone["deleted"]) == (None, False, True)
    assert (gone["unfiled"]["monitors"], gone["unfiled"]["searches"]) == (1, 1)
    with transaction(people.alice.account_id) as session:
        assert session.scalars(select(Trip)).all() == []
        assert [m.trip_id for m in session.scalars(select(RouteMonitor))] == [None]
    assert use(people.alice, "delete_trip", trip_id=trip)["status"] == "not_found"


def test_delete_trip_of_another_account_changes_nothing(people: People, use: Use) -> None:
    trip = use(people.alice, "create_trip", name="A")["trip"]["trip_id"]
    file(people.alice, monitor(trip))
    for permanently in (False, True):
        no = use(people.charlie, "delete_trip", trip_id=trip, permanently=permanently)
        assert (no["status"], no["what"], no["id"]) == ("not_found", "trip", trip)
    kept = use(people.alice, "list_trips")["trips"]
    assert [(t["trip_id"], t["counts"]["monitors"]) for t in kept] == [(trip, 1)]


def test_trips_of_a_downgraded_account_stay_and_can_be_archived(people: People, use: Use) -> None:
    for name in "AB":
        use(people.alice, "create_trip", name=name)
    with transaction() as session:
        session.get_one(Account, people.bob.account_id).plan = "free"
        for trip in session.scalars(select(Trip)):
            trip.account_id = people.bob.account_id
    listed = use(people.bob, "list_trips")
    assert (listed["active_count"], listed["cap"]) == (2, 1)
    assert use(people.bob, "create_trip", name="C")["status"] == "paywall"
    assert use(people.bob, "delete_trip", trip_id=listed["trips"][0]["trip_id"])["status"] == "ok"
