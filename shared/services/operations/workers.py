"""Number of workers that listen to the job queue."""

from typing import Any

from redis.exceptions import RedisError

from shared.redis import connect


def count_workers() -> int | None:
    """Workers that gave a sign of life lately; None when the queue is away. A worker that was killed keeps its name."""
    try:
        names: Any = connect().smembers("rq:workers")
        return int(connect().exists(*names)) if names else 0
    except (RedisError, OSError):
        return None
