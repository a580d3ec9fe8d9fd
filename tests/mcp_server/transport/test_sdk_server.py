"""The official client against the running server: every way it negotiates, what it learns, what it gets back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent
from sqlalchemy import select

from mcp_server.toolkit.registry import TOOLS
from mcp_server.transport.sdk_server import INSTRUCTIONS
from shared.db.base import transaction
from shared.db.usage import ToolCall
from shared.settings import VERSION
from tests.mcp_server.conftest import World
from tests.mcp_server.transport.test_revocation_events import until
from tests.support.people import People

Mode = Literal["auto", "legacy", "2026-07-28"]
MODES: list[Mode] = ["auto", "legacy", "2026-07-28"]


@asynccontextmanager
async def client(world: World, token: str, mode: Mode, query: str = "") -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=90) as http:
        transport = streamable_http_client(world.url + query, http_client=http)
        async with Client(transport, mode=mode) as connected:
            yield connected


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.spec("s1.1.one_tool_endpoint", "s4.2.list_sorted", "s4.2.list_complete")
def test_official_client_lists_and_calls_in_every_mode(world: World, people: People, mode: Mode) -> None:
    token = world.token(people.alice)

    async def session() -> tuple[list[str], Any]:
        async with client(world, token, mode) as connected:
            listed = await connected.list_tools()
            result = await connected.call_tool("say_words", {"text": "hello"})
            return [tool.name for tool in listed.tools], result

    names, result = anyio.run(session)
    assert names == sorted(TOOLS)
    assert result.is_error is False
    assert result.structured_content["words"] == ["hello"]
    assert isinstance(result.content[0], TextContent)
    assert "Said 1 times.\n{" in result.content[0].text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_server_introduces_itself(world: World, people: People, mode: Mode) -> None:
    token = world.token(people.alice)

    async def session() -> tuple[Any, str | None]:
        async with client(world, token, mode) as connected:
            return connected.server_info, connected.instructions

    info, instructions = anyio.run(session)
    assert (info.name, info.version) == ("award-travel", VERSION)
    assert info.title == "Award Travel [SANDBOX]"
    assert [icon.src.rpartition("/")[2] for icon in info.icons] == ["icon.svg", "icon.png"]
    assert instructions is not None
    assert instructions.startswith(INSTRUCTIONS[:512])
    assert instructions.endswith("[SANDBOX]")


@pytest.mark.parametrize("mode", MODES)
def test_official_client_hears_progress_when_it_asks_for_it(world: World, people: People, mode: Mode) -> None:
    token = world.token(people.alice)
    parts: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        parts.append((progress, total, message))

    async def session() -> Any:
        async with client(world, token, mode) as connected:
            return await connected.call_tool("tell_progress", {}, progress_callback=hear)

    assert anyio.run(session).structured_content == {"status": "ok"}
    assert parts == [(1, 2, "part 1"), (2, 2, "part 2")]


@pytest.mark.parametrize("mode", MODES)
def test_tool_that_reports_progress_answers_those_who_did_not_ask(world: World, people: People, mode: Mode) -> None:
    token = world.token(people.alice)

    async def session() -> Any:
        async with client(world, token, mode) as connected:
            return await connected.call_tool("tell_progress", {})

    assert anyio.run(session).structured_content == {"status": "ok"}


@pytest.mark.parametrize("mode", MODES)
def test_official_client_sees_the_narrowed_list(world: World, people: People, mode: Mode) -> None:
    token = world.token(people.alice)

    async def session() -> list[str]:
        async with client(world, token, mode, "?areas=cards") as connected:
            return [tool.name for tool in (await connected.list_tools()).tools]

    assert anyio.run(session) == ["find_nothing", "look_further"]


@pytest.mark.spec("s7.paywall_rate_tracked")
def test_each_call_is_noted_once_with_its_client_and_outcome(world: World, people: People) -> None:
    world.call(people.bob, "look_further")
    world.call(people.bob, "say_words", text="a")
    world.call(people.bob, "say_words")
    world.call(people.bob, "no_such_tool")

    def notes() -> list[tuple[str, str, str | None, str]]:
        with transaction(people.bob.account_id) as session:
            rows = session.execute(select(ToolCall.tool, ToolCall.outcome, ToolCall.client, ToolCall.via))
            return sorted(tuple(row) for row in rows)

    assert until(lambda: len(notes()) == 4)
    assert notes() == [
        ("look_further", "paywall", "Claude", "mcp"),
        ("say_words", "invalid", "Claude", "mcp"),
        ("say_words", "ok", "Claude", "mcp"),
        ("unknown", "invalid", "Claude", "mcp"),
    ]


def test_instructions_say_what_matters_in_what_hosts_keep() -> None:
    kept = INSTRUCTIONS[:512]
    for word in ("status", "message", "no_data", "candidates", "paywall", "confirmation_required", "ask the user"):
        assert word in kept
