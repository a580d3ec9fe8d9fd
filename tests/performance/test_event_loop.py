"""The event loop of the MCP server is never held up, whatever a tool that awaits its sources does."""

import inspect
from datetime import timedelta
from functools import partial
from itertools import count

import anyio
import pytest

from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.registry import TOOLS
from mcp_server.toolkit.thread_limiter import limiter
from shared import http
from tests.mcp_server.tools.conftest import people  # noqa: F401 - a fixture
from tests.mcp_server.tools.sample_arguments import sample_arguments
from tests.mcp_server.tools.test_availability import search_arguments, travel_day
from tests.performance.stopwatch import any_attempt_passes, longest_block, thread_seconds
from tests.support.people import People

MAX_BLOCK_SECONDS = 0.05
ON_THE_LOOP = sorted(n for n, tool in TOOLS.items() if tool.static or inspect.iscoroutinefunction(tool.function))


@pytest.mark.parametrize("name", ON_THE_LOOP)
def test_a_tool_on_the_loop_never_holds_it_up(people: People, name: str) -> None:  # noqa: F811
    def attempt() -> bool:
        limiter.cache_clear()
        call = partial(dispatch, name, sample_arguments(TOOLS[name]), people.paula, "mcp")
        return anyio.run(longest_block, call) < MAX_BLOCK_SECONDS

    assert any_attempt_passes(attempt)


def test_a_search_that_finds_nothing_in_the_cache_never_holds_up_the_loop(people: People) -> None:  # noqa: F811
    days = count()  # an attempt with a day of its own finds nothing in the cache

    def attempt() -> bool:
        limiter.cache_clear()
        day = travel_day() + timedelta(days=next(days))
        arguments = search_arguments() | {"date": day.isoformat()}
        call = partial(dispatch, "search_availability", arguments, people.alice, "mcp")
        return anyio.run(longest_block, call) < MAX_BLOCK_SECONDS

    assert any_attempt_passes(attempt)


def test_a_client_of_a_host_is_built_once_and_then_costs_nothing() -> None:
    http.client("https://source.example")
    assert thread_seconds(lambda: [http.client("https://source.example") for _ in range(20)]) < 0.1
