"""Pages with a next step, for a person who opens an address for programs or an unknown one."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Scope

from mcp_server.calls.problem_details import build_response
from mcp_server.pages.public_pages import PAGE_HEADERS, redirect_to_site
from mcp_server.pages.templates import render_page
from mcp_server.transport.json_responses import JsonResponse
from shared.asgi import is_browser
from shared.db.maintenance import WATCH
from shared.internal_api import PAGE_CALLS_PATH
from shared.settings import settings

Links = Sequence[tuple[str, str]]
Handler = Callable[[Request, Exception], Awaitable[Response]]
_FOR_PROGRAMS = ("/api/", "/.well-known/", "/hooks/")  # readers of these expect JSON
_SECRET = ("/feeds/", "/shared/", "/integrations/")  # their addresses are secret, even from our other pages
_CONNECT, _TOOLS, _START = ("/connect", "Connect an assistant"), ("/tools", "All tools"), ("/", "To the start page")
_STATUS, _SUPPORT = ("/status", "What works right now"), ("/support", "Support")


_OPEN_IN_MAINTENANCE = frozenset({("GET", "/status"), ("POST", PAGE_CALLS_PATH)})


@dataclass(frozen=True)
class Words:
    """One situation: what happened, what to do, and where to go, the likeliest place first."""

    title: str
    text: str
    links: Links = (_START,)


_DEAD_FEED = Words(
    "This calendar link does not work",
    "It has ended, was replaced by a new one, or was not copied whole. Ask your assistant for the link to your"
    " calendar, subscribe to that one, and remove this one from your calendar program.",
    (("/dashboard", "Your portfolio"), _SUPPORT),
)
_DEAD_DOCUMENT = Words(
    "This document is not available",
    "The link has ended, was taken back, or was not copied whole. Ask the person who sent it for a new one.",
)
_DEAD_TRIP = Words(
    "This trip is not shared",
    "The link has ended, was taken back, or was not copied whole. Ask the person who sent it for a new one.",
)
_NO_TOOLS = Words("No such tools", "The list of all tools shows the areas there are.", (_TOOLS, _START))
_NOWHERE = Words("Nothing is here", "The address may be mistyped, or the page has moved.", (_START, _SUPPORT))
_BY_PATH = {  # for addresses with no page
    "/feeds/": _DEAD_FEED,
    "/shared/trips/": _DEAD_TRIP,
    "/shared/": _DEAD_DOCUMENT,
    "/tools/": _NO_TOOLS,
}
_BY_STATUS = {
    404: _NOWHERE,
    405: Words("This address does not work that way", "Go back to the page you came from.", (_START, _SUPPORT)),
    429: Words("Too many requests", "Too many came from your address. Wait a minute, then load this page again."),
    500: Words("Something went wrong here", "It is logged. Try again in a moment.", (_STATUS, _SUPPORT)),
    503: Words("Back in a moment", "A part of this service is down. Try again in a moment.", (_STATUS, _SUPPORT)),
}


def answer_people_too(handle: Handler) -> Handler:
    """Wraps a handler so that people get a page instead of a problem document, with the same status and headers."""

    async def handle_either(request: Request, error: Exception) -> Response:
        response = await handle(request, error)
        if not _shows_pages(request.scope):
            return response
        headers = {name: value for name, value in response.headers.items() if not name.startswith("content-")}
        return show_error(request, response.status_code, headers)

    return handle_either


def _shows_pages(scope: Scope) -> bool:
    """Whether the request gets pages; probes name no host, so they do not."""
    return is_browser(scope) and "origin" in scope and not scope["path"].startswith(_FOR_PROGRAMS)


def show_error(request: Request, status: int, headers: Mapping[str, str]) -> Response:
    """Shows the page of this status and path; a browser on another host is redirected to the site's."""
    path = request.scope["path"]
    places = (words for place, words in _BY_PATH.items() if path.startswith(place))
    words = next(places, _NOWHERE) if status == 404 else _BY_STATUS.get(status, _BY_STATUS[500])
    return _show(request, words, status, headers)


def find_maintenance_answer(scope: Scope) -> ASGIApp | None:
    """The answer in place of pages and REST during maintenance; None where they answer as usual.

    The gate refuses tool calls one by one, because an administrator's pages still work.
    """
    maintenance, place = WATCH.current, (scope["method"], scope["path"])
    if maintenance is None or place in _OPEN_IN_MAINTENANCE or place[1].startswith("/.well-known/"):
        return None
    headers = {"Retry-After": str(maintenance.retry_after)}
    if _shows_pages(scope):
        return _show(Request(scope), Words("Under maintenance", maintenance.sentence, (_STATUS,)), 503, headers)
    return build_response("temporarily_unavailable", maintenance.sentence, headers)


def explain_endpoint(scope: Scope, refusal: JsonResponse) -> ASGIApp:
    """Explains, in place of a refusal for clients, what the address is for and how to use it."""
    headers = {name.decode(): value.decode() for name, value in refusal.headers}
    if refusal.status == 404:
        fault = str(from_json(refusal.body)["error"]["message"])
        return _show(Request(scope), Words("No such address", fault, (_CONNECT, _TOOLS)), 404, headers)
    words = Words(
        "This address is for your assistant",
        "Give it to Claude, ChatGPT, Cursor or another assistant. It sends you to this site, where you sign in and"
        " allow it; then you ask it in your own words.",
        (_CONNECT, _TOOLS),
    )
    address = settings().web_url + scope["path"].rstrip("/")
    return _show(Request(scope), words, refusal.status, headers, address)


def _show(request: Request, words: Words, status: int, headers: Mapping[str, str], address: str = "") -> Response:
    if is_browser(request.scope) and (elsewhere := redirect_to_site(request)):
        return elsewhere
    page = render_page("problem.html", title=words.title, text=words.text, links=words.links, address=address)
    policy = {"Referrer-Policy": "no-referrer"} if request.scope["path"].startswith(_SECRET) else {}
    fixed = {**PAGE_HEADERS, "X-Robots-Tag": "noindex", "Cache-Control": "no-store", **policy}
    return HTMLResponse(page, status, {name.lower(): value for name, value in {**fixed, **headers}.items()})
