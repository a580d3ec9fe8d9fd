"""Anyone who hangs up during a call ends it: the source is left, its place and the quota are free again."""

import socket
import threading
from collections.abc import Callable
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

import anyio
import httpx
import pytest
from sqlalchemy import select

from mcp_server.calls.dispatch import dispatch
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.toolkit.context import Caller, LiveCall
from mcp_server.toolkit.registry import TOOLS, Effect, Tier, tool
from mcp_server.toolkit.results import Result
from shared.asgi import ClientDisconnected, run_while_connected
from shared.db.base import transaction
from shared.db.usage import UsageCounter
from shared.providers.registry import providers
from shared.settings import settings
from tests.mcp_server.rest.conftest import World
from tests.shared.providers.fakes.server import Pretend, fake_world, pretend  # noqa: F401 - fixtures used here too
from tests.shared.providers.fakes.server import World as Sources
from tests.support.people import People

SEARCH = {"airline": "VS", "origin": "LHR", "destination": "JFK", "date": "2027-03-09"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "Tests", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def token(world: World, caller: Caller) -> str:
    """One that can only read does for a search."""
    s = settings()
    login = (s.service_client_id, s.service_client_secret.get_secret_value())
    form = {"account": caller.public_id, "run_id": "1"}
    told = world.http.post(f"{world.url}/internal/run-token", data=form, auth=login)
    return str(told.json()["access_token"])


def by_rest(world: World, caller: Caller) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {world.key(caller)}"}
    return {"path": "/api/v1/tools/search_availability", "json": SEARCH, "headers": headers}


def by_mcp(world: World, caller: Caller, version: str | None = None, **meta: Any) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token(world, caller)}", "Accept": "application/json, text/event-stream"}
    if version:
        headers["MCP-Protocol-Version"] = version
    if version == "2026-07-28":
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": "search_availability"}
        meta = META | meta
    params = {"name": "search_availability", "arguments": SEARCH} | ({"_meta": meta} if meta else {})
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return {"path": "/mcp", "json": body, "headers": headers}


def newest(world: World, caller: Caller) -> dict[str, Any]:
    return by_mcp(world, caller, "2026-07-28")


def newest_with_progress(world: World, caller: Caller) -> dict[str, Any]:
    return by_mcp(world, caller, "2026-07-28", progressToken=7)


def with_progress(world: World, caller: Caller) -> dict[str, Any]:
    return by_mcp(world, caller, "2025-06-18", progressToken=7)


WAYS = [by_rest, by_mcp, newest, newest_with_progress, with_progress]
Way = Callable[[World, Caller], dict[str, Any]]


def until(true: Callable[[], Any]) -> bool:
    """Whether it comes true in a few seconds."""
    for _ in range(200):
        if true():
            return True
        threading.Event().wait(0.02)
    return False


def hang_up(base: str, asked: dict[str, Any], sources: Sources) -> None:
    """Sends a whole request, and goes as soon as a source was asked."""
    where, before = urlsplit(base), len(sources.asked)
    request = httpx.Request("POST", base + asked["path"], json=asked["json"], headers=asked["headers"])
    lines = [f"POST {asked['path']} HTTP/1.1", *(f"{k}: {v}" for k, v in request.headers.items()), "", ""]
    with socket.create_connection((where.hostname or "", where.port or 0)) as wire:
        wire.sendall("\r\n".join(lines).encode() + request.content)
        assert until(lambda: len(sources.asked) == before + 1)


def counted(caller: Caller) -> dict[str, int]:
    with transaction() as session:
        rows = session.scalars(select(UsageCounter).where(UsageCounter.account_id == caller.account_id))
        return {row.meter: row.used for row in rows}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("through", ["web", "tools"])
def test_a_caller_that_hangs_up_ends_the_call_of_the_source(
    world: World,
    people: People,
    pretend: Pretend,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    way: Way,
    through: str,
) -> None:
    outcomes: list[str] = []
    monkeypatch.setattr(USAGE_LOG, "note", lambda _caller, _via, _tool, outcome, _ms: outcomes.append(outcome))
    sources = pretend("seats_aero", seats_aero="slow")
    base = world.url if through == "web" else world.mcp_url.removesuffix("/mcp")
    hang_up(base, way(world, people.bob), sources)
    assert sources.dropped.wait(4)
    assert until(lambda: outcomes)
    assert outcomes == ["cancelled"]
    assert [n for n in counted(people.bob).values() if n] == []  # neither a search nor an API call


def test_the_places_of_a_source_are_free_again(world: World, people: People, pretend: Pretend) -> None:  # noqa: F811
    sources = pretend("seats_aero", seats_aero="slow")
    for _ in range(providers()["seats_aero"].concurrency + 1):
        hang_up(world.url, by_rest(world, people.alice), sources)
        assert sources.dropped.wait(4)
        sources.dropped.clear()
    pretend(seats_aero="good")
    assert world.call(world.key(people.alice), "search_availability", SEARCH).json()["status"] == "ok"


def test_what_replaces_or_removes_is_carried_through_although_nobody_waits(people: People) -> None:
    async def remove_slowly(call: LiveCall) -> Result:
        """Remove. Free."""
        await anyio.sleep(0.05)
        return Result(message="Removed.")

    async def gone() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    with patch.dict(TOOLS):
        tool(area="trips", tier=Tier.FREE, effect=Effect.CHANGES)(remove_slowly)
        made = anyio.run(dispatch, "remove_slowly", {}, people.bob, "mcp", gone)
    assert (made.status, made.message) == ("ok", "Removed.")


def test_work_whose_caller_stays_ends_as_if_nobody_had_listened() -> None:
    async def answers() -> str:
        return "fine"

    async def fails() -> str:
        raise KeyError("own")

    async def go() -> str:
        with pytest.raises(KeyError):  # as it is, in no group
            await run_while_connected(anyio.sleep_forever(), fails())
        return await run_while_connected(anyio.sleep_forever(), answers())

    assert anyio.run(go) == "fine"


def test_work_whose_caller_goes_is_cancelled_where_it_waits() -> None:
    trace: list[str] = []

    async def waits() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            trace.append("left")

    async def go() -> None:
        with pytest.raises(ClientDisconnected):
            await run_while_connected(anyio.sleep(0), waits())

    anyio.run(go)
    assert trace == ["left"]
