"""From what a flow decided to an HTTP response: JSON, a page with its security headers, or a redirect."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic_core import to_json
from starlette.responses import HTMLResponse, RedirectResponse, Response

from auth_server.web.outcomes import FlowResult, JsonResponse, Page, Redirect
from auth_server.web.sessions import ABSOLUTE, cookie_name
from shared.settings import VERSION, settings

TEMPLATES = Path(__file__).parents[1] / "templates"
# The POST of these can end at an application's own address. Browsers apply form-action to every hop after it, also to
# hops the application makes itself, so these pages send none.
_LEAVING = {"signin.html", "consent.html", "confirm.html", "reset.html"}
_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["version"] = VERSION
    return made


def html(name: str, context: dict[str, Any], status: int = 200) -> HTMLResponse:
    body = _environment().get_template(name).render(context)
    policy = _POLICY if name in _LEAVING else f"{_POLICY}; form-action 'self'"
    headers = {
        "Content-Security-Policy": policy,
        "X-Frame-Options": "DENY",
        # Not no-referrer: under it a browser sends "Origin: null" with our own forms, and they would be refused.
        "Referrer-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
    return HTMLResponse(body, status, headers)


def _set_cookie(response: Response, value: str) -> None:
    age = int(ABSOLUTE.total_seconds()) if value else 0
    response.set_cookie(
        cookie_name(), value, max_age=age, path="/", httponly=True, samesite="lax", secure=settings().secure
    )


def write(outcome: FlowResult) -> Response:
    if isinstance(outcome, JsonResponse):
        content = outcome.body if isinstance(outcome.body, bytes) else to_json(outcome.body)
        if outcome.body is None:
            return Response(b"", outcome.status, outcome.headers)
        return Response(content, outcome.status, {"Content-Type": "application/json"} | outcome.headers)
    response: Response
    if isinstance(outcome, Page):
        response = html(outcome.name, outcome.context, outcome.status)
        if outcome.retry_after is not None:
            response.headers["Retry-After"] = str(outcome.retry_after)
    else:
        headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
        response = RedirectResponse(outcome.to, outcome.status, headers)
    if isinstance(outcome, Page | Redirect) and outcome.session is not None:
        _set_cookie(response, outcome.session)
    return response
