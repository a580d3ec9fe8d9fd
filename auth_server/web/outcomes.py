"""What the flows decide, before it becomes HTTP: a machine's answer, a page for a person, or a way onward."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from authlib.oauth2 import OAuth2Error

from auth_server.oauth import redirect_uris
from shared.settings import settings

NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}


@dataclass
class JsonResponse:
    """A JSON answer, or a redirect back to an application."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def location(self) -> str | None:
        return self.headers.get("Location")


@dataclass
class Page:
    """A page of `pages/`; `session` is a new cookie to set.

    `afterwards` is a flow that runs when the answer has gone out, so that how long it takes tells nobody anything.
    """

    name: str
    context: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    session: str | None = None
    retry_after: int | None = None
    afterwards: Callable[[Any, Any], None] | None = None


@dataclass
class Redirect:
    """To another page of our own. An empty `session` clears the cookie."""

    to: str
    session: str | None = None
    status: int = 303


FlowResult = JsonResponse | Page | Redirect


def failed(error: OAuth2Error) -> JsonResponse:
    """A protocol error as JSON (RFC 6749 5.2); client authentication failures are 401 and name a scheme."""
    body = {"error": error.error, "error_description": error.get_error_description()}
    headers = dict(NO_STORE)
    if error.error == "invalid_client":
        headers["WWW-Authenticate"] = 'Basic realm="award-travel", error="invalid_client"'
        return JsonResponse(
            401, {"error": "invalid_client", "error_description": "Client authentication failed."}, headers
        )
    return JsonResponse(error.status_code, {k: v for k, v in body.items() if v}, headers)


def sent_back(uri: str, state: str | None, params: list[tuple[str, str]]) -> FlowResult:
    """An authorization response at a verified redirect URI: exact state, and the issuer (RFC 9207)."""
    if uri == redirect_uris.OUT_OF_BAND:
        said = dict(params)
        return Page("code.html", {"code": said.get("code"), "error": said.get("error")}, 200 if "code" in said else 400)
    known = [("state", state)] if state else []
    location = redirect_uris.extend(uri, [*params, *known, ("iss", settings().web_url)])
    return JsonResponse(
        302, None, {"Location": location, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    )


def problem(title: str, text: str, status: int = 400, retry_after: int | None = None) -> Page:
    return Page("problem.html", {"title": title, "text": text}, status, retry_after=retry_after)


def refused(error: OAuth2Error) -> FlowResult:
    """An authorization error: back to the application once its redirect URI is verified, else a page."""
    if error.redirect_uri:
        said = [("error", error.error), ("error_description", error.get_error_description())]
        return sent_back(error.redirect_uri, error.state, [(k, v) for k, v in said if v])
    text = error.get_error_description() or "The request is not valid."
    return problem("This request cannot be completed", text)
