"""The usage log: finished calls are noted in memory and written in batches; the daily limit is checked against it."""

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
from shared.db.outages import OUTAGES, is_outage, run_again
from shared.db.usage import TOOL_CALLS, UNCOUNTED_TOOL, Note, count_used, store_calls
from shared.errors import LimitReached
from shared.settings import settings

log = logging.getLogger(__name__)
FLUSH_SECONDS = 1.0
MAX_PENDING = 50_000


class UsageLog:
    """This process's calls that are not yet written, and each account's count for today as last read."""

    def __init__(self) -> None:
        self.pending: deque[Note] = deque(maxlen=MAX_PENDING)
        self.today: dict[tuple[int, date], int] = {}
        self._lock = Lock()  # calls are noted on the event loop and written on a thread

    def note(self, caller: Caller, via: str, tool: str, outcome: str, milliseconds: int) -> None:
        now = clock.now()
        note = Note(caller.account_id, caller.client_name, via, tool, outcome, milliseconds, now)
        slot = (caller.account_id, now.date())
        with self._lock:
            self.pending.append(note)
            if tool != UNCOUNTED_TOOL and slot in self.today:
                self.today[slot] += 1

    def count(self, account_id: int, written: int) -> int:
        """An account's calls today: those `written`, and those this process has yet to write."""
        slot = (account_id, clock.today())
        with self._lock:
            return max(self.today.get(slot, 0), written + _count_by_slot(self.pending)[slot])

    def daily_limit(self, caller: Caller) -> int:
        return settings().tool_calls_per_day or caller.limits.tool_calls_per_day

    async def check_daily_limit(self, caller: Caller) -> None:
        """Raises LimitReached over the daily anti-abuse ceiling; may lag a second behind other processes."""
        slot = (caller.account_id, clock.today())
        count = self.today.get(slot)
        if count is None:
            written = await anyio.to_thread.run_sync(_read_count, *slot, limiter=limiter())
            count = self.count(caller.account_id, written)
            with self._lock:
                self.today[slot] = count
        if count >= (cap := self.daily_limit(caller)):
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
                counts = store_calls(session, batch)
        except SQLAlchemyError as error:
            with self._lock:
                self.pending.extendleft(reversed(batch))
            if is_outage(error):
                OUTAGES.note(error)
            else:
                log.warning("usage: %s, %d calls wait to be written", type(error).__name__, len(batch))
            return
        self._adopt_counts(counts)

    def _adopt_counts(self, counts: dict[tuple[int, date], int]) -> None:
        """Adopts the counts read back, which cover all processes, and drops those of past days."""
        today = clock.today()
        with self._lock:
            unwritten = _count_by_slot(self.pending)
            self.today = {slot: n for slot, n in self.today.items() if slot[1] == today}
            self.today |= {slot: n + unwritten[slot] for slot, n in counts.items() if slot[1] == today}

    async def keep_flushing(self) -> None:
        while True:
            await anyio.sleep(FLUSH_SECONDS)
            await anyio.to_thread.run_sync(self.flush, limiter=limiter())


def _count_by_slot(notes: Iterable[Note]) -> Counter[tuple[int, date]]:
    return Counter((n.account_id, n.at.date()) for n in notes if n.tool != UNCOUNTED_TOOL)


def _read_count(account_id: int, day: date) -> int:
    def count() -> int:
        with transaction(account_id) as session:
            return count_used(session, account_id, TOOL_CALLS, day)

    return run_again(count)


USAGE_LOG = UsageLog()
