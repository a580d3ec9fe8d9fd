"""One search for many questions: those of one call, and of other due watches, with lists of airports.

The calls of one key are scarce, so a source that takes lists is asked as seldom as pages of rows allow. `Ask` calls
`plan_searches`, and nothing else knows that questions are joined: each has its own reading and cache key.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Protocol

import anyio
import anyio.to_thread

from shared.provider_health import Health
from shared.providers import cache, quota
from shared.providers.contract import Reading, SeatsQuestion, SeatsTogether
from shared.providers.request import PUT_OFF, ProviderRequest, draw_number
from shared.providers.seats_batching.due_questions import DueQuestions as DueQuestions
from shared.providers.seats_batching.plan import plan_questions
from shared.providers.seats_batching.rates import USUAL, learn_rates, read_rates
from shared.providers.single_flight import hold_locks
from shared.redis import call_redis, connect, key

VERB = "award_seats"
WRITING_SECONDS = 2.0  # to tell watches of their answers before the check continues
VAIN = 3  # searches that fell apart one after another; then questions go one by one, since both are twice the calls
VAIN_SECONDS = 3600
FILL = 0.95  # of a page to plan for: rows are forecast, and one too many costs a call
Read = Callable[[ProviderRequest, Any], Reading[Any]]
Fetch = Callable[[ProviderRequest, Health, Read], Awaitable[Reading[Any]]]


class Others(Protocol):
    """Questions of other watches, which a check may ask along with its own. All methods block.

    `scope` is whose credential asks: the operator's serves everyone's watches, an account's only its own.
    """

    def list_near(self, scope: str, questions: Sequence[SeatsQuestion]) -> Sequence[SeatsQuestion]:
        """Questions due soon, the nearest to these first."""

    def list_oldest(self, scope: str) -> Sequence[SeatsQuestion]:
        """Questions of the watch checked longest ago; empty if that is the caller's own."""

    def bring_forward(self, questions: Collection[SeatsQuestion]) -> None:
        """Makes the watches of these answered questions due while the answers are fresh."""


async def plan_searches(
    requests: Sequence[ProviderRequest], others: Others | None, max_age: timedelta | None, fetch: Fetch
) -> "dict[str, Search]":
    """By the name of its answer, the search that fetches each of these requests together with others.

    The caller may fetch all of them now, and none has an answer. Requests in no search are asked one by one.
    """
    searches: dict[str, Search] = {}
    by_provider: dict[str, list[ProviderRequest]] = {}
    for request in requests:
        if request.provider.page_rows and request.verb == VERB:
            by_provider.setdefault(request.provider.name, []).append(request)
    for own in by_provider.values():
        if len(own) == 1 and not others:
            continue
        plan = await anyio.to_thread.run_sync(_plan, own, others, max_age, abandon_on_cancel=True)
        for group in plan.groups:
            search = Search(group, plan, fetch, others)
            searches |= {part.cache_key.name: search for part in (own if plan.for_others else group.parts)}
    return searches


@dataclass(frozen=True)
class _Plan:
    """Requests for several questions at once; the others are asked one by one. A check's are groups even of one,
    since their pages are larger and teach row counts.

    `for_others`: the single group is for a watch waiting longer than the caller; questions of the caller outside it
    are put off.
    """

    groups: tuple[ProviderRequest, ...]
    for_others: bool = False


def _plan(requests: Sequence[ProviderRequest], others: Others | None, max_age: timedelta | None) -> _Plan:
    """Plans unanswered requests of one provider with one credential. Blocks.

    If the day's calls are short, a check that can wait works for the watch checked longest ago instead.
    """
    first = requests[0]
    if first.can_wait and not quota.has_call(first):
        return _Plan(())  # they are put off one by one, without a plan
    if int(call_redis(lambda: connect().get(_vain(first))) or 0) >= VAIN:
        return _Plan(())
    oldest = others.list_oldest(first.scope) if others and first.can_wait and quota.is_short(first) else ()
    seeds = _claim(first, oldest, max_age)
    questions = [request.question for request in seeds or requests]
    spare = _list_spare(first, others.list_near(first.scope, questions), max_age) if others else []
    if seeds:
        spare = [*requests, *spare]
    by_question = {request.question: request for request in (*requests, *seeds, *spare)}
    rates = read_rates(first.health, {question.origin for question in by_question})

    def rows_a_day(origin: str, destination: str) -> float:
        return 0.0 if origin == destination else rates.get((origin, destination), USUAL)

    plans = plan_questions(
        questions, rows_a_day, FILL * (first.provider.page_rows or 1), [request.question for request in spare]
    )
    mine = {request.cache_key.name for request in (*requests, *seeds)}
    groups = [_claim_group([by_question[question] for question in group.questions], mine, max_age) for group in plans]
    if seeds:
        _release_rest([*requests, *seeds], groups := groups[:1])
    return _Plan(tuple(_join(group) for group in groups if len(group) > 1 or others), bool(seeds))


def _release_rest(requests: Sequence[ProviderRequest], groups: Sequence[Sequence[ProviderRequest]]) -> None:
    """Lets others fetch what these groups do not."""
    planned = {request.cache_key.name for group in groups for request in group}
    rest = [request for request in requests if request.cache_key.name not in planned]
    cache.release_fetch([(request.cache_key, request.ticket, "") for request in rest])


def _build(first: ProviderRequest, question: SeatsQuestion) -> ProviderRequest:
    name = cache.build_key(first.provider, first.scope, VERB, question)
    return replace(first, question=question, cache_key=name, number=draw_number())


def _list_spare(
    first: ProviderRequest, questions: Sequence[SeatsQuestion], max_age: timedelta | None
) -> list[ProviderRequest]:
    """Questions without a fresh answer that no one else is fetching."""
    requests = [_build(first, question) for question in questions]
    freshness = cache.find_fresh([(request.cache_key, max_age) for request in requests])
    return [request for request, fresh in zip(requests, freshness, strict=True) if not fresh]


def _claim(
    first: ProviderRequest, questions: Sequence[SeatsQuestion], max_age: timedelta | None
) -> list[ProviderRequest]:
    """Claims the requests whose answers are fetched here and, meanwhile, nowhere else."""
    requests = [_build(first, question) for question in questions]
    turns = cache.acquire_fetch([(request.cache_key, request.ticket, max_age) for request in requests])
    return [request for request, turn in zip(requests, turns, strict=True) if turn.may_fetch and not turn.reading]


def _claim_group(
    group: Sequence[ProviderRequest], mine: Collection[str], max_age: timedelta | None
) -> list[ProviderRequest]:
    claimed = [request for request in group if request.cache_key.name in mine]
    rest = [request.question for request in group if request.cache_key.name not in mine]
    return claimed + _claim(group[0], rest, max_age)


def _join(parts: Sequence[ProviderRequest]) -> ProviderRequest:
    questions = tuple(part.question for part in parts)
    name = cache.build_key(parts[0].provider, parts[0].scope, VERB, questions)
    return replace(parts[0], question=questions, cache_key=name, parts=tuple(parts))


def _read_parts(group: ProviderRequest, told: SeatsTogether) -> Reading[Any]:
    """Splits a search's answer into readings for its requests, and learns the rows of each route. Blocks."""
    learn_rates(group.health, told.rows_a_day)
    if told.failure:
        return group.refuse(told.failure)
    return group.answer(
        tuple(
            part.refuse(answer.failure) if answer.failure else part.answer(answer.seats or ())
            for part, answer in zip(group.parts, told.parts, strict=True)
        )
    )


class Search:
    """One search for several questions; sent by the first of its requests that is asked."""

    def __init__(self, group: ProviderRequest, plan: _Plan, fetch: Fetch, others: Others | None) -> None:
        self._group, self._plan, self._fetch, self._others = group, plan, fetch, others
        self._turn = anyio.Lock()
        self._answers: dict[str, Reading[Any]] | None = None

    async def read_answer(self, request: ProviderRequest) -> Reading[Any] | None:
        """Reads it; None: it has to be asked by itself."""
        async with self._turn:
            if self._answers is None:
                self._answers = await self._send()
        return self._answers.get(request.cache_key.name) or (
            request.failure("quota_exhausted", PUT_OFF) if self._plan.for_others else None
        )

    async def _send(self) -> dict[str, Reading[Any]]:
        parts = self._group.parts
        async with hold_locks(parts) as named:
            reading = await self._fetch(self._group, Health(), _read_parts)
            # It failed by its size or by one of its rows, so smaller ones may succeed. One of a single question
            # with too many rows has fewer pages to be read by itself.
            if (reading.status == "not_covered" and len(parts) > 1) or reading.reason in ("refused", "wrong_shape"):
                await anyio.to_thread.run_sync(_note_vain, self._group, abandon_on_cancel=True)
                return {}
            answers = (reading.value or ()) if reading.has_answer else [reading] * len(parts)
            named.update({part.cache_key.name: answer for part, answer in zip(parts, answers, strict=True)})
        with anyio.CancelScope(shield=True), anyio.move_on_after(WRITING_SECONDS):
            await anyio.to_thread.run_sync(self._end, named, abandon_on_cancel=True)
        return named

    def _end(self, named: Mapping[str, Reading[Any]]) -> None:
        """Tells the watches whose questions were answered. Blocks."""
        answered = [part for part in self._group.parts if named[part.cache_key.name].has_answer]
        if answered:
            call_redis(lambda: connect().delete(_vain(self._group)))
        if self._others and answered:
            self._others.bring_forward([part.question for part in answered])


def _vain(request: ProviderRequest) -> str:
    return key("apart", request.health)


def _note_vain(request: ProviderRequest) -> None:
    pipe = connect().pipeline(transaction=False)
    pipe.incr(_vain(request))
    pipe.expire(_vain(request), VAIN_SECONDS)
    call_redis(pipe.execute)
