"""Slots that all processes of the service share, such as those of one source, and the line before them, in Redis.

A slot and a place in the line are leases: what a process that was killed held ends with its lease. The clock is that
of Redis. Anyone who waits looks again and again, which renews the place in the line, and takes a slot when one is free
for everybody up to there. A place is counted from when its holder began to wait, so one that was lost is found again.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from shared.redis import call_redis, connect, key

LINE_SECONDS = 3.0  # a waiting process that was not heard of for so long has left the line
_REMEMBERED_SECONDS = 3600  # how long the time that holders took recently is known
_BEHIND = 4 * 10**15  # microseconds: who has time stands behind everybody who has none (a time is below 1.8 * 10**15)
# KEYS: slots, line, when each place in the line ends, the time that holders took recently.
# ARGV: slots, their milliseconds, those of a place in the line, how many leave; for each of these its name and how long
# it held its slot (-1: not to be counted); then for each ticket its name, waited microseconds, offset and whether own.
_LOOK = """
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local slots, line, ends, took = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
redis.call('zremrangebyscore', slots, '-inf', now)
for _, gone in ipairs(redis.call('zrangebyscore', ends, '-inf', now)) do
  redis.call('zrem', line, gone)
  redis.call('zrem', ends, gone)
end
local next = 5
for _ = 1, tonumber(ARGV[4]) do
  redis.call('zrem', slots, ARGV[next])
  redis.call('zrem', line, ARGV[next])
  redis.call('zrem', ends, ARGV[next])
  local held = tonumber(ARGV[next + 1])
  if held >= 0 then
    local before = tonumber(redis.call('get', took) or held)
    redis.call('setex', took, ARGV[#ARGV], math.floor(before * 0.8 + held * 0.2))
  end
  next = next + 2
end
local first = next
for i = first, #ARGV - 1, 4 do
  local ticket, own = ARGV[i], ARGV[i + 3] == '1'
  local since = time[1] * 1000000 + time[2] - ARGV[i + 1] + ARGV[i + 2]
  local stands = redis.call('zscore', line, ticket)
  if own and not redis.call('zscore', slots, ticket) then
    if not stands then redis.call('zadd', line, since, ticket) end
    redis.call('zadd', ends, now + ARGV[3], ticket)
  elseif stands and since < tonumber(stands) then
    redis.call('zadd', line, since, ticket)
  end
end
local answer = {}
for i = first, #ARGV - 1, 4 do
  local ticket = ARGV[i]
  local ahead = redis.call('zrank', line, ticket)
  if ahead and ARGV[i + 3] == '1' and ahead < ARGV[1] - redis.call('zcard', slots) then
    redis.call('zadd', slots, now + ARGV[2], ticket)
    redis.call('zrem', line, ticket)
    redis.call('zrem', ends, ticket)
    ahead = false
  end
  answer[#answer + 1] = ahead or -1
end
local ages = {}
local held = redis.call('zrange', slots, 0, -1, 'withscores')
for i = 2, #held, 2 do ages[#ages + 1] = now + ARGV[2] - held[i] end
redis.call('pexpire', slots, ARGV[2])
redis.call('pexpire', line, ARGV[3])
redis.call('pexpire', ends, ARGV[3])
return {tonumber(redis.call('get', took) or 0), ages, answer}
"""


@dataclass(frozen=True)
class Ticket:
    """One who waits, since when (`time.monotonic`), and whether behind all who have no time.

    `own` is False for the ticket of someone else that fetches what the caller waits for too. It gets no slot by this,
    but stands where the caller would stand if that is further ahead.
    """

    name: str
    since: float = field(default_factory=time.monotonic)
    has_time: bool = False
    own: bool = True


class Leaving(NamedTuple):
    """A ticket that gives back what it has; `seconds` it had its slot, None if they say nothing of the next one."""

    name: str
    seconds: float | None = None


class View(NamedTuple):
    """What is there: seconds that holders took recently (0: unknown), those of each present one so far, and the
    tickets.

    For each ticket how many are ahead of it in the line; None where it does not wait, as one that has a slot.
    """

    usual: float
    ages: list[float]
    ahead: list[int | None]


def look(name: str, slots: int, seconds: float, tickets: Sequence[Ticket], leaving: Sequence[Leaving]) -> View | None:
    """Serves those who leave, then the tickets, which should be in their order; a slot is had for at most `seconds`.

    None while Redis is down.
    """
    now, milliseconds = time.monotonic(), round(seconds * 1000)
    arguments: list[str | int] = [slots, milliseconds, round(LINE_SECONDS * 1000), len(leaving)]
    for gone in leaving:
        arguments += [gone.name, -1 if gone.seconds is None else round(gone.seconds * 1000)]
    for ticket in tickets:
        waited, offset = round((now - ticket.since) * 1e6), _BEHIND if ticket.has_time else 0
        arguments += [ticket.name, waited, offset, int(ticket.own)]
    keys = [key("slots", name, *part) for part in ((), ("line",), ("ends",), ("took",))]
    reply = call_redis(partial(connect().eval, _LOOK, 4, *keys, *arguments, _REMEMBERED_SECONDS))
    if reply is None:
        return None
    usual, ages, ahead = reply
    return View(usual / 1000, [age / 1000 for age in ages], [None if n < 0 else n for n in ahead])
