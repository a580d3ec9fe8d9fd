"""Alerts on the award seats of one airline and route, and the state of each seat they watch."""

from datetime import date, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from shared import clock
from shared.db.base import Base, ModeOwned, iata
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

    airline: Mapped[str]
    departure: Mapped[iata]
    destination: Mapped[iata]
    date_range_start: Mapped[date]
    date_range_end: Mapped[date]
    cabin_class: Mapped[str | None]
    passengers: Mapped[int] = mapped_column(server_default="1")
    active: Mapped[bool] = mapped_column(server_default=sa.true())
    last_checked_at: Mapped[datetime | None]
    last_outcome: Mapped[str | None]  # of the newest check, in the words of a route monitor's log
    last_hit_at: Mapped[datetime | None]

    @property
    def title(self) -> str:
        return f"Award seats of {self.airline} from {self.departure} to {self.destination}"

    @property
    def interval(self) -> timedelta:
        return timedelta(seconds=settings().flight_alert_interval_seconds)

    @property
    def has_ended(self) -> bool:
        return self.date_range_end < clock.today()

    def switch(self, *, on: bool) -> None:
        self.paused_at, self.active = None if on else self.paused_at, on
