"""Problem documents (RFC 9457): how failures and refused calls are answered over REST and on the open pages."""

import math
from datetime import datetime
from typing import Any

from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mcp_server.calls.dispatch import RETRY_SECONDS, Answer, add_sandbox_label
from shared import clock
from shared.db.outages import OUTAGES
from shared.errors import PROBLEMS, problem
from shared.settings import settings

MEDIA_TYPE = "application/problem+json"
RETRY_LATER = str(RETRY_SECONDS)  # for Retry-After
_MIN_BACKEND_RETRY_SECONDS = 60
_PLAN_CAP_STATUS = 409  # a cap that waiting does not lift


class ProblemResponse(Exception):
    """Ends the request with this problem."""

    def __init__(self, word: str, detail: str, headers: dict[str, str] | None = None, **facts: Any) -> None:
        super().__init__(word)
        self.word, self.detail, self.headers, self.facts = word, detail, headers or {}, facts


def build_response(
    word: str, detail: str, headers: dict[str, str], *, status: int | None = None, **facts: Any
) -> Response:
    body = problem(settings().web_url, word, detail, status=status, **facts)
    return Response(to_json(body), body["status"], {"Cache-Control": "no-store", **headers}, MEDIA_TYPE)


def render_refusal(answer: Answer, headers: dict[str, str]) -> Response:
    """A refused call: its message is the detail, each fact a member by its name."""
    facts = {name: value for name, value in answer.data.items() if name not in ("status", "message")}
    status = None
    if answer.status == "limit_reached":
        wait = _seconds_until(facts.get("resets_at"))
        headers, status = (headers | {"Retry-After": wait}, None) if wait else (headers, _PLAN_CAP_STATUS)
    if answer.status == "backend_unavailable":
        seconds = [backend.get("retry_after_seconds") or 0 for backend in facts.get("backends", [])]
        headers = headers | {"Retry-After": str(max([_MIN_BACKEND_RETRY_SECONDS, *seconds]))}
    if answer.status in ("temporarily_unavailable", "busy"):
        headers = headers | {"Retry-After": str(facts.get("retry_after", RETRY_LATER))}
    return build_response(answer.status, answer.message, headers, status=status, **facts)


def _seconds_until(resets_at: str | None) -> str | None:
    """Seconds until a limit resets; None if waiting does not help."""
    if resets_at is None:
        return None
    return str(max(1, math.ceil((datetime.fromisoformat(resets_at) - clock.now()).total_seconds())))


async def handle_problem(request: Request, error: Exception) -> Response:  # noqa: ARG001 - a handler's signature
    assert isinstance(error, ProblemResponse)
    return build_response(error.word, error.detail, error.headers, **add_sandbox_label(error.facts))


_ROUTER_PROBLEMS = {404: "no_such_page", 405: "method_not_allowed"}


async def handle_http_error(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Answers an unknown path or method, which the router refused."""
    assert isinstance(error, HTTPException)
    word = _ROUTER_PROBLEMS.get(error.status_code, "internal_error")
    return build_response(word, PROBLEMS[word].meaning, dict(error.headers or {}))


async def handle_disconnect(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """The client is gone, so no one reads this; 499 is what proxies log for it."""
    return Response(status_code=499)


async def handle_outage(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Answers when the database is down outside any call."""
    OUTAGES.note(error)
    word = "temporarily_unavailable"
    return build_response(word, PROBLEMS[word].meaning, {"Retry-After": RETRY_LATER})


async def handle_crash(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Answers a bug outside any call; the server logs it."""
    return build_response("internal_error", "Something went wrong here; it is logged.", {})
