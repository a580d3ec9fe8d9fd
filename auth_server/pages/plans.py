"""/plans: what each plan gives, what it costs, and how to get it."""

from dataclasses import dataclass
from urllib.parse import quote

from sqlalchemy.exc import InterfaceError, OperationalError
from starlette.requests import Request
from starlette.responses import Response

from auth_server.web import sessions
from auth_server.web.flows import run
from auth_server.web.rendering import render_page
from auth_server.web.request_data import RequestData, to_request_data
from auth_server.web.unit_of_work import UnitOfWork
from shared.billing.registry import find_door
from shared.domain.party_prices import format_money
from shared.domain.plans import LIMITS, Plan, list_additions
from shared.domain.watch_kinds import LIMITED_KINDS
from shared.settings import settings

PAYMENT_PATH = "/dashboard/account/plan"


@dataclass(frozen=True)
class PlanCard:
    """A plan for the page. `link` leads to it; without one the operator changes plans in another way."""

    plan: Plan
    name: str
    price: str
    gives: list[str]
    link: str | None
    words: str


def describe_plans() -> list[PlanCard]:
    return [
        PlanCard(plan, plan.slug.title(), _describe_price(plan), list_additions(plan), *_find_way(plan))
        for plan in Plan
    ]


def _describe_price(plan: Plan) -> str:
    """The operator's price; for a plan sold without one, the page that takes the payment shows it."""
    config = settings()
    prices = {Plan.PREMIUM: config.premium_price, Plan.PRO: config.pro_price, Plan.ENTERPRISE: config.enterprise_price}
    if plan is Plan.FREE:
        return "Free"
    if (price := prices[plan]) is not None:
        return f"{format_money(price, 'USD')} a month"
    return "Shown before you pay" if plan in find_door().list_plans() else "On request"


def _find_way(plan: Plan) -> tuple[str | None, str]:
    """The link of a plan's button, as the operator set it, and its label."""
    config, name = settings(), plan.slug.title()
    if plan is Plan.FREE:
        return ("/signup", "Start free") if config.takes_signup_forms else (None, "")
    if plan in find_door().list_plans():
        return PAYMENT_PATH, f"Choose {name}"
    if config.plan_change_url:
        return config.plan_change_url, f"Choose {name}"
    if config.operator_email:
        subject = quote(f"{config.service_name}: {name} plan")
        return f"mailto:{config.operator_email}?subject={subject}", f"Ask for {name}"
    return None, ""


async def find_plan(request: Request) -> Plan | None:
    """The plan of the person who is signed in; None for strangers, and while the database is down."""
    data = to_request_data(request)
    if not data.cookie:
        return None
    try:
        return await run(_find_plan, data)
    except (OperationalError, InterfaceError):
        return None


def _find_plan(uow: UnitOfWork, data: RequestData) -> Plan | None:
    account = sessions.find_account(uow.db, sessions.load(uow.db, data.cookie))
    return Plan.of(account.plan) if account is not None else None


async def serve_plans(request: Request) -> Response:
    config = settings()
    context = {
        "plans": describe_plans(),
        "plan": await find_plan(request),
        "columns": [("What you get", ""), *((plan.slug.title(), "") for plan in Plan)],
        "rows": [[label, *values] for label, values in _list_limits()],
        "operator": config.operator_email,
        "change_text": config.plan_change_text,
        "change_url": config.plan_change_url,
        "payment": PAYMENT_PATH if find_door().sells else None,
    }
    return render_page("plans.html", context)


def _list_limits() -> list[tuple[str, list[str]]]:
    all_limits = [LIMITS[plan] for plan in Plan]
    return [
        ("Price", [_describe_price(plan) for plan in Plan]),
        ("Searches a day", [_format_limit(limits.searches_per_day) for limits in all_limits]),
        ("Cabins", ["economy" if plan is Plan.FREE else "all" for plan in Plan]),
        ("Results of a search", ["first 3" if limits.results else "all" for limits in all_limits]),
        ("Active trips", [_format_limit(limits.active_trips) for limits in all_limits]),
        *((kind.nouns.capitalize(), [_format_limit(kind.cap(plan)) for plan in Plan]) for kind in LIMITED_KINDS),
        ("API calls a month", [_format_limit(limits.api_calls_per_month) for limits in all_limits]),
        ("Own OAuth applications", ["none" if plan is Plan.FREE else "up to 10" for plan in Plan]),
    ]


def _format_limit(value: int | None) -> str:
    if value is None:
        return "unlimited"
    return f"{value:,}" if value else "none"
