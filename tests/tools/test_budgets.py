"""What any call may cost: few statements however many rows there are, and an event loop that is never held up."""

import inspect
import threading
import time
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from sqlalchemy import event

from mcp_server.gate import answer
from mcp_server.threads import limiter
from mcp_server.toolbox import TOOLS, Tier
from shared.db.base import engine, transaction
from tests.people import People
from tests.tools.belongings import belongings, keep
from tests.tools.conftest import Use
from tests.tools.samples import sample

MOST_STATEMENTS = 6
# These show many tables, and send one statement for each.
ONE_PER_TABLE = {"get_portfolio": 14, "list_upcoming_deadlines": 7}
MANY_ROWS = ("list_", "get_usage", "get_portfolio")
LONGEST_BLOCK = 0.05
LIVE = sorted(n for n, t in TOOLS.items() if inspect.iscoroutinefunction(t.function))


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_no_call_sends_more_than_six_statements(people: People, use: Use, queries: list[str], name: str) -> None:
    who = people.ada if TOOLS[name].tier is Tier.ADMIN else people.paula
    use(who, "list_trips")  # the first call of a day reads how many there were
    queries.clear()
    use(who, name, **sample(TOOLS[name]))
    assert len(queries) <= ONE_PER_TABLE.get(name, MOST_STATEMENTS), "\n".join(queries)


@pytest.mark.parametrize("name", sorted(n for n in TOOLS if n.startswith(MANY_ROWS)))
def test_lists_send_no_more_statements_for_more_rows(people: People, use: Use, queries: list[str], name: str) -> None:
    sent, who = [], people.paula if TOOLS[name].tier is Tier.PRO else people.alice
    use(who, "list_trips")
    for sets in (range(1), range(1, 30)):
        with transaction(who.account_id) as session:
            for number in sets:
                keep(session, belongings(number))
        queries.clear()
        assert use(who, name, **sample(TOOLS[name]))["status"] == "ok"
        sent.append(len(queries))
    assert sent[0] == sent[1]


@pytest.fixture
def threads_of_statements() -> Iterator[set[int]]:
    seen: set[int] = set()

    def note(*_: Any) -> None:
        seen.add(threading.get_ident())

    event.listen(engine(), "before_cursor_execute", note)
    yield seen
    event.remove(engine(), "before_cursor_execute", note)


async def _longest_block(people: People, name: str) -> float:
    """The longest time the loop did not come round while the tool was called."""
    longest, running = 0.0, True

    async def tick() -> None:
        nonlocal longest
        while running:
            before = time.perf_counter()
            await anyio.sleep(0.001)
            longest = max(longest, time.perf_counter() - before - 0.001)

    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        await anyio.sleep(0.005)
        await answer(name, sample(TOOLS[name]), people.paula, "mcp")
        running = False
    return longest


@pytest.mark.parametrize("name", LIVE)
def test_async_tool_never_holds_up_the_loop(people: People, threads_of_statements: set[int], name: str) -> None:
    """The best of three: another program on the machine may hold up the loop once, a blocking tool does always."""
    blocks = []
    for _ in range(3):
        limiter.cache_clear()
        blocks.append(anyio.run(_longest_block, people, name))
    assert min(blocks) < LONGEST_BLOCK
    assert threading.get_ident() not in threads_of_statements
