"""Standing orders and the results of their runs."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Base, stamp, uid
from shared.db.watches import Watch
from shared.domain.watch_kinds import STANDING_ORDER

MAX_FINISHED_RUNS = 50  # finished runs of one order


class StandingOrder(Watch):
    KIND = STANDING_ORDER
    __tablename__ = "standing_orders"
    __table_args__ = (
        sa.CheckConstraint("cadence in ('daily', 'weekly')", name="cadence"),
        sa.CheckConstraint("run_hour between 0 and 23", name="run_hour"),
        sa.CheckConstraint("run_weekday between 0 and 6", name="run_weekday"),
    )

    prompt: Mapped[str]
    cadence: Mapped[str]
    run_hour: Mapped[int]  # UTC
    run_weekday: Mapped[int | None]  # 0 is Sunday; of weekly orders
    trip_id: Mapped[int | None] = mapped_column(ForeignKey("trips.id", ondelete="SET NULL"), index=True)
    stopped_at: Mapped[datetime | None]

    @classmethod
    def is_live(cls) -> sa.ColumnElement[bool]:
        return cls.stopped_at.is_(None)


class StandingOrderRun(AccountOwned, Base):
    __tablename__ = "standing_order_runs"
    __table_args__ = (
        UniqueConstraint("job_run_id"),
        Index("ix_standing_order_runs_newest", "standing_order_id", "started_at"),
        sa.CheckConstraint("outcome in ('ok', 'failed')", name="outcome"),
    )

    id: Mapped[uid]
    standing_order_id: Mapped[int] = mapped_column(ForeignKey("standing_orders.id", ondelete="CASCADE"))
    job_run_id: Mapped[int | None] = mapped_column(sa.BigInteger)
    manual: Mapped[bool] = mapped_column(server_default=sa.false())
    queued_at: Mapped[stamp]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    outcome: Mapped[str | None]
    tools_called: Mapped[list[str]] = mapped_column(server_default=sa.text("'{}'"))
    result: Mapped[str | None]  # markdown
    error: Mapped[str | None]


def delete_old_runs(session: Session, order_id: int) -> None:
    """Deletes an order's finished runs, except the newest and the one with its last result."""
    run = StandingOrderRun
    ended = sa.select(run.id).where(run.standing_order_id == order_id, run.finished_at.is_not(None))
    newest_first = ended.order_by(run.finished_at.desc(), run.id)
    newest_result = newest_first.where(run.result.is_not(None)).limit(1).scalar_subquery()
    old = newest_first.offset(MAX_FINISHED_RUNS).subquery()
    session.execute(sa.delete(run).where(run.id.in_(sa.select(old.c.id)), run.id.is_distinct_from(newest_result)))
