"""Rules of paid plans: which subscription counts, which plan it gives, and what an operator gave besides."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.plans import Plan

PAID = frozenset({"active", "trialing"})
LATE = frozenset({"past_due"})  # a payment failed and is tried again
TRIAL_NOTICE = timedelta(days=3)  # before the first payment
LOOK_EVERY = timedelta(days=1)  # also where no event came


@dataclass(frozen=True)
class Subscription:
    """One subscription as the payment service says it is now. `plan` is None for a price no setting names."""

    id: str
    item_id: str
    price: str
    plan: Plan | None
    status: str
    period_ends_at: datetime | None = None
    cancels_at: datetime | None = None
    trial_ends_at: datetime | None = None
    unpaid_since: datetime | None = None  # since when the newest invoice waits, where a payment is late


@dataclass(frozen=True)
class Holding:
    """The plan of an account, what payment added to it, and what it is without payment."""

    plan: Plan
    paid: Plan | None = None
    unpaid: Plan | None = None  # what the account had when payment began; None as long as nothing is paid


def choose_subscription(subscriptions: Sequence[Subscription]) -> Subscription | None:
    """The one that counts: paid before late, the higher plan before the lower. None when none is living."""
    living = [one for one in subscriptions if one.status in PAID | LATE]
    return max(living, key=lambda one: (one.status in PAID, one.plan or Plan.FREE, one.id), default=None)


def find_paid_plan(
    subscription: Subscription | None, paid: Plan | None, late_since: datetime | None, grace: timedelta, now: datetime
) -> Plan | None:
    """What a subscription gives now. One at a price no one knows changes nothing: someone pays for it."""
    if subscription is None:
        return None
    if subscription.status in LATE and (late_since or now) + grace <= now:
        return None
    return subscription.plan if subscription.plan is not None else paid


def settle_holding(holding: Holding, paid: Plan | None) -> Holding:
    """The plan that payment gives takes the place of the one it gave before.

    What the operator gave stands: a payment that ends or is small takes nothing of it.
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
