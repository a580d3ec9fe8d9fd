"""Watches: route monitors, the state of each watched key, their checks and their matches."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, UniqueConstraint, func
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db import bulk
from shared.db.base import AccountOwned, Base, ModeOwned, iata, pk, stamp


class RouteMonitor(AccountOwned, ModeOwned, Base):
    __tablename__ = "route_monitors"
    __table_args__ = (
        Index("ix_route_monitors_active", "account_id", postgresql_where=sa.text("cancelled_at is null")),
        sa.CheckConstraint("passengers between 1 and 9", name="passengers"),
        sa.CheckConstraint("latest_date >= earliest_date", name="window"),
        sa.CheckConstraint("cancel_reason in ('user', 'window_passed', 'plan_change')", name="cancel_reason"),
    )

    id: Mapped[pk]
    trip_id: Mapped[int | None] = mapped_column(ForeignKey("trips.id", ondelete="SET NULL"), index=True)
    origin: Mapped[iata]
    destination: Mapped[iata]
    earliest_date: Mapped[date]
    latest_date: Mapped[date]
    cabin: Mapped[str | None]
    airlines: Mapped[list[str] | None]
    passengers: Mapped[int] = mapped_column(server_default="1")
    max_points: Mapped[int | None]
    paused_at: Mapped[datetime | None]  # by a plan change; resumed on upgrade
    cancelled_at: Mapped[datetime | None]
    cancel_reason: Mapped[str | None]
    last_checked_at: Mapped[datetime | None]
    matches_total: Mapped[int] = mapped_column(server_default="0")
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())


class MonitorKey(ModeOwned, Base):
    """The state of one watched key from the last check that answered for it: did it match then?"""

    __tablename__ = "route_monitor_keys"

    monitor_id: Mapped[int] = mapped_column(ForeignKey("route_monitors.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)  # carrier|programme|date|cabin
    matched: Mapped[bool]
    answered_at: Mapped[datetime]


class MonitorCheck(ModeOwned, Base):
    """One line of the check log a user can read."""

    __tablename__ = "route_monitor_checks"
    __table_args__ = (
        UniqueConstraint("run_id"),
        Index("ix_route_monitor_checks_newest", "monitor_id", "checked_at"),
    )

    id: Mapped[pk]
    monitor_id: Mapped[int] = mapped_column(ForeignKey("route_monitors.id", ondelete="CASCADE"))
    run_id: Mapped[int | None] = mapped_column(sa.BigInteger)
    checked_at: Mapped[stamp]
    outcome: Mapped[str]
    options_seen: Mapped[int]
    new_matches: Mapped[int]
    failed_sources: Mapped[list[str]]


class MonitorMatch(ModeOwned, Base):
    """An award option a monitor found fresh; the fields of an AwardOption."""

    __tablename__ = "route_monitor_matches"
    __table_args__ = (Index("ix_route_monitor_matches_newest", "monitor_id", "found_at"),)

    id: Mapped[pk]
    monitor_id: Mapped[int] = mapped_column(ForeignKey("route_monitors.id", ondelete="CASCADE"))
    found_at: Mapped[stamp]
    option_id: Mapped[str | None]
    airline: Mapped[str]
    program: Mapped[str]
    origin: Mapped[iata]
    destination: Mapped[iata]
    date: Mapped[date]
    cabin: Mapped[str]
    points: Mapped[int]
    taxes: Mapped[Decimal | None]
    taxes_currency: Mapped[str | None] = mapped_column(sa.String(3))
    seats: Mapped[int | None]
    stops: Mapped[int | None]
    flight_numbers: Mapped[list[str]]
    departs_at: Mapped[str | None]
    arrives_at: Mapped[str | None]
    source: Mapped[str]
    mode: Mapped[str]
    provider_checked_at: Mapped[datetime | None]


class Watched(NamedTuple):
    """What a check needs of a monitor."""

    id: int
    account_id: int
    origin: str
    destination: str
    earliest_date: date
    latest_date: date
    cabin: str | None
    airlines: list[str] | None
    passengers: int
    max_points: int | None
    paused_at: datetime | None
    cancelled_at: datetime | None


# A check reads a dozen values twice; to make and track objects of them took longer than all else about them.
_READ = f"select {', '.join(Watched._fields)} from route_monitors where id = :id and synthetic = :synthetic"  # noqa: S608
# Columns named beforehand are not worked out anew for each answer.
_NAMED: tuple[sa.ColumnClause[Any], ...] = tuple(map(sa.column, Watched._fields))
_READS = {False: sa.text(_READ).columns(*_NAMED), True: sa.text(f"{_READ} for update").columns(*_NAMED)}
_KEYS = sa.text("select key, matched, answered_at from route_monitor_keys where monitor_id = :id").columns(
    *map(sa.column, ("key", "matched", "answered_at"))
)


def watched(session: Session, monitor_id: int, *, lock: bool = False) -> Watched | None:
    """A monitor of the session's data mode, under its lock when asked for."""
    told = {"id": monitor_id, "synthetic": session.info["synthetic"]}
    row = session.execute(_READS[lock], told).one_or_none()
    return Watched(*row) if row else None


def states(session: Session, monitor_id: int) -> Sequence[sa.Row[Any]]:
    """The remembered keys of a monitor: `key`, `matched`, `answered_at`."""
    return session.execute(_KEYS, {"id": monitor_id}).all()


def _remembering(kind: type[Base]) -> str:
    """The same text for any number of keys, so that it is prepared once; keys that did not answer keep their state."""
    owner, _key = (column.name for column in sa.inspect(kind).primary_key)
    return f"""
insert into {kind.__tablename__} ({owner}, key, matched, answered_at, synthetic)
select :id, key, matched, :at, :synthetic
from unnest(cast(:keys as text[]), cast(:matched as bool[])) as seen (key, matched)
on conflict ({owner}, key) do update set matched = excluded.matched, answered_at = excluded.answered_at"""  # noqa: S608


def remember(session: Session, kind: type[Base], id: int, states: Mapping[str, bool], at: datetime) -> None:
    """Writes the state of each key that answered, for the watch whose keys these are."""
    if states:
        session.execute(sa.text(_remembering(kind)), _states(session, id, states, at))


def _states(session: Session, id: int, states: Mapping[str, bool], at: datetime) -> dict[str, Any]:
    told = {"id": id, "keys": list(states), "matched": list(states.values()), "at": at}
    return told | {"synthetic": session.info["synthetic"]}


_CHECKED = sa.text(f"""
with keys as ({_remembering(MonitorKey)}),
line as (
  insert into route_monitor_checks
    (run_id, monitor_id, checked_at, outcome, options_seen, new_matches, failed_sources, synthetic)
  values (:run_id, :id, :at, :outcome, :options_seen, :new_matches, :failed_sources, :synthetic)
  on conflict (run_id) do update set checked_at = excluded.checked_at, outcome = excluded.outcome,
    options_seen = excluded.options_seen, new_matches = excluded.new_matches,
    failed_sources = excluded.failed_sources)
update route_monitors set updated_at = now(), last_checked_at = coalesce(:answered_at, last_checked_at),
  matches_total = matches_total + :new_matches where id = :id""")  # noqa: S608 - names of ours


def log_check(
    session: Session,
    monitor_id: int,
    at: datetime,
    states: Mapping[str, bool],
    line: Mapping[str, Any],
    answered_at: datetime | None,
) -> None:
    """The states of the keys that answered, one line per run, rewritten by its later attempts, and when the monitor was
    answered last."""
    session.execute(_CHECKED, {**_states(session, monitor_id, states, at), **line, "answered_at": answered_at})


def add_matches(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    bulk.write(session, MonitorMatch, rows)
