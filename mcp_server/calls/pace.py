"""The pace of an account over MCP and REST: calls a minute, and calls at once, whatever their result.

Both are counted in this process, whose threads and event loop they protect: asking Redis would take as long as many a
call.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

import anyio

from shared import clock
from shared.settings import settings

CALLS_AT_ONCE = 8
LARGE_BYTES = 256 << 10  # of a body; one at a time: eight of 4 MB took the whole event loop
WAIT_SECONDS = 2.0
RETRY_SECONDS = 2


class TooManyCalls(Exception):
    """The text is for the caller, who may try again after that many seconds."""

    def __init__(self, words: str, retry_after: int) -> None:
        super().__init__(words)
        self.retry_after = retry_after


class Pace:
    """The accounts that have called this minute, and those that call right now."""

    def __init__(self) -> None:
        self._minute, self._calls = 0, Counter[int]()
        self._turns: WeakValueDictionary[tuple[int, bool], anyio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def keep(self, account_id: int, headers: Iterable[tuple[bytes, bytes]] = ()) -> AsyncIterator[None]:
        """Surrounds one request of an account, before its body is read. Raises TooManyCalls."""
        self._count(account_id)
        by_name = dict(headers)
        is_large = b"transfer-encoding" in by_name or int(by_name.get(b"content-length", 0)) > LARGE_BYTES
        async with AsyncExitStack() as turns:
            for large in (False, True) if is_large else (False,):
                await turns.enter_async_context(self.take_turn(account_id, WAIT_SECONDS, large=large))
            yield

    def _count(self, account_id: int) -> None:
        now, most = int(clock.now().timestamp()), settings().tool_calls_per_minute
        if now // 60 != self._minute:
            self._minute, self._calls = now // 60, Counter()
        self._calls[account_id] += 1
        if self._calls[account_id] > most:
            raise TooManyCalls(f"This account has made more than {most} calls in this minute.", 60 - now % 60)

    @asynccontextmanager
    async def take_turn(
        self, account_id: int, seconds: float | None = None, *, large: bool = False
    ) -> AsyncIterator[None]:
        """Waits for one of the account's places; raises TooManyCalls if none is free within that many seconds."""
        most = 1 if large else CALLS_AT_ONCE
        turn = self._turns.get((account_id, large))
        if turn is None:
            turn = self._turns[account_id, large] = anyio.Semaphore(most)
        try:
            turn.acquire_nowait()
        except anyio.WouldBlock:
            with anyio.move_on_after(seconds) as patience:
                await turn.acquire()
            if patience.cancelled_caught:
                words = "a large call" if large else f"{CALLS_AT_ONCE} calls"
                words = f"This account has {words} under way, and none ended in time."
                raise TooManyCalls(words, RETRY_SECONDS) from None
        try:
            yield
        finally:
            turn.release()


PACE = Pace()
