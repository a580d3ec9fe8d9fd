"""What a door to a payment service does, and the ways in which it fails."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from shared.domain.billing import Subscription
from shared.domain.plans import Plan


class PaymentAway(Exception):
    """The payment service does not answer, or is busy; the call may be repeated later."""


class PaymentRefused(Exception):
    """The payment service refused. The text is its own code, never anything a person typed."""


class SignatureWrong(Exception):
    """A message is not from the payment service, or is too old to trust."""


@dataclass(frozen=True)
class CustomerEvent:
    """Something has happened to a customer; the details are then queried."""

    id: str
    kind: str
    customer_id: str | None


@dataclass(frozen=True)
class Order:
    """A first subscription. `nonce` is the form's: sent twice it is one order."""

    customer_id: str
    plan: Plan
    trial_days: int
    nonce: str
    return_url: str
    cancel_url: str


@dataclass(frozen=True)
class PlanChange:
    """What a page of the payment service asks a subscriber to confirm; without a plan, the cancellation."""

    subscription_id: str
    item_id: str
    plan: Plan | None


class Client(Protocol):
    """A connection to the payment service. Everything raises PaymentAway and PaymentRefused."""

    async def create_customer(self, account: str, email: str) -> str:
        """The id of a customer; the same for the same account and address within a day."""
        ...

    async def open_checkout(self, order: Order) -> str:
        """The address of the page that takes the payment."""
        ...

    async def open_portal(self, customer_id: str, return_url: str, change: PlanChange | None = None) -> str:
        """The address of the page where cards, invoices and the end of a subscription are."""
        ...

    async def list_subscriptions(self, customer_id: str) -> Sequence[Subscription]:
        """All subscriptions that are not over, in their present state."""
        ...

    async def end_customer(self, customer_id: str) -> None:
        """Ends the subscriptions at once and forgets the customer; one already gone is no error."""
        ...


@dataclass(frozen=True)
class Door:
    """One way to plans. Without `connect` nothing is sold."""

    name: str
    connect: Callable[[], AbstractAsyncContextManager[Client]] | None = None
    read_event: Callable[[bytes, Mapping[str, str], datetime], CustomerEvent] | None = None  # raises SignatureWrong
    list_plans: Callable[[], Sequence[Plan]] = tuple

    @property
    def sells(self) -> bool:
        return self.connect is not None
