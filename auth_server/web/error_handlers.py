"""What ends a request before or outside any flow: the failure goes in; a page, a problem document or OAuth's JSON, as
whoever asks for that path can read it, comes out."""

import logging

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from auth_server.web.rendering import html
from shared.errors import PROBLEMS, problem
from shared.settings import settings

log = logging.getLogger(__name__)
_PROGRAMS = ("/oauth/", "/internal/", "/.well-known/")
_PEOPLE = ("/oauth/authorize", "/oauth/consent")
_WORDS = {
    "no_such_page": ("Nothing is here", "The address may be mistyped, or the page has moved."),
    "method_not_allowed": ("This address does not work that way", "Please go back to the page you came from."),
    "too_slow": ("This did not arrive in time", "Please go back and send it again."),
    "too_large": ("This is too large", "Please go back and send less."),
    "too_many_requests": ("Too many requests", "Too many came from your address. Please wait a minute and try again."),
    "internal_error": ("Something went wrong here", "It is logged. Please try again in a moment."),
    "temporarily_unavailable": ("Back in a moment", "A part of this service is away. Please try again in a moment."),
}
_BY_STATUS = {404: "no_such_page", 405: "method_not_allowed"}


def _told(request: Request, word: str, headers: dict[str, str] | None = None) -> Response:
    path, status, (title, text) = request.url.path, PROBLEMS[word].status, _WORDS[word]
    headers = {"Cache-Control": "no-store"} | (headers or {})
    if path.startswith("/api/"):
        about = problem(settings().web_url, word, PROBLEMS[word].meaning)
        return JSONResponse(about, status, headers, media_type="application/problem+json")
    if path.startswith(_PROGRAMS) and path not in _PEOPLE:
        later = "server_error" if status == 500 else "temporarily_unavailable" if "Retry-After" in headers else None
        about = {"error": later or "invalid_request", "error_description": PROBLEMS[word].meaning}
        return JSONResponse(about, status, headers)
    response = html("problem.html", {"title": title, "text": text}, status)
    response.headers.update(headers)
    return response


async def too_large(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return _told(request, "too_large", {"Connection": "close"})


async def too_slow(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return _told(request, "too_slow", {"Connection": "close"})


async def crowded(request: Request, error: Exception) -> Response:
    return _told(request, "too_many_requests", {"Retry-After": str(getattr(error, "retry_after", 60))})


async def no_database(request: Request, error: Exception) -> Response:
    log.error("the database does not answer: %s", type(error).__name__)
    return _told(request, "temporarily_unavailable", {"Retry-After": "2"})


async def by_router(request: Request, error: Exception) -> Response:
    """No such path, or not with this method."""
    assert isinstance(error, HTTPException)
    word = _BY_STATUS.get(error.status_code, "internal_error")
    return _told(request, word, dict(error.headers or {}))


async def crashed(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """A bug; the server logs it."""
    return _told(request, "internal_error")
