"""Messages to people: notices in the inbox, and one delivery row per channel and recipient (the outbox)."""

from collections.abc import Collection, Mapping, Sequence
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
        Index("ix_deliveries_open_events", "event", postgresql_where=sa.text(f"status in {OPEN_STATUSES}")),
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
    facts: Mapped[dict[str, Any]]  # what it is written from; secrets are never here, links are written at hand-over
    status: Mapped[str] = mapped_column(server_default="pending")
    attempt: Mapped[int] = mapped_column(server_default="0")
    handed: Mapped[int] = mapped_column(server_default="0")
    wake_at: Mapped[datetime] = mapped_column(server_default=sa.func.clock_timestamp())  # in the order of writing
    claimed_until: Mapped[datetime | None]  # not claimable before: a worker's lease, or a retry's delay
    sent_at: Mapped[datetime | None]
    error: Mapped[str | None]
    created_at: Mapped[stamp]
    traceparent: Mapped[str | None]  # the trace in which it was written


@dataclass(frozen=True)
class ClaimedDelivery:
    """A delivery taken by this worker, with all that writing and sending it needs."""

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
    """Stores each notice once per event. Returns the new ones by their keys."""
    once = "on conflict (dedupe_key) do nothing returning dedupe_key, id"
    return {row.dedupe_key: row.id for row in bulk.write(session, Notification, rows, once)} if rows else {}


def add_deliveries(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        trace = get_traceparent()
        bulk.write(session, Delivery, [{**row, "traceparent": trace} for row in rows])


def find_last_status(session: Session, account_id: int, dedupe_prefix: str) -> str | None:
    """The status of an account's newest message whose key has this prefix."""
    same = (Delivery.account_id == account_id, Delivery.dedupe_key.startswith(dedupe_prefix, autoescape=True))
    return session.scalar(sa.select(Delivery.status).where(*same).order_by(Delivery.wake_at.desc()).limit(1))


# A wake-up takes all that waits, in its own process: where 46 checks a second each had a mail, a
# check took 16.6 ms of all programs instead of 19.6. While mails leave slowly, one is added each second.
_DELIVERIES_A_WAKE_UP = 10
# They are left to the running wake-ups this long; then those count as held up, as by a slow mail server.
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
    """Deliveries that should be in the queue: new ones, or with a lost wake-up or a dead worker.

    Of a crowd, only as many as there should be wake-ups alongside those `under_way`.
    """
    values = {"n": limit, "ttl": ttl, "under_way": under_way, "patience": _PATIENCE}
    rows = session.execute(_HAND_OVER, values) if limit > 0 else ()
    return [(id, handed) for id, handed in rows]


_FREE = f"d.status in {OPEN_STATUSES} and (d.claimed_until is null or d.claimed_until <= now())"
_AT_ONCE = f"from deliveries d where {_FREE} and d.event = any(:at_once)"


def _claim(which: str) -> sa.TextClause:
    """Two texts, so that the plan of each is made once and cached.

    It does not wait for an account locked elsewhere: its next message notes its turn.
    """
    return sa.text(f"""
with mine as ({which} limit 1 for update of d skip locked),
served as (select a.id from accounts a join mine on mine.account_id = a.id for no key update of a skip locked),
turn as (update accounts a set written_to_at = now() from served where a.id = served.id)
update deliveries d set attempt = attempt + 1,
  status = case mine.status when 'handing_over' then 'handing_over' else 'claimed' end,
  claimed_until = now() + make_interval(secs => :lease), wake_at = now() + make_interval(secs => :lease)
from mine where d.id = mine.id
returning d.id, d.account_id, d.channel, d.recipient, d.event, d.facts, d.synthetic, d.created_at,
  now() - d.created_at, d.attempt,
  mine.status, (select a.public_id from accounts a where a.id = d.account_id),
  (select p.timezone from profiles p where p.account_id = d.account_id), d.traceparent""")  # noqa: S608


# Of 100,000 that wait all would be sorted for each one that is sent, for 98 ms; of the oldest it takes 4 ms. Where an
# account has many of the oldest, the search goes further past them, so that those of others are in sight as well.
_IN_SIGHT, _CROWD, _FURTHEST = 1000, 20, 10_000
_CANDIDATES = 100  # of which the first is taken that no other worker just takes
_NAMED = _claim(f"""
  select d.id, d.account_id, d.status from deliveries d where {_FREE} and d.id = cast(:id as uuid)
  and (d.event = any(:at_once) or not exists (select {_AT_ONCE}))""")  # noqa: S608
_NEXT = _claim(f"""
  with oldest as (select d.id, d.account_id, d.wake_at from deliveries d where {_FREE}
    order by d.wake_at limit {_IN_SIGHT}),
  crowds as (select account_id from oldest group by account_id having count(*) > {_CROWD}),
  line as (select * from ((select 0 as lane, d.id, d.account_id, d.wake_at {_AT_ONCE}
      order by d.wake_at limit {_IN_SIGHT})
    union all select 1, * from oldest
    union all (select 1, * from (select d.id, d.account_id, d.wake_at from deliveries d where {_FREE}
      and exists (select from crowds) order by d.wake_at limit {_FURTHEST}) further
      where account_id not in (select account_id from crowds) limit {_IN_SIGHT})) waiting
    join lateral (select coalesce(written_to_at, created_at) as turn from accounts where id = account_id) a on true
    order by lane, turn, wake_at limit {_CANDIDATES})
  select d.id, d.account_id, d.status from line join deliveries d on d.id = line.id
  where {_FREE} order by line.lane, line.turn, line.wake_at""")  # noqa: S608


def claim_delivery(
    session: Session, lease: float, id: str | None = None, at_once: Collection[str] = ()
) -> ClaimedDelivery | None:
    """Takes the next delivery, unless another worker has it. Raises the fence.

    Those of the events `at_once` come first, then the named one, then one of the account served longest ago. One found
    in `handing_over` stays so: its worker was lost after the hand-over began, and no one may send it again.
    """
    values = {"lease": lease, "at_once": list(at_once)}
    row = session.execute(_NAMED, values | {"id": id}) if id else session.execute(_NEXT, values)
    columns = row.one_or_none()
    return ClaimedDelivery(*columns) if columns else None


# Only a row this worker still has; `:while_in` are the statuses in which the write counts.
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
    """Marks the hand-over, committed before the first byte; False if another worker took over."""
    return _write(session, _BEGIN, parcel, ["claimed"])


def mark_sent(session: Session, parcel: ClaimedDelivery) -> bool:
    return _write(session, _SENT, parcel)


def mark_unsent(session: Session, parcel: ClaimedDelivery, status: str, error: str) -> bool:
    """Ends it as `failed` (it definitely did not go out) or `uncertain` (it may have)."""
    return _write(session, _NOT_SENT, parcel, status=status, error=error)


def retry_delivery(session: Session, parcel: ClaimedDelivery, wait: timedelta, error: str) -> bool:
    return _write(session, _RETRY, parcel, wait=wait, error=error)


def postpone_delivery(session: Session, parcel: ClaimedDelivery, wait: timedelta) -> bool:
    """Postpones it without counting an attempt: its number goes back, and the next claim raises it again."""
    return _write(session, _POSTPONE, parcel, ["claimed"], wait=wait)


def _write(
    session: Session,
    statement: sa.TextClause,
    parcel: ClaimedDelivery,
    while_in: Sequence[str] = ("claimed", "handing_over"),
    **values: Any,
) -> bool:
    """Makes one fenced write; False if another worker took over."""
    mine = {"id": parcel.id, "attempt": parcel.attempt, "while_in": list(while_in)}
    result: Any = session.execute(statement, mine | values)
    return int(result.rowcount) == 1


class NoticePage(NamedTuple):
    """`total` counts the matching ones, `unread` those in the whole inbox."""

    rows: list[Notification]
    total: int
    unread: int


def count_unread(session: Session, account_id: int) -> int:
    """The number of unread notices in the inbox."""
    unread = (Notification.account_id == account_id, Notification.read_at.is_(None))
    return session.scalar(sa.select(sa.func.count()).select_from(Notification).where(*unread)) or 0


_NOTICE_FILTERS: Mapping[str, sa.ColumnElement[bool]] = {
    "unread_only": sa.and_(sa.bindparam("unread_only", type_=sa.Boolean), Notification.read_at.is_(None)),
    "kind": Notification.kind == sa.bindparam("kind"),
    "since": Notification.created_at >= sa.bindparam("since"),
}


def load_notice_page(session: Session, only: Mapping[str, Any], page: int, per_page: int) -> NoticePage:
    """A page, the newest first. `only`: unread_only (true), kind, since."""
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
