"""The page of plan and payment: a plan is chosen here, and paid and managed at the payment service."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from auth_server.pages.member import Member
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.plans import PAYMENT_PATH as PATH
from auth_server.pages.plans import describe_plans
from auth_server.web.flows import run_counted
from auth_server.web.outcomes import Page, PageResult, Redirect, WaitingStep, show_problem
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
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
Visit = Callable[[Client, str], Awaitable[str]]  # of one customer: the address of the page


@dataclass(frozen=True)
class _Buyer:
    """Who pays, as plain values for the time after the transaction."""

    account_id: int
    public_id: str
    email: str
    customer_id: str | None


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


def choose(member: Member) -> PageResult:
    """A first subscription is ordered at the checkout; another plan of a subscriber is confirmed at the portal."""
    door, slug = find_door(), member.data.form_value("plan")
    plan = next((plan for plan in door.list_plans() if plan.slug == slug), None)
    if plan is None:
        return _NOT_SOLD
    row, buyer = _find_buyer(member, door)
    if row is not None and row.subscription_id is not None and row.item_id is not None:
        change = PlanChange(row.subscription_id, row.item_id, plan)
        return _visit(member, buyer, partial(_open_portal, change=change))
    nonce = member.data.form_value("once")
    order = partial(
        Order,
        plan=plan,
        trial_days=0 if row is not None and row.has_subscribed else settings().billing_trial_days,
        nonce=nonce if _NONCE.fullmatch(nonce) else "",
        return_url=_address("paid"),
        cancel_url=_address("not_paid"),
    )
    return _visit(member, buyer, partial(_open_checkout, order=order))


def manage(member: Member) -> PageResult:
    """Cards, invoices and the end of a subscription are at the payment service."""
    row, buyer = _find_buyer(member, find_door())
    if row is None:
        return _NOT_SOLD
    return _visit(member, buyer, partial(_open_portal, change=None))


def _find_buyer(member: Member, door: Door) -> tuple[BillingCustomer | None, _Buyer]:
    row, account = find_customer(member.db, door.name, member.account.id), member.account
    return row, _Buyer(account.id, account.public_id, account.email or "", row.customer_id if row else None)


def _visit(member: Member, buyer: _Buyer, visit: Visit) -> WaitingStep:
    """The payment service is asked for the page once the transaction is over, so that no row waits for it."""
    return WaitingStep(lambda _tools: _send_away(member.data, buyer, visit))


async def _send_away(data: RequestData, buyer: _Buyer, visit: Visit) -> PageResult:
    door = find_door()
    assert door.connect is not None  # of a door that has plans or customers
    try:
        async with door.connect() as client:
            customer_id = buyer.customer_id or await _make_customer(client, door, data, buyer)
            return Redirect(await visit(client, customer_id))
    except PaymentAway:
        return _AWAY
    except PaymentRefused:
        return _REFUSED


async def _make_customer(client: Client, door: Door, data: RequestData, buyer: _Buyer) -> str:
    """Kept before anything is ordered, so that every event of the order finds its account."""
    new_id = await client.create_customer(buyer.public_id, buyer.email)

    def keep(uow: UnitOfWork, _data: RequestData) -> str:
        add_customer(uow.db, door.name, buyer.account_id, new_id)
        row = find_customer(uow.db, door.name, buyer.account_id)
        assert row is not None
        return row.customer_id

    return await run_counted(keep, data)


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
