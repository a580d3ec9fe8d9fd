"""Noting finished calls in memory, writing them in batches, and knowing from that who is over the daily ceiling."""

import logging
from collections import deque
from datetime import date

import anyio
import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError

from mcp_server.call import Caller
from mcp_server.threads import limiter
from shared import clock
from shared.db.base import transaction
from shared.db.usage import TOOL_CALLS, Note, used, write
from shared.errors import LimitReached
from shared.settings import settings

log = logging.getLogger(__name__)
FLUSH_SECONDS = 1.0
MAX_PENDING = 50_000


class Ledger:
    """The calls of this process not yet written, and each account's calls of the day as last read."""

    def __init__(self) -> None:
        self.pending: deque[Note] = deque(maxlen=MAX_PENDING)
        self.today: dict[tuple[int, date], int] = {}

    def note(self, caller: Caller, via: str, tool: str, outcome: str, milliseconds: int) -> None:
        now = clock.now()
        self.pending.append(Note(caller.account_id, caller.client_name, via, tool, outcome, milliseconds, now))
        if tool != "get_usage":
            slot = (caller.account_id, now.date())
            if slot in self.today:
                self.today[slot] += 1

    def ceiling(self, caller: Caller) -> int:
        return settings().tool_calls_per_day or caller.limits.tool_calls_per_day

    async def check(self, caller: Caller) -> None:
        """Raises LimitReached over the daily anti-abuse ceiling; may lag a second behind other processes."""
        slot = (caller.account_id, clock.today())
        count = self.today.get(slot)
        if count is None:
            count = self.today[slot] = await anyio.to_thread.run_sync(_read, *slot, limiter=limiter())
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
        batch = [self.pending.popleft() for _ in range(len(self.pending))]
        if not batch:
            return
        try:
            with transaction() as session:
                counts = write(session, batch)
        except SQLAlchemyError:
            self.pending.extendleft(reversed(batch))
            log.warning("usage: the database is away, %d calls wait to be written", len(batch))
            return
        today = clock.today()
        self.today = {s: n for s, n in self.today.items() if s[1] == today}
        waiting: dict[tuple[int, date], int] = {}
        for note in self.pending:
            slot = (note.account_id, note.at.date())
            waiting[slot] = waiting.get(slot, 0) + 1
        self.today |= {s: n + waiting.get(s, 0) for s, n in counts.items() if s[1] == today}

    async def keep_flushing(self) -> None:
        while True:
            await anyio.sleep(FLUSH_SECONDS)
            await anyio.to_thread.run_sync(self.flush, limiter=limiter())


def _read(account_id: int, day: date) -> int:
    with transaction(account_id) as session:
        return used(session, account_id, TOOL_CALLS, day)


LEDGER = Ledger()
