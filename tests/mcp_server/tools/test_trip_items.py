"""Items of trips, called through the gate: filed, moved and taken out, and nothing is lost."""

from datetime import date
from typing import Any

import anyio
import pytest
from sqlalchemy import select

from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.thread_limiter import limiter
from shared.db.base import transaction
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.route_monitors import RouteMonitor
from shared.db.standing_orders import StandingOrder
from shared.db.trips import TRIP_COLUMNS, ChatLink, SearchRecord, Trip
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

DAY = date(2027, 5, 1)
NONE: dict[str, list[int]] = {kind: [] for kind in TRIP_COLUMNS}


def one_of_each() -> dict[str, Any]:
    """Result kind -> a new row of that kind."""
    return {
        "flight_bookings": FlightBooking(
            airline="BA",
            origin="LHR",
            destination="JFK",
            departure_date=DAY,
            cabin_class="business",
            kind="award",
            taxes_currency="USD",
        ),
        "hotel_bookings": HotelBooking(
            hotel_code="htl_x",
            hotel_name="X",
            check_in_date=DAY,
            check_out_date=date(2027, 5, 3),
            kind="cash",
            cash_rate_currency="USD",
        ),
        "monitors": RouteMonitor(origin="LHR", destination="JFK", earliest_date=DAY, latest_date=DAY),
        "standing_orders": StandingOrder(prompt="Look.", cadence="daily", run_hour=7),
        "searches": SearchRecord(tool="search_availability", arguments={}, summary="None.", outcome="ok"),
        "chats": ChatLink(title="Chat"),
    }


def kept(caller: Caller) -> dict[str, int]:
    """Stores one row of each kind for the caller: kind -> its id."""
    rows = one_of_each()
    with transaction(caller.account_id) as session:
        session.add_all(rows.values())
        session.flush()
        return {kind: row.id for kind, row in rows.items()}


def trips_of(caller: Caller) -> dict[str, list[int | None]]:
    """Kind -> the trip of each row the caller has."""
    with transaction(caller.account_id) as session:
        return {kind: list(session.scalars(select(column))) for kind, column in TRIP_COLUMNS.items()}


def trip(use: Use, caller: Caller, name: str = "Japan") -> int:
    made: int = use(caller, "create_trip", name=name)["trip"]["trip_id"]
    return made


def links(ids: dict[str, int]) -> dict[str, list[int]]:
    return {
        "monitor_ids": [ids["monitors"]],
        "standing_order_ids": [ids["standing_orders"]],
        "search_ids": [ids["searches"]],
        "chat_ids": [ids["chats"]],
    }


def bookings(ids: dict[str, int]) -> dict[str, list[int]]:
    return {"flight_booking_ids": [ids["flight_bookings"]], "hotel_booking_ids": [ids["hotel_bookings"]]}


@pytest.mark.spec("s4.4.assign_bookings.params", "s2.7.groups_everything")
def test_assign_bookings_to_trip_files_both_kinds(people: People, use: Use) -> None:
    there, ids = trip(use, people.alice), kept(people.alice)
    answer = use(people.alice, "assign_bookings_to_trip", trip_id=there, **bookings(ids))
    assert answer["status"] == "ok"
    assert answer["moved"] == {"flights": [ids["flight_bookings"]], "hotels": [ids["hotel_bookings"]]}
    assert (
        answer["message"] == f"1 flight booking, 1 hotel booking filed under trip {there} ({answer['trip']['name']})."
    )
    assert answer["not_found"] == {"flights": [], "hotels": []}
    assert (answer["trip"]["counts"]["flight_bookings"], answer["trip"]["counts"]["hotel_bookings"]) == (1, 1)
    assert trips_of(people.alice) == {k: [there if k.endswith("bookings") else None] for k in TRIP_COLUMNS}


@pytest.mark.spec("s4.4.assign_bookings.params")
@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "trip_id"),
        ({"trip_id": "Japan"}, "trip_id"),
        ({"trip_id": 1, "flight_booking_ids": [1.5]}, "flight_booking_ids[0]"),
        ({"trip_id": 1, "hotel_booking_ids": 7}, "hotel_booking_ids"),
        ({"trip_id": 1, "flight_booking_ids": list(range(201))}, "flight_booking_ids"),
    ],
)
def test_assign_bookings_to_trip_refuses_bad_input(people: People, use: Use, given: dict[str, Any], field: str) -> None:
    answer = use(people.alice, "assign_bookings_to_trip", **given)
    assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", field)


@pytest.mark.spec("s4.4.assign_bookings.empty_moves_none")
@pytest.mark.parametrize("lists", [{}, {"flight_booking_ids": []}, {"flight_booking_ids": [], "hotel_booking_ids": []}])
def test_assign_bookings_to_trip_with_an_empty_list_moves_none(people: People, use: Use, lists: dict[str, Any]) -> None:
    there, _ = trip(use, people.alice), kept(people.alice)
    answer = use(people.alice, "assign_bookings_to_trip", trip_id=there, **lists)
    assert (answer["status"], answer["moved"]) == ("ok", {"flights": [], "hotels": []})
    assert trips_of(people.alice) == {kind: [None] for kind in TRIP_COLUMNS}


def test_assign_bookings_to_trip_moves_from_one_trip_to_another_and_can_be_repeated(people: People, use: Use) -> None:
    first, second, ids = trip(use, people.alice), trip(use, people.alice, "Peru"), kept(people.alice)
    for there in (first, second, second):
        answer = use(people.alice, "assign_bookings_to_trip", trip_id=there, **bookings(ids))
        assert answer["moved"]["flights"] == [ids["flight_bookings"]]
    assert trips_of(people.alice)["flight_bookings"] == [second]
    listed = {t["trip_id"]: t["counts"]["flight_bookings"] for t in use(people.alice, "list_trips")["trips"]}
    assert listed == {first: 0, second: 1}


def test_assign_bookings_to_trip_tells_a_strangers_booking_no_different_from_none(people: People, use: Use) -> None:
    there, hers = trip(use, people.charlie), kept(people.alice)
    wanted = [hers["flight_bookings"], 10**9, 0, -4, 2**70]
    answer = use(people.charlie, "assign_bookings_to_trip", trip_id=there, flight_booking_ids=wanted)
    assert (answer["status"], answer["moved"]["flights"], answer["not_found"]["flights"]) == ("ok", [], wanted)
    assert trips_of(people.alice) == {kind: [None] for kind in TRIP_COLUMNS}


@pytest.mark.parametrize("tool", ["assign_bookings_to_trip", "link_trip_items", "unlink_trip_items", "get_trip"])
def test_a_trip_of_another_account_is_not_found(people: People, use: Use, tool: str) -> None:
    hers, mine = trip(use, people.alice), kept(people.charlie)
    given = {"link_trip_items": links(mine), "get_trip": {}}.get(tool, bookings(mine))
    told = [use(people.charlie, tool, trip_id=id, **given) for id in (hers, 10**9)]
    assert [t["status"] for t in told] == ["not_found", "not_found"]
    assert told[0]["message"].replace(str(hers), "ID") == told[1]["message"].replace(str(10**9), "ID")
    assert trips_of(people.charlie) == {kind: [None] for kind in TRIP_COLUMNS}


@pytest.mark.spec("s2.7.groups_everything")
def test_link_trip_items_files_all_four_kinds_and_names_what_is_not_there(people: People, use: Use) -> None:
    there, ids, hers = trip(use, people.charlie), kept(people.charlie), kept(people.alice)
    given = {name: [*mine, *links(hers)[name]] for name, mine in links(ids).items()}
    answer = use(people.charlie, "link_trip_items", trip_id=there, **given)
    kinds = ("monitors", "standing_orders", "searches", "chats")
    assert answer["linked"] == {kind: [ids[kind]] for kind in kinds}
    assert answer["not_found"] == {kind: [hers[kind]] for kind in kinds}
    assert {kind: answer["trip"]["counts"][kind] for kind in kinds} == dict.fromkeys(kinds, 1)
    assert trips_of(people.alice) == {kind: [None] for kind in TRIP_COLUMNS}


def test_link_trip_items_never_touches_rows_of_the_other_data_mode(people: People, use: Use) -> None:
    there, ids = trip(use, people.alice), kept(people.alice)
    with transaction() as session:
        session.info.pop("synthetic")
        for row in (session.get_one(SearchRecord, ids["searches"]), session.get_one(RouteMonitor, ids["monitors"])):
            row.synthetic = not row.synthetic
    answer = use(people.alice, "link_trip_items", trip_id=there, **links(ids))
    assert (answer["linked"]["searches"], answer["linked"]["monitors"]) == ([], [])
    assert answer["not_found"]["searches"] == [ids["searches"]]


def test_nothing_is_filed_under_an_archived_trip(people: People, use: Use) -> None:
    there, ids = trip(use, people.alice), kept(people.alice)
    use(people.alice, "delete_trip", trip_id=there)
    for tool, given in (("assign_bookings_to_trip", bookings(ids)), ("link_trip_items", links(ids))):
        answer = use(people.alice, tool, trip_id=there, **given)
        assert (answer["status"], answer["errors"][0]["field"]) == ("invalid", "trip_id")
    assert trips_of(people.alice) == {kind: [None] for kind in TRIP_COLUMNS}


def test_unlink_trip_items_takes_every_kind_out_and_keeps_it(people: People, use: Use) -> None:
    there, ids = trip(use, people.alice), kept(people.alice)
    use(people.alice, "assign_bookings_to_trip", trip_id=there, **bookings(ids))
    use(people.alice, "link_trip_items", trip_id=there, **links(ids))
    assert trips_of(people.alice) == {kind: [there] for kind in TRIP_COLUMNS}
    given = bookings(ids) | links(ids)
    answer = use(people.alice, "unlink_trip_items", trip_id=there, **given)
    assert (answer["status"], answer["unlinked"], answer["not_found"]) == ("ok", {k: [i] for k, i in ids.items()}, NONE)
    assert trips_of(people.alice) == {kind: [None] for kind in TRIP_COLUMNS}
    again = use(people.alice, "unlink_trip_items", trip_id=there, **given)
    assert (again["unlinked"], again["not_found"]) == (NONE, {k: [i] for k, i in ids.items()})
    assert "1 search, 1 chat taken out of trip" in answer["message"]
    assert again["message"].startswith(f"Nothing taken out of trip {there} (")


def test_unlink_trip_items_leaves_what_is_filed_elsewhere(people: People, use: Use) -> None:
    first, second, ids = trip(use, people.alice), trip(use, people.alice, "Peru"), kept(people.alice)
    use(people.alice, "link_trip_items", trip_id=first, **links(ids))
    answer = use(people.alice, "unlink_trip_items", trip_id=second, chat_ids=[ids["chats"]])
    assert (answer["unlinked"]["chats"], answer["not_found"]["chats"]) == ([], [ids["chats"]])
    assert trips_of(people.alice)["chats"] == [first]


@pytest.mark.spec("s3.trip.archive_unfiles", "s3.trip.delete_drops_itinerary_only")
@pytest.mark.parametrize("permanently", [False, True])
def test_delete_trip_takes_every_kind_out_in_few_statements(
    people: People, use: Use, queries: list[str], permanently: bool
) -> None:
    there, ids = trip(use, people.alice), kept(people.alice)
    use(people.alice, "assign_bookings_to_trip", trip_id=there, **bookings(ids))
    use(people.alice, "link_trip_items", trip_id=there, **links(ids))
    queries.clear()
    gone = use(people.alice, "delete_trip", trip_id=there, permanently=permanently)
    assert gone["unfiled"] == dict.fromkeys(TRIP_COLUMNS, 1)
    assert trips_of(people.alice) == {kind: [None] for kind in TRIP_COLUMNS}
    assert len(queries) - len(TRIP_COLUMNS) <= 6  # the last statements are those of trips_of


def test_filing_all_kinds_at_once_takes_few_statements(people: People, use: Use, queries: list[str]) -> None:
    there, sets = trip(use, people.alice), [kept(people.alice) for _ in range(20)]
    many = {
        name: [i for ids in sets for i in (bookings(ids) | links(ids))[name]]
        for name in bookings(sets[0]) | links(sets[0])
    }
    filed = {n: ids for n, ids in many.items() if "booking" in n}
    for tool, given in (
        ("assign_bookings_to_trip", filed),
        ("link_trip_items", {n: ids for n, ids in many.items() if n not in filed}),
        ("unlink_trip_items", many),
    ):
        queries.clear()
        assert use(people.alice, tool, trip_id=there, **given)["status"] == "ok"
        assert len(queries) <= 4, "\n".join(queries)
    with transaction(people.alice.account_id) as session:
        assert session.get_one(Trip, there).archived_at is None


def test_a_booking_is_neither_added_nor_changed_into_an_archived_trip(people: People, use: Use) -> None:
    there, ids = trip(use, people.alice), kept(people.alice)
    use(people.alice, "delete_trip", trip_id=there)
    leg = {"airline": "BA", "origin": "LHR", "destination": "JFK", "departure_date": "2027-05-01"}
    leg |= {"cabin_class": "business", "kind": "cash"}
    stay = {"hotel_id": "htl_conrad-tokyo", "check_in_date": "2027-05-01", "check_out_date": "2027-05-02"}
    stay |= {"kind": "cash"}
    for tool, given in (
        ("add_flight_booking", {**leg, "cash_paid": 100, "workspace_trip_id": there}),
        ("update_flight_booking", {"booking_id": ids["flight_bookings"], "workspace_trip_id": there}),
        ("add_hotel_booking", {**stay, "original_pay_rate_usd": 100, "trip_id": there}),
        ("update_hotel_booking", {"booking_id": ids["hotel_bookings"], "trip_id": there}),
    ):
        answer = use(people.alice, tool, **given)
        assert (answer["status"], answer["errors"][0]["problem"]) == ("invalid", "is archived"), answer["message"]
    assert trips_of(people.alice) == {kind: [None] for kind in TRIP_COLUMNS}


def test_what_is_filed_while_a_trip_is_archived_ends_up_outside_it(people: People, use: Use) -> None:
    ids = kept(people.alice)

    async def both(there: int) -> None:
        async with anyio.create_task_group() as group:
            filing = {"assign_bookings_to_trip": bookings(ids), "link_trip_items": links(ids)}
            for tool, given in {**filing, "delete_trip": {}}.items():
                group.start_soon(dispatch, tool, {"trip_id": there, **given}, people.alice, "mcp")

    for _ in range(5):
        there = trip(use, people.alice)
        limiter.cache_clear()
        anyio.run(both, there)
        assert trips_of(people.alice) == {kind: [None] for kind in TRIP_COLUMNS}
