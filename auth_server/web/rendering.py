"""HTTP responses from the results of flows: JSON, pages with their security headers, redirects."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic_core import to_json
from starlette.responses import HTMLResponse, RedirectResponse, Response

from auth_server.web.outcomes import FlowResult, JsonResponse, Page, Redirect
from auth_server.web.sessions import MAX_AGE
from shared.internal_api import session_cookie_name
from shared.settings import VERSION, settings

TEMPLATES = Path(__file__).parents[1] / "templates"
# The POST of these can end at an application's own address. Browsers apply form-action to every hop after it, also to
# hops the application makes itself, so these pages send none.
_MAY_LEAVE_SITE = {"signin.html", "consent.html", "confirm.html", "reset.html"}
_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["version"] = VERSION
    return environment


def render_page(name: str, context: dict[str, Any], status: int = 200) -> HTMLResponse:
    body = _environment().get_template(name).render(context)
    policy = _POLICY if name in _MAY_LEAVE_SITE else f"{_POLICY}; form-action 'self'"
    headers = {
        "Content-Security-Policy": policy,
        "X-Frame-Options": "DENY",
        # Not no-referrer: under it a browser sends "Origin: null" with our own forms, and they would be refused.
        "Referrer-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
    return HTMLResponse(body, status, headers)


def _set_cookie(response: Response, value: str) -> None:
    age = int(MAX_AGE.total_seconds()) if value else 0
    response.set_cookie(
        session_cookie_name(), value, max_age=age, path="/", httponly=True, samesite="lax", secure=settings().secure
    )


def to_response(result: FlowResult) -> Response:
    if isinstance(result, JsonResponse):
        content = result.body if isinstance(result.body, bytes) else to_json(result.body)
        if result.body is None:
            return Response(b"", result.status, result.headers)
        return Response(content, result.status, {"Content-Type": "application/json"} | result.headers)
    response: Response
    if isinstance(result, Page):
        response = render_page(result.name, result.context, result.status)
        if result.retry_after is not None:
            response.headers["Retry-After"] = str(result.retry_after)
    else:
        headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
        response = RedirectResponse(result.to, result.status, headers)
    if isinstance(result, Page | Redirect) and result.session_cookie is not None:
        _set_cookie(response, result.session_cookie)
    return response
