"""Exception handlers: a failure outside the flows becomes a page, a problem document (RFC 9457) or OAuth's JSON.

People read pages, programs read JSON: the path decides which, and elsewhere what the request accepts.
"""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from auth_server.web.outcomes import Page, find_links
from auth_server.web.rendering import render_page
from shared.db.maintenance import Maintenance
from shared.db.outages import OUTAGES
from shared.errors import PROBLEMS, Busy, problem
from shared.settings import settings

_PROGRAM_PATHS = ("/oauth/", "/internal/", "/.well-known/")
_PAGE_PATHS = ("/oauth/authorize", "/oauth/consent")
_TEXTS = {
    "no_such_page": ("Nothing is here", "The address may be mistyped, or the page has moved."),
    "method_not_allowed": ("This address does not work that way", "Please go back to the page you came from."),
    "too_slow": ("This did not arrive in time", "Please go back and send it again."),
    "too_large": ("This is too large", "Please go back and send less."),
    "too_many_requests": ("Too many requests", "Too many came from your address. Please wait a minute and try again."),
    "internal_error": ("Something went wrong here", "It is logged. Please try again in a moment."),
    "busy": ("Very busy", "Too much is being read at present. Nothing was saved; please try again in a moment."),
    "temporarily_unavailable": ("Back in a moment", "A part of this service is down. Please try again in a moment."),
}
_BY_STATUS = {404: "no_such_page", 405: "method_not_allowed"}


def _respond(
    request: Request, kind: str, headers: dict[str, str] | None = None, words: tuple[str, str] | None = None
) -> Response:
    """`words` are a title and a text that replace the kind's."""
    path, status, (title, text) = request.url.path, PROBLEMS[kind].status, words or _TEXTS[kind]
    meaning = words[1] if words else PROBLEMS[kind].meaning
    headers = {"Cache-Control": "no-store"} | (headers or {})
    if path.startswith("/api/"):
        body = problem(settings().web_url, kind, meaning)
        return JSONResponse(body, status, headers, media_type="application/problem+json")
    if (path.startswith(_PROGRAM_PATHS) and path not in _PAGE_PATHS) or _reads_json(request):
        error = "server_error" if status == 500 else "temporarily_unavailable" if "Retry-After" in headers else None
        body = {"error": error or "invalid_request", "error_description": meaning}
        return JSONResponse(body, status, headers)
    response = render_page("problem.html", {"title": title, "text": text, "links": find_links(status)}, status)
    response.headers.update(headers)
    return response


def _reads_json(request: Request) -> bool:
    """Whether the client accepts no page: clients look for endpoints where other services have them."""
    accepted = request.headers.get("accept", "*/*")
    return "text/html" not in accepted and ("application/json" in accepted or "*/*" not in accepted)


def describe_missing_page() -> Page:
    """Shows the page for an unknown address, for a flow."""
    title, text = _TEXTS["no_such_page"]
    return Page("problem.html", {"title": title, "text": text, "links": find_links(404)}, 404)


async def respond_too_large(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return _respond(request, "too_large", {"Connection": "close"})


async def respond_too_slow(request: Request, error: Exception) -> Response:  # noqa: ARG001
    return _respond(request, "too_slow", {"Connection": "close"})


async def respond_rate_limited(request: Request, error: Exception) -> Response:
    return _respond(request, "too_many_requests", {"Retry-After": str(getattr(error, "retry_after", 60))})


async def respond_database_unavailable(request: Request, error: Exception) -> Response:
    OUTAGES.note(error)
    return _respond(request, "temporarily_unavailable", {"Retry-After": "2"})


async def respond_busy(request: Request, error: Exception) -> Response:
    assert isinstance(error, Busy)
    return _respond(request, "busy", {"Retry-After": str(error.facts["retry_after"])})


def respond_maintenance(request: Request, maintenance: Maintenance) -> Response:
    headers = {"Retry-After": str(maintenance.retry_after)}
    return _respond(request, "temporarily_unavailable", headers, ("Under maintenance", maintenance.sentence))


async def respond_no_route(request: Request, error: Exception) -> Response:
    """Responds to an unknown path, or a wrong method."""
    assert isinstance(error, HTTPException)
    kind = _BY_STATUS.get(error.status_code, "internal_error")
    return _respond(request, kind, dict(error.headers or {}))


async def respond_internal_error(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """Responds to a bug; the server logs it."""
    return _respond(request, "internal_error")
