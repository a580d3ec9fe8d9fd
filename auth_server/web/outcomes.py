"""Results of flows before they become HTTP: a JSON response, a page for a person, or a redirect."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

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

    `afterwards` is a flow that runs when the response was sent, so that its duration tells the caller nothing.
    """

    name: str
    context: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    session_cookie: str | None = None
    retry_after: int | None = None
    afterwards: Callable[[Any, Any], None] | None = None


@dataclass
class Redirect:
    """To another page of this host. An empty `session_cookie` clears the cookie."""

    to: str
    session_cookie: str | None = None
    status: int = 303


FlowResult = JsonResponse | Page | Redirect


def show_problem(title: str, text: str, status: int = 400, retry_after: int | None = None) -> Page:
    return Page("problem.html", {"title": title, "text": text}, status, retry_after=retry_after)


FORM_EXPIRED = show_problem("This form has expired", "Please go back and try again.", 403)
