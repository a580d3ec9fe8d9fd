"""Client of Stripe's API: forms one way, JSON the other, with an idempotency key on all that writes."""

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import anyio
import httpx

from shared import http
from shared.billing.contract import Order, PaymentAway, PaymentRefused, PlanChange
from shared.domain.billing import Subscription
from shared.domain.plans import Plan
from shared.secrets import digest
from shared.settings import settings

# Plans and the ids of their prices at Stripe, from the settings.


def list_plans() -> Sequence[Plan]:
    """The plans on sale, the lowest first."""
    return sorted({Plan.of(slug) for slug, _ in settings().prices})


def find_price(plan: Plan) -> str:
    """The sale price of a plan: its first one in the setting. Raises KeyError."""
    return dict(reversed(settings().prices))[plan.slug]


def find_plan(price: str) -> Plan | None:
    """The plan of a price, also of a former price."""
    return next((Plan.of(slug) for slug, known_price in settings().prices if known_price == price), None)


# Reads Stripe's subscriptions into ours; unknown fields are no error.


def parse_subscription(fields: Mapping[str, Any]) -> Subscription:
    """Raises KeyError, TypeError, ValueError or IndexError for anything but a subscription.

    The end of the period is in the item since 2025-03-31, and was in the subscription before.
    """
    item = fields["items"]["data"][0]
    price = str(item["price"]["id"])
    period_ends_at = _read_moment(item.get("current_period_end") or fields.get("current_period_end"))
    cancels_at = _read_moment(fields.get("cancel_at"))
    if cancels_at is None and fields.get("cancel_at_period_end"):
        cancels_at = period_ends_at
    invoice = fields.get("latest_invoice")
    return Subscription(
        id=str(fields["id"]),
        item_id=str(item["id"]),
        price=price,
        plan=find_plan(price),
        status=str(fields["status"]),
        period_ends_at=period_ends_at,
        cancels_at=cancels_at,
        trial_ends_at=_read_moment(fields.get("trial_end")) if fields["status"] == "trialing" else None,
        unpaid_since=_read_moment(invoice.get("created")) if isinstance(invoice, Mapping) else None,
    )


def _read_moment(seconds: Any) -> datetime | None:
    return datetime.fromtimestamp(int(seconds), UTC) if seconds is not None else None


API_VERSION = "2025-03-31.basil"  # pinned: an account's own version may differ
TIMEOUT = httpx.Timeout(8, connect=3)
MAX_BYTES = 2 << 20
MAX_SECONDS = 20.0  # of one call with its retries
WAITS = (0.3, 1.0)  # seconds before the second and third attempt
_MAX_LISTED = 100
_CODE = re.compile(r"[a-z0-9_]{1,60}")
_ID = re.compile(r"[A-Za-z0-9_]{1,255}")
Fields = Mapping[str, str]


@asynccontextmanager
async def connect() -> AsyncIterator["Client"]:
    key = settings().stripe_secret_key
    headers = {"Authorization": f"Bearer {key.get_secret_value() if key else ''}", "Stripe-Version": API_VERSION}
    async with http.client(settings().stripe_base_url, timeout=TIMEOUT, headers=headers) as client:
        yield Client(client)


class Client:
    def __init__(self, client: http.AsyncClient) -> None:
        self._client = client

    async def create_customer(self, account: str, email: str) -> str:
        """The key is derived from account and address: made twice within a day it is one customer."""
        fields = {"email": email, "metadata[account]": account}
        customer = await self._send("POST", "/v1/customers", fields, f"customer-{digest(f'{account} {email}')}")
        return _read_id(customer)

    async def open_checkout(self, order: Order) -> str:
        fields = {
            "mode": "subscription",
            "customer": order.customer_id,
            "line_items[0][price]": find_price(order.plan),
            "line_items[0][quantity]": "1",
            "success_url": order.return_url,
            "cancel_url": order.cancel_url,
        }
        if order.trial_days:
            fields["subscription_data[trial_period_days]"] = str(order.trial_days)
        key = f"checkout-{digest(' '.join([order.nonce, *fields.values()]))}"
        return _read_address(await self._send("POST", "/v1/checkout/sessions", fields, key))

    async def open_portal(self, customer_id: str, return_url: str, change: PlanChange | None = None) -> str:
        fields = {"customer": customer_id, "return_url": return_url, **_describe_change(change)}
        return _read_address(await self._send("POST", "/v1/billing_portal/sessions", fields))

    async def list_subscriptions(self, customer_id: str) -> Sequence[Subscription]:
        """Without a status Stripe lists all that were not cancelled."""
        query = {"customer": customer_id, "limit": str(_MAX_LISTED), "expand[]": "data.latest_invoice"}
        try:
            answer = await self._send("GET", "/v1/subscriptions", query)
        except PaymentRefused as error:
            if str(error) != "resource_missing" or not await self._is_deleted(customer_id):
                raise  # another account's key knows no customers: that must end no one's plan
            return []
        try:
            return [parse_subscription(fields) for fields in answer["data"]]
        except (KeyError, TypeError, ValueError, IndexError, OverflowError):
            raise PaymentRefused("unreadable") from None

    async def end_customer(self, customer_id: str) -> None:
        """Deleting a customer ends its subscriptions at once; invoices stay at Stripe."""
        try:
            await self._send("DELETE", f"/v1/customers/{_check_id(customer_id)}", {})
        except PaymentRefused as error:
            if str(error) != "resource_missing" or not await self._is_deleted(customer_id):
                raise

    async def _is_deleted(self, customer_id: str) -> bool:
        return (await self._send("GET", f"/v1/customers/{_check_id(customer_id)}", {})).get("deleted") is True

    async def _send(self, method: str, path: str, fields: Fields, key: str | None = None) -> dict[str, Any]:
        """The answer to a call, retried while Stripe is busy or down; the text of its errors is not passed on."""
        more: dict[str, Any] = {"params": fields} if method == "GET" else {"data": fields}
        if key is not None:
            more["headers"] = {"Idempotency-Key": key}
        try:
            with anyio.fail_after(MAX_SECONDS):
                for wait in (*WAITS, None):
                    status, body = await self._try(method, path, more)
                    # 409 is another call with the same key, or a lock; 429 is too many calls.
                    if not (status in (0, 409, 424, 429) or status >= 500):
                        return _read_answer(status, body)
                    if wait is not None:
                        await anyio.sleep(wait)
        except TimeoutError:
            pass
        raise PaymentAway

    async def _try(self, method: str, path: str, more: Mapping[str, Any]) -> tuple[int, bytes]:
        """Returns status and body; status 0 without an answer."""
        try:
            async with self._client.stream(method, path, **more) as response:
                return response.status_code, await http.read_capped(response, MAX_BYTES)
        except httpx.TransportError:
            return 0, b""
        except http.Refused:
            raise PaymentRefused("too_large") from None


def _read_answer(status: int, body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise PaymentRefused("unreadable") from None
    if not isinstance(answer, dict):
        raise PaymentRefused("unreadable")
    if 200 <= status < 300:
        return answer
    error = answer.get("error")
    words = [error.get(name) for name in ("code", "type")] if isinstance(error, dict) else []
    raise PaymentRefused(next((w for w in words if isinstance(w, str) and _CODE.fullmatch(w)), f"status_{status}"))


def _check_id(value: Any) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise PaymentRefused("unreadable")
    return value


def _read_id(answer: Mapping[str, Any]) -> str:
    return _check_id(answer.get("id"))


def _read_address(answer: Mapping[str, Any]) -> str:
    """Reads the address of a Stripe page for the person."""
    try:
        return http.check_url(str(answer.get("url")))
    except http.Refused:
        raise PaymentRefused("unreadable") from None


def _describe_change(change: PlanChange | None) -> dict[str, str]:
    """Makes the portal open at the page with the cost of the change; nothing changes until that is confirmed."""
    if change is None:
        return {}
    if change.plan is None:
        kind, more = "subscription_cancel", {}
    else:
        kind = "subscription_update_confirm"
        more = {"items][0][id": change.item_id, "items][0][price": find_price(change.plan), "items][0][quantity": "1"}
    fields = {"flow_data[type]": kind, f"flow_data[{kind}][subscription]": change.subscription_id}
    return fields | {f"flow_data[{kind}][{name}]": value for name, value in more.items()}
