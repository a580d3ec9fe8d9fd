"""Trips through the gate: opened within the plan, counted, archived and deleted without losing what was filed."""

import json
from datetime import UTC, date, datetime, timedelta
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
from shared.db.runs import schedule
from shared.db.standing_orders import StandingOrder, StandingOrderRun
from shared.db.trips import TRIP_COLUMNS, ChatLink, ItineraryItem, SearchRecord, Trip
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.test_trip_items import bookings, kept, links, one_of_each, trip, trips_of
from tests.support.people import People

PLAN = {"name": "Japan", "destination": "Tokyo", "start_date": "2027-04-01", "end_date": "2027-04-14"}
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
    answer = use(
        people.alice,
        "create_trip",
        name="  Japan ",
        destination="Tokyo",
        start_date="2027-04-01",
        end_date="2027-04-14",
    )
    trip = answer["trip"]
    assert (answer["status"], answer["active_count"], answer["cap"]) == ("ok", 1, None)
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
    answer = use(people.alice, "create_trip", **given)
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", field)
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


@pytest.mark.spec("s2.7.name_required", "s2.7.destination_and_dates", "s2.7.groups_everything")
def test_get_trip_shows_everything_filed_under_it(people: People, use: Use) -> None:
    made, ids = use(people.alice, "create_trip", **PLAN)["trip"], kept(people.alice)
    there = made["trip_id"]
    use(people.alice, "assign_bookings_to_trip", trip_id=there, **bookings(ids))
    use(people.alice, "link_trip_items", trip_id=there, **links(ids))
    item = use(people.alice, "save_itinerary_item", trip_id=there, title="Dinner")["item"]
    kept(people.alice)  # rows that are filed nowhere
    shown = use(people.alice, "get_trip", trip_id=there)
    assert shown["trip"] == made | {"counts": dict.fromkeys(TRIP_COLUMNS, 1) | {"itinerary_items": 1}}
    assert shown["itinerary"] == [item]
    assert [b["booking_id"] for b in shown["flight_bookings"]] == [ids["flight_bookings"]]
    assert [b["booking_id"] for b in shown["hotel_bookings"]] == [ids["hotel_bookings"]]
    assert [m["monitor_id"] for m in shown["monitors"]] == [ids["monitors"]]
    assert [o["standing_order_id"] for o in shown["standing_orders"]] == [ids["standing_orders"]]
    assert [s["search_id"] for s in shown["searches"]] == [ids["searches"]]
    assert [c["chat_id"] for c in shown["chats"]] == [ids["chats"]]


def test_get_trip_shows_the_newest_twenty_searches_and_counts_all(people: People, use: Use) -> None:
    there, start = trip(use, people.alice), datetime(2026, 1, 1, tzinfo=UTC)
    with transaction(people.alice.account_id) as session:
        for n in range(25):
            search = SearchRecord(trip_id=there, tool="x", arguments={}, summary=str(n), outcome="ok")
            search.created_at = start + timedelta(days=n)
            session.add(search)
    shown = use(people.alice, "get_trip", trip_id=there)
    assert [s["summary"] for s in shown["searches"]] == [str(n) for n in range(24, 4, -1)]
    assert shown["trip"]["counts"]["searches"] == 25
    assert "20 of 25 searches" in shown["message"]


def test_get_trip_shows_the_next_and_the_last_run_of_an_order(people: People, use: Use) -> None:
    there, day = trip(use, people.alice), datetime(2026, 1, 1, 7, tzinfo=UTC)
    with transaction(people.alice.account_id) as session:
        orders = [StandingOrder(prompt=p, cadence="daily", run_hour=7, trip_id=there) for p in ("stopped", "running")]
        orders[0].stopped_at = day
        session.add_all(orders)
        session.flush()
        for n, outcome in enumerate(("ok", "failed", None)):
            run = StandingOrderRun(standing_order_id=orders[1].id, started_at=day + timedelta(days=n), outcome=outcome)
            session.add(run)
        for order in orders:
            schedule(session, "standing_order", order.id, timedelta(days=1))
    running, stopped = use(people.alice, "get_trip", trip_id=there)["standing_orders"]
    assert (running["state"], running["last_run_at"], running["last_outcome"]) == (
        "running",
        "2026-01-02T07:00:00Z",
        "failed",
    )
    assert running["next_run_at"] is not None
    assert (stopped["state"], stopped["next_run_at"], stopped["last_run_at"]) == ("stopped", None, None)


def test_get_trip_sends_no_more_statements_for_more_rows(people: People, use: Use, queries: list[str]) -> None:
    there, sent = trip(use, people.alice), []
    for sets in (1, 30):
        with transaction(people.alice.account_id) as session:
            for _ in range(sets):
                for kind, row in one_of_each().items():
                    setattr(row, TRIP_COLUMNS[kind].key, there)
                    session.add(row)
        queries.clear()
        assert use(people.alice, "get_trip", trip_id=there)["status"] == "ok"
        sent.append(len(queries))
    assert sent[1] == sent[0]


def test_get_trip_cuts_the_longest_lists_of_a_very_full_trip(people: People, use: Use) -> None:
    there = trip(use, people.alice)
    with transaction(people.alice.account_id) as session:
        for n in range(60):
            session.add(ItineraryItem(trip_id=there, title=str(n), kind="note", notes="x" * 4000, position=n))
            session.add(ChatLink(trip_id=there, title=str(n)))
    shown = use(people.alice, "get_trip", trip_id=there)
    titles = [i["title"] for i in shown["itinerary"]]
    assert titles == [str(n) for n in range(len(titles))]
    assert 0 < len(titles) < 20
    assert (len(shown["chats"]), shown["trip"]["counts"]["itinerary_items"]) == (60, 60)
    assert f"{len(titles)} of 60 itinerary items" in shown["message"]
    assert len(json.dumps(shown)) < 100_000


def test_update_trip_changes_only_what_is_sent(people: People, use: Use) -> None:
    before = use(people.alice, "create_trip", **PLAN)["trip"]
    there = before["trip_id"]
    answer = use(people.alice, "update_trip", trip_id=there, name="Japan again", end_date="2027-04-20")
    assert (answer["status"], sorted(answer["changed"])) == ("ok", ["end_date", "name"])
    assert answer["trip"]["updated_at"] > before["updated_at"]
    after = before | {"name": "Japan again", "end_date": "2027-04-20", "updated_at": answer["trip"]["updated_at"]}
    assert answer["trip"] == use(people.alice, "get_trip", trip_id=there)["trip"] == after
    same = use(people.alice, "update_trip", trip_id=there, name="Japan again", state="active")
    assert (same["changed"], same["trip"]) == ([], after)


def test_update_trip_clears_what_is_named(people: People, use: Use) -> None:
    there = use(people.alice, "create_trip", **PLAN)["trip"]["trip_id"]
    answer = use(people.alice, "update_trip", trip_id=there, clear=["destination", "start_date"], end_date="2026-01-01")
    assert sorted(answer["changed"]) == ["destination", "end_date", "start_date"]
    assert (answer["trip"]["destination"], answer["trip"]["start_date"]) == (None, None)
    assert answer["trip"]["end_date"] == "2026-01-01"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"state": "deleted"}, "state"),
        ({"start_date": "2027-04-15"}, "end_date"),
        ({"end_date": "2027-03-01"}, "end_date"),
        ({"clear": ["name"]}, "clear[0]"),
        ({"clear": ["start_date"], "start_date": "2027-04-02"}, "clear"),
    ],
)
def test_update_trip_refuses_bad_input(people: People, use: Use, given: dict[str, Any], field: str) -> None:
    before = use(people.alice, "create_trip", **PLAN)["trip"]
    answer = use(people.alice, "update_trip", trip_id=before["trip_id"], **given)
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", field)
    assert use(people.alice, "get_trip", trip_id=before["trip_id"])["trip"] == before


@pytest.mark.spec("s3.trip.archive_unfiles", "s3.trip.archive_keeps_itinerary", "s3.trip.archive_frees_slot")
def test_update_trip_to_archived_does_what_delete_trip_does(people: People, use: Use) -> None:
    shown = []
    for how in ("update_trip", "delete_trip"):
        there, ids = trip(use, people.bob), kept(people.bob)  # bob has one slot: archiving has to free it
        use(people.bob, "assign_bookings_to_trip", trip_id=there, **bookings(ids))
        use(people.bob, "link_trip_items", trip_id=there, **links(ids))
        use(people.bob, "save_itinerary_item", trip_id=there, title="Dinner")
        answer = use(people.bob, how, trip_id=there, **({"state": "archived"} if how == "update_trip" else {}))
        assert answer["status"] == "ok"
        trip_now = answer["trip"]
        assert trip_now == use(people.bob, "get_trip", trip_id=there)["trip"]
        assert all(of == [None] * len(of) for of in trips_of(people.bob).values())
        shown.append((trip_now["state"], trip_now["counts"]))
    assert shown == [("archived", dict.fromkeys(TRIP_COLUMNS, 0) | {"itinerary_items": 1})] * 2


def test_update_trip_brings_an_archived_trip_back(people: People, use: Use) -> None:
    there = trip(use, people.bob)
    use(people.bob, "delete_trip", trip_id=there)
    answer = use(people.bob, "update_trip", trip_id=there, state="active", name="Back")
    assert (answer["status"], sorted(answer["changed"])) == ("ok", ["name", "state"])
    assert (answer["trip"]["state"], answer["trip"]["archived_at"]) == ("active", None)


@pytest.mark.spec("s4.4.create_trip.free_one")
def test_update_trip_needs_a_free_slot_to_bring_a_trip_back(people: People, use: Use) -> None:
    old = trip(use, people.bob)
    use(people.bob, "delete_trip", trip_id=old)
    trip(use, people.bob, "New")
    answer = use(people.bob, "update_trip", trip_id=old, state="active", name="Back")
    assert (answer["status"], answer["required_tier"]) == ("paywall", "premium")
    assert "delete_trip" in answer["free_alternative"]
    kept_trip = use(people.bob, "get_trip", trip_id=old)["trip"]
    assert (kept_trip["state"], kept_trip["name"]) == ("archived", "Japan")


@pytest.mark.spec("s4.4.create_trip.free_one")
def test_one_of_many_calls_at_once_gets_the_slot_of_a_free_account(people: People) -> None:
    with transaction(people.bob.account_id) as session:
        rows = [Trip(name=str(n), archived_at=datetime(2026, 1, 1, tzinfo=UTC)) for n in range(6)]
        session.add_all(rows)
        session.flush()
        ids = [row.id for row in rows]
    made: list[str] = []

    async def one(tool: str, given: dict[str, Any]) -> None:
        made.append((await dispatch(tool, given, people.bob, "mcp")).status)

    async def many() -> None:
        async with anyio.create_task_group() as group:
            for id in ids:
                group.start_soon(one, "update_trip", {"trip_id": id, "state": "active"})
                group.start_soon(one, "create_trip", {"name": f"New {id}"})

    limiter.cache_clear()
    anyio.run(many)
    assert (made.count("ok"), made.count("paywall")) == (1, 11)


def test_update_trip_of_another_account_is_not_found_before_the_plan_is_looked_at(people: People, use: Use) -> None:
    hers = trip(use, people.alice)
    trip(use, people.bob)
    for id in (hers, 10**9):
        answer = use(people.bob, "update_trip", trip_id=id, state="active")
        assert (answer["status"], answer["what"], answer["id"]) == ("not_found", "trip", id)
    assert date.fromisoformat(use(people.alice, "get_trip", trip_id=hers)["trip"]["created_at"][:10])


def test_update_trip_takes_at_most_six_statements(people: People, use: Use, queries: list[str]) -> None:
    there = trip(use, people.alice)
    for state in ("archived", "active"):
        queries.clear()
        assert use(people.alice, "update_trip", trip_id=there, state=state, name=state)["status"] == "ok"
        assert len(queries) <= 6, "\n".join(queries)


def test_get_trip_names_nights_without_a_stay_and_ways_nothing_connects(people: People, use: Use) -> None:
    there = use(people.alice, "create_trip", name="Japan", start_date="2027-05-01", end_date="2027-05-10")
    trip_id = there["trip"]["trip_id"]
    flown = {"airline": "LH", "cabin_class": "economy", "kind": "award", "workspace_trip_id": trip_id}
    for origin, destination, day in (("FRA", "HND", "2027-05-01"), ("KIX", "FRA", "2027-05-10")):
        ways = {"origin": origin, "destination": destination, "departure_date": day}
        assert use(people.alice, "add_flight_booking", **flown, **ways)["status"] == "ok"
    bare = use(people.alice, "get_trip", trip_id=trip_id)
    assert [g["kind"] for g in bare["gaps"]] == ["night", "flight"]
    assert "No hotel is saved for the 8 nights from Sun 2 to Mon 10 May 2027." in bare["message"]
    stay = {"hotel_id": "Park Hyatt Tokyo", "kind": "award", "trip_id": trip_id}
    days = {"check_in_date": "2027-05-02", "check_out_date": "2027-05-06"}
    assert use(people.alice, "add_hotel_booking", **stay, **days)["status"] == "ok"
    answer = use(people.alice, "get_trip", trip_id=trip_id)
    gaps = [(g["kind"], g["from_date"], g["to_date"]) for g in answer["gaps"]]
    assert gaps == [("night", "2027-05-06", "2027-05-10"), ("flight", "2027-05-01", "2027-05-10")]
    assert "No hotel is saved for the 4 nights from Thu 6 to Mon 10 May 2027." in answer["message"]
    assert "Nothing is filed from HND (1 May 2027) to KIX (10 May 2027)." in answer["message"]
    train = {"title": "Train to Osaka", "day": "2027-05-06", "kind": "transfer"}
    assert use(people.alice, "save_itinerary_item", trip_id=trip_id, **train)["status"] == "ok"
    message = use(people.alice, "get_trip", trip_id=trip_id)["message"]
    assert "(10 May 2027), but Train to Osaka (6 May 2027)." in message


def test_get_trip_names_short_connections_other_airports_and_double_nights(people: People, use: Use) -> None:
    there = use(people.alice, "create_trip", name="Japan", start_date="2027-05-01", end_date="2027-05-15")
    trip_id = there["trip"]["trip_id"]
    flown = {"airline": "BA", "cabin_class": "economy", "kind": "award", "workspace_trip_id": trip_id}
    first = flown | {"origin": "MAN", "destination": "LHR", "departure_date": "2027-05-01", "departure_time": "08:00"}
    lands = {"arrival_date": "2027-05-01", "arrival_time": "09:05", "confirmation_number": "AAA111"}
    assert use(people.alice, "add_flight_booking", **first, **lands)["status"] == "ok"
    onward = flown | {"origin": "LHR", "destination": "HND", "departure_date": "2027-05-01", "departure_time": "10:20"}
    added = use(people.alice, "add_flight_booking", **onward, confirmation_number="BBB222")
    gaps = use(people.alice, "get_trip", trip_id=trip_id)["gaps"]
    assert [(g["kind"], g["from_date"], g["to_date"]) for g in gaps] == [
        ("night", "2027-05-02", "2027-05-15"),
        ("connection", "2027-05-01", "2027-05-01"),
    ]
    assert gaps[1]["text"].startswith("Only 1 h 15 min at LHR between two bookings. On separate tickets allow 3 hours")
    booking = {"booking_id": added["booking"]["booking_id"]}
    changed = use(people.alice, "update_flight_booking", **booking, origin="LGW", confirmation_number="AAA111")
    assert changed["status"] == "ok"
    for hotel, leaves in (("Park Hyatt Tokyo", "2027-05-15"), ("Grand Hyatt Tokyo", "2027-05-04")):
        stay = {"hotel_id": hotel, "check_in_date": "2027-05-02", "check_out_date": leaves}
        assert use(people.alice, "add_hotel_booking", **stay, kind="award", trip_id=trip_id)["status"] == "ok"
    answer = use(people.alice, "get_trip", trip_id=trip_id)
    assert [g["kind"] for g in answer["gaps"]] == ["double_night", "airport"]
    double, change = (g["text"] for g in answer["gaps"])
    assert double == (
        "Two stays are saved for the 2 nights from Sun 2 to Tue 4 May 2027: Grand Hyatt Tokyo and Park Hyatt Tokyo."
    )
    assert change == "Change airport on Sat 1 May 2027: you land at LHR and leave from LGW."


def share(use: Use, caller: Caller, number: int, on: bool | None = None, **fields: Any) -> Any:
    sent = {"share": on} if on is not None else {}
    return use(caller, "update_trip", trip_id=number, **sent, **fields)


def test_update_trip_shares_a_trip_by_one_link_until_it_is_taken_back(people: People, use: Use) -> None:
    number = trip(use, people.alice)
    assert use(people.alice, "get_trip", trip_id=number)["share_url"] is None
    first = share(use, people.alice, number, True)
    assert (first["changed"], "no prices" in first["message"]) == (["share"], True)
    again = share(use, people.alice, number, True)
    renamed = share(use, people.alice, number, name="Japan again")
    urls = {answer["share_url"] for answer in (first, again, renamed, use(people.alice, "get_trip", trip_id=number))}
    assert urls == {first["share_url"]}
    assert (again["changed"], renamed["changed"]) == ([], ["name"])
    ended = share(use, people.alice, number, False)
    assert (ended["changed"], ended["share_url"]) == (["share"], None)
    assert use(people.alice, "get_trip", trip_id=number)["share_url"] is None
    assert share(use, people.alice, number, False)["changed"] == []
    assert share(use, people.alice, number, True)["share_url"] not in urls


def test_update_trip_shares_neither_an_archived_trip_nor_another_accounts(people: People, use: Use) -> None:
    number = trip(use, people.alice)
    old = share(use, people.alice, number, True)["share_url"]
    assert share(use, people.bob, number, True)["status"] == "not_found"
    assert share(use, people.bob, number, False)["status"] == "not_found"
    assert use(people.alice, "get_trip", trip_id=number)["share_url"] == old
    share(use, people.alice, number, state="archived")
    refused = share(use, people.alice, number, True)
    assert (refused["status"], refused["errors"][0]["field"]) == ("invalid", "share")
    assert share(use, people.alice, number, state="active")["share_url"] is None
    assert share(use, people.alice, number, True)["share_url"] not in (None, old)
