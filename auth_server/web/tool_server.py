"""Calls of tools over MCP for pages: several at once, each bounded in time."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx

from auth_server.web.kept_answers import KeptAnswers
from auth_server.web.shared_requests import SharedRequests
from shared.http import client
from shared.internal_api import mcp_endpoint

log = logging.getLogger(__name__)
PAGE_SECONDS = 8.0  # for which a page waits for its tools; with all the rest of it, it takes ten at most
TIMEOUT = httpx.Timeout(60, connect=2)
LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=4)


@dataclass(frozen=True)
class ToolCall:
    """One call of one tool with a token of the page.

    With an `owner` it may last longer than the page waits: it is begun once for that account, and its answer is kept.
    """

    token: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = PAGE_SECONDS
    owner: str = ""
    is_look: bool = False  # its token may only look, so that it can be asked together with others


class Answer(dict[str, Any]):
    """What a tool answered, whole; empty where it did not answer in time."""

    @property
    def status(self) -> str:
        return str(self.get("status", "unanswered"))

    @property
    def is_good(self) -> bool:
        return self.status in ("ok", "partial", "no_data")

    @property
    def is_waiting(self) -> bool:
        """The call continues; the page is to look again."""
        return self.status == "waiting"


class ToolServer:
    """Holds the connections of this host's pages to the tool server; opened at first use, closed with the host."""

    def __init__(self) -> None:
        self.client = client(timeout=TIMEOUT, limits=LIMITS)
        self.kept_answers = KeptAnswers()
        self.shared_requests = SharedRequests(self.client)

    async def close(self) -> None:
        await self.kept_answers.close()
        await self.shared_requests.close()
        await self.client.aclose()

    async def call_all(self, calls: Mapping[str, ToolCall]) -> dict[str, Answer]:
        """The answer to each call, by the same names: the page waits as long as for the slowest of them."""
        answers: dict[str, Answer] = {}

        async def call(name: str) -> None:
            answers[name] = await self.call(calls[name])

        async with anyio.create_task_group() as tasks:
            for name in calls:
                tasks.start_soon(call, name)
        return answers

    async def call(self, call: ToolCall) -> Answer:
        if call.owner:
            question = json.dumps([call.tool, call.arguments], sort_keys=True)
            return Answer(await self.kept_answers.take(call.owner, question, lambda: self._send(call), call.seconds))
        with anyio.move_on_after(call.seconds) as scope:
            return await self._send(call)
        assert scope.cancelled_caught
        log.warning("%s did not answer in %g seconds", call.tool, call.seconds)
        return Answer()

    async def _send(self, call: ToolCall) -> Answer:
        """As any MCP client calls, or together with other looks; a tool that refuses answers too."""
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
