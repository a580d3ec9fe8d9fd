"""The public pages: settings and the table of plans go in; start, plans, privacy, terms and support pages come out."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from auth_server.web.rendering import TEMPLATES, html
from shared.domain.plans import LIMITS, Plan, additions
from shared.errors import PROBLEMS
from shared.settings import STATUS, settings

_CACHED = {"Cache-Control": "public, max-age=300"}


async def landing(request: Request) -> Response:  # noqa: ARG001 - an endpoint's signature
    mine = settings()
    shown = {
        "site": mine.web_url,
        "mcp_url": f"{mine.web_url}/mcp",
        "tool_url": mine.mcp_url,
        "status": STATUS,
        "sandbox": mine.data_mode == "sandbox",
        "public": mine.secure,
    }
    return html("landing.html", shown)


def _number(value: int | None) -> str:
    if value is None:
        return "unlimited"
    return f"{value:,}" if value else "none"


def _rows() -> list[tuple[str, list[str]]]:
    all_limits = [LIMITS[plan] for plan in Plan]
    return [
        ("Searches a day", [_number(limits.searches_per_day) for limits in all_limits]),
        ("Cabins", ["economy" if plan is Plan.FREE else "all" for plan in Plan]),
        ("Results shown", ["first 3" if limits.results else "all" for limits in all_limits]),
        ("Active trips", [_number(limits.active_trips) for limits in all_limits]),
        ("Route monitors", [_number(limits.route_monitors) for limits in all_limits]),
        ("Flight alerts", [_number(limits.flight_alerts) for limits in all_limits]),
        ("Delay alerts", [_number(limits.delay_alerts) for limits in all_limits]),
        ("Standing orders", [_number(limits.standing_orders) for limits in all_limits]),
        ("API calls a month", [_number(limits.api_calls_per_month) for limits in all_limits]),
        ("Own OAuth applications", ["none" if plan is Plan.FREE else "up to 10" for plan in Plan]),
    ]


def _price(plan: Plan) -> str:
    if plan is Plan.FREE:
        return "0 USD"
    return f"{settings().premium_price:.2f} USD a month" if plan is Plan.PREMIUM else "On request"


async def plans(request: Request) -> Response:  # noqa: ARG001
    mine = settings()
    shown = {
        "plans": [{"name": plan.slug.title(), "price": _price(plan), "gives": additions(plan)} for plan in Plan],
        "rows": _rows(),
        "operator": mine.operator_email,
        "change_text": mine.plan_change_text,
        "change_url": mine.plan_change_url,
    }
    return html("plans.html", shown)


def legal(name: str) -> Callable[[Request], Awaitable[Response]]:
    """A page of text in which the operator is named."""

    async def page(request: Request) -> Response:  # noqa: ARG001
        mine = settings()
        shown = {
            "operator": mine.operator_name,
            "contact": mine.operator_email,
            "site": mine.web_url,
            "sandbox": mine.data_mode == "sandbox",
            "settings": mine,
            "model_host": urlsplit(mine.standing_order_model_url).hostname,
        }
        return html(name, shown)

    return page


def picture(name: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def icon(request: Request) -> Response:  # noqa: ARG001
        return FileResponse(TEMPLATES / name, media_type=media_type, headers={"Cache-Control": "public, max-age=86400"})

    return icon


async def challenge(request: Request) -> Response:  # noqa: ARG001
    """What a plugin portal asks the domain to show, when the operator has set it."""
    text = settings().openai_apps_challenge
    return PlainTextResponse(text, headers=_CACHED) if text else Response(status_code=404)


async def problems(request: Request) -> Response:  # noqa: ARG001
    """Where the `type` of a problem document leads."""
    return html("problems.html", {"kinds": sorted(PROBLEMS.items(), key=lambda item: item[1].status)})
