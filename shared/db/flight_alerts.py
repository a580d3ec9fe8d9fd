"""Alerts on the award seats of one airline and route, and the state of each seat they watch."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import ForeignKey, func
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared import clock
from shared.db.base import Base, ModeOwned, iata, pk, stamp
from shared.db.seat_filters import SeatFilters
from shared.db.watches import Watch
from shared.domain.watch_kinds import FLIGHT_ALERT
from shared.settings import settings


class FlightAlertKey(ModeOwned, Base):
    """The state of one watched key from the last check that answered for it: did it match then?"""

    __tablename__ = "flight_alert_keys"

    alert_id: Mapped[int] = mapped_column(ForeignKey("flight_alerts.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)  # carrier|programme|date|cabin
    matched: Mapped[bool]
    answered_at: Mapped[datetime]


class FlightAlert(SeatFilters, ModeOwned, Watch):
    """`departure` and `destination` are an airport or a city with several."""

    KIND, KEYS = FLIGHT_ALERT, FlightAlertKey
    __tablename__ = "flight_alerts"
    __table_args__ = (
        sa.CheckConstraint("date_range_end >= date_range_start", name="window"),
        sa.CheckConstraint("passengers between 1 and 9", name="passengers"),
    )

    id: Mapped[pk]
    airline: Mapped[str]
    departure: Mapped[iata]
    destination: Mapped[iata]
    date_range_start: Mapped[date]
    date_range_end: Mapped[date]
    cabin_class: Mapped[str | None]
    passengers: Mapped[int] = mapped_column(server_default="1")
    active: Mapped[bool] = mapped_column(server_default=sa.true())
    paused_at: Mapped[datetime | None]  # by a plan change; resumed on upgrade
    last_checked_at: Mapped[datetime | None]
    last_outcome: Mapped[str | None]  # of the newest check, as the log of a route monitor words it
    last_hit_at: Mapped[datetime | None]
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())

    @classmethod
    def is_live(cls) -> sa.ColumnElement[bool]:
        return cls.active.is_(True)

    @property
    def title(self) -> str:
        return f"Award seats of {self.airline} from {self.departure} to {self.destination}"

    @property
    def interval(self) -> timedelta:
        return timedelta(seconds=settings().flight_alert_interval_seconds)

    @property
    def has_ended(self) -> bool:
        return self.date_range_end < clock.today()

    @property
    def is_on(self) -> bool:
        return self.active and self.paused_at is None

    def switch(self, *, on: bool) -> None:
        self.paused_at, self.active = None if on else self.paused_at, on


class CheckedAlert(NamedTuple):
    """When an alert was asked for, whether anyone answered, how that went, and whether anything was new."""

    id: int
    asked_at: datetime
    was_answered: bool
    outcome: str
    has_news: bool


_NOTE_CHECKED = sa.text("""
update flight_alerts a set last_outcome = checked.outcome, updated_at = now(),
  last_checked_at = case when checked.answered then checked.at else a.last_checked_at end,
  last_hit_at = case when checked.news then checked.at else a.last_hit_at end
from unnest(cast(:ids as bigint[]), cast(:moments as timestamptz[]), cast(:answered as bool[]),
  cast(:outcomes as text[]), cast(:news as bool[])) checked (id, at, answered, outcome, news)
where a.id = checked.id and (a.last_checked_at is null or a.last_checked_at <= checked.at)""")


def note_checked(session: Session, checks: Sequence[CheckedAlert]) -> None:
    """Of alerts that the caller holds. An answer that a later one overtook is left out."""
    if checks:
        names = ("ids", "moments", "answered", "outcomes", "news")
        columns = map(list, zip(*checks, strict=True))
        session.execute(_NOTE_CHECKED, dict(zip(names, columns, strict=True)))
