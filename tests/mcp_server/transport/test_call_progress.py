"""Progress of searches, heard by the official client that asked for it."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import anyio
import anyio.to_thread
import pytest
from mcp_types import CallToolResult

import mcp_server.tools  # noqa: F401 - registers every tool
from mcp_server.toolkit.context import LiveCall
from mcp_server.toolkit.registry import TOOLS, Effect, Tier, tool
from mcp_server.transport import sdk_server
from shared import clock
from shared.providers.contract import AwardSeat, SeatsQuestion
from tests.mcp_server.conftest import World
from tests.mcp_server.probes import Words
from tests.mcp_server.transport.test_sdk_server import MODES, Mode, client
from tests.support.fake_seats import WithSources, live, source, with_sources
from tests.support.people import People

__all__ = ["live", "with_sources"]
Part = tuple[float, float | None, str | None]
CATALOGUE = dict(TOOLS)  # before the tools of the tests replace it
LONDON = {"origin": "LHR", "destination": "NYC"}


async def ask_sources(call: LiveCall) -> Words:
    """Ask the sources twice. Free."""
    day = clock.today() + timedelta(days=60)
    for destination in ("JFK", "BOS"):
        await call.ask.all("award_seats", [SeatsQuestion("LHR", destination, day, day)])
    return Words(message="Asked.", words=[], nothing=None)


@pytest.fixture(autouse=True)
def probe(world: World) -> Iterator[None]:
    with patch.dict(TOOLS):
        tool(area="search", tier=Tier.FREE, effect=Effect.READS, open_world=True)(ask_sources)
        yield


class Sources:
    """Three quick sources and one that answers once the client has heard of the others."""

    def __init__(self, with_sources: WithSources) -> None:
        self.heard = threading.Event()
        with_sources(
            *(source(name, self._answer_at_once, terms="anyone") for name in ("one", "two", "three")),
            source("four", self._answer_late, terms="anyone"),
        )

    async def _answer_at_once(self, _question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        return ()

    async def _answer_late(self, _question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        await anyio.to_thread.run_sync(self.heard.wait, 10)
        return ()


def call_sources(
    world: World, people: People, mode: Mode, sources: Sources, *, listens: bool
) -> tuple[Any, list[Part]]:
    parts: list[Part] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        parts.append((progress, total, message))
        sources.heard.set()

    async def session() -> CallToolResult:
        async with client(world, world.token(people.alice), mode) as connected:
            answer = await connected.call_tool("ask_sources", {}, progress_callback=hear if listens else None)
            assert isinstance(answer, CallToolResult)
            return answer

    return anyio.run(session).structured_content, parts


@pytest.mark.parametrize("mode", MODES)
def test_a_search_tells_how_many_sources_answered(
    world: World, people: People, with_sources: WithSources, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sdk_server, "INTERVAL_SECONDS", 0.02)
    answer, parts = call_sources(world, people, mode, Sources(with_sources), listens=True)
    assert answer["message"] == "Asked."
    numbers = [part[0] for part in parts]
    assert numbers == sorted(set(numbers))
    assert numbers[0] <= 3
    assert parts[0][1] == 4
    assert parts[-1] == (8, 8, "8 of 8 searches are done.")


@pytest.mark.parametrize("mode", MODES)
def test_a_quick_search_tells_of_its_end_alone(
    world: World, people: People, with_sources: WithSources, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sdk_server, "INTERVAL_SECONDS", 3600)
    sources = Sources(with_sources)
    sources.heard.set()
    assert call_sources(world, people, mode, sources, listens=True)[1] == [(8, 8, "8 of 8 searches are done.")]


@pytest.mark.parametrize("mode", MODES)
def test_who_did_not_ask_for_progress_is_told_of_none(
    world: World, people: People, with_sources: WithSources, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []

    async def tell(_teller: Any) -> None:
        told.append(1)

    monkeypatch.setattr(sdk_server._Teller, "tell", tell)
    sources = Sources(with_sources)
    sources.heard.set()
    answer, parts = call_sources(world, people, mode, sources, listens=False)
    assert (answer["message"], parts, told) == ("Asked.", [], [])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search_all_airlines", {"date": "day"}),
        ("search_monthly_availability", {"month": "month", "airline": "BA"}),
        ("plan_trip", {"earliest_date": "day", "latest_date": "day"}),
        ("search_cash_flights", {"date": "day"}),
    ],
)
def test_searches_of_the_catalogue_tell_their_progress(
    world: World, people: People, name: str, arguments: dict[str, str]
) -> None:
    day = (clock.today() + timedelta(days=60)).isoformat()
    sent = LONDON | {key: {"day": day, "month": day[:7]}.get(value, value) for key, value in arguments.items()}
    parts: list[Part] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        parts.append((progress, total, message))

    async def session() -> Any:
        async with client(world, world.token(people.alice), "auto") as connected:
            return await connected.call_tool(name, sent, progress_callback=hear)

    with patch.dict(TOOLS, {name: CATALOGUE[name]}):
        answer = anyio.run(session).structured_content
    assert answer["status"] == "ok", answer["message"]
    assert parts
    assert parts[-1][0] == parts[-1][1]
