"""Failures over REST: a kind of failure or a refused call comes in, a problem document (RFC 9457) goes out."""

import math
from datetime import datetime
from typing import Any

from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mcp_server.calls.dispatch import Answer, add_sandbox_label
from shared import clock
from shared.errors import PROBLEMS, problem
from shared.settings import settings

MEDIA_TYPE = "application/problem+json"
RETRY_LATER = "2"
_PLAN_CAP = 409  # a cap that does not end by waiting


class ProblemResponse(Exception):
    """The request ends here, with this problem."""

    def __init__(self, word: str, detail: str, headers: dict[str, str] | None = None, **facts: Any) -> None:
        super().__init__(word)
        self.word, self.detail, self.headers, self.facts = word, detail, headers or {}, facts


def respond(word: str, detail: str, headers: dict[str, str], *, status: int | None = None, **facts: Any) -> Response:
    body = problem(settings().web_url, word, detail, status=status, **facts)
    return Response(to_json(body), body["status"], {"Cache-Control": "no-store", **headers}, MEDIA_TYPE)


def refused(answer: Answer, headers: dict[str, str]) -> Response:
    """A refusal of the gate: its message is the detail, its facts come along under their own names."""
    facts = {name: value for name, value in answer.data.items() if name not in ("status", "message")}
    status = None
    if answer.status == "limit_reached":
        wait = _wait(facts.get("resets_at"))
        headers, status = (headers | {"Retry-After": wait}, None) if wait else (headers, _PLAN_CAP)
    if answer.status == "backend_unavailable":
        headers = headers | {"Retry-After": _longest_wait(facts)}
    return respond(answer.status, answer.message, headers, status=status, **facts)


def _wait(resets_at: str | None) -> str | None:
    """Seconds until a limit begins again; None when it does not end by waiting."""
    if resets_at is None:
        return None
    return str(max(1, math.ceil((datetime.fromisoformat(resets_at) - clock.now()).total_seconds())))


def _longest_wait(facts: dict[str, Any]) -> str:
    told = [backend.get("retry_after_seconds") or 0 for backend in facts.get("backends", [])]
    return str(max([60, *told]))


async def stopped(request: Request, error: Exception) -> Response:  # noqa: ARG001 - a handler's signature
    assert isinstance(error, ProblemResponse)
    return respond(error.word, error.detail, error.headers, **add_sandbox_label(error.facts))


_WORDS = {404: "no_such_page", 405: "method_not_allowed"}


async def http_error(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """What the router refuses."""
    assert isinstance(error, HTTPException)
    word = _WORDS.get(error.status_code, "internal_error")
    return respond(word, PROBLEMS[word].meaning, dict(error.headers or {}))


async def unheard(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Nobody reads it."""
    return Response(status_code=499)


async def crashed(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """A bug outside any call; the server logs it."""
    return respond("internal_error", "Something went wrong here; it is logged.", {})
