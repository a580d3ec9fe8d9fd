"""Customers of a payment service, the last known state of their subscriptions, and the events it sent."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Numbered, stamp
from shared.db.run_kinds import RunKind
from shared.db.runs import Schedule


class BillingCustomer(AccountOwned, Numbered):
    """An account at the payment service. The row outlives its account until the customer is ended there too."""

    __tablename__ = "billing_customers"
    __table_args__ = (
        Index("ix_billing_customers_due", "check_at", postgresql_where=sa.text("check_at is not null")),
        sa.CheckConstraint("paid_plan in ('free', 'premium', 'pro', 'enterprise')", name="paid_plan"),
        sa.CheckConstraint("unpaid_plan in ('free', 'premium', 'pro', 'enterprise')", name="unpaid_plan"),
    )

    account_id: Mapped[int | None] = mapped_column(  # type: ignore[assignment] # null once the account is gone
        ForeignKey("accounts.id", ondelete="SET NULL"), unique=True
    )
    door: Mapped[str]  # the name of the payment service
    customer_id: Mapped[str] = mapped_column(unique=True)  # the payment service's id
    subscription_id: Mapped[str | None]
    item_id: Mapped[str | None]
    status: Mapped[str | None]
    price: Mapped[str | None]
    paid_plan: Mapped[str | None]  # what is paid for now
    unpaid_plan: Mapped[str | None]  # the account's plan when payment started
    period_ends_at: Mapped[datetime | None]
    cancels_at: Mapped[datetime | None]
    trial_ends_at: Mapped[datetime | None]
    late_since: Mapped[datetime | None]
    has_subscribed: Mapped[bool] = mapped_column(server_default=sa.false())  # a trial is for the first time
    revision: Mapped[int] = mapped_column(server_default="0")  # raised by each event: an older answer is not written
    failures: Mapped[int] = mapped_column(server_default="0")
    check_at: Mapped[datetime | None]
    checked_at: Mapped[datetime | None]
    created_at: Mapped[stamp]


class BillingEvent(Numbered):
    """An event that was taken, once for each id; nothing of its content is kept."""

    __tablename__ = "billing_events"

    event_id: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[str]
    customer_id: Mapped[str | None]
    received_at: Mapped[stamp]


@dataclass(frozen=True)
class DueCustomer:
    """A customer to ask about; the answer counts if `revision` is still the row's."""

    id: int
    customer_id: str
    revision: int
    has_account: bool


def find_customer(session: Session, door: str, account_id: int) -> BillingCustomer | None:
    return session.scalar(
        sa.select(BillingCustomer).where(BillingCustomer.account_id == account_id, BillingCustomer.door == door)
    )


def add_customer(session: Session, door: str, account_id: int, customer_id: str) -> None:
    """Adds a customer; of two at once the first stays, and one of another payment service is replaced."""
    new = insert(BillingCustomer).values(account_id=account_id, door=door, customer_id=customer_id)
    others = (BillingCustomer.account_id == account_id, BillingCustomer.door != door)
    session.execute(sa.update(BillingCustomer).where(*others).values(account_id=None, check_at=None))
    session.execute(new.on_conflict_do_nothing())


def take_event(session: Session, door: str, event_id: str, kind: str, customer_id: str | None) -> bool:
    """Stores an event; whether it is new. Its customer is queried soon, whatever the event says."""
    new = insert(BillingEvent).values(event_id=event_id, kind=kind, customer_id=customer_id)
    if session.execute(new.on_conflict_do_nothing().returning(BillingEvent.id)).one_or_none() is None:
        return False
    theirs = (BillingCustomer.customer_id == customer_id, BillingCustomer.door == door)
    make_due(session, *theirs)
    return True


def make_due(session: Session, *which: sa.ColumnElement[bool]) -> None:
    """Makes customers due for the next run, which is due at once."""
    values = {"check_at": sa.func.now(), "revision": BillingCustomer.revision + 1, "failures": 0}
    rows = session.execute(sa.update(BillingCustomer).where(*which).values(values).returning(BillingCustomer.id))
    if rows.first() is not None:
        waiting = (Schedule.kind == RunKind.BILLING, Schedule.next_due_at > sa.func.now())
        session.execute(sa.update(Schedule).where(*waiting).values(next_due_at=sa.func.now()))


def claim_due_customer(session: Session, door: str, lease: timedelta) -> DueCustomer | None:
    """Claims the one waiting longest; no one else gets it before the lease ends, unless an event comes."""
    row = session.scalar(
        sa.select(BillingCustomer)
        .where(
            BillingCustomer.door == door,
            sa.or_(
                BillingCustomer.check_at <= sa.func.now(),
                sa.and_(BillingCustomer.account_id.is_(None), BillingCustomer.check_at.is_(None)),
            ),
        )
        .order_by(BillingCustomer.check_at)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    if row is None:
        return None
    row.check_at = sa.func.now() + lease
    return DueCustomer(row.id, row.customer_id, row.revision, row.account_id is not None)


def lock_customer(session: Session, due: DueCustomer) -> BillingCustomer | None:
    """The row, if nothing has happened since the claim; locks its account first, as a deletion does."""
    row = session.get(BillingCustomer, due.id)
    if row is not None and row.account_id is not None:
        owner = sa.text("select id from accounts where id = :id for no key update")
        session.execute(owner, {"id": row.account_id})
    row = session.get(BillingCustomer, due.id, with_for_update=True, populate_existing=True)
    return row if row is not None and row.revision == due.revision else None
