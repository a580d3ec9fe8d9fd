"""Route monitors, the state of each key they watch, the log of their checks and their matches."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, PrimaryKeyConstraint, func
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared import clock
from shared.db.base import Base, ModeOwned, Numbered, iata, stamp
from shared.db.partitions import partition_by
from shared.db.seat_filters import SeatFilters
from shared.db.watches import Watch
from shared.domain.watch_kinds import ROUTE_MONITOR
from shared.settings import settings


class MonitorKey(ModeOwned, Base):
    """The state of one watched key from the last check that answered for it: did it match then?"""

    __tablename__ = "route_monitor_keys"

    monitor_id: Mapped[int] = mapped_column(ForeignKey("route_monitors.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)  # carrier|programme|date|cabin
    matched: Mapped[bool]
    answered_at: Mapped[datetime]


class RouteMonitor(SeatFilters, ModeOwned, Watch):
    """`origin` and `destination` are an airport or a city with several."""

    KIND, KEYS = ROUTE_MONITOR, MonitorKey
    __tablename__ = "route_monitors"
    __table_args__ = (
        Index("ix_route_monitors_active", "account_id", postgresql_where=sa.text("cancelled_at is null")),
        sa.CheckConstraint("passengers between 1 and 9", name="passengers"),
        sa.CheckConstraint("latest_date >= earliest_date", name="window"),
        sa.CheckConstraint("cancel_reason in ('user', 'window_passed', 'plan_change')", name="cancel_reason"),
    )

    trip_id: Mapped[int | None] = mapped_column(ForeignKey("trips.id", ondelete="SET NULL"), index=True)
    booking_id: Mapped[int | None] = mapped_column(  # the booked award to beat
        ForeignKey("flight_bookings.id", ondelete="CASCADE"), index=True
    )
    program: Mapped[str | None]  # the only one whose prices count; None = of all programmes
    origin: Mapped[iata]
    destination: Mapped[iata]
    earliest_date: Mapped[date]
    latest_date: Mapped[date]
    cabin: Mapped[str | None]
    airlines: Mapped[list[str] | None]
    passengers: Mapped[int] = mapped_column(server_default="1")
    max_points: Mapped[int | None]
    paused_by_owner: Mapped[bool] = mapped_column(server_default=sa.false())
    cancelled_at: Mapped[datetime | None]
    cancel_reason: Mapped[str | None]
    last_checked_at: Mapped[datetime | None]
    matches_total: Mapped[int] = mapped_column(server_default="0")

    @classmethod
    def is_live(cls) -> sa.ColumnElement[bool]:
        return cls.cancelled_at.is_(None) & cls.paused_by_owner.is_(False)

    @property
    def title(self) -> str:
        return f"Award seats from {self.origin} to {self.destination}"

    @property
    def interval(self) -> timedelta:
        return timedelta(seconds=settings().route_monitor_interval_seconds)

    @property
    def has_ended(self) -> bool:
        """Whether its window or its owner ended it, which is final."""
        return self.cancelled_at is not None

    @property
    def is_on(self) -> bool:
        return self.cancelled_at is None and self.paused_at is None

    def switch(self, *, on: bool) -> None:
        """Pauses or resumes it. One that both a plan and its owner paused is not resumed by a larger plan."""
        self.paused_at, self.paused_by_owner = (None, False) if on else (self.paused_at or clock.now(), True)


class MonitorCheck(ModeOwned, Base):
    """One line of the check log for users, from the last attempt at a run."""

    __tablename__ = "route_monitor_checks"
    __table_args__ = (
        PrimaryKeyConstraint("checked_at", "id"),
        Index("ix_route_monitor_checks_newest", "monitor_id", "checked_at"),
        partition_by("checked_at", timedelta(days=7)),
    )

    id: Mapped[int] = mapped_column(sa.BigInteger, sa.Identity())
    monitor_id: Mapped[int] = mapped_column(ForeignKey("route_monitors.id", ondelete="CASCADE"))
    run_id: Mapped[int | None] = mapped_column(sa.BigInteger)
    checked_at: Mapped[stamp]
    outcome: Mapped[str]
    options_seen: Mapped[int]
    new_matches: Mapped[int]
    failed_sources: Mapped[list[str]]


class MonitorMatch(ModeOwned, Numbered):
    """A new award option that a monitor found, with the fields of an AwardOption."""

    __tablename__ = "route_monitor_matches"
    __table_args__ = (Index("ix_route_monitor_matches_newest", "monitor_id", "found_at"),)

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


_ATTEMPTS_WITHIN = timedelta(days=7)  # they take three hours; a bound, so that two partitions are read and not all
_FORGET = sa.text("""
delete from route_monitor_checks where monitor_id = :monitor_id and run_id = :run_id and checked_at > :since""")


def forget_check(session: Session, monitor_id: int, run_id: int, now: datetime) -> None:
    """Deletes the line that an earlier attempt at the run wrote."""
    values = {"monitor_id": monitor_id, "run_id": run_id, "since": now - _ATTEMPTS_WITHIN}
    session.execute(_FORGET, values)


# The matches of one check share one time; older ones each have their own, microseconds apart.
MonitorIds = Sequence[int] | sa.Select[int]
_ONE_CHECK = timedelta(seconds=10)


class MonitorFinds(NamedTuple):
    """The best value of the newest check with finds, and the best value open at the last check."""

    last: MonitorMatch | None
    best: MonitorMatch | None


def find_matches(session: Session, monitor_ids: Sequence[int]) -> dict[int, MonitorFinds]:
    """Each monitor's finds, all in one statement."""
    return group_finds(session.execute(select_finds(monitor_ids)))


def select_finds(monitor_ids: MonitorIds) -> sa.Select[str, MonitorMatch]:
    both = sa.union_all(_select_last(monitor_ids).subquery().select(), _select_best(monitor_ids).subquery().select())
    ids = both.subquery()
    return sa.select(ids.c.which, MonitorMatch).join(MonitorMatch, MonitorMatch.id == ids.c.id)


def group_finds(rows: Iterable[Any]) -> dict[int, MonitorFinds]:
    """From the rows of `select_finds`, by monitor."""
    finds: dict[int, dict[str, MonitorMatch]] = defaultdict(dict)
    for which, match in rows:
        finds[match.monitor_id][which] = match
    return {id: MonitorFinds(of.get("last"), of.get("best")) for id, of in finds.items()}


def _select_last(monitor_ids: MonitorIds) -> sa.Select[str, int]:
    newest = (
        sa.select(MonitorMatch.monitor_id, func.max(MonitorMatch.found_at).label("found_at"))
        .where(MonitorMatch.monitor_id.in_(monitor_ids))
        .group_by(MonitorMatch.monitor_id)
        .subquery()
    )
    of_that_check = sa.and_(
        MonitorMatch.monitor_id == newest.c.monitor_id, MonitorMatch.found_at >= newest.c.found_at - _ONE_CHECK
    )
    return _take_first(sa.select(sa.literal("last").label("which"), MonitorMatch.id).join(newest, of_that_check))


def _select_best(monitor_ids: MonitorIds) -> sa.Select[str, int]:
    still_open = sa.select(sa.literal("best").label("which"), MonitorMatch.id).join(MonitorKey, _is_its_key())
    newest = MonitorMatch.id.in_(_newest_of_each_seat(monitor_ids))
    return _take_first(still_open.where(MonitorKey.matched, newest))


def list_matches(session: Session, monitor_id: int, limit: int) -> list[tuple[MonitorMatch, bool]]:
    """Each seat once, as last seen, and whether it is still open; open ones first, then the best value."""
    is_open = func.coalesce(MonitorKey.matched, sa.false())
    newest = _newest_of_each_seat([monitor_id])
    matches = sa.select(MonitorMatch, is_open).outerjoin(MonitorKey, _is_its_key()).where(MonitorMatch.id.in_(newest))
    return [(m, o) for m, o in session.execute(matches.order_by(is_open.desc(), *_BY_VALUE).limit(limit))]


class FoundPrice(NamedTuple):
    """The fewest points among the new seats of one check, and the number of these seats."""

    found_at: datetime
    points: int
    seats: int


def list_found_prices(session: Session, monitor_id: int, limit: int) -> list[FoundPrice]:
    """Prices of the newest checks with finds, in order of time."""
    of_one_check = MonitorMatch.found_at  # all finds of a check have the same moment
    prices = (
        sa.select(of_one_check, func.min(MonitorMatch.points), func.count())
        .where(MonitorMatch.monitor_id == monitor_id)
        .group_by(of_one_check)
        .order_by(of_one_check.desc())
        .limit(limit)
    )
    return [FoundPrice(*row) for row in reversed(session.execute(prices).all())]


def _newest_of_each_seat(monitor_ids: MonitorIds) -> sa.Select[int]:
    seat = (
        MonitorMatch.monitor_id,
        MonitorMatch.airline,
        MonitorMatch.program,
        MonitorMatch.date,
        MonitorMatch.cabin,
    )
    newest_first = (*seat, MonitorMatch.found_at.desc(), MonitorMatch.id.desc())
    of_monitors = sa.select(MonitorMatch.id).where(MonitorMatch.monitor_id.in_(monitor_ids))
    return of_monitors.ext(distinct_on(*seat)).order_by(*newest_first)


_BY_VALUE = (MonitorMatch.points, MonitorMatch.taxes.asc().nulls_last(), MonitorMatch.date, MonitorMatch.id)


def _is_its_key() -> sa.ColumnElement[bool]:
    """The condition that joins a match to its seat's state."""
    day = func.to_char(MonitorMatch.date, "YYYY-MM-DD")
    key = func.concat_ws("|", MonitorMatch.airline, MonitorMatch.program, day, MonitorMatch.cabin)
    return sa.and_(MonitorKey.monitor_id == MonitorMatch.monitor_id, MonitorKey.key == key)


def _take_first(matches: sa.Select[str, int]) -> sa.Select[str, int]:
    return matches.ext(distinct_on(MonitorMatch.monitor_id)).order_by(MonitorMatch.monitor_id, *_BY_VALUE)
