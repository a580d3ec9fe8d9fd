"""Calls of tools over MCP for pages: several at once, each bounded in time."""

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx
from anyio import to_thread

from shared.http import AsyncClient, client
from shared.internal_api import MAX_PAGE_CALLS, mcp_endpoint, page_calls_endpoint, tool_description_endpoint
from shared.redis import call_redis, connect, key
from shared.secrets import digest

# A page's simultaneous looks go to the tool server in one request, answered line by line.

log = logging.getLogger(__name__)
Waiting = list[tuple[dict[str, Any], "asyncio.Future[dict[str, Any]]"]]


class SharedRequests:
    """Joins looks: any request costs both hosts 3 ms of processor, and the portfolio's seven were half its time.

    A caller that stops waiting for one look does not stop the others.
    """

    def __init__(self, client: AsyncClient) -> None:
        self.client = client
        self._waiting: dict[str, Waiting] = {}  # by token
        self._tasks: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def ask(self, token: str, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The tool's answer; empty without one."""
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        if token not in self._waiting:
            self._waiting[token] = []
            asyncio.get_running_loop().call_soon(self._send_all, token)  # once all that start now have joined
        self._waiting[token].append(({"name": tool, "arguments": arguments}, answer))
        return await answer

    def _send_all(self, token: str) -> None:
        waiting = self._waiting.pop(token)
        for first in range(0, len(waiting), MAX_PAGE_CALLS):
            task = asyncio.create_task(self._send(token, waiting[first : first + MAX_PAGE_CALLS]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _send(self, token: str, waiting: Waiting) -> None:
        """A look that gets no line has no answer."""
        try:
            await self._read_lines(token, waiting)
        except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
            tools = ", ".join(call["name"] for call, _ in waiting)
            log.warning("%s failed: %s", tools, type(error).__name__)
        finally:
            for _, answer in waiting:
                if not answer.done():
                    answer.set_result({})

    async def _read_lines(self, token: str, waiting: Waiting) -> None:
        endpoint = page_calls_endpoint(token)
        calls = {"calls": [call for call, _ in waiting]}
        async with self.client.stream("POST", endpoint.url, json=calls, headers=endpoint.headers) as response:
            response.raise_for_status()
            async for line in response.aiter_lines():
                place, data = json.loads(line)
                answer = waiting[place][1]
                if not answer.done() and isinstance(data, dict):
                    answer.set_result(data)


# Answers of long calls, kept in Redis for minutes: a waiting page looks again and never asks twice.

KEEP_SECONDS = 600
REFUSAL_SECONDS = 30  # until the waiting page has looked again; then the question may be asked again
LONGEST_SECONDS = 75  # a call ends by itself after 60; calls of a process that ended are then made again
MAX_OF_ONE, MAX_OF_ALL = 3, 40  # that run at once in this process, which has 100 connections for all its pages
MAX_BYTES = 1 << 20
_RUNNING = b"running"
WAITING = {"status": "waiting"}
_FULL = {"status": "limit_reached", "message": "Other searches still run. Please wait for one of them to end."}

Send = Callable[[], Awaitable[dict[str, Any]]]


class PendingSearches:
    """Runs each question once, whatever process asks, and however often."""

    def __init__(self) -> None:
        self.running: Counter[str] = Counter()
        self._tasks: dict[str, asyncio.Task[dict[str, Any]]] = {}

    async def close(self) -> None:
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def take(self, owner: str, question: str, send: Send, seconds: float) -> dict[str, Any]:
        """The answer of the last minutes, or one that comes within that many seconds; else status `waiting`.

        The first caller starts it. While Redis is down each process asks for itself.
        """
        name = key("page-answer", digest(f"{owner}\0{question}"))
        if name not in self._tasks:
            answer = await self._begin(owner, name, send)
            if answer is not None:
                return answer
        task = self._tasks[name]
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            return dict(WAITING)
        if not _is_good(task.result()):
            await to_thread.run_sync(_drop, name)
        return task.result()

    async def _begin(self, owner: str, name: str, send: Send) -> dict[str, Any] | None:
        """Starts a task; returns None, or else the cached answer, or why none was started."""
        state = await to_thread.run_sync(_claim, name)
        if isinstance(state, dict):
            if not _is_good(state):
                await to_thread.run_sync(_drop, name)
            return state
        if name in self._tasks:  # started here, while Redis was asked
            return None
        if not state:
            return dict(WAITING)
        if self.running[owner] >= MAX_OF_ONE or self.running.total() >= MAX_OF_ALL:
            await to_thread.run_sync(_drop, name)
            return dict(_FULL)
        self.running[owner] += 1
        task = self._tasks[name] = asyncio.create_task(self._finish(owner, name, send))
        task.add_done_callback(lambda _: self._tasks.pop(name, None))
        return None

    async def _finish(self, owner: str, name: str, send: Send) -> dict[str, Any]:
        try:
            answer = await send()
        finally:
            self.running[owner] -= 1
            if not self.running[owner]:
                del self.running[owner]
        await to_thread.run_sync(_keep, name, answer)
        return answer


def _is_good(answer: dict[str, Any]) -> bool:
    return answer.get("status") in ("ok", "partial", "no_data")


def _claim(name: str) -> dict[str, Any] | bool:
    """The answer; True if the caller is to ask, as everyone is while Redis is down; False while another asks."""

    def claim() -> dict[str, Any] | bool:
        if connect().set(name, _RUNNING, nx=True, ex=LONGEST_SECONDS):
            return True
        content = connect().get(name)
        if not isinstance(content, bytes) or content == _RUNNING:
            return False
        answer: dict[str, Any] = json.loads(content)
        return answer

    state = call_redis(claim)
    return True if state is None else state


def _keep(name: str, answer: dict[str, Any]) -> None:
    content = json.dumps(answer, separators=(",", ":")).encode()
    if len(content) > MAX_BYTES:
        content = json.dumps({"status": "internal_error", "message": "The answer is too long to be shown."}).encode()
    seconds = KEEP_SECONDS if _is_good(answer) else REFUSAL_SECONDS
    call_redis(lambda: connect().set(name, content, ex=seconds))


def _drop(name: str) -> None:
    call_redis(lambda: connect().delete(name))


Schema = Mapping[str, Any]
SCHEMA_SECONDS = 300  # that a tool's description may be cached, as its server says


class Schemas:
    """The JSON Schemas of tools' arguments; an old one is used while the tool server gives no newer one."""

    def __init__(self, client: AsyncClient) -> None:
        self.client = client
        self._kept: dict[str, tuple[float, Schema]] = {}

    async def read(self, tool: str) -> Schema:
        """Reads it; empty if it could never be read."""
        read_at, schema = self._kept.get(tool, (0.0, {}))
        if schema and time.monotonic() - read_at < SCHEMA_SECONDS:
            return schema
        endpoint = tool_description_endpoint(tool)
        try:
            response = await self.client.get(endpoint.url, headers=endpoint.headers, timeout=SCHEMA_TIMEOUT)
            response.raise_for_status()
            schema = dict(response.json()["arguments"])
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            log.warning("The description of %s failed: %s", tool, type(error).__name__)
            return schema
        self._kept[tool] = time.monotonic(), schema
        return schema


PAGE_SECONDS = 8.0  # that a page waits for its tools, so that all of it takes ten at most
TIMEOUT = httpx.Timeout(60, connect=2)
SCHEMA_TIMEOUT = httpx.Timeout(3, connect=2)
LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=4)


@dataclass(frozen=True)
class ToolCall:
    """One call of one tool with a token of the page.

    With an `owner` it may outlast the page's wait: it is started once for that account, and its answer cached.
    """

    token: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = PAGE_SECONDS
    owner: str = ""
    is_look: bool = False  # its token is read-only, so that it can share a request with others


class Answer(dict[str, Any]):
    """A tool's whole answer; empty if it did not answer in time."""

    @property
    def status(self) -> str:
        return str(self.get("status", "unanswered"))

    @property
    def is_good(self) -> bool:
        """Whether the tool did what was asked: not if the same was already saved and nothing added."""
        return self.status in ("ok", "partial", "no_data") and not self.get("already_saved")

    @property
    def is_waiting(self) -> bool:
        """Whether the call still runs, so that the page must look again."""
        return self.status == "waiting"


class ToolServer:
    """Holds the connections of this host's pages to the tool server; opened at first use, closed with the host."""

    def __init__(self) -> None:
        self.client = client(timeout=TIMEOUT, limits=LIMITS)
        self.pending_searches = PendingSearches()
        self.shared_requests = SharedRequests(self.client)
        self.schemas = Schemas(self.client)

    async def close(self) -> None:
        await self.pending_searches.close()
        await self.shared_requests.close()
        await self.client.aclose()

    async def call(self, call: ToolCall) -> Answer:
        if call.owner:
            question = json.dumps([call.tool, call.arguments], sort_keys=True)
            return Answer(
                await self.pending_searches.take(call.owner, question, lambda: self._send(call), call.seconds)
            )
        with anyio.move_on_after(call.seconds) as scope:
            return await self._send(call)
        assert scope.cancelled_caught
        log.warning("%s did not answer in %g seconds", call.tool, call.seconds)
        return Answer()

    async def _send(self, call: ToolCall) -> Answer:
        """Sends the call as any MCP client does, or with other looks; a refusal is an answer too."""
        if call.is_look:
            return Answer(await self.shared_requests.ask(call.token, call.tool, call.arguments))
        endpoint = mcp_endpoint(call.token)
        params = {"name": call.tool, "arguments": call.arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        try:
            response = await self.client.post(endpoint.url, json=message, headers=endpoint.headers)
            answer = response.json()["result"]["structuredContent"]
        except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
            log.warning("%s failed: %s", call.tool, type(error).__name__)
            return Answer()
        return Answer(answer) if isinstance(answer, dict) else Answer()
