"""The public pages: settings and the table of plans go in; the start page and the plans page come out."""

from starlette.requests import Request
from starlette.responses import Response

from auth_server.render import html
from shared.domain.plans import LIMITS, Plan
from shared.settings import STATUS, settings


async def landing(request: Request) -> Response:  # noqa: ARG001 - an endpoint's signature
    mine = settings()
    shown = {
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
    price = {Plan.FREE: "free", Plan.PREMIUM: f"{settings().premium_price:.2f} USD a month"}
    all_limits = [LIMITS[plan] for plan in Plan]
    return [
        ("Price", [price.get(plan, "on request") for plan in Plan]),
        ("Searches a day", [_number(limits.searches_per_day) for limits in all_limits]),
        ("Cabins", ["economy" if plan is Plan.FREE else "all" for plan in Plan]),
        ("Active trips", [_number(limits.active_trips) for limits in all_limits]),
        ("Route monitors", [_number(limits.route_monitors) for limits in all_limits]),
        ("Flight alerts", [_number(limits.flight_alerts) for limits in all_limits]),
        ("Delay alerts", [_number(limits.delay_alerts) for limits in all_limits]),
        ("Standing orders", [_number(limits.standing_orders) for limits in all_limits]),
        ("API calls a month", [_number(limits.api_calls_per_month) for limits in all_limits]),
    ]


async def plans(request: Request) -> Response:  # noqa: ARG001
    shown = {
        "plans": [{"name": plan.slug.title()} for plan in Plan],
        "rows": _rows(),
        "operator": settings().operator_email,
    }
    return html("plans.html", shown)
