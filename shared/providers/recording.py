"""What an answer leaves behind: the provider's health, the cached reading, and observations of prices.

Redis and the database are written for many answers at once: those that arrive while one batch is written form the next.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from shared.concurrency import Batcher
from shared.db import observations
from shared.db.base import autocommit
from shared.providers import cache, circuit_breaker
from shared.providers.contract import VERBS, AwardSeat, CashFare, FaresQuestion, Reading
from shared.providers.request import QUOTA, ProviderRequest

log = logging.getLogger(__name__)
MAX_FARES = 20  # kept of one answer
Outcome = tuple[ProviderRequest, Reading[Any]]


def _record_batch(outcomes: Sequence[Outcome]) -> list[Reading[Any]]:
    """Blocks. The readings are returned even where nothing could be written."""
    answers = [(request, reading) for request, reading in outcomes if reading.has_answer]
    if answers:
        circuit_breaker.record_success(*{request.health for request, _ in answers})
        record_observations([_merge_parts(*answer) for answer in answers])
    answer_parts = [(part.cache_key, reading) for answer in answers for part, reading in _list_parts(*answer)]
    cached = iter(cache.put_many(answer_parts))
    return [
        _join_parts(*outcome, cached) if outcome[1].has_answer else _record_failure(*outcome) for outcome in outcomes
    ]


def _list_parts(request: ProviderRequest, reading: Reading[Any]) -> list[Outcome]:
    """What is cached of an answer: the whole, or of several questions each that has one."""
    if not request.parts:
        return [(request, reading)]
    return [(part, its) for part, its in zip(request.parts, reading.value or (), strict=True) if its.has_answer]


def _join_parts(request: ProviderRequest, reading: Reading[Any], cached: Iterator[Reading[Any]]) -> Reading[Any]:
    """The answer with its parts as they were cached."""
    if not request.parts:
        return next(cached)
    return replace(reading, value=tuple(next(cached) if its.has_answer else its for its in reading.value or ()))


def _merge_parts(request: ProviderRequest, reading: Reading[Any]) -> Outcome:
    """What is observed of an answer: a seat that several of its questions were told is one."""
    if not request.parts:
        return request, reading
    seats = dict.fromkeys(seat for its in reading.value or () for seat in its.value or ())
    return request, replace(reading, value=tuple(seats))


record: Batcher[Outcome, Reading[Any]] = Batcher(_record_batch)


def _record_failure(request: ProviderRequest, reading: Reading[Any]) -> Reading[Any]:
    if reading.status == "down":
        health = circuit_breaker.record_failure(request.health, reading.reason or "down")
        return replace(reading, since=health.failing_since, retry_after=reading.retry_after or health.retry_after)
    # Our own refusal of what no one waits for stops no one else.
    if reading.status == "quota_exhausted" and reading.reason == QUOTA and reading.retry_after:
        circuit_breaker.pause(request.health, QUOTA, reading.retry_after)
    return reading


def record_observations(answers: Sequence[Outcome]) -> None:
    """Stores the prices of these answers, where the verb has a table for them."""
    rows: dict[str, list[dict[str, Any]]] = {"award": [], "fare": []}
    for request, reading in answers:
        table = VERBS[request.verb].remembered_as
        if table and reading.value:
            rows[table] += (_award_rows if table == "award" else _fare_rows)(request, reading)
    try:
        with autocommit() as session:
            observations.write(session, rows["award"])
            observations.write_fares(session, rows["fare"])
    except IntegrityError:  # the account of one answer was deleted in the meantime: store the others one by one
        for answer in answers if len(answers) > 1 else ():
            record_observations([answer])
    except SQLAlchemyError:
        names = ", ".join({request.provider.name for request, _ in answers})
        log.warning("provider %s: answers could not be recorded", names)


_read_award = attrgetter(*observations.SEEN)


def _award_rows(request: ProviderRequest, reading: Reading[tuple[AwardSeat, ...]]) -> list[dict[str, Any]]:
    origin = _origin(request, reading)
    return [
        dict(zip(observations.SEEN, _read_award(seat), strict=True)) | origin | {"provider_checked_at": seat.checked_at}
        for seat in reading.value or ()
    ]


def _fare_rows(request: ProviderRequest, reading: Reading[Any]) -> list[dict[str, Any]]:
    """The cheapest fare of each airline and number of stops, and of whole cities; a status run needs its own airline's.

    Of one answer at most MAX_FARES, the cheapest.
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
    """`asker_id` is the only account that may see the row, where the provider's terms allow no other."""
    own = request.provider.terms == "asker" and request.scope.startswith("account-")
    return {
        "source": reading.source,
        "seen_at": reading.taken_at,
        "asker_id": request.account_id if own else None,
    }
