"""Subscriptions as Stripe writes them, read into ours; a field we do not know is no error."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from shared.billing.stripe.prices import find_plan
from shared.domain.billing import Subscription


def parse_subscription(fields: Mapping[str, Any]) -> Subscription:
    """Raises KeyError, TypeError, ValueError or IndexError for what is no subscription.

    The end of the period stands with the item since 2025-03-31, and stood with the subscription before.
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
