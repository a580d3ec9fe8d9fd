"""Public pages: start, plans, privacy, terms, support, the list of problem types, and icons."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from auth_server.web.rendering import TEMPLATES, render_page
from shared.domain.plans import LIMITS, Plan, list_additions
from shared.errors import PROBLEMS
from shared.settings import STATUS, settings

_CACHE_HEADERS = {"Cache-Control": "public, max-age=300"}


async def serve_landing(request: Request) -> Response:  # noqa: ARG001 - an endpoint's signature
    config = settings()
    context = {
        "site": config.web_url,
        "mcp_url": f"{config.web_url}/mcp",
        "tool_url": config.mcp_url,
        "status": STATUS,
        "sandbox": config.data_mode == "sandbox",
        "public": config.secure,
    }
    return render_page("landing.html", context)


def _format_limit(value: int | None) -> str:
    if value is None:
        return "unlimited"
    return f"{value:,}" if value else "none"


def _build_rows() -> list[tuple[str, list[str]]]:
    all_limits = [LIMITS[plan] for plan in Plan]
    return [
        ("Searches a day", [_format_limit(limits.searches_per_day) for limits in all_limits]),
        ("Cabins", ["economy" if plan is Plan.FREE else "all" for plan in Plan]),
        ("Results context", ["first 3" if limits.results else "all" for limits in all_limits]),
        ("Active trips", [_format_limit(limits.active_trips) for limits in all_limits]),
        ("Route monitors", [_format_limit(limits.route_monitors) for limits in all_limits]),
        ("Flight alerts", [_format_limit(limits.flight_alerts) for limits in all_limits]),
        ("Delay alerts", [_format_limit(limits.delay_alerts) for limits in all_limits]),
        ("Standing orders", [_format_limit(limits.standing_orders) for limits in all_limits]),
        ("API calls a month", [_format_limit(limits.api_calls_per_month) for limits in all_limits]),
        ("Own OAuth applications", ["none" if plan is Plan.FREE else "up to 10" for plan in Plan]),
    ]


def _describe_price(plan: Plan) -> str:
    if plan is Plan.FREE:
        return "0 USD"
    return f"{settings().premium_price:.2f} USD a month" if plan is Plan.PREMIUM else "On request"


async def serve_plans(request: Request) -> Response:  # noqa: ARG001
    config = settings()
    context = {
        "plans": [
            {"name": plan.slug.title(), "price": _describe_price(plan), "gives": list_additions(plan)} for plan in Plan
        ],
        "rows": _build_rows(),
        "operator": config.operator_email,
        "change_text": config.plan_change_text,
        "change_url": config.plan_change_url,
    }
    return render_page("plans.html", context)


def serve_legal_page(name: str) -> Callable[[Request], Awaitable[Response]]:
    """A page of text in which the operator is named."""

    async def endpoint(request: Request) -> Response:  # noqa: ARG001
        config = settings()
        context = {
            "operator": config.operator_name,
            "contact": config.operator_email,
            "site": config.web_url,
            "sandbox": config.data_mode == "sandbox",
            "settings": config,
            "model_host": urlsplit(config.standing_order_model_url).hostname,
        }
        return render_page(name, context)

    return endpoint


def serve_picture(name: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:  # noqa: ARG001
        return FileResponse(TEMPLATES / name, media_type=media_type, headers={"Cache-Control": "public, max-age=86400"})

    return endpoint


async def serve_challenge(request: Request) -> Response:  # noqa: ARG001
    """Proof of the domain for OpenAI's plugin portal, when the operator has set one."""
    text = settings().openai_apps_challenge
    return PlainTextResponse(text, headers=_CACHE_HEADERS) if text else Response(status_code=404)


async def serve_problems(request: Request) -> Response:  # noqa: ARG001
    """Where the `type` of a problem document leads."""
    return render_page("problems.html", {"kinds": sorted(PROBLEMS.items(), key=lambda item: item[1].status)})
