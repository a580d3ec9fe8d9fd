"""Alerts on rain at an airport."""

from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import ModeOwned, iata
from shared.db.watches import Watch
from shared.domain.watch_kinds import RAIN_ALERT


class RainAlert(ModeOwned, Watch):
    KIND = RAIN_ALERT
    __tablename__ = "rain_alerts"

    airport: Mapped[iata]
    active: Mapped[bool] = mapped_column(server_default=sa.true())

    @property
    def title(self) -> str:
        return f"Rain at {self.airport}"

    @property
    def interval(self) -> timedelta:
        return timedelta(hours=1)

    def switch(self, *, on: bool) -> None:
        self.paused_at, self.active = None if on else self.paused_at, on
