"""What is known of requests before they are sent: the cached reading, the provider's health, whose turn it is to fetch.

Redis is read for many requests at once: those that arrive while one batch is read form the next.
"""

from collections.abc import Sequence
from datetime import timedelta
from itertools import islice
from typing import Any, NamedTuple

from shared.concurrency import Batcher
from shared.providers import cache, circuit_breaker
from shared.providers.contract import Reading
from shared.providers.request import ProviderRequest


class Lookup(NamedTuple):
    """What is known of one request."""

    reading: Reading[Any] | None
    health: circuit_breaker.Health
    may_fetch: bool = True
    fetcher: str | None = None  # the ticket of the request that fetches the same now


def _look_up_batch(batches: Sequence[Sequence[tuple[ProviderRequest, timedelta | None]]]) -> list[list[Lookup]]:
    """Blocks. Each batch is one caller's requests, each with the greatest age its answer may have."""
    requests = [(request, max_age) for batch in batches for request, max_age in batch]
    readings = cache.get_many([(request.cache_key, max_age) for request, max_age in requests])
    missing = [i for i, reading in enumerate(readings) if reading is None]
    health = circuit_breaker.read_health(requests[i][0].health for i in missing) if missing else {}
    lookups = [
        Lookup(reading, health.get(request.health, circuit_breaker.Health()))
        for (request, _), reading in zip(requests, readings, strict=True)
    ]
    shared = [i for i in missing if requests[i][0].is_fetched_once and not lookups[i].health.is_open]
    turns = cache.acquire_fetch(
        [(requests[i][0].cache_key, requests[i][0].ticket.name, requests[i][1]) for i in shared]
    )
    for i, turn in zip(shared, turns, strict=True):
        lookups[i] = lookups[i]._replace(**turn._asdict())
    rest = iter(lookups)
    return [list(islice(rest, len(batch))) for batch in batches]


look_up = Batcher(_look_up_batch)
