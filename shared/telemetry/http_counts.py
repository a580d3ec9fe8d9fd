"""The answers of a server, counted by class of status."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from shared.telemetry.metrics import HTTP_RESPONSES, get_series

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]


def count_response(send: Send, program: str) -> Send:
    """`send`, which counts the response that it begins."""

    async def send_counted(message: Message) -> None:
        if message["type"] == "http.response.start":
            get_series(HTTP_RESPONSES, program, f"{message['status'] // 100}xx").inc()
        await send(message)

    return send_counted
