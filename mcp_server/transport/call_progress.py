"""Progress notifications (MCP specification, "Progress") of a call that puts questions to sources."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext

from shared import question_progress
from shared.question_progress import Standing

INTERVAL_SECONDS = 0.5  # a person sees no more, and each costs a write to the stream


class _Teller:
    """Tells the caller of each change once.

    The specification wants every progress larger than the one before: a move in the line counts as a part of an answer.
    """

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        self._session = ctx.session
        self.progress = question_progress.QuestionProgress()
        self._last = (0, "")
        self._moves = 0

    async def tell(self) -> None:
        answers, questions = self.progress.answers, self.progress.questions
        line = _describe_line(self.progress.standing)
        if answers > self._last[0]:
            self._moves = 0
        elif line and line != self._last[1]:
            self._moves += 1
        else:
            return
        self._last = (answers, line)
        done = f"{answers} of {questions} searches are done.{line}"
        await self._session.report_progress(answers + self._moves / (self._moves + 1), questions, done)

    async def tell_now_and_then(self) -> None:
        while True:
            await anyio.sleep(INTERVAL_SECONDS)
            await self.tell()


def _describe_line(standing: Standing | None) -> str:
    if not standing:
        return ""
    seconds = max(1, round(standing.seconds))
    place = f"{standing.ahead} ahead of you" if standing.ahead else "You are next"
    return f" {place}, about {seconds} second{'s' if seconds > 1 else ''}."


@asynccontextmanager
async def tell_progress(ctx: ServerRequestContext[Any, Any]) -> AsyncIterator[None]:
    """Tells a caller that sent a progressToken, every half second and at the end; where nothing is asked, nothing."""
    if (ctx.meta or {}).get("progress_token") is None:
        yield
        return
    teller = _Teller(ctx)
    before = question_progress.current.set(teller.progress)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(teller.tell_now_and_then)
            yield
            tasks.cancel_scope.cancel()
    finally:
        question_progress.current.reset(before)
    await teller.tell()
