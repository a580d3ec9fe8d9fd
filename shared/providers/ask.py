"""The one door to the outside world: a question goes in, a Reading comes out, whatever happens out there.

Order: cache, circuit breaker, concurrency cap, adapter, memory (cache, health, observations). A failure can never
become data: it is a Reading with a status and one word of reason, and without a value.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import httpx
from anyio.lowlevel import RunVar

from shared import clock, http, limits
from shared.providers import cache, circuit_breaker, lookup, registry
from shared.providers.contract import Provider, Reading, Status, Unanswered
from shared.providers.request import QUOTA, ProviderRequest
from shared.settings import settings

log = logging.getLogger(__name__)
T = TypeVar("T")
BUDGET = 25.0  # seconds for everything one tool call or one check asks
QUEUE_SECONDS = 5.0  # how long a call waits for a free place at a provider before it is told `busy`
RESETS = ("retry-after", "x-ratelimit-reset", "ratelimit-reset")
UNIX_TIMES = 10**9  # numbers from here on are moments, not spans
RESERVE = 10  # one call in so many is kept for people who wait
MEMORY_SECONDS = 1.0  # how long cache and health are waited for before the world is asked without them

# Provider name -> the caller's own credential; its method `rejected`, where it has one, hears of one not taken.
Connections = Callable[[str], Awaitable[str | None]]

_processes = 1  # that share what a provider bears at once

# Limiters belong to one event loop.
_places: RunVar[dict[str, anyio.CapacityLimiter]] = RunVar("provider_places")
_threads: RunVar[anyio.CapacityLimiter] = RunVar("provider_threads")


def share(processes: int) -> None:
    """From now on this process is one of so many that ask together, and keeps to its part of each concurrency cap."""
    global _processes
    _processes = processes


class Ask:
    """One tool call's, or one check's, way to the providers; its time budget begins with the first question."""

    def __init__(
        self,
        account_id: int | None = None,
        *,
        budget: float = BUDGET,
        connections: Connections | None = None,
        background: bool = False,  # nobody waits for it: it leaves the reserve of a source's quota to those who do
    ) -> None:
        self.account_id = account_id
        self._background = background
        self._budget = budget
        self._connections = connections
        self._deadline: float | None = None

    async def one(self, provider: str, verb: str, question: Any, max_age: timedelta | None = None) -> Reading[Any]:
        """Asks one provider by name."""
        return (await self._run([(registry.providers()[provider], question)], verb, max_age))[0]

    async def all(self, verb: str, questions: Sequence[Any], max_age: timedelta | None = None) -> list[Reading[Any]]:
        """Asks every provider of this verb each of the questions, in parallel.

        `max_age` takes nothing older from the cache. Whoever has not answered when the budget ends is `down: timeout`.
        """
        return await self._run([(p, q) for q in questions for p in registry.usable(verb)], verb, max_age)

    async def kept(self, verb: str, questions: Sequence[Any]) -> list[Reading[Any]]:
        """Earlier answers to these questions that may still be replayed; nobody is asked."""
        asked = [(p, q) for q in questions for p in registry.usable(verb)]
        places = [cache.place(p, registry.scope(p, self.account_id), verb, q) for p, q in asked]
        with anyio.move_on_after(MEMORY_SECONDS):
            return [known for known in await _in_thread(cache.get_many, [(p, None) for p in places]) if known]
        return []

    async def _run(
        self, asked: Sequence[tuple[Provider, Any]], verb: str, max_age: timedelta | None
    ) -> list[Reading[Any]]:
        self._deadline = self._deadline or anyio.current_time() + self._budget
        errands = [await self._errand(provider, verb, question) for provider, question in asked]
        readings: list[Reading[Any] | None] = [e if isinstance(e, Reading) else None for e in errands]
        with anyio.CancelScope(deadline=self._deadline):
            await self._fill(readings, errands, max_age)
        for i, errand in enumerate(errands):
            if readings[i] is None and isinstance(errand, ProviderRequest):
                readings[i] = errand.failure("down", "timeout")
        return [r for r in readings if r is not None]

    async def _fill(
        self,
        readings: list[Reading[Any] | None],
        errands: Sequence[ProviderRequest | Reading[Any]],
        max_age: timedelta | None,
    ) -> None:
        open_ends = [(i, e) for i, e in enumerate(errands) if isinstance(e, ProviderRequest)]
        found = await _recall([e for _, e in open_ends], max_age)

        async def fetch(i: int, errand: ProviderRequest, known: lookup.Known) -> None:
            asked = _shared(errand, known, max_age) if errand.background else _fetch(errand, known.state)
            reading = readings[i] = await asked
            own = errand.scope.startswith("account-") and errand.credential
            if reading.status == "broken" and own and (rejected := getattr(self._connections, "rejected", None)):
                await rejected(errand.provider.name, own)

        async with anyio.create_task_group() as tasks:
            for (i, errand), known in zip(open_ends, found, strict=True):
                readings[i] = known.reading
                if known.reading is None:
                    tasks.start_soon(fetch, i, errand, known)

    async def _errand(self, provider: Provider, verb: str, question: Any) -> "ProviderRequest | Reading[Any]":
        credential, scope = None, registry.scope(provider, self.account_id)
        unusable: Unanswered | None = None
        if scope == "operator":
            credential = registry.operator_key(provider)
        elif provider.credential != "none" and self._connections and provider.data_mode == settings().data_mode:
            try:
                credential = await self._connections(provider.name)
            except Unanswered as no:  # there is a connection, and it cannot be used now
                unusable = no
        place = cache.place(provider, scope, verb, question)
        errand = ProviderRequest(provider, verb, question, credential, scope, place, self.account_id, self._background)
        if provider.data_mode != settings().data_mode:
            return errand.failure("not_configured", "other_mode")
        if unusable:
            return errand.failure(unusable.status, unusable.reason, retry_after=unusable.retry_after)
        if provider.credential != "none" and credential is None:
            status: Status = "not_configured" if scope == "operator" else "connection_required"
            return errand.failure(status, status)
        return errand


async def _in_thread(work: Callable[..., T], *args: Any) -> T:
    """Runs blocking work beside the loop; a cancelled caller does not wait for it."""
    limiter = _threads.get(None)
    if limiter is None:
        _threads.set(limiter := anyio.CapacityLimiter(4))
    return await anyio.to_thread.run_sync(work, *args, limiter=limiter, abandon_on_cancel=True)


async def _recall(errands: Sequence[ProviderRequest], max_age: timedelta | None) -> list[lookup.Known]:
    """Memory that hangs keeps nobody from asking."""
    with anyio.move_on_after(MEMORY_SECONDS):
        return await lookup.looked_up([(errand, max_age) for errand in errands])
    remembered = circuit_breaker.remembered(e.health for e in errands)
    return [lookup.Known(None, remembered[e.health]) for e in errands]


async def _shared(errand: ProviderRequest, known: lookup.Known, max_age: timedelta | None) -> Reading[Any]:
    """Watches of one route are checked at the same moment: the first one asks, the others take its answer, whichever
    process they run in."""
    while not (known.mine or known.reading):
        await anyio.sleep(0.05)
        (known,) = await _recall([errand], max_age)
    reading = known.reading or await _fetch(errand, known.state)
    if not reading.answered:
        await _in_thread(cache.release_fetch, [errand.place])
    return reading


async def _fetch(errand: ProviderRequest, state: circuit_breaker.Health) -> Reading[Any]:
    if state.open:
        status: Status = "quota_exhausted" if state.reason == QUOTA else "down"
        return errand.failure(
            status, state.reason or "resting", since=state.failing_since, retry_after=state.retry_after
        )
    places = _places.get(None)
    if places is None:
        _places.set(places := {})
    ours = max(1, errand.provider.concurrency // _processes)
    seat = places.setdefault(errand.provider.name, anyio.CapacityLimiter(ours))
    me = object()
    with anyio.move_on_after(QUEUE_SECONDS) as waiting:
        await seat.acquire_on_behalf_of(me)
    if waiting.cancelled_caught:
        return errand.failure("down", "busy", retry_after=round(errand.provider.timeout))
    try:
        reading = await _spend(errand) or await _call(errand)
    finally:
        seat.release_on_behalf_of(me)
    with anyio.move_on_after(MEMORY_SECONDS):
        return await lookup.remembered((errand, reading))
    return reading


async def _spend(errand: ProviderRequest) -> Reading[Any] | None:
    """Counts one call on the credential's day; the refusal when none is left, or only those kept for people waiting."""
    allowed = errand.provider.calls_a_day
    if allowed is None:
        return None
    if errand.background:
        allowed -= allowed // RESERVE
    verdict = await _in_thread(limits.hit, f"calls:{errand.health}", allowed, 86_400)
    return None if verdict.allowed else errand.failure("quota_exhausted", QUOTA, retry_after=verdict.retry_after)


async def _call(errand: ProviderRequest) -> Reading[Any]:
    """The only place where an adapter runs. It is the edge to other people's data, so anything it raises is caught."""
    try:
        with anyio.fail_after(errand.provider.timeout):
            async with errand.provider.build(errand.credential) as client:
                rows = await getattr(client, errand.verb)(errand.question)
    except Exception as error:
        why = _why(error)
        if why.status == "no_data":
            return replace(errand.failure("no_data", why.reason), value=())
        log.warning("provider %s: %s, %s (%s)", errand.provider.name, why.status, why.reason, type(error).__name__)
        return errand.failure(why.status, why.reason, retry_after=why.retry_after)
    reading: Reading[Any] = Reading(
        source=errand.provider.name,
        status="ok" if rows else "no_data",
        value=rows,
        reason=None if rows else "empty",
        data_mode=settings().data_mode,
        taken_at=clock.now(),
    )
    checked = [at for row in rows if (at := getattr(row, "checked_at", None))]
    return replace(reading, provider_checked_at=min(checked, default=None))


def _why(error: Exception) -> Unanswered:
    """One word for whatever went wrong; the error's own text may hold keys or instructions and goes nowhere."""
    if isinstance(error, Unanswered):
        return error
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return Unanswered("down", "timeout")
    if isinstance(error, httpx.HTTPStatusError):
        return _refused(error.response)
    if isinstance(error, http.Refused):
        return Unanswered("down", "refused")
    if isinstance(error, httpx.TransportError | OSError):
        return Unanswered("down", "unreachable")
    return Unanswered("down", "wrong_shape")


def _refused(response: httpx.Response) -> Unanswered:
    if response.status_code == 429:
        return Unanswered("quota_exhausted", QUOTA, _reset(response.headers))
    if response.status_code in (401, 403):
        return Unanswered("not_permitted", f"http_{response.status_code}")
    return Unanswered("down", f"http_{response.status_code}")


def _reset(headers: httpx.Headers) -> int | None:
    """Seconds until a source answers again, by the first header that says so: seconds, a Unix time or a date."""
    for name in RESETS:
        said = headers.get(name, "")
        if said.isascii() and said.isdigit():
            return _within_a_day(int(said) if int(said) < UNIX_TIMES else int(said) - clock.now().timestamp())
        with suppress(ValueError):
            return _within_a_day(parsedate_to_datetime(said).timestamp() - clock.now().timestamp())
    return None


def _within_a_day(seconds: float) -> int:
    return max(1, min(round(seconds), 86_400))
