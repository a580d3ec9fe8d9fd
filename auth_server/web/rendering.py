"""HTTP responses from the results of flows: JSON, pages with their security headers, redirects."""

from datetime import UTC, date, datetime, tzinfo
from functools import lru_cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from pydantic_core import to_json
from starlette.responses import HTMLResponse, RedirectResponse, Response

from auth_server.web.outcomes import FlowResult, JsonResponse, Page, Redirect
from auth_server.web.sessions import BROWSER_COOKIE_SECONDS, MAX_AGE
from auth_server.web.static_files import TEMPLATES, build_stylesheet_address
from shared import clock
from shared.billing.registry import find_door
from shared.domain.dates import format_age, format_instant, format_iso_day, format_moment, format_weekday
from shared.domain.marks import find_mark
from shared.domain.party_prices import format_money
from shared.domain.time_zones import find_zone
from shared.internal_api import browser_cookie_name, session_cookie_name
from shared.settings import VERSION, settings

# The POST of these can lead to an application's own address. Browsers apply form-action to every hop after it, also to
# hops the application makes itself, so these pages send none.
_MAY_LEAVE_SITE = {"link_identity.html", "link_by_mail.html", "signin.html", "signup.html", "sign_in_methods.html"}
_MAY_LEAVE_SITE |= {"consent.html", "confirm.html", "reset.html", "second_factor.html"}
_MAY_LEAVE_SITE |= {"payment.html"}  # to the pages of the payment service
_USE_SCRIPT = {"signin.html", "second_factor.html", "passkey.html"}  # passkeys need it
_USE_SCRIPT |= {"message_channel_browser.html"}  # and so do push subscriptions
# Features that no page here uses. Passkeys need publickey-credentials-*, which stay at their default, this site.
_PERMISSIONS = "camera=(), microphone=(), geolocation=(), payment=(), usb=(), midi=(), display-capture=()"
_POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"


def _find_zone(context: Context) -> tzinfo:
    """The time zone of the page's person; UTC on public pages, and where none was chosen."""
    return find_zone(context.get("zone") or "") or UTC


@pass_context
def _format_day(context: Context, day: date) -> str:
    """The day in the person's time zone, with its weekday; a date without an hour is unchanged."""
    return format_weekday(day.astimezone(_find_zone(context)) if isinstance(day, datetime) else day)


@pass_context
def _format_moment(context: Context, moment: datetime) -> str:
    return format_moment(moment, _find_zone(context))


@pass_context
def _format_age(context: Context, moment: datetime) -> str:
    return format_age(moment, clock.now(), _find_zone(context))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(TEMPLATES), PackageLoader("shared")]),  # both hosts share the frame
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"day": _format_day, "moment": _format_moment, "ago": _format_age, "instant": format_instant}
    environment.filters |= {
        "iso_day": format_iso_day,
        "money": lambda value: format_money(value["amount"], value["currency"]),
    }
    environment.globals["find_mark"] = find_mark
    environment.globals["version"] = VERSION
    environment.globals["stylesheet"] = build_stylesheet_address()
    environment.globals["providers"] = lambda: settings().oidc_providers
    environment.globals["config"] = settings
    environment.globals["sells_plans"] = lambda: find_door().sells
    environment.globals["uses_passwords"] = lambda: settings().password_sign_in
    return environment


def render_page(name: str, context: dict[str, Any], status: int = 200) -> HTMLResponse:
    body = _environment().get_template(name).render(context)
    policy = _POLICY if name in _MAY_LEAVE_SITE else f"{_POLICY}; form-action 'self'"
    if name in _USE_SCRIPT:
        policy += "; script-src 'self'; connect-src 'self'"
    headers = {
        "Content-Security-Policy": policy,
        "X-Frame-Options": "DENY",
        # Not no-referrer: under it a browser sends "Origin: null" with our own forms, and they would be refused.
        "Referrer-Policy": "same-origin",
        "Cache-Control": "no-store",
        "Permissions-Policy": _PERMISSIONS,
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    if name not in _MAY_LEAVE_SITE:
        # Those pages may be in a window an assistant opened: cut off, its own last page could not answer it.
        headers["Cross-Origin-Opener-Policy"] = "same-origin"
    return HTMLResponse(body, status, headers)


def _set_cookie(response: Response, name: str, value: str, age: int) -> None:
    response.set_cookie(name, value, max_age=age, path="/", httponly=True, samesite="lax", secure=settings().secure)


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
        if result.refresh is not None:
            response.headers["Refresh"] = result.refresh
    else:
        headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
        response = RedirectResponse(result.to, result.status, headers)
    if isinstance(result, Page | Redirect) and result.session_cookie is not None:
        age = int(MAX_AGE.total_seconds()) if result.session_cookie else 0
        _set_cookie(response, session_cookie_name(), result.session_cookie, age)
    if isinstance(result, Redirect) and result.browser_cookie is not None:
        _set_cookie(response, browser_cookie_name(), result.browser_cookie, BROWSER_COOKIE_SECONDS)
    return response
