"""Watches of every kind: their models, and pausing and resuming by the link in a mail."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, Session

from shared.db.accounts import Account, lock
from shared.db.base import AccountOwned, Base, Numbered, Timestamped
from shared.db.runs import schedule, unschedule
from shared.db.watched_keys import forget_keys
from shared.domain.plans import Plan
from shared.domain.watch_kinds import LIMITED_KINDS, WATCH_KINDS, WatchKind


class Watch(Timestamped, AccountOwned, Numbered):
    """A model whose rows are the watches of one kind."""

    __abstract__ = True
    KIND: ClassVar[WatchKind]
    KEYS: ClassVar[type[Base] | None] = None  # the state of each seat; deleted by a pause, so open seats are new

    paused_at: Mapped[datetime | None]  # by a plan change, which a larger plan reverses

    if TYPE_CHECKING:
        active: Mapped[bool]  # of most kinds: until it ends, or its owner pauses it

    @classmethod
    def is_live(cls) -> sa.ColumnElement[bool]:
        """Neither ended nor paused by its owner; a plan limits the number of these."""
        return cls.active.is_(True)

    @classmethod
    def is_running(cls) -> sa.ColumnElement[bool]:
        return cls.is_live() & cls.paused_at.is_(None)

    @property
    def title(self) -> str:
        raise NotImplementedError

    @property
    def interval(self) -> timedelta:
        """The time between checks, for a kind whose watches have their own runs."""
        raise NotImplementedError

    @property
    def has_ended(self) -> bool:
        """Whether it ended for good: it cannot be resumed."""
        return False

    @property
    def is_on(self) -> bool:
        return self.active and self.paused_at is None

    def switch(self, *, on: bool) -> None:
        """Writes the columns that pause or resume it."""
        raise NotImplementedError


@cache
def load_models() -> dict[WatchKind, type[Watch]]:
    """The model of each kind."""
    for kind in WATCH_KINDS:
        import_module(f"shared.db.{kind.files}")
    families = [model.__subclasses__() or [model] for model in Watch.__subclasses__()]
    models = {model.KIND: model for family in families for model in family}
    return {kind: models[kind] for kind in WATCH_KINDS}


def list_limited_models() -> list[type[Watch]]:
    """The models of the kinds that plans limit."""
    return [load_models()[kind] for kind in LIMITED_KINDS]


class NoRoom(Exception):
    """The plan allows no more running watches of this kind; has the limit."""

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
    """Pauses it until its owner resumes it; its finds stay. Does nothing if it is already paused."""
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
    """Resumes it: it is checked at once, and its finds count as new. Raises NoRoom."""
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
