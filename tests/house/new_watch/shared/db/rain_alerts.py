"""Alerts on rain at an airport."""

from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import func
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import ModeOwned, iata, pk, stamp
from shared.db.watches import Watch
from shared.domain.watch_kinds import RAIN_ALERT


class RainAlert(ModeOwned, Watch):
    KIND = RAIN_ALERT
    __tablename__ = "rain_alerts"

    id: Mapped[pk]
    airport: Mapped[iata]
    active: Mapped[bool] = mapped_column(server_default=sa.true())
    paused_at: Mapped[datetime | None]
    created_at: Mapped[stamp]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now())

    @classmethod
    def is_live(cls) -> sa.ColumnElement[bool]:
        return cls.active.is_(True)

    @property
    def title(self) -> str:
        return f"Rain at {self.airport}"

    @property
    def interval(self) -> timedelta:
        return timedelta(hours=1)

    @property
    def is_on(self) -> bool:
        return self.active and self.paused_at is None

    def switch(self, *, on: bool) -> None:
        self.paused_at, self.active = None if on else self.paused_at, on
