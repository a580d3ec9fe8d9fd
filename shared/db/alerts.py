"""Alerts on award seats and on airport delays, what each has seen, and which seats a person had mail about."""

from collections.abc import Mapping
from datetime import date, datetime

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, func
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db import bulk
from shared.db.base import AccountOwned, Base, ModeOwned, iata, pk, stamp


class FlightAlert(AccountOwned, ModeOwned, Base):
    __tablename__ = "flight_alerts"
    __table_args__ = (sa.CheckConstraint("date_range_end >= date_range_start", name="window"),)

    id: Mapped[pk]
    airline: Mapped[str]
    departure: Mapped[iata]
    destination: Mapped[iata]
    date_range_start: Mapped[date]
    date_range_end: Mapped[date]
    cabin_class: Mapped[str | None]
    active: Mapped[bool] = mapped_column(server_default=sa.true())
    paused_at: Mapped[datetime | None]  # by a plan change; resumed on upgrade
    last_checked_at: Mapped[datetime | None]
    last_outcome: Mapped[str | None]  # of the newest check, as the log of a route monitor words it
    last_hit_at: Mapped[datetime | None]
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class FlightAlertKey(ModeOwned, Base):
    """The state of one watched key from the last check that answered for it: did it match then?"""

    __tablename__ = "flight_alert_keys"

    alert_id: Mapped[int] = mapped_column(ForeignKey("flight_alerts.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)  # carrier|programme|date|cabin
    matched: Mapped[bool]
    answered_at: Mapped[datetime]


class DelayAlert(AccountOwned, ModeOwned, Base):
    """`episode_since` is set while a delay lasts that was over the threshold: one message per episode and level."""

    __tablename__ = "delay_alerts"
    __table_args__ = (
        Index("ix_delay_alerts_airport", "airport", postgresql_where=sa.text("active and paused_at is null")),
        sa.CheckConstraint("min_delay_minutes between 0 and 600", name="min_delay_minutes"),
    )

    id: Mapped[pk]
    airport: Mapped[iata]
    channels: Mapped[list[str]]
    phone_sealed: Mapped[str | None]
    phone_ending: Mapped[str | None]  # the last three digits, to show
    min_delay_minutes: Mapped[int]
    label: Mapped[str | None]
    active: Mapped[bool] = mapped_column(server_default=sa.true())
    paused_at: Mapped[datetime | None]
    episode_since: Mapped[datetime | None]
    episode_level: Mapped[int | None]  # the highest one told of in this episode
    last_checked_at: Mapped[datetime | None]
    last_triggered_at: Mapped[datetime | None]
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class MailedSeat(AccountOwned, ModeOwned, Base):
    """A seat somebody had a mail about: which watch sent it, and at what price."""

    __tablename__ = "mailed_seats"
    __table_args__ = (Index("ix_mailed_seats_day", "day"),)

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    route: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)  # carrier|programme|date|cabin
    day: Mapped[date]
    points: Mapped[int]
    watch: Mapped[str]
    mailed_at: Mapped[datetime]


_NEWS = """
on conflict (account_id, route, key) do update
set synthetic = excluded.synthetic, points = excluded.points, watch = excluded.watch, mailed_at = excluded.mailed_at
where mailed_seats.mailed_at < :since or mailed_seats.points > excluded.points
  or mailed_seats.watch = excluded.watch or mailed_seats.synthetic <> excluded.synthetic
returning key"""


def mail_of(
    session: Session,
    account_id: int,
    route: str,
    watch: str,
    seats: Mapping[str, tuple[date, int]],
    at: datetime,
    since: datetime,
) -> set[str]:
    """Notes a mail about seats (day and points by key); returns the keys that are news to this person.

    A seat another watch mailed after `since`, at this price or a lower one, is no news. Two watches that find the same
    seat at the same moment wait for each other here, in the order of the keys.
    """
    rows = [
        {"account_id": account_id, "route": route, "key": key}
        | {"day": day, "points": points, "watch": watch, "mailed_at": at}
        for key, (day, points) in sorted(seats.items())
    ]
    return set(bulk.write(session, MailedSeat, rows, _NEWS, since=since).scalars())


def leave_channel(session: Session, account_id: int, channel: str, ending: str | None = None) -> list[int]:
    """An account's delay alerts use this channel no more (or those to one number); one left without any is inactive."""
    using = sa.select(DelayAlert).where(DelayAlert.account_id == account_id, DelayAlert.channels.contains([channel]))
    theirs = using if ending is None else using.where(DelayAlert.phone_ending == ending)
    rows = session.scalars(theirs.order_by(DelayAlert.id).with_for_update()).all()
    for row in rows:
        left = [name for name in row.channels if name != channel]
        row.channels, row.active = left or row.channels, row.active and bool(left)
    session.flush()
    return [row.id for row in rows]
