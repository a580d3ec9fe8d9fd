"""The only way to the providers: each question comes back as a Reading, whatever happened.

Order: cache, circuit breaker, a place there, adapter; then health, cache and observations are written. A failure
never becomes data: it is a Reading with a status and a one-word reason, without a value.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from operator import attrgetter
from typing import Any, NamedTuple, Self, TypeVar

import anyio
import anyio.to_thread
import httpx
from anyio.lowlevel import RunVar
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from shared import clock, http, provider_health
from shared.db import observations
from shared.db.base import autocommit
from shared.providers import cache, quota, registry, seats_batching, single_flight
from shared.providers.contract import VERBS, AwardSeat, CashFare, FaresQuestion, Provider, Reading, Status, Unanswered
from shared.providers.places import hold_place
from shared.providers.request import QUOTA, ProviderRequest
from shared.settings import settings
from shared.telemetry.metrics import PROVIDER_REQUESTS, PROVIDER_SECONDS, count, observe
from shared.telemetry.traces import span
from shared.tls import explain_tls_fault

# What an answer leads to: the provider's health, the cached reading, and observations of prices.

log = logging.getLogger(__name__)
MAX_FARES = 20  # stored from one answer
Outcome = tuple[ProviderRequest, Reading[Any]]


def _record(request: ProviderRequest, reading: Reading[Any]) -> Reading[Any]:
    """Records an answer; blocks. Returns the reading even if nothing could be written."""
    if not reading.has_answer:
        if reading.status == "down":
            health = provider_health.record_failure(request.health, reading.reason or "down")
            return replace(reading, since=health.failing_since, retry_after=reading.retry_after or health.retry_after)
        # Our own refusal of a request no one waits for (PUT_OFF) does not stop others.
        if reading.status == "quota_exhausted" and reading.reason == QUOTA and reading.retry_after:
            provider_health.pause(request.health, QUOTA, reading.retry_after)
        return reading
    provider_health.record_success(request.health)
    record_observations(*_merge_parts(request, reading))
    parts = [(part.cache_key, its) for part, its in _list_parts(request, reading)]
    return _join_parts(request, reading, iter(cache.put_many(parts)))


def _list_parts(request: ProviderRequest, reading: Reading[Any]) -> list[Outcome]:
    """The cacheable parts of an answer: the whole, or each answered question's part."""
    if not request.parts:
        return [(request, reading)]
    return [(part, its) for part, its in zip(request.parts, reading.value or (), strict=True) if its.has_answer]


def _join_parts(request: ProviderRequest, reading: Reading[Any], cached: Iterator[Reading[Any]]) -> Reading[Any]:
    """The answer with its cached parts."""
    if not request.parts:
        return next(cached)
    return replace(reading, value=tuple(next(cached) if its.has_answer else its for its in reading.value or ()))


def _merge_parts(request: ProviderRequest, reading: Reading[Any]) -> Outcome:
    """The observations of an answer: a seat found by several of its questions counts once."""
    if not request.parts:
        return request, reading
    seats = dict.fromkeys(seat for its in reading.value or () for seat in its.value or ())
    return request, replace(reading, value=tuple(seats))


def record_observations(request: ProviderRequest, reading: Reading[Any]) -> None:
    """Stores the prices of an answer, if the verb has a table for them."""
    table = VERBS[request.verb].remembered_as
    if not table or not reading.value:
        return
    try:
        with autocommit() as session:
            if table == "award":
                observations.write(session, _award_rows(request, reading))
            else:
                observations.write_fares(session, _fare_rows(request, reading))
    except IntegrityError:  # the account was deleted since
        pass
    except SQLAlchemyError:
        log.warning("provider %s: an answer could not be recorded", request.provider.name)


_read_award = attrgetter(*observations.SEEN)


def _award_rows(request: ProviderRequest, reading: Reading[tuple[AwardSeat, ...]]) -> list[dict[str, Any]]:
    origin = _origin(request, reading)
    return [
        dict(zip(observations.SEEN, _read_award(seat), strict=True)) | origin | {"provider_checked_at": seat.checked_at}
        for seat in reading.value or ()
    ]


def _fare_rows(request: ProviderRequest, reading: Reading[Any]) -> list[dict[str, Any]]:
    """The cheapest fare of each airline and number of stops, and of whole cities; a status run needs its own airline's.

    At most MAX_FARES of one answer, the cheapest.
    """
    question: FaresQuestion = request.question
    dearest_first: list[CashFare] = sorted(reading.value or (), key=lambda fare: fare.price, reverse=True)
    cheapest = {(fare.city_wide, fare.carriers, fare.stops): fare for fare in dearest_first}
    journey = ("origin", "destination", "date", "return_date", "passengers")
    return [
        {name: getattr(question, name) for name in journey}
        | {name: getattr(fare, name) for name in ("cabin", "price", "currency", "stops", "city_wide")}
        | {"carriers": list(fare.carriers)}
        | _origin(request, reading)
        | {"provider_checked_at": fare.checked_at}
        for fare in sorted(cheapest.values(), key=lambda fare: fare.price)[:MAX_FARES]
    ]


def _origin(request: ProviderRequest, reading: Reading[Any]) -> dict[str, Any]:
    """`asker_id` is the only account that may see the row, if the provider's terms allow no others."""
    own = request.provider.terms == "asker" and request.scope.startswith("account-")
    return {
        "source": reading.source,
        "seen_at": reading.taken_at,
        "asker_id": request.account_id if own else None,
    }


# Checks before requests are sent: the cached reading, the provider's health, whose turn it is to fetch.


class Lookup(NamedTuple):
    """What is known of one request."""

    reading: Reading[Any] | None
    health: provider_health.Health
    may_fetch: bool = True
    fetcher: str | None = None  # the ticket of the request that fetches the same now


def _read_lookups(requests: Sequence[ProviderRequest], max_age: timedelta | None) -> list[Lookup]:
    """Blocks. Uses no cached answer older than `max_age`."""
    readings = cache.get_many([(request.cache_key, max_age) for request in requests])
    missing = [i for i, reading in enumerate(readings) if reading is None]
    health = provider_health.read_health(requests[i].health for i in missing) if missing else {}
    lookups = [
        Lookup(reading, health.get(request.health, provider_health.Health()))
        for request, reading in zip(requests, readings, strict=True)
    ]
    shared = [i for i in missing if requests[i].is_fetched_once and not lookups[i].health.is_open]
    turns = cache.acquire_fetch([(requests[i].cache_key, requests[i].ticket, max_age) for i in shared])
    for i, turn in zip(shared, turns, strict=True):
        lookups[i] = lookups[i]._replace(**turn._asdict())
    return lookups


T = TypeVar("T")
BUDGET_SECONDS = 25.0  # for all questions of one tool call or check
MEMORY_SECONDS = 1.0  # to wait for Redis and the database before continuing without them
RESET_HEADERS = ("retry-after", "x-ratelimit-reset", "ratelimit-reset")
FIRST_UNIX_TIME = 10**9  # a reset header below this number is a span in seconds, from here on a Unix time

# Provider name -> the caller's own credential; the optional method `report_rejection` is told of a refused one.
Connections = Callable[[str], Awaitable[str | None]]

# Capacity limiters belong to one event loop.
_threads: RunVar[anyio.CapacityLimiter] = RunVar("provider_threads")


@dataclass
class QuestionProgress:
    """The numbers of questions one call has asked, and of those answered.

    Both numbers only grow; they are equal whenever no question is open.
    """

    questions: int = 0
    answers: int = 0


# The gate sets it if the caller wants progress; tasks and threads of the call inherit it.
progress: ContextVar[QuestionProgress | None] = ContextVar("progress", default=None)


class Ask:
    """Asks providers for one tool call or one check; the time budget starts with the first question.

    `background`: no one waits for the answer, so the reserve of a provider's daily calls is not touched, and people go
    first. `can_wait`: such a question uses no more of these calls than the share of the day that has passed, and is
    else `put_off`. `others`: questions of further watches, which a source that takes lists of airports answers along
    with these.
    """

    @classmethod
    def for_watch(cls, account_id: int, connections: Connections, looked_at: datetime | None) -> Self:
        """For the check of a watch of award seats last checked then, or never: it also asks questions of other
        watches that are due."""
        others = seats_batching.DueQuestions(account_id, looked_at)
        return cls(account_id, connections=connections, background=True, can_wait=True, others=others)

    def __init__(
        self,
        account_id: int | None = None,
        *,
        budget: float = BUDGET_SECONDS,
        connections: Connections | None = None,
        background: bool = False,
        can_wait: bool = False,
        others: seats_batching.Others | None = None,
    ) -> None:
        self.account_id = account_id
        self._can_wait = can_wait
        self._others = others
        self._background = background
        self._budget = budget
        self._connections = connections
        self._deadline: float | None = None
        self._progress = None if background else progress.get()

    async def one(self, provider: str, verb: str, question: Any, max_age: timedelta | None = None) -> Reading[Any]:
        """Asks one provider by name."""
        return (await self._run([(registry.providers()[provider], question)], verb, max_age))[0]

    async def all(self, verb: str, questions: Sequence[Any], max_age: timedelta | None = None) -> list[Reading[Any]]:
        """Asks every provider of this verb each of the questions, in parallel.

        Answers older than `max_age` are not taken from the cache. A provider without an answer when the budget ends
        is `down: timeout`.
        """
        return await self._run([(p, q) for q in questions for p in registry.providers_of(verb)], verb, max_age)

    async def get_cached(self, verb: str, questions: Sequence[Any]) -> list[Reading[Any]]:
        """The cached answers to these questions; without asking any provider."""
        keys = [
            cache.build_key(provider, registry.scope(provider, self.account_id), verb, question)
            for question in questions
            for provider in registry.providers_of(verb)
        ]
        with anyio.move_on_after(MEMORY_SECONDS):
            return [reading for reading in await _in_thread(cache.get_many, [(k, None) for k in keys]) if reading]
        return []

    async def _run(
        self, questions: Sequence[tuple[Provider, Any]], verb: str, max_age: timedelta | None
    ) -> list[Reading[Any]]:
        self._deadline = self._deadline or anyio.current_time() + self._budget
        self._count(questions=len(questions))
        prepared = [await self._prepare(provider, verb, question) for provider, question in questions]
        requests = {i: item for i, item in enumerate(prepared) if isinstance(item, ProviderRequest)}
        readings = {i: item for i, item in enumerate(prepared) if isinstance(item, Reading)}
        self._count(answers=len(readings))
        with anyio.CancelScope(deadline=self._deadline):
            await self._answer(requests, readings, max_age)
        self._count(answers=len(prepared) - len(readings))
        return [readings[i] if i in readings else requests[i].failure("down", "timeout") for i in range(len(prepared))]

    async def _answer(
        self, requests: dict[int, ProviderRequest], readings: dict[int, Reading[Any]], max_age: timedelta | None
    ) -> None:
        """Adds the reading of each request to `readings`, as it arrives."""

        async def fetch(index: int, request: ProviderRequest, before: Lookup) -> None:
            search = searches.get(request.cache_key.name)
            reading = await search.read_answer(request) if search else None
            if search and reading is None:
                (before,) = await _look_up([request], max_age)  # someone else may be asking it in the meantime
            readings[index] = reading = reading or await _fetch_once(request, before, max_age)
            self._count(answers=1)
            own = request.scope.startswith("account-") and request.credential
            report_rejection = getattr(self._connections, "report_rejection", None)
            if reading.status == "broken" and own and report_rejection:
                await report_rejection(request.provider.name, own)

        lookups = await _look_up(list(requests.values()), max_age)
        wanting = [
            request
            for request, before in zip(requests.values(), lookups, strict=True)
            if before.reading is None and before.may_fetch and not before.health.is_open
        ]
        searches = await seats_batching.plan_searches(wanting, self._others, max_age, _fetch)
        async with anyio.create_task_group() as tasks:
            for (index, request), before in zip(requests.items(), lookups, strict=True):
                if before.reading is None:
                    tasks.start_soon(fetch, index, request, before)
                else:
                    readings[index] = before.reading
                    self._count(answers=1)

    def _count(self, questions: int = 0, answers: int = 0) -> None:
        if self._progress:
            self._progress.questions += questions
            self._progress.answers += answers

    async def _prepare(self, provider: Provider, verb: str, question: Any) -> "ProviderRequest | Reading[Any]":
        """The request with its credential, or the failure if it cannot be sent."""
        credential, scope = None, registry.scope(provider, self.account_id)
        same_mode = provider.data_mode == settings().data_mode
        unusable: Unanswered | None = None
        if scope == "operator":
            credential = registry.operator_key(provider)
        elif provider.credential != "none" and self._connections and same_mode:
            try:
                credential = await self._connections(provider.name)
            except Unanswered as refusal:  # the account has a connection that cannot be used now
                unusable = refusal
        cache_key = cache.build_key(provider, scope, verb, question)
        asker = (self.account_id, self._background, self._can_wait)
        request = ProviderRequest(provider, verb, question, credential, scope, cache_key, *asker)
        if not same_mode:
            return request.failure("not_configured", "other_mode")
        if unusable:
            return request.failure(unusable.status, unusable.reason, retry_after=unusable.retry_after)
        if provider.credential != "none" and credential is None:
            status: Status = "not_configured" if scope == "operator" else "connection_required"
            return request.failure(status, status)
        return request


async def _in_thread(work: Callable[..., T], *args: Any) -> T:
    """Runs blocking work on a thread; a cancelled caller does not wait for it."""
    limiter = _threads.get(None)
    if limiter is None:
        _threads.set(limiter := anyio.CapacityLimiter(4))
    return await anyio.to_thread.run_sync(work, *args, limiter=limiter, abandon_on_cancel=True)


async def _look_up(requests: Sequence[ProviderRequest], max_age: timedelta | None) -> list[Lookup]:
    """Continues with this process's own knowledge of the providers when Redis does not answer in time."""
    with anyio.move_on_after(MEMORY_SECONDS):
        return await _in_thread(_read_lookups, requests, max_age)
    health = provider_health.read_local(request.health for request in requests)
    return [Lookup(None, health[request.health]) for request in requests]


async def _fetch_once(request: ProviderRequest, before: Lookup, max_age: timedelta | None) -> Reading[Any]:
    """Lets one of several equal requests fetch the answer for all, across processes."""
    while before.fetcher and not (before.may_fetch or before.reading):
        if failure := await single_flight.wait_for(request, before.fetcher):
            return failure
        (before,) = await _look_up([request], max_age)
    if before.reading:
        return before.reading
    if before.fetcher is None:
        return await _fetch(request, before.health)
    async with single_flight.hold_locks([request]) as readings:
        reading = readings[request.cache_key.name] = await _fetch(request, before.health)
    return reading


async def _fetch(
    request: ProviderRequest, health: provider_health.Health, read: seats_batching.Read | None = None
) -> Reading[Any]:
    """Fetches one request's reading; `read` converts answers that are not plain rows, on a thread."""
    if health.is_open:
        status: Status = "quota_exhausted" if health.reason == QUOTA else "down"
        return request.failure(
            status, health.reason or "resting", since=health.failing_since, retry_after=health.retry_after
        )
    try:
        async with hold_place(request):
            reading = await _in_thread(quota.spend_call, request) or await _call_adapter(request, read)
            count(PROVIDER_REQUESTS, request.provider.name, reading.status)
    except Unanswered as busy:
        return request.failure(busy.status, busy.reason, retry_after=busy.retry_after)
    with anyio.move_on_after(MEMORY_SECONDS):
        return await _in_thread(_record, request, reading)
    return reading


async def _call_adapter(request: ProviderRequest, read: seats_batching.Read | None) -> Reading[Any]:
    """The only place where an adapter runs. Foreign data may make it raise anything, so every exception is caught."""
    started = time.perf_counter()
    try:
        with span(f"provider {request.provider.name}", verb=request.verb), anyio.fail_after(request.provider.timeout):
            async with request.provider.build(request.credential) as client, quota.count_pages(request, client):
                rows = await getattr(client, request.method)(request.question)
    except Exception as error:
        why = _classify_error(error)
        if why.status != "no_data":
            name = request.provider.name
            log.warning("provider %s: %s, %s (%s)", name, why.status, why.reason, type(error).__name__)
        return request.refuse(why)
    finally:
        observe(PROVIDER_SECONDS, time.perf_counter() - started, request.provider.name)
    return await _in_thread(read, request, rows) if read else request.answer(rows)


def _classify_error(error: Exception) -> Unanswered:
    """A status and one word. The error's own text may contain keys or instructions, so it is dropped."""
    if isinstance(error, Unanswered):
        return error
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return Unanswered("down", "timeout")
    if isinstance(error, httpx.HTTPStatusError):
        response = error.response
        if response.status_code == 429:
            return Unanswered("quota_exhausted", QUOTA, _read_reset(response.headers))
        if response.status_code in (401, 403):
            return Unanswered("not_permitted", f"http_{response.status_code}")
        return Unanswered("down", f"http_{response.status_code}")
    if isinstance(error, http.Refused):
        return Unanswered("down", "refused")
    if isinstance(error, httpx.TransportError | OSError):
        return Unanswered("down", "tls_fault" if explain_tls_fault(error) else "unreachable")
    return Unanswered("down", "wrong_shape")


def _read_reset(headers: httpx.Headers) -> int | None:
    """Seconds until the provider's reset, by the first header that says so: seconds, a Unix time or a date."""
    now = clock.now().timestamp()
    for name in RESET_HEADERS:
        value = headers.get(name, "")
        if value.isascii() and value.isdigit():
            return _clamp_to_a_day(int(value) if int(value) < FIRST_UNIX_TIME else int(value) - now)
        with suppress(ValueError):
            return _clamp_to_a_day(parsedate_to_datetime(value).timestamp() - now)
    return None


def _clamp_to_a_day(seconds: float) -> int:
    return max(1, min(round(seconds), 86_400))
