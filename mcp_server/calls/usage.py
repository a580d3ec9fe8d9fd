"""Noting finished calls in memory, writing them in batches, and knowing from that who is over the daily ceiling."""

import logging
from collections import Counter, deque
from collections.abc import Iterable
from datetime import date
from threading import Lock

import anyio
import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError

from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db.base import transaction
from shared.db.usage import TOOL_CALLS, UNCOUNTED_TOOL, Note, used, write
from shared.errors import LimitReached
from shared.settings import settings

log = logging.getLogger(__name__)
FLUSH_SECONDS = 1.0
MAX_PENDING = 50_000


class UsageLog:
    """The calls of this process not yet written, and each account's calls of the day as last read."""

    def __init__(self) -> None:
        self.pending: deque[Note] = deque(maxlen=MAX_PENDING)
        self.today: dict[tuple[int, date], int] = {}
        self._lock = Lock()  # calls are noted on the event loop and written on a thread

    def note(self, caller: Caller, via: str, tool: str, outcome: str, milliseconds: int) -> None:
        now = clock.now()
        made = Note(caller.account_id, caller.client_name, via, tool, outcome, milliseconds, now)
        slot = (caller.account_id, now.date())
        with self._lock:
            self.pending.append(made)
            if tool != UNCOUNTED_TOOL and slot in self.today:
                self.today[slot] += 1

    def count(self, account_id: int, written: int) -> int:
        """An account's calls of today, given what is written: with those this process has yet to write."""
        slot = (account_id, clock.today())
        with self._lock:
            return max(self.today.get(slot, 0), written + _by_slot(self.pending)[slot])

    def ceiling(self, caller: Caller) -> int:
        return settings().tool_calls_per_day or caller.limits.tool_calls_per_day

    async def check_daily_limit(self, caller: Caller) -> None:
        """Raises LimitReached over the daily anti-abuse ceiling; may lag a second behind other processes."""
        slot = (caller.account_id, clock.today())
        count = self.today.get(slot)
        if count is None:
            written = await anyio.to_thread.run_sync(_read, *slot, limiter=limiter())
            count = self.count(caller.account_id, written)
            with self._lock:
                self.today[slot] = count
        if count >= (cap := self.ceiling(caller)):
            raise LimitReached(
                f"This account has made {count} tool calls today; the ceiling is {cap}. It starts again at 00:00 UTC.",
                limit="tool_calls_per_day",
                current=count,
                cap=cap,
                resets_at=clock.midnight(),
            )

    def flush(self) -> None:
        """Writes what is pending. Called each second and at the end; blocks, so it runs on a thread."""
        with self._lock:
            batch = list(self.pending)
            self.pending.clear()
        if not batch:
            return
        try:
            with transaction() as session:
                counts = write(session, batch)
        except SQLAlchemyError:
            with self._lock:
                self.pending.extendleft(reversed(batch))
            log.warning("usage: the database is away, %d calls wait to be written", len(batch))
            return
        self._learn(counts)

    def _learn(self, counts: dict[tuple[int, date], int]) -> None:
        """Takes over the figures of all processes, and forgets yesterday's."""
        today = clock.today()
        with self._lock:
            waiting = _by_slot(self.pending)
            self.today = {slot: n for slot, n in self.today.items() if slot[1] == today}
            self.today |= {slot: n + waiting[slot] for slot, n in counts.items() if slot[1] == today}

    async def keep_flushing(self) -> None:
        while True:
            await anyio.sleep(FLUSH_SECONDS)
            await anyio.to_thread.run_sync(self.flush, limiter=limiter())


def _by_slot(notes: Iterable[Note]) -> Counter[tuple[int, date]]:
    return Counter((n.account_id, n.at.date()) for n in notes if n.tool != UNCOUNTED_TOOL)


def _read(account_id: int, day: date) -> int:
    with transaction(account_id) as session:
        return used(session, account_id, TOOL_CALLS, day)


USAGE_LOG = UsageLog()
