"""Schedules and their runs: the database is the queue of record, and these are the dispatcher's statements."""

from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from shared.db.base import Base, big, pk, stamp


class Schedule(Base):
    """When something is due next. Written in the transaction that writes its subject."""

    __tablename__ = "schedules"
    __table_args__ = (
        UniqueConstraint("kind", "subject_id"),
        Index("ix_schedules_due", "next_due_at", postgresql_where=sa.text("enabled")),
    )

    id: Mapped[pk]
    kind: Mapped[str]
    subject_id: Mapped[big]
    every: Mapped[timedelta]
    next_due_at: Mapped[datetime]
    enabled: Mapped[bool] = mapped_column(server_default=sa.true())


class JobRun(Base):
    """One occurrence of a schedule: at most one row per due moment; `attempt` is the fence of every later write."""

    __tablename__ = "job_runs"
    __table_args__ = (
        UniqueConstraint("schedule_id", "due_at"),
        Index("ix_job_runs_open", "wake_at", postgresql_where=sa.text("status in ('pending', 'running')")),
        sa.CheckConstraint("status in ('pending', 'running', 'done', 'failed', 'skipped')", name="status"),
    )

    id: Mapped[pk]
    schedule_id: Mapped[int] = mapped_column(ForeignKey("schedules.id", ondelete="CASCADE"))
    due_at: Mapped[datetime]
    status: Mapped[str] = mapped_column(server_default="pending")
    attempt: Mapped[int] = mapped_column(server_default="0")
    handed: Mapped[int] = mapped_column(server_default="0")
    wake_at: Mapped[stamp]
    claimed_until: Mapped[datetime | None]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    error: Mapped[str | None]
