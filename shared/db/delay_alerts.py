"""Alerts on delays at an airport, and the episode of delays each is in."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Index
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import ModeOwned, iata
from shared.db.watches import Watch
from shared.domain.watch_kinds import DELAY_ALERT


class DelayAlert(ModeOwned, Watch):
    """`episode_since` is set while a delay lasts that reached the threshold: one message per episode and level."""

    KIND = DELAY_ALERT
    __tablename__ = "delay_alerts"
    __table_args__ = (
        Index("ix_delay_alerts_airport", "airport", postgresql_where=sa.text("active and paused_at is null")),
        sa.CheckConstraint("min_delay_minutes between 0 and 600", name="min_delay_minutes"),
    )

    airport: Mapped[iata]
    channels: Mapped[list[str]]
    phone_sealed: Mapped[str | None]
    phone_ending: Mapped[str | None]  # the last three digits, to show
    proof_asked_at: Mapped[datetime | None]  # when a message asked the person to prove the number first
    min_delay_minutes: Mapped[int]
    label: Mapped[str | None]
    active: Mapped[bool] = mapped_column(server_default=sa.true())
    episode_since: Mapped[datetime | None]
    episode_level: Mapped[int | None]  # the highest one reported in this episode
    last_checked_at: Mapped[datetime | None]
    last_triggered_at: Mapped[datetime | None]

    @property
    def title(self) -> str:
        return f"Delays at {self.airport}"

    def switch(self, *, on: bool) -> None:
        self.active = on
        if on:
            self.paused_at = self.episode_since = self.episode_level = None


def leave_channel(session: Session, account_id: int, channel: str, ending: str | None = None) -> list[int]:
    """Stops an account's delay alerts on this channel (or to one number); alerts left without any become inactive."""
    using = sa.select(DelayAlert).where(DelayAlert.account_id == account_id, DelayAlert.channels.contains([channel]))
    theirs = using if ending is None else using.where(DelayAlert.phone_ending == ending)
    rows = session.scalars(theirs.order_by(DelayAlert.id).with_for_update()).all()
    for row in rows:
        remaining = [name for name in row.channels if name != channel]
        row.channels, row.active = remaining or row.channels, row.active and bool(remaining)
    session.flush()
    return [row.id for row in rows]
