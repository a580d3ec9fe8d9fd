"""Results of flows before they become HTTP: a JSON response, a page for a person, or a redirect."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from auth_server.web.tool_server import ToolServer

Links = Sequence[tuple[str, str]]
NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


@dataclass
class JsonResponse:
    """A JSON response, a file (`body` as bytes), or a redirect back to an application."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def location(self) -> str | None:
        return self.headers.get("Location")


@dataclass
class Page:
    """A page of `templates/`; `session_cookie` is a new cookie to set, empty to clear it.

    `afterwards` is a flow that runs after the response, so that its duration tells the caller nothing.
    `refresh` says when the browser opens which page next: "5; url=/connect/waiting".
    """

    name: str
    context: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    session_cookie: str | None = None
    retry_after: int | None = None
    afterwards: Callable[[Any, Any], None] | None = None
    refresh: str | None = None


@dataclass
class Redirect:
    """A redirect to another page of this host. An empty `session_cookie` clears it; `browser_cookie` lasts a year."""

    to: str
    session_cookie: str | None = None
    status: int = 303
    browser_cookie: str | None = None


@dataclass
class WaitingStep:
    """A result that needs an answer of the tools or another service after the transaction."""

    go_on: "Callable[[ToolServer], Awaitable[FlowResult]]"


FlowResult = JsonResponse | Page | Redirect
PageResult = FlowResult | WaitingStep


_START, _DASHBOARD, _SUPPORT = ("/", "To the start page"), ("/dashboard", "To your dashboard"), ("/support", "Support")
_STATUS = ("/status", "What works right now")
_LINKS: Mapping[int, Links] = {
    404: (_START, _DASHBOARD, _SUPPORT),
    405: (_DASHBOARD, _START),
    409: (_DASHBOARD, _SUPPORT),
    410: (_DASHBOARD, ("/signin", "Sign in"), _SUPPORT),
    413: (_DASHBOARD, _SUPPORT),
    429: (_START, _SUPPORT),
    500: (_STATUS, _SUPPORT),
    503: (_STATUS, _SUPPORT),
}


def find_links(status: int) -> Links:
    """The next steps for a page with this failure that names none itself."""
    return _LINKS.get(status, (_START, _SUPPORT))


def show_problem(
    title: str, text: str, status: int = 400, retry_after: int | None = None, links: Links | None = None
) -> Page:
    """`links` are the next steps, the likeliest first: addresses of this host with their labels."""
    context = {"title": title, "text": text, "links": links or find_links(status)}
    return Page("problem.html", context, status, retry_after=retry_after)


FORM_EXPIRED = show_problem(
    "This form has expired",
    "It was open for long, or you signed in or out in the meantime. Please open the page again.",
    403,
    links=(("/dashboard", "To your dashboard"), ("/signin", "Sign in")),
)
