"""Outages of the database: which failures count, retrying a read once, and one log line a second."""

import logging
import threading
from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

from psycopg import Error
from psycopg.errors import LockNotAvailable
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from shared.db.base import engine

T = TypeVar("T")
OUTAGE_ERRORS = (OperationalError, InterfaceError, PoolTimeout)  # not all are outages: is_outage decides
log = logging.getLogger(__name__)
PATIENCE_SECONDS = 2.0  # that reads wait for the end of an outage: PostgreSQL restarts in 0.1 to 0.4
_PAUSE_SECONDS = 0.05  # between two attempts to connect
_LINE_SECONDS = 1.0
_QUIET_SECONDS = 4.0  # without a failure, after which the next one starts another outage
# Connection lost, resources exhausted, shut down or starting (57014, a statement that took too long, is no outage),
# and a server that takes no writes, such as a new standby.
_STATES = ("08", "53", "57P", "25006")
_FULL, _FULL_WORDS = "53100", "No space left on device"


class Outages:
    """The failures of this process: when the current ones started, and those not logged yet."""

    def __init__(self) -> None:
        self.began_at = self.failed_at = self.told_at = float("-inf")
        self.untold = 0
        self._lock = threading.Lock()

    def note(self, error: BaseException) -> None:
        """Counts a failure. The log gets one line a second, without a traceback or text from the database."""
        now = monotonic()
        with self._lock:
            if now - self.failed_at > _QUIET_SECONDS:
                self.began_at = now
            self.failed_at = now
            self.untold += 1
            if now - self.told_at < _LINE_SECONDS:
                return
            self.told_at, number, self.untold = now, self.untold, 0
        what = "the disk of the database is full" if is_full(error) else "the database does not answer"
        log.error("%s (%s); failures since the last such line: %d", what, _name(error), number)

    def end(self) -> None:
        """Ends the outage: the next failure starts another one, so that three restarts in a row are three."""
        with self._lock:
            self.failed_at = float("-inf")


OUTAGES = Outages()


def is_outage(error: BaseException) -> bool:
    """Whether it failed because the database is down or full, not because of the statement."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_outage, error.exceptions))
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, DBAPIError):
        return False
    state = error.orig.sqlstate if isinstance(error.orig, Error) else None
    if state is None or error.connection_invalidated:
        return isinstance(error, OUTAGE_ERRORS) or error.connection_invalidated
    return state.startswith(_STATES)


def is_locked(error: BaseException) -> bool:
    """Whether it waited too long for another transaction's lock."""
    return isinstance(error, DBAPIError) and isinstance(error.orig, LockNotAvailable)


def is_full(error: BaseException) -> bool:
    """Whether the disk of the database is full. If even connecting fails, there is no SQLSTATE."""
    cause = getattr(error, "orig", error)
    return isinstance(cause, Error) and (
        cause.sqlstate == _FULL or (cause.sqlstate is None and _FULL_WORDS in str(cause))
    )


def run_again(work: Callable[[], T]) -> T:
    """Returns the result of `work`, run again on a fresh connection if an outage ended it.

    It must be safe to run twice: a read, or an idempotent write.
    """
    try:
        return work()
    except Exception as error:
        if not is_outage(error):
            raise
        OUTAGES.note(error)
    await_return()
    return work()


def await_return() -> None:
    """Blocks until the database accepts connections, at most until an outage is 2 seconds old.

    A longer one fails at once: waiting threads would block all others.
    """
    until = OUTAGES.began_at + PATIENCE_SECONDS
    while monotonic() < until:
        try:
            with engine().connect():
                OUTAGES.end()
                return
        except (DBAPIError, PoolTimeout):
            sleep(_PAUSE_SECONDS)


def _name(error: BaseException) -> str:
    """The error's type, and SQLSTATE if the server gave one: never its text."""
    cause = getattr(error, "orig", None)
    state = cause.sqlstate if isinstance(cause, Error) else None
    return " ".join(filter(None, (type(cause or error).__name__, state)))
