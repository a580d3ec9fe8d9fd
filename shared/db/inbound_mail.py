"""Booking confirmations a person forwards: the raw mail until it is settled, and the parsed content."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import Index, UniqueConstraint
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.accounts import Account
from shared.db.base import AccountOwned, Base, uid
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.run_kinds import RunKind
from shared.db.runs import delete_schedules, schedule
from shared.db.secret_links import SecretLink

_UNPAID = 7_310_552  # advisory lock: letters to Free accounts are counted and stored one at a time
_RETRY_EVERY = timedelta(days=1)  # a schedule ends with its first complete run; this is for one that never completes


class InboundMail(AccountOwned, Base):
    """Stored before the sender is answered; parsing is a separate run, whose schedule has `number`."""

    __tablename__ = "inbound_mails"
    __table_args__ = (
        UniqueConstraint("account_id", "digest"),  # the same mail delivered twice is stored once
        Index("ix_inbound_mails_newest", "account_id", "received_at"),
        Index("ix_inbound_mails_ending", "keep_until", postgresql_where=sa.text("keep_until is not null")),
        sa.CheckConstraint("state in ('received', 'needs_review', 'imported', 'discarded', 'failed')", name="state"),
        sa.CheckConstraint("kind in ('flight', 'hotel', 'unknown')", name="kind"),
    )

    id: Mapped[uid]
    number: Mapped[int] = mapped_column(sa.BigInteger, sa.Identity(), unique=True)
    digest: Mapped[str]
    received_at: Mapped[datetime] = mapped_column(server_default=sa.func.now())
    from_domain: Mapped[str]
    sender: Mapped[str] = mapped_column(server_default="")  # the one address it names; empty until checked
    sender_verified: Mapped[bool] = mapped_column(server_default=sa.false())  # a signature proves the address
    subject: Mapped[str]
    raw: Mapped[bytes | None] = mapped_column(sa.LargeBinary, deferred=True)  # gone once imported or discarded
    state: Mapped[str] = mapped_column(server_default="received")
    kind: Mapped[str] = mapped_column(server_default="unknown")
    parsed: Mapped[dict[str, Any]] = mapped_column(server_default=sa.text("'{}'"))
    missing: Mapped[list[str]] = mapped_column(server_default=sa.text("'{}'"))
    confidence: Mapped[float | None] = mapped_column(sa.Float)
    error: Mapped[str | None]
    keep_until: Mapped[datetime | None]  # then the whole row is deleted


class Holder(NamedTuple):
    """The owner of the address, and the facts that decide whether it accepts mail."""

    account_id: int
    plan: str
    trial_ends_on: datetime | None
    disabled: bool
    has_person: bool


def find_holder(session: Session, token_hash: str) -> Holder | None:
    """Who has the living inbox address of this hash; needs a session that sees everyone."""
    row = session.execute(
        sa.select(
            Account.id,
            Account.plan,
            Account.inbox_trial_ends_on,
            Account.disabled_at.is_not(None),
            Account.has_person,
        )
        .join(SecretLink, SecretLink.account_id == Account.id)
        .where(
            SecretLink.purpose == "inbox",
            SecretLink.token_hash == token_hash,
            SecretLink.ended_at.is_(None),
        )
    ).one_or_none()
    return Holder(*row) if row else None


def count_waiting(session: Session, account_id: int) -> tuple[int, int]:
    """How many mails of an account wait to be settled, and their size in bytes."""
    waiting = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(sa.func.octet_length(InboundMail.raw)), 0)).where(
        InboundMail.account_id == account_id, InboundMail.raw.is_not(None)
    )
    count, size = session.execute(waiting).one()
    return int(count), int(size)


def store_mail(session: Session, **mail: Any) -> bool:
    """Stores a mail and schedules its reading; False if the account already has it."""
    new = insert(InboundMail).values(**mail).on_conflict_do_nothing(index_elements=["account_id", "digest"])
    number = session.scalar(new.returning(InboundMail.number))
    if number is not None:
        schedule(session, RunKind.INBOUND_MAIL, number, _RETRY_EVERY)
    return number is not None


def note_turn(session: Session, account_id: int, wait: timedelta | None) -> None:
    """Notes that a letter of the account was read; for `wait` its next ones come after everyone else's."""
    columns: dict[str, Any] = {"letter_read_at": sa.func.now()}
    if wait is not None:
        columns["letters_wait_until"] = sa.func.now() + wait
    session.execute(sa.update(Account).where(Account.id == account_id).values(columns))


def lock_unpaid(session: Session) -> None:
    """Makes letters to Free accounts wait for each other: the last of their common room goes to one. Before any row."""
    session.execute(sa.select(sa.func.pg_advisory_xact_lock(_UNPAID)))


def count_unpaid(session: Session) -> int:
    """Bytes of the mails of all Free accounts that wait to be settled; needs a session that sees everyone."""
    size = sa.select(sa.func.coalesce(sa.func.sum(sa.func.octet_length(InboundMail.raw)), 0))
    waiting = size.join(Account, Account.id == InboundMail.account_id).where(InboundMail.raw.is_not(None))
    return int(session.scalar(waiting.where(Account.plan == "free")) or 0)


def end_schedule(session: Session, number: int) -> None:
    """Deletes the schedule of a mail that was read, or cannot be."""
    delete_schedules(session, RunKind.INBOUND_MAIL, [number])


def lock_mail(session: Session, condition: sa.ColumnElement[bool]) -> InboundMail | None:
    """A mail, held together with its account, so that no other mail of the account is settled in the meantime."""
    row = session.execute(
        sa.select(InboundMail, Account.id)
        .select_from(Account)  # first, as rows are locked in the order of the tables: the account before its mail
        .join(InboundMail, Account.id == InboundMail.account_id)
        .where(condition)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    ).one_or_none()
    return row[0] if row else None


def existing_bookings(session: Session, flights: Sequence[int], hotels: Sequence[int]) -> tuple[set[int], set[int]]:
    """Which of these bookings still exist, in one statement."""
    if not flights and not hotels:
        return set(), set()
    legs = sa.select(sa.literal("flight"), FlightBooking.id).where(FlightBooking.id.in_(flights))
    stays = sa.select(sa.literal("hotel"), HotelBooking.id).where(HotelBooking.id.in_(hotels))
    there = session.execute(sa.union_all(legs, stays)).all()
    return {id for kind, id in there if kind == "flight"}, {id for kind, id in there if kind == "hotel"}


def count_states(session: Session) -> dict[str, int]:
    """How many mails the session's account has in each state."""
    counted = sa.select(InboundMail.state, sa.func.count()).group_by(InboundMail.state)
    return {state: number for state, number in session.execute(counted)}  # noqa: C416 - a Row is no tuple to mypy


def was_signed_before(session: Session, account_id: int, address: str) -> bool:
    """Whether a mail of this sender was verified before."""
    signed = (InboundMail.account_id == account_id, InboundMail.sender == address, InboundMail.sender_verified)
    return session.scalar(sa.select(InboundMail.id).where(*signed).limit(1)) is not None


def has_unread(session: Session, account_id: int, but: UUID) -> bool:
    """Whether another mail of the account is still unread; a waiting one was read."""
    others = (InboundMail.account_id == account_id, InboundMail.state == "received", InboundMail.id != but)
    return session.scalar(sa.select(InboundMail.id).where(*others, InboundMail.parsed == {}).limit(1)) is not None
