"""The page of plan and payment: a plan is chosen here, and paid and managed at the payment service."""

import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from auth_server.pages.member import Member, get_for_member, post_for_member
from auth_server.pages.plans import PAYMENT_PATH as PATH
from auth_server.pages.plans import describe_plans
from auth_server.web.outcomes import FlowResult, Page, Redirect, show_problem
from shared.billing.contract import Client, Door, Order, PaymentAway, PaymentRefused, PlanChange
from shared.billing.registry import find_door
from shared.db.billing import BillingCustomer, add_customer, find_customer
from shared.domain.plans import Plan
from shared.settings import settings

CHOOSE, MANAGE = f"{PATH}/choose", f"{PATH}/manage"
MESSAGES = {
    "paid": "Thank you. The plan changes once the payment is confirmed, usually within a minute.",
    "not_paid": "Nothing was paid, and your plan is as it was.",
    "back": "What you changed shows here within a minute.",
}
_NONCE = re.compile(r"[0-9a-f]{32}")
_TO_PLAN = ((PATH, "To plan and payment"),)
_AWAY = show_problem(
    "Payment is not possible right now",
    "The payment service does not answer. Nothing was paid. Please try again in a few minutes.",
    503,
    60,
    _TO_PLAN,
)
_REFUSED = show_problem(
    "Payment is not possible",
    "The payment service did not take this order. Nothing was paid. Please tell the operator of this service.",
    502,
    links=(*_TO_PLAN, ("/support", "Support")),
)
_NOT_SOLD = show_problem(
    "This plan is not sold here", "Please choose one of the plans on the page.", 422, None, _TO_PLAN
)
Visit = Callable[[Client, str], Awaitable[str]]  # for one customer: the address of the page


def show(member: Member) -> Page:
    door = find_door()
    row = find_customer(member.db, door.name, member.account.id) if door.sells else None
    sold = set(door.list_plans())
    context: dict[str, Any] = {
        "sells": door.sells,
        "row": row,
        "paid_plan": Plan.of(row.paid_plan) if row is not None and row.paid_plan else None,
        "cards": [card for card in describe_plans() if card.plan in sold],
        "trial_days": settings().billing_trial_days if row is None or not row.has_subscribed else 0,
        "messages": MESSAGES,
    }
    return member.show("payment.html", **context)


async def choose(member: Member) -> FlowResult:
    """Orders a first subscription at the checkout; a subscriber confirms another plan at the portal."""
    door, slug = find_door(), member.data.form_value("plan")
    plan = next((plan for plan in door.list_plans() if plan.slug == slug), None)
    if plan is None:
        return _NOT_SOLD
    row = await member.transact(lambda db: find_customer(db, door.name, member.account.id))
    if row is not None and row.subscription_id is not None and row.item_id is not None:
        change = PlanChange(row.subscription_id, row.item_id, plan)
        return await _visit(member, row, partial(_open_portal, change=change))
    nonce = member.data.form_value("once")
    order = partial(
        Order,
        plan=plan,
        trial_days=0 if row is not None and row.has_subscribed else settings().billing_trial_days,
        nonce=nonce if _NONCE.fullmatch(nonce) else "",
        return_url=_address("paid"),
        cancel_url=_address("not_paid"),
    )
    return await _visit(member, row, partial(_open_checkout, order=order))


async def manage(member: Member) -> FlowResult:
    """Leads to cards, invoices and cancellation at the payment service."""
    row = await member.transact(lambda db: find_customer(db, find_door().name, member.account.id))
    return _NOT_SOLD if row is None else await _visit(member, row, partial(_open_portal, change=None))


async def _visit(member: Member, row: BillingCustomer | None, visit: Visit) -> FlowResult:
    """Leads to the payment service's page; no row stays locked for its answer."""
    door = find_door()
    assert door.connect is not None  # of a service that has plans or customers
    try:
        async with door.connect() as client:
            return Redirect(await visit(client, row.customer_id if row else await _make_customer(client, door, member)))
    except PaymentAway:
        return _AWAY
    except PaymentRefused:
        return _REFUSED


async def _make_customer(client: Client, door: Door, member: Member) -> str:
    """Saves the customer before any order, so that every event of the order finds its account."""
    account = member.account
    new_id = await client.create_customer(account.public_id, account.email or "")

    def keep(db: Session) -> str:
        add_customer(db, door.name, account.id, new_id)
        row = find_customer(db, door.name, account.id)
        assert row is not None
        return row.customer_id

    return await member.transact(keep)


async def _open_checkout(client: Client, customer_id: str, *, order: Callable[[str], Order]) -> str:
    return await client.open_checkout(order(customer_id))


async def _open_portal(client: Client, customer_id: str, *, change: PlanChange | None) -> str:
    return await client.open_portal(customer_id, _address("back"), change)


def _address(done: str) -> str:
    return f"{settings().web_url}{PATH}?done={done}"


ROUTES = [
    get_for_member(PATH, show),
    post_for_member(CHOOSE, choose, fresh=True, page=PATH),
    post_for_member(MANAGE, manage, fresh=True, page=PATH),
]
