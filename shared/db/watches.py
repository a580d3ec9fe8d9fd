"""Watches of every kind: what their models say of one, and how the link in a mail pauses and resumes it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, Session

from shared.db.accounts import Account, lock
from shared.db.base import AccountOwned, Base
from shared.db.runs import schedule, unschedule
from shared.db.watched_keys import forget_keys
from shared.domain.plans import Plan
from shared.domain.watch_kinds import LIMITED_KINDS, WATCH_KINDS, WatchKind


class Watch(AccountOwned, Base):
    """A model whose rows are the watches of one kind."""

    __abstract__ = True
    KIND: ClassVar[WatchKind]
    KEYS: ClassVar[type[Base] | None] = None  # the state of each seat; forgotten by a pause, so what opens is new

    if TYPE_CHECKING:
        id: Mapped[int]
        paused_at: Mapped[datetime | None]  # by a plan change, which a larger plan resumes

    @classmethod
    def is_live(cls) -> sa.ColumnElement[bool]:
        """Neither ended nor paused by its owner; of these a plan allows so many."""
        raise NotImplementedError

    @classmethod
    def is_running(cls) -> sa.ColumnElement[bool]:
        return cls.is_live() & cls.paused_at.is_(None)

    @property
    def title(self) -> str:
        raise NotImplementedError

    @property
    def interval(self) -> timedelta:
        """Between its checks; of a kind whose watches have runs of their own."""
        raise NotImplementedError

    @property
    def has_ended(self) -> bool:
        """For good: it cannot be resumed."""
        return False

    @property
    def is_on(self) -> bool:
        raise NotImplementedError

    def switch(self, *, on: bool) -> None:
        """Writes the columns that pause or resume it."""
        raise NotImplementedError


@cache
def load_models() -> dict[WatchKind, type[Watch]]:
    """The model of each kind."""
    for kind in WATCH_KINDS:
        import_module(f"shared.db.{kind.files}")
    models = {model.KIND: model for model in Watch.__subclasses__()}
    return {kind: models[kind] for kind in WATCH_KINDS}


def list_limited_models() -> list[type[Watch]]:
    """The models of those kinds of which a plan allows so many."""
    return [load_models()[kind] for kind in LIMITED_KINDS]


class NoRoom(Exception):
    """The plan allows no more running watches of this kind; the number it allows."""

    def __init__(self, cap: int) -> None:
        super().__init__(cap)
        self.cap = cap


@dataclass(frozen=True)
class PausableWatch:
    """A watch of this account, locked, and whether it runs."""

    row: Watch
    is_running: bool


def find_watch(session: Session, account: Account, kind: str, number: int) -> PausableWatch | None:
    """None when the account has no such watch, or it has ended for good."""
    lock(session, account.id)
    model = next((model for of, model in load_models().items() if of.name == kind and of.pause_words), None)
    if model is None:
        return None
    own = sa.select(model).where(model.account_id == account.id, model.id == number).with_for_update()
    row = session.scalar(own)
    return None if row is None or row.has_ended else PausableWatch(row, row.is_on)


def pause_watch(session: Session, watch: PausableWatch) -> None:
    """It is checked no more until its owner continues with it; what it found stays. Nothing where it is paused."""
    row, kind = watch.row, watch.row.KIND
    if not watch.is_running:
        return
    row.switch(on=False)
    if row.KEYS:
        forget_keys(session, row.KEYS, row.id)
    if kind.has_own_runs:
        unschedule(session, kind.run, [row.id])
    session.flush()


def resume_watch(session: Session, account: Account, watch: PausableWatch) -> None:
    """It is checked at once, and what it finds counts as new. Raises NoRoom."""
    row, kind = watch.row, watch.row.KIND
    if watch.is_running:
        return
    if kind.caps:
        running = sa.select(sa.func.count()).select_from(type(row)).where(row.is_running())
        count = session.scalar(running.where(type(row).account_id == account.id))
        if (count or 0) >= (cap := kind.cap(Plan.of(account.plan))):
            raise NoRoom(cap)
    row.switch(on=True)
    if kind.has_own_runs:
        schedule(session, kind.run, row.id, row.interval)
    session.flush()
