"""Slots that all processes of the service share, such as those of one source: leases in Redis."""

from functools import partial

from shared.redis import call_redis, connect, key

# What a process that was killed held is free again when its lease ends. The clock is that of Redis.
_TAKE = """
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('zremrangebyscore', KEYS[1], '-inf', now)
if redis.call('zcard', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('zadd', KEYS[1], now + ARGV[3], ARGV[2])
redis.call('pexpire', KEYS[1], ARGV[3])
return 1
"""


def take_slot(name: str, slots: int, holder: str, seconds: float) -> bool | None:
    """Whether `holder` has one of so many slots now, for at most so many seconds; None while Redis is away."""
    arguments = (str(slots), holder, str(round(seconds * 1000)))
    taken = call_redis(partial(connect().eval, _TAKE, 1, key("slots", name), *arguments))
    return None if taken is None else bool(taken)


def give_slot_back(name: str, holder: str) -> None:
    call_redis(partial(connect().zrem, key("slots", name), holder))
