"""Rules of paid plans: which subscription counts, which plan it gives, and what an operator granted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.plans import Plan

PAID = frozenset({"active", "trialing"})
LATE = frozenset({"past_due"})  # a payment failed and is tried again
TRIAL_NOTICE = timedelta(days=3)  # before the first payment
LOOK_EVERY = timedelta(days=1)  # even without an event


@dataclass(frozen=True)
class Subscription:
    """The current state of a subscription at the payment service. `plan` is None for a price no setting names."""

    id: str
    item_id: str
    price: str
    plan: Plan | None
    status: str
    period_ends_at: datetime | None = None
    cancels_at: datetime | None = None
    trial_ends_at: datetime | None = None
    unpaid_since: datetime | None = None  # when the newest invoice was made; counts only while a payment is late


@dataclass(frozen=True)
class Holding:
    """The plan of an account, the part that payment gives, and the plan without payment."""

    plan: Plan
    paid: Plan | None = None
    unpaid: Plan | None = None  # the account's plan when payment started; None while nothing is paid


def choose_subscription(subscriptions: Sequence[Subscription]) -> Subscription | None:
    """The subscription that counts: paid before late, the higher plan first. None if none is live."""
    living = [one for one in subscriptions if one.status in PAID | LATE]
    return max(living, key=lambda one: (one.status in PAID, one.plan or Plan.FREE, one.id), default=None)


def find_paid_plan(
    subscription: Subscription | None, paid: Plan | None, late_since: datetime | None, grace: timedelta, now: datetime
) -> Plan | None:
    """The plan a subscription gives now. One at an unknown price changes nothing: someone pays for it."""
    if subscription is None:
        return None
    if subscription.status in LATE and (late_since or now) + grace <= now:
        return None
    return subscription.plan if subscription.plan is not None else paid


def settle_holding(holding: Holding, paid: Plan | None) -> Holding:
    """Replaces the plan that payment gave before by the one it gives now.

    What the operator gave stays: a payment that ends or is small takes none of it away.
    """
    if paid == holding.paid:
        return holding
    before = max(holding.unpaid or Plan.FREE, holding.paid) if holding.paid is not None else None
    unpaid = holding.unpaid or Plan.FREE if holding.plan == before else holding.plan
    return Holding(max(unpaid, paid or Plan.FREE), paid, unpaid if paid is not None else None)


def find_next_look(
    subscription: Subscription | None, late_since: datetime | None, grace: timedelta, now: datetime
) -> datetime | None:
    """The moment to ask again without an event; None when nothing is active."""
    if subscription is None:
        return None
    moments = [now + LOOK_EVERY]
    if subscription.status in LATE:
        moments.append((late_since or now) + grace)
    moments += [m for m in (subscription.period_ends_at, subscription.cancels_at) if m is not None]
    return min(moment for moment in moments if moment > now)
