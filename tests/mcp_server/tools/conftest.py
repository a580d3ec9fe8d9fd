"""Fixtures of the tool tests: `use` calls a tool through the gate and returns its structured content."""

from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from sqlalchemy import event

import mcp_server.tools  # noqa: F401 - registers every tool
from mcp_server.calls.dispatch import dispatch
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.registry import TOOLS
from mcp_server.toolkit.thread_limiter import limiter
from shared.db.base import engine
from tests.support.fake_accounts import outside, pages, serving  # noqa: F401 - fixtures
from tests.support.people import People, everybody

Use = Callable[..., dict[str, Any]]


@pytest.fixture
def people(clean: None) -> People:
    USAGE_LOG.today.clear()
    USAGE_LOG.pending.clear()
    return everybody()


@pytest.fixture
def use() -> Use:
    """use(caller, "tool_name", argument=value, ...) -> structuredContent, whole unless `detail` is given."""

    def run(caller: Caller, name: str, /, **arguments: Any) -> dict[str, Any]:
        if name in TOOLS and TOOLS[name].condenses:
            arguments = {"detail": "full"} | arguments
        limiter.cache_clear()  # a limiter belongs to one event loop, and each use runs its own loop
        return anyio.run(dispatch, name, arguments, caller, "mcp").data

    return run


@pytest.fixture
def queries() -> Iterator[list[str]]:
    """Every statement sent to the database while the test runs; clear() before what is to be counted."""
    sent: list[str] = []

    def seen(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        sent.append(statement)

    event.listen(engine(), "before_cursor_execute", seen)
    yield sent
    event.remove(engine(), "before_cursor_execute", seen)
