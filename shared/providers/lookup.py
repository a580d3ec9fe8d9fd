"""What is known before asking, and what an answer leaves behind (cache, health, observations), for many questions.

Both block, so they are `Together`: one thread works on whatever has gathered.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from shared.concurrency import Batcher
from shared.db import observations
from shared.db.base import autocommit
from shared.providers import cache, circuit_breaker
from shared.providers.contract import VERBS, AwardSeat, CashFare, FaresQuestion, Reading
from shared.providers.request import QUOTA, ProviderRequest

log = logging.getLogger(__name__)


class Known(NamedTuple):
    """What stands in the memory about a question before it is asked."""

    reading: Reading[Any] | None
    state: circuit_breaker.Health
    mine: bool = True  # nobody else asks the same at this moment


def _look(pieces: Sequence[Sequence[tuple[ProviderRequest, timedelta | None]]]) -> list[list[Known]]:
    """On a thread: what the cache holds, and of those who must be asked how they fare and whose turn it is to ask."""
    asked = [(errand, max_age) for piece in pieces for errand, max_age in piece]
    kept = cache.get_many([(errand.place, max_age) for errand, max_age in asked])
    missing = [i for i, known in enumerate(kept) if known is None]
    states = circuit_breaker.read(asked[i][0].health for i in missing) if missing else {}
    known = [
        Known(reading, states.get(errand.health, circuit_breaker.Health()))
        for (errand, _), reading in zip(asked, kept, strict=True)
    ]
    shared = [i for i in missing if asked[i][0].background]
    turns = cache.acquire_fetch([(asked[i][0].place, asked[i][1]) for i in shared])
    for i, (mine, reading) in zip(shared, turns, strict=True):
        known[i] = known[i]._replace(mine=mine, reading=reading)
    those = iter(known)
    return [list(islice(those, len(piece))) for piece in pieces]


looked_up = Batcher(_look)


def _remember(pairs: Sequence[tuple[ProviderRequest, Reading[Any]]]) -> list[Reading[Any]]:
    """On a thread: health, cache and observations. Whatever of that is away, the readings stand."""
    answered = [(errand, reading) for errand, reading in pairs if reading.answered]
    if answered:
        circuit_breaker.succeeded(*{errand.health for errand, _ in answered})
        _record(answered)
    kept = iter(cache.keep([(errand.place, reading) for errand, reading in answered]))
    return [next(kept) if reading.answered else _failed(errand, reading) for errand, reading in pairs]


def _failed(errand: ProviderRequest, reading: Reading[Any]) -> Reading[Any]:
    if reading.status == "down":
        state = circuit_breaker.failed(errand.health, reading.reason or "down")
        return replace(reading, since=state.failing_since, retry_after=reading.retry_after or state.retry_after)
    if reading.status == "quota_exhausted" and reading.retry_after:
        circuit_breaker.rest(errand.health, QUOTA, reading.retry_after)
    return reading


def _record(answered: Sequence[tuple[ProviderRequest, Reading[Any]]]) -> None:
    """What may be remembered of answers; an answer whose asker is gone keeps no other from being recorded."""
    seen: dict[str, list[dict[str, Any]]] = {"award": [], "fare": []}
    for errand, reading in answered:
        table = VERBS[errand.verb].remembered_as
        if table and reading.value:
            seen[table] += (_sightings if table == "award" else _fares)(errand, reading)
    try:
        with autocommit() as session:
            observations.write(session, seen["award"])
            observations.write_fares(session, seen["fare"])
    except IntegrityError:  # an asker's account is gone meanwhile
        for one in answered if len(answered) > 1 else ():
            _record([one])
    except SQLAlchemyError:
        names = ", ".join({errand.provider.name for errand, _ in answered})
        log.warning("provider %s: answers could not be recorded", names)


remembered: Batcher[tuple[ProviderRequest, Reading[Any]], Reading[Any]] = Batcher(_remember)


def _asker(errand: ProviderRequest) -> int | None:
    """Whose row it is, where the source's terms let nobody else see it."""
    return errand.account_id if errand.provider.terms == "asker" and errand.scope.startswith("account-") else None


_seen = attrgetter(*observations.SEEN)


def _sightings(errand: ProviderRequest, reading: Reading[tuple[AwardSeat, ...]]) -> list[dict[str, Any]]:
    origin = _origin(errand, reading)
    return [
        {**dict(zip(observations.SEEN, _seen(row), strict=True)), **origin, "provider_checked_at": row.checked_at}
        for row in reading.value or ()
    ]


def _fares(errand: ProviderRequest, reading: Reading[Any]) -> list[dict[str, Any]]:
    """The cheapest fare of an answer alone, and of fares of whole cities: the others are of no use later."""
    asked: FaresQuestion = errand.question
    dearest_first: list[CashFare] = sorted(reading.value or (), key=lambda fare: fare.price, reverse=True)
    wanted = ("origin", "destination", "date", "return_date", "passengers")
    return [
        {name: getattr(asked, name) for name in wanted}
        | {name: getattr(best, name) for name in ("cabin", "price", "currency", "stops", "city_wide")}
        | {"carriers": list(best.carriers)}
        | _origin(errand, reading)
        | {"provider_checked_at": best.checked_at}
        for best in {fare.city_wide: fare for fare in dearest_first}.values()
    ]


def _origin(errand: ProviderRequest, reading: Reading[Any]) -> dict[str, Any]:
    return {"source": reading.source, "seen_at": reading.taken_at, "asker_id": _asker(errand)}
