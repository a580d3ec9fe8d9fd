"""The requests a server has answered: counted by status class, with one INFO log line each."""

import logging
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from shared.telemetry.metrics import HTTP_RESPONSES, get_series

log = logging.getLogger(__name__)
NO_ROUTE = "(no route)"
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]


@contextmanager
def note_request(
    program: str, scope: Scope, send: Send, find_template: Callable[[Scope], str | None]
) -> Iterator[Send]:
    """`send` for the application, around its work. The line has the route's template and never the address: paths
    and queries contain secrets."""
    start, status = time.perf_counter(), 0

    async def send_counted(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            get_series(HTTP_RESPONSES, program, f"{status // 100}xx").inc()
        await send(message)

    try:
        yield send_counted
    finally:
        if log.isEnabledFor(logging.INFO):
            milliseconds = (time.perf_counter() - start) * 1000
            template = find_template(scope) or NO_ROUTE
            log.info("%s %s %s %.0f ms", scope["method"], template, status or "unanswered", milliseconds)


def find_route(scope: Scope) -> str | None:
    """The template of the Starlette route the request has reached, such as `/feeds/{secret}`, or None."""
    endpoint = scope.get("endpoint")
    if endpoint is None:
        return None
    routes = (route for route in scope["app"].routes if route.endpoint is endpoint)
    return next((str(route.path) for route in routes if route.path_regex.match(scope["path"])), None)
