"""The thread limiter of this process: as many database threads as the connection pool has connections."""

from functools import lru_cache

import anyio

from shared.settings import settings


@lru_cache(maxsize=1)
def limiter() -> anyio.CapacityLimiter:
    return anyio.CapacityLimiter(settings().database_threads)
