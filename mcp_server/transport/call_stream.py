"""The answer of one call as a stream of events, started only if there is something to send before the result.

A question to the person is our request on it (2025-11-25, "Elicitation"); its answer comes with a separate request,
to this process or another (`person_answers`).
"""

from typing import Any

import anyio
from pydantic_core import to_json
from starlette.types import Receive, Send

from mcp_server.transport.json_responses import JsonResponse
from mcp_server.transport.open_questions import close_question, open_question
from mcp_server.transport.person_answers import PersonAnswers
from shared.asgi import run_while_connected, wait_for_disconnect

QUESTION_SECONDS = 50.0  # to wait for a person: most hosts give up a call after 60
PING_SECONDS = 15.0  # below the idle time-outs of proxies
_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class CallStream:
    """Messages to the client of one call, before and with its result."""

    def __init__(self, answers: PersonAnswers, account_id: int, receive: Receive, send: Send, *, titled: bool) -> None:
        self._answers, self._account_id, self._receive, self._send = answers, account_id, receive, send
        self.titled = titled  # whether the client's revision has choices with titles
        self._has_begun = False
        self._lock = anyio.Lock()  # progress has its own task

    async def send_message(self, message: dict[str, Any]) -> None:
        await self._send_part(_to_event(to_json(message)))

    async def end(self, response: JsonResponse) -> None:
        """Sends the result: as the last event, or as the whole answer if nothing came before."""
        if self._has_begun:
            await self._send_part(_to_event(response.body), more=False)
        else:
            await response(self._send)

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Asks; returns the client's result, or None if too many are open, or it sends an error or nothing in time.

        Raises ClientDisconnected. No thread, connection or transaction is held in the meantime.
        """
        if self._answers.are_full:
            return None
        question_id = await open_question(self._account_id, QUESTION_SECONDS)
        if question_id is None:
            return None
        try:
            work = self._put(question_id, {"jsonrpc": "2.0", "id": question_id, "method": method, "params": params})
            return await run_while_connected(wait_for_disconnect(self._receive), work)
        finally:
            with anyio.CancelScope(shield=True):
                await close_question(self._account_id, question_id)

    async def _put(self, question_id: str, question: dict[str, Any]) -> Any:
        with self._answers.expect(question_id) as answer:
            await self.send_message(question)
            with anyio.move_on_after(QUESTION_SECONDS):
                while True:
                    with anyio.move_on_after(PING_SECONDS):
                        return await answer.wait()
                    await self._send_part(b": ping\r\n\r\n")
        reason = {"requestId": question_id, "reason": "The person did not answer in time."}
        await self.send_message({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": reason})
        return None

    async def _send_part(self, part: bytes, *, more: bool = True) -> None:
        async with self._lock:
            if not self._has_begun:
                self._has_begun = True
                await self._send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await self._send({"type": "http.response.body", "body": part, "more_body": more})


def _to_event(body: bytes) -> bytes:
    return b"event: message\r\ndata: " + body + b"\r\n\r\n"
