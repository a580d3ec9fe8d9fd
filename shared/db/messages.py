"""What is said to people: notices in the inbox, and one delivery row per channel and recipient (the outbox)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db import bulk
from shared.db.base import AccountOwned, Base, ModeOwned, stamp, uid
from shared.db.pagination import CountedRows, select_count
from shared.telemetry.traces import get_traceparent

OPEN_STATUSES = "('pending', 'claimed', 'handing_over')"


class Notification(AccountOwned, ModeOwned, Base):
    __tablename__ = "notifications"
    __table_args__ = (Index("ix_notifications_newest", "account_id", "created_at"),)

    id: Mapped[uid]
    dedupe_key: Mapped[str] = mapped_column(unique=True)  # one notice per event, whatever crashes
    kind: Mapped[str]
    title: Mapped[str]
    body: Mapped[str]
    subject_type: Mapped[str | None]
    subject_id: Mapped[str | None]
    link: Mapped[str | None]
    created_at: Mapped[stamp]
    read_at: Mapped[datetime | None]


class Delivery(AccountOwned, ModeOwned, Base):
    """One message to one address by one channel. Its id is the Message-ID; its payload is cleared once delivered."""

    __tablename__ = "deliveries"
    __table_args__ = (
        UniqueConstraint("dedupe_key", "channel", "recipient"),
        Index("ix_deliveries_created", "created_at"),
        Index("ix_deliveries_failed", "created_at", postgresql_where=sa.text("status = 'failed'")),
        Index("ix_deliveries_open", "wake_at", postgresql_where=sa.text(f"status in {OPEN_STATUSES}")),
        sa.CheckConstraint(
            "status in ('pending', 'claimed', 'handing_over', 'sent', 'failed', 'uncertain')", name="status"
        ),
    )

    id: Mapped[uid]
    notification_id: Mapped[UUID | None] = mapped_column(
        ForeignKey("notifications.id", ondelete="SET NULL"), index=True
    )
    dedupe_key: Mapped[str]
    channel: Mapped[str]
    recipient: Mapped[str]
    event: Mapped[str]  # which message of outbox.messages
    facts: Mapped[dict[str, Any]]  # what it is written from; secrets never stand here, links are written available-over
    status: Mapped[str] = mapped_column(server_default="pending")
    attempt: Mapped[int] = mapped_column(server_default="0")
    handed: Mapped[int] = mapped_column(server_default="0")
    wake_at: Mapped[datetime] = mapped_column(server_default=sa.func.clock_timestamp())  # in the order of writing
    claimed_until: Mapped[datetime | None]  # no one may claim it before: a worker's lease, or the wait of a retry
    sent_at: Mapped[datetime | None]
    error: Mapped[str | None]
    created_at: Mapped[stamp]
    traceparent: Mapped[str | None]  # the trace in which it was written


@dataclass(frozen=True)
class ClaimedDelivery:
    """A delivery taken by this worker, with all that wording and sending need."""

    id: UUID
    account_id: int
    channel: str
    recipient: str
    event: str
    facts: dict[str, Any]
    synthetic: bool
    created_at: datetime
    age: timedelta  # when it was claimed, by the database's clock
    attempt: int
    status_before: str  # the one it was claimed in
    public_id: str  # of the account
    time_zone: str | None  # of the person
    traceparent: str | None = None


def add_notifications(session: Session, rows: Sequence[Mapping[str, Any]]) -> dict[str, UUID]:
    """Stores each notice once per event. By their keys those that were not stored before."""
    once = "on conflict (dedupe_key) do nothing returning dedupe_key, id"
    return {row.dedupe_key: row.id for row in bulk.write(session, Notification, rows, once)} if rows else {}


def add_deliveries(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        trace = get_traceparent()
        bulk.write(session, Delivery, [{**row, "traceparent": trace} for row in rows])


def find_last_status(session: Session, account_id: int, dedupe_prefix: str) -> str | None:
    """How far the newest of an account's messages is whose key begins so."""
    same = (Delivery.account_id == account_id, Delivery.dedupe_key.startswith(dedupe_prefix, autoescape=True))
    return session.scalar(sa.select(Delivery.status).where(*same).order_by(Delivery.wake_at.desc()).limit(1))


# A wake-up continues with whatever waits, and each is a separate process: where 46 checks a second each had a mail, a
# check took 16.6 ms of all programs instead of 19.6. While mails leave slowly each second brings one more.
_DELIVERIES_A_WAKE_UP = 10
# They are left to the wake-ups under way for so long; then these are taken to be held up, as by a slow mail server.
_PATIENCE = timedelta(seconds=1)
_OPEN = f"from deliveries where status in {OPEN_STATUSES} and wake_at <= now() order by wake_at"
_HAND_OVER = sa.text(f"""
with line as (select wake_at {_OPEN} limit :n * {_DELIVERIES_A_WAKE_UP}),
needed as (select ceil(count(*) / {_DELIVERIES_A_WAKE_UP}.0)
  - case when min(wake_at) > now() - :patience then :under_way else 0 end as wake_ups from line),
open as (select id {_OPEN} limit (select greatest(0, least(:n, wake_ups)) from needed) for update skip locked)
update deliveries d set wake_at = now() + make_interval(secs => :ttl), handed = handed + 1
from open where d.id = open.id returning cast(d.id as text), d.handed""")  # noqa: S608 - OPEN is a constant above


def hand_over_deliveries(session: Session, limit: int, ttl: float, under_way: int = 0) -> list[tuple[str, int]]:
    """Deliveries that should be in the queue: new ones, those whose wake-up got lost, those whose worker died.

    Of a crowd so many as there should be wake-ups alongside those `under_way`.
    """
    values = {"n": limit, "ttl": ttl, "under_way": under_way, "patience": _PATIENCE}
    rows = session.execute(_HAND_OVER, values) if limit > 0 else ()
    return [(id, handed) for id, handed in rows]


def _claim(which: str) -> sa.TextClause:
    """Two texts, so that the plan of each is made once and kept."""
    return sa.text(f"""
with mine as (
  select id, status from deliveries
  where status in {OPEN_STATUSES} and (claimed_until is null or claimed_until <= now()) {which} for update skip locked)
update deliveries d set attempt = attempt + 1,
  status = case mine.status when 'handing_over' then 'handing_over' else 'claimed' end,
  claimed_until = now() + make_interval(secs => :lease), wake_at = now() + make_interval(secs => :lease)
from mine where d.id = mine.id
returning d.id, d.account_id, d.channel, d.recipient, d.event, d.facts, d.synthetic, d.created_at,
  now() - d.created_at, d.attempt,
  mine.status, (select a.public_id from accounts a where a.id = d.account_id),
  (select p.timezone from profiles p where p.account_id = d.account_id), d.traceparent""")  # noqa: S608


_NAMED, _NEXT = _claim("and id = cast(:id as uuid)"), _claim("order by wake_at limit 1")


def claim_delivery(session: Session, lease: float, id: str | None = None) -> ClaimedDelivery | None:
    """Takes the named delivery, or else the one that waits longest, unless another worker holds it. Raises the fence.

    One found in `handing_over` stays so: its worker was lost after the hand-over began, and no one may send it again.
    """
    row = session.execute(_NAMED, {"id": id, "lease": lease}) if id else session.execute(_NEXT, {"lease": lease})
    columns = row.one_or_none()
    return ClaimedDelivery(*columns) if columns else None


# Of a row this worker still holds; `:while_in` are the statuses in which the write counts.
_MINE = "id = :id and attempt = :attempt and status = any(:while_in)"
_BEGIN = sa.text(f"update deliveries set status = 'handing_over' where {_MINE}")  # noqa: S608
_SENT = sa.text(f"""
update deliveries set status = 'sent', error = null, facts = '{{}}', sent_at = now(), claimed_until = null
where {_MINE}""")  # noqa: S608
_NOT_SENT = sa.text(f"""
update deliveries set status = :status, error = :error, claimed_until = null where {_MINE}""")  # noqa: S608
_RETRY = sa.text(f"""
update deliveries set status = 'pending', error = :error, wake_at = now() + :wait, claimed_until = now() + :wait
where {_MINE}""")  # noqa: S608


_POSTPONE = sa.text(f"""
update deliveries set status = 'pending', attempt = attempt - 1, wake_at = now() + :wait,
  claimed_until = now() + :wait
where {_MINE}""")  # noqa: S608


def begin_hand_over(session: Session, parcel: ClaimedDelivery) -> bool:
    """Written and committed before the first byte goes out; False when another worker took over."""
    return _write(session, _BEGIN, parcel, ["claimed"])


def mark_sent(session: Session, parcel: ClaimedDelivery) -> bool:
    return _write(session, _SENT, parcel)


def mark_unsent(session: Session, parcel: ClaimedDelivery, status: str, error: str) -> bool:
    """Ends it as `failed` (it surely did not go out) or `uncertain` (no one can know)."""
    return _write(session, _NOT_SENT, parcel, status=status, error=error)


def retry_delivery(session: Session, parcel: ClaimedDelivery, wait: timedelta, error: str) -> bool:
    return _write(session, _RETRY, parcel, wait=wait, error=error)


def postpone_delivery(session: Session, parcel: ClaimedDelivery, wait: timedelta) -> bool:
    """Nothing was tried, so the attempt does not count. Its number comes back, but anyone who claims it goes above."""
    return _write(session, _POSTPONE, parcel, ["claimed"], wait=wait)


def _write(
    session: Session,
    statement: sa.TextClause,
    parcel: ClaimedDelivery,
    while_in: Sequence[str] = ("claimed", "handing_over"),
    **values: Any,
) -> bool:
    """One fenced write; False when another worker took over."""
    mine = {"id": parcel.id, "attempt": parcel.attempt, "while_in": list(while_in)}
    result: Any = session.execute(statement, mine | values)
    return int(result.rowcount) == 1


class NoticePage(NamedTuple):
    """`total` counts those that fit, `unread` those of the whole inbox."""

    rows: list[Notification]
    total: int
    unread: int


def count_unread(session: Session, account_id: int) -> int:
    """How many notices of the inbox no one has read."""
    unread = (Notification.account_id == account_id, Notification.read_at.is_(None))
    return session.scalar(sa.select(sa.func.count()).select_from(Notification).where(*unread)) or 0


_NOTICE_FILTERS: Mapping[str, sa.ColumnElement[bool]] = {
    "unread_only": sa.and_(sa.bindparam("unread_only", type_=sa.Boolean), Notification.read_at.is_(None)),
    "kind": Notification.kind == sa.bindparam("kind"),
    "since": Notification.created_at >= sa.bindparam("since"),
}


def load_notice_page(session: Session, only: Mapping[str, Any], page: int, per_page: int) -> NoticePage:
    """The newest first. `only`: unread_only (true), kind, since."""
    filters = {name: value for name, value in only.items() if value is not None}
    select = _select_notices(frozenset(filters))
    rows, (total, unread) = select.read(session, **filters, offset=(page - 1) * per_page, per_page=per_page)
    return NoticePage([notice for (notice,) in rows], total, unread)


@lru_cache(maxsize=8)
def _select_notices(filters: frozenset[str]) -> CountedRows:
    fits = [_NOTICE_FILTERS[name] for name in sorted(filters)]
    rows = sa.select(Notification).where(*fits).order_by(Notification.created_at.desc(), Notification.id)
    rows = rows.offset(sa.bindparam("offset")).limit(sa.bindparam("per_page"))
    unread = select_count(Notification, Notification.read_at.is_(None))
    return CountedRows.of(rows, select_count(Notification, *fits), unread)
