"""Looks of one page that are asked at the same moment go to the tool server in one request, answered line by line."""

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any

import httpx

from shared.http import AsyncClient
from shared.internal_api import MAX_PAGE_CALLS, page_calls_endpoint

log = logging.getLogger(__name__)
Waiting = list[tuple[dict[str, Any], "asyncio.Future[dict[str, Any]]"]]


class SharedRequests:
    """A request costs both hosts 3 ms of processor however little is asked: the seven of the portfolio were half of it.

    Who stops waiting for one look does not stop the others.
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
        """What the tool answered; empty where it did not."""
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        if token not in self._waiting:
            self._waiting[token] = []
            asyncio.get_running_loop().call_soon(self._send_all, token)  # once all that begin now have joined
        self._waiting[token].append(({"name": tool, "arguments": arguments}, answer))
        return await answer

    def _send_all(self, token: str) -> None:
        waiting = self._waiting.pop(token)
        for first in range(0, len(waiting), MAX_PAGE_CALLS):
            task = asyncio.create_task(self._send(token, waiting[first : first + MAX_PAGE_CALLS]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _send(self, token: str, waiting: Waiting) -> None:
        """A look without a line of its own has no answer."""
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
