"""Maintenance mode: while it is on, both servers answer with one sentence, jobs pause, and mail is deferred."""

import json
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from math import ceil

import anyio
import anyio.to_thread
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import ServiceFact
from shared.db.base import engine, statements
from shared.domain.dates import format_moment

FACT = "maintenance"
MAX_MESSAGE_CHARACTERS = 300
READ_SECONDS = 1.0  # after which a program asks the database again
RETRY_SECONDS = 60  # where no end is named, or it has passed
MAX_RETRY_SECONDS = 3600  # it may end earlier than planned
_DEFAULT = "This service is under maintenance"
_READ = sa.select(ServiceFact.value, ServiceFact.set_at).where(ServiceFact.name == FACT)


@dataclass(frozen=True)
class Maintenance:
    """`message` is the operator's own, empty for ours; `until` is when they expect it to end."""

    since: datetime
    message: str = ""
    until: datetime | None = None

    @property
    def is_overdue(self) -> bool:
        return self.until is not None and self.until <= clock.now()

    @property
    def sentence(self) -> str:
        """What people and programs are told."""
        end = f"until about {format_moment(self.until)}" if self.until and not self.is_overdue else ""
        if not self.message:
            return f"{_DEFAULT} {end}".rstrip() + "."
        message = self.message if self.message[-1] in ".!?" else f"{self.message}."
        return f"{message} Expected {end}." if end else message

    @property
    def retry_after(self) -> int:
        """Seconds."""
        if self.until is None or self.is_overdue:
            return RETRY_SECONDS
        return min(MAX_RETRY_SECONDS, ceil((self.until - clock.now()).total_seconds()))


def begin_maintenance(session: Session, maintenance: Maintenance) -> None:
    """Starts it; if it is already on, sets the new message and end, and keeps its start."""
    until = maintenance.until and maintenance.until.isoformat()
    value = json.dumps({"message": maintenance.message, "until": until})
    row = insert(ServiceFact).values(name=FACT, value=value, set_at=maintenance.since)
    session.execute(row.on_conflict_do_update(index_elements=["name"], set_={"value": row.excluded.value}))


def end_maintenance(session: Session) -> bool:
    """False when none was on."""
    gone = sa.delete(ServiceFact).where(ServiceFact.name == FACT).returning(ServiceFact.name)
    return session.execute(gone).one_or_none() is not None


def find_maintenance(connection: Session | sa.Connection) -> Maintenance | None:
    row = connection.execute(_READ).one_or_none()
    if row is None:
        return None
    words = json.loads(row.value)
    until = words["until"] and datetime.fromisoformat(words["until"])
    return Maintenance(row.set_at, words["message"], until)


class MaintenanceWatch:
    """This process's knowledge of it: the last reading, even while the database does not answer."""

    def __init__(self) -> None:
        self.current: Maintenance | None = None
        self._read_at = float("-inf")
        self._lock = threading.RLock()

    def read(self) -> Maintenance | None:
        """Returns a reading at most a second old. Blocks."""
        with self._lock:
            if time.monotonic() - self._read_at >= READ_SECONDS:
                self.refresh(engine())
            return self.current

    def refresh(self, source: sa.Engine) -> None:
        """Reads it, one thread at a time, so that an earlier reading never replaces a later one."""
        with self._lock:
            with suppress(SQLAlchemyError, OSError), source.connect() as connection:
                self.current = find_maintenance(connection)
            self._read_at = time.monotonic()

    async def keep_reading(self) -> None:
        """Reads it every second, for ever, for servers, whose requests must not wait."""
        threads = anyio.CapacityLimiter(1)
        while True:
            await anyio.to_thread.run_sync(self.refresh, statements(), limiter=threads, abandon_on_cancel=True)
            await anyio.sleep(READ_SECONDS)


WATCH = MaintenanceWatch()
