"""Places at each provider, and the line before them: one for all processes together while Redis answers.

People stand in the order in which they came, and before the checks of watches. Who cannot be answered in the time that
is left is told so at once, or when it becomes clear.
"""

import math
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import anyio
from anyio.lowlevel import RunVar

from shared.limits import question_progress
from shared.limits.concurrency import Batcher
from shared.limits.question_progress import Standing
from shared.limits.slots import Leaving, Ticket, View, look
from shared.providers.contract import Provider, Unanswered

SOON_SECONDS = 0.05  # between two looks at the line of those who may be next
LATER_SECONDS = 0.5  # of the others, at most
GRACE_SECONDS = 5.0  # a place outlives the time limit of its request by this, and is then taken for lost
RETURN_SECONDS = 1.0
ALONE_SECONDS = 5.0  # how long a place is waited for while Redis is down and no one knows the line
MARGIN = 1.1  # an answer may take a tenth longer than recently and is still in time

_processes = 1  # that share each provider's places while Redis is down


@dataclass
class _Here:
    """What one event loop knows of a provider."""

    whole: anyio.CapacityLimiter  # where no one else asks
    part: anyio.CapacityLimiter  # what this process may use while no one counts for all
    freed: anyio.Event = field(default_factory=anyio.Event)  # a place was given back here


class _Turn(NamedTuple):
    provider: Provider
    wish: Ticket | Leaving


class _Line(NamedTuple):
    """The line as one ticket sees it; `ahead` is None for a ticket that does not stand in it."""

    ahead: int | None
    wait: float
    usual: float  # seconds an answer takes


_here: RunVar[dict[str, _Here]] = RunVar("provider_places")


def share(processes: int) -> None:
    """This process is one of so many that ask, and keeps to its part of each provider's places without Redis."""
    global _processes
    _processes = processes


@asynccontextmanager
async def hold_place(provider: Provider, ticket: Ticket) -> AsyncIterator[None]:
    """Waits for a place, which is given back at the end.

    Raises Unanswered, `busy`, where none is free early enough for an answer before the deadline of the caller.
    """
    if provider.data_mode != "live":  # invented answers come from no one who could be overrun
        async with _find_here(provider).whole:
            yield
        return
    seconds: float | None = None
    try:
        is_counted = await _wait_in_line(provider, ticket)
        started = time.monotonic()
        if is_counted:
            yield
        else:
            async with _hold_part(provider):
                yield
        seconds = time.monotonic() - started
    finally:
        await _leave(provider, ticket, seconds)


async def stand_by(provider: Provider, ticket: Ticket) -> None:
    """For who waits for an answer to someone else's ticket: as that moves on, its caller is told, or refused."""
    line = await _take_turn(_Turn(provider, ticket))
    if line and line.ahead is not None:
        _tell(ticket, line)
    else:
        stop_telling(ticket)


async def _wait_in_line(provider: Provider, ticket: Ticket) -> bool:
    """Whether Redis counts the place; it does not while it is down."""
    while (line := await _take_turn(_Turn(provider, ticket))) and line.ahead is not None:
        _tell(ticket, line)
        if line.ahead < provider.concurrency:
            with anyio.move_on_after(SOON_SECONDS):
                await _find_here(provider).freed.wait()
        else:
            await wait_until_next(max(SOON_SECONDS, min(LATER_SECONDS, line.usual / 8)))
    stop_telling(ticket)
    return line is not None


async def wait_until_next(interval: float) -> None:
    """All look at the same moments, so that one message to Redis serves them all."""
    await anyio.sleep(interval - anyio.current_time() % interval)


@asynccontextmanager
async def _hold_part(provider: Provider) -> AsyncIterator[None]:
    part = _find_here(provider).part
    with anyio.move_on_after(ALONE_SECONDS) as waiting:
        await part.acquire()
    if waiting.cancelled_caught:
        raise Unanswered("down", "busy", retry_after=round(provider.timeout))
    try:
        yield
    finally:
        part.release()


async def _leave(provider: Provider, ticket: Ticket, seconds: float | None) -> None:
    """Also what is taken while this is cancelled: turns are served in the order in which they were wished."""
    stop_telling(ticket)
    with anyio.move_on_after(RETURN_SECONDS, shield=True):
        await _take_turn(_Turn(provider, Leaving(ticket.name, seconds)))
    here = _find_here(provider)
    here.freed.set()
    here.freed = anyio.Event()


def _tell(ticket: Ticket, line: _Line) -> None:
    """Raises Unanswered when waiting is in vain."""
    remaining = anyio.current_effective_deadline() - anyio.current_time()
    if line.wait + line.usual * MARGIN > remaining:
        raise Unanswered("down", "busy", retry_after=max(1, math.ceil(line.wait)))
    progress = question_progress.current.get()
    if progress and not ticket.has_time and line.ahead is not None:
        progress.in_line[ticket.name] = Standing(line.ahead, line.wait)


def stop_telling(ticket: Ticket) -> None:
    """The ticket does not stand in the line any longer."""
    progress = question_progress.current.get()
    if progress:
        progress.in_line.pop(ticket.name, None)


def _find_here(provider: Provider) -> _Here:
    """Limiters belong to one event loop."""
    providers = _here.get(None)
    if providers is None:
        _here.set(providers := {})
    if provider.name not in providers:
        part = max(1, provider.concurrency // _processes)
        providers[provider.name] = _Here(anyio.CapacityLimiter(provider.concurrency), anyio.CapacityLimiter(part))
    return providers[provider.name]


def _take_turns(turns: Sequence[_Turn]) -> list[_Line | None]:
    """Blocks. One message to Redis for each provider; nothing while Redis is down."""
    lines: dict[tuple[str, str], _Line] = {}
    for provider in {turn.provider.name: turn.provider for turn in turns}.values():
        lines |= _look_at(provider, [turn.wish for turn in turns if turn.provider.name == provider.name])
    return [lines.get((turn.provider.name, turn.wish.name)) for turn in turns]


def _look_at(provider: Provider, wishes: Sequence[Ticket | Leaving]) -> dict[tuple[str, str], _Line]:
    leaving = {wish.name: wish for wish in wishes if isinstance(wish, Leaving)}
    waiting = [wish for wish in wishes if isinstance(wish, Ticket) and wish.name not in leaving]
    tickets = sorted(waiting, key=lambda ticket: (ticket.has_time, ticket.since))
    lease = provider.timeout + GRACE_SECONDS
    view = look(provider.name, provider.concurrency, lease, tickets, list(leaving.values()))
    if view is None:
        return {}
    usual = estimate_answer(view, provider.concurrency)
    return {
        (provider.name, ticket.name): _Line(
            ahead, estimate_wait(ahead or 0, view.ages, provider.concurrency, usual), usual
        )
        for ticket, ahead in zip(tickets, view.ahead, strict=True)
    }


_take_turn = Batcher(_take_turns)


def estimate_answer(view: View, places: int) -> float:
    """The seconds an answer takes: as recently, but no less than what all who are asked now have already taken."""
    return max(view.usual, min(view.ages) if len(view.ages) >= places else 0.0)


def estimate_wait(ahead: int, ages: Sequence[float], places: int, usual: float) -> float:
    """The seconds until a place for one with so many ahead, where answers take `usual` and those asked now are so old.

    >>> estimate_wait(0, [1.0, 2.5], 2, 3.0), estimate_wait(3, [1.0, 2.5], 2, 3.0)
    (0.5, 5.0)
    """
    free_in = [0.0] * (places - len(ages)) + sorted(max(0.0, usual - age) for age in ages)
    return free_in[-places:][ahead % places] + ahead // places * usual
