"""Budgets of a call: few statements however many rows there are, none on the event loop's thread, and short ids."""

import inspect
import re
import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from sqlalchemy import event

from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.context import Call, Caller
from mcp_server.toolkit.registry import TOOLS, Tier, Tool
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db.base import engine, transaction
from shared.db.trips import TRIP_COLUMNS
from shared.domain.plans import Plan
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.owned_rows import rows_of_every_kind, store_rows
from tests.mcp_server.tools.sample_arguments import sample_arguments
from tests.mcp_server.tools.test_isolation import record_parameters
from tests.mcp_server.tools.test_sandbox_rows import travel_day
from tests.support.people import People, account
from tests.support.sandbox_seats import set_seat

MOST_STATEMENTS = 6
# These show many tables, or remember many answers, and send one statement for each. A statement is compared with
# earlier ones before and after the lock, and sorted by profile and taught shops.
ONE_PER_TABLE = {
    "explore_destinations": 22,  # of a first question to the sandbox, which looks at 15 routes
    "get_calendar_feed": 10,
    "get_portfolio": 18,
    "get_trip": 15,
    "import_spending_statement": 7,
    "list_upcoming_deadlines": 9,
    "plan_trip": 7,  # of a first plan, which remembers seats and fares
    "search_hybrid": 14,
}
LONGEST_ID = 24
# Fields whose length is not ours to choose, each with the reason.
FIXED = {
    "trip_id of a booking": "the caller makes it up, and the specification wants a UUID",
    "id of an answer that found nothing": "what the caller gave",
}
BOOKINGS = {"booking", "bookings", "flight_bookings", "hotel_bookings", "legs"}
REFUSED = ("invalid", "internal_error")
LIVE = sorted(n for n, t in TOOLS.items() if inspect.iscoroutinefunction(t.function))


def _belongings(who: Caller, numbers: range) -> list[dict[str, Any]]:
    """Sets of belongings of which all that can be filed under a trip lies in the first one's."""
    sets = [rows_of_every_kind(number) for number in numbers]
    with transaction(who.account_id) as session:
        session.add(sets[0]["trip_id"])
        session.flush()
        for column in TRIP_COLUMNS.values():
            for row in (row for rows in sets for row in rows.values() if isinstance(row, column.class_)):
                setattr(row, column.key, sets[0]["trip_id"].id)
        store_rows(session, *sets)
    return sets


def _of_ones_own(tool: Tool, sets: list[dict[str, Any]]) -> dict[str, Any]:
    """The arguments that name records: those of the first set, and of all sets where several can be named."""
    named: dict[str, Any] = {}
    for parameter in record_parameters(tool):
        if (tool.name, parameter) == ("create_route_monitor", "booking_id"):
            continue  # it wants a priced award on the very route that is watched
        about = tool.arguments.schema["properties"][parameter]
        if parameter in sets[0]:
            several = about.get("type") == "array"
            ids = [rows[parameter].id for rows in sets][: about.get("maxItems", 10) if several else 1]
            text = "string" in (about.get("type"), about.get("items", {}).get("type"))
            ids = [str(id) for id in ids] if text else ids
            named[parameter] = ids if several else ids[0]
    return named


def list_ids(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each text under a name of an id with the names that lead to it."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from list_ids(part, (*path, name))
    elif isinstance(value, list):
        for part in value:
            yield from list_ids(part, path)
    elif isinstance(value, str) and re.search(r"(^|_)ids?$", path[-1]):
        yield path, value


def find_long_ids(answer: dict[str, Any]) -> list[tuple[tuple[str, ...], str]]:
    own_bookings = [path for path, _ in list_ids(answer) if path[-1] == "trip_id" and BOOKINGS & set(path)]
    nothing = [("id",)] if answer["status"] == "not_found" else []
    return [(p, id) for p, id in list_ids(answer) if len(id) > LONGEST_ID and p not in [*own_bookings, *nothing]]


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_plausible_call_sends_few_statements_and_shows_short_ids(
    people: People, use: Use, queries: list[str], name: str
) -> None:
    who = people.ada if TOOLS[name].tier is Tier.ADMIN else people.paula
    sets = _belongings(who, range(1))
    set_seat("open:4", "LHR", "JFK", travel_day(), "business", "BA")
    use(who, "list_trips")  # the first call of a day reads how many there were
    for named in ({}, _of_ones_own(TOOLS[name], sets)):
        queries.clear()
        answer = use(who, name, **sample_arguments(TOOLS[name], **named))
        assert answer["status"] not in REFUSED, answer
        assert len(queries) <= ONE_PER_TABLE.get(name, MOST_STATEMENTS), "\n".join(queries)
        assert find_long_ids(answer) == []


@pytest.mark.parametrize("name", sorted(n for n, t in TOOLS.items() if t.tier is not Tier.ADMIN))
def test_no_call_sends_more_statements_for_more_rows(people: People, use: Use, queries: list[str], name: str) -> None:
    """Two accounts, one with four times what the other has; where records are named, with all of them."""
    sent, needed = [], TOOLS[name].arguments.required
    page = {"per_page": 3} if "per_page" in TOOLS[name].arguments.schema["properties"] else {}
    for who, numbers in ((people.paula, range(1)), (account("petra", Plan.PRO), range(1, 5))):
        named = _of_ones_own(TOOLS[name], _belongings(who, numbers))
        if name.startswith(("list_", "get_")):  # a filter would leave one row of many
            named = {parameter: value for parameter, value in named.items() if parameter in needed}
        use(who, "list_trips")
        queries.clear()
        answer = use(who, name, **sample_arguments(TOOLS[name], **named) | page)
        assert answer["status"] not in REFUSED, answer
        sent.append(len(queries))
    more = 2 if name == "update_points_balance" else 1  # it looks for a new row again once it has the account's lock
    assert sent[1] <= sent[0] + more, answer  # one more: the rows beyond a full page are counted


@pytest.fixture
def threads_of_statements() -> Iterator[set[int]]:
    seen: set[int] = set()

    def note(*_: Any) -> None:
        seen.add(threading.get_ident())

    event.listen(engine(), "before_cursor_execute", note)
    yield seen
    event.remove(engine(), "before_cursor_execute", note)


async def _ask_while_all_threads_are_taken(caller: Caller, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    for borrower in range(int(limiter().total_tokens)):
        limiter().acquire_on_behalf_of_nowait(borrower)
    with anyio.fail_after(5):
        return (await dispatch(name, arguments, caller, "mcp")).data


@pytest.fixture
def use_without_threads(people: People, use: Use, queries: list[str]) -> Iterator[Use]:
    use(people.paula, "list_trips")  # the first call of a day reads how many there were
    queries.clear()

    def run(name: str, /, **arguments: Any) -> dict[str, Any]:
        limiter.cache_clear()
        return anyio.run(_ask_while_all_threads_are_taken, people.paula, name, arguments)

    yield run
    limiter.cache_clear()


def test_static_tool_reads_no_rows_and_takes_no_thread(use_without_threads: Use, queries: list[str]) -> None:
    """Each of them for programmes of several kinds; one that waited for a thread would time out."""
    faults = []
    for name in sorted(name for name, tool in TOOLS.items() if tool.static is True):
        for program in ("flying-blue", "qatar-airways-privilege-club", "nobody's"):
            arguments = sample_arguments(TOOLS[name])
            arguments |= {"program": program} if "program" in arguments else {}
            try:
                status = use_without_threads(name, **arguments)["status"]
            except TimeoutError:
                status = "waited for a thread"
            faults += [f"{name}: {status}"] * (status not in ("ok", "no_data", "not_found", "invalid"))
    assert faults + queries == []


def test_price_of_a_known_flight_takes_no_thread_and_that_of_another_asks_for_fares_once(
    people: People, use: Use, use_without_threads: Use, queries: list[str]
) -> None:
    route = {"program": "virgin-atlantic-flying-club", "origin": "LHR"}
    assert use_without_threads("get_pricing", **route, destination="JFK")["route"] == "known"
    assert queries == []
    assert use(people.paula, "get_pricing", **route, destination="GRU")["status"] == "ok"
    assert sum("fare_observations" in query for query in queries) == 1


def test_static_tool_is_given_no_rows(people: People) -> None:
    with pytest.raises(LookupError):
        _ = Call(people.paula, "mcp", clock.now(), static=True).db


@pytest.mark.parametrize("name", LIVE)
def test_async_tool_sends_no_statement_from_the_loops_own_thread(
    people: People, use: Use, threads_of_statements: set[int], name: str
) -> None:
    use(people.paula, name, **sample_arguments(TOOLS[name]))
    assert threading.get_ident() not in threads_of_statements
