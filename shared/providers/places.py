"""Places at each provider: a counting lock in Redis, which all processes share while Redis answers.

A place is a lease, so a killed process's place is free again when its lease ends. People go before the checks of
watches. A request without a place in half of its remaining time is told that the provider is busy, and when to come
back; the other half is for the answer.
"""

import math
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Literal

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

from shared.providers.contract import Provider, Unanswered
from shared.providers.request import ProviderRequest
from shared.redis import call_redis, connect, key

LOOK_SECONDS = 0.1  # between two looks for a free place
PERSON_SECONDS = 1.0  # checks take no place this long after a person's look; ten times the time between looks
HURRY_SECONDS = 30  # longer than any person waits for an answer
GRACE_SECONDS = 5.0  # a place outlives the time limit of its request by this, and is then taken for lost
RETURN_SECONDS = 1.0
# KEYS: the places that are taken, whether people wait, and for each question whether a person waits for
# its answer. ARGV: ticket, places, milliseconds of the lease, whether it is a check, milliseconds that people wait.
_TAKE = """
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local taken, people, is_check = KEYS[1], KEYS[2], ARGV[4] == '1'
if is_check and redis.call('exists', people) == 1 and redis.call('exists', unpack(KEYS, 3)) == 0 then return 0 end
redis.call('zremrangebyscore', taken, '-inf', now)
if redis.call('zcard', taken) < tonumber(ARGV[2]) then
  redis.call('zadd', taken, now + ARGV[3], ARGV[1])
  redis.call('pexpire', taken, ARGV[3])
  return 1
end
if not is_check then redis.call('set', people, 1, 'px', ARGV[5]) end
return 0
"""
Group = Literal["people", "checks", "alone"]

_processes = 1  # that share each provider's places while Redis is down
_limiters: RunVar[dict[tuple[str, Group], anyio.CapacityLimiter]] = RunVar("provider_places")  # of one event loop


def share(processes: int) -> None:
    """Tells this process how many ask: without Redis it keeps to its part of each provider's places."""
    global _processes
    _processes = processes


@asynccontextmanager
async def hold_place(request: ProviderRequest) -> AsyncIterator[None]:
    """Waits for a place, and gives it back at the end. Raises Unanswered, `busy`, if none was free in time.

    At most as many requests of one process look as there are places; the others queue in order.
    """
    provider = request.provider
    async with AsyncExitStack() as leases:
        remaining = anyio.current_effective_deadline() - anyio.current_time()
        with anyio.move_on_after(remaining / 2) as waiting:
            await leases.enter_async_context(_find_limiter(provider, "checks" if request.background else "people"))
            if provider.data_mode == "live":  # invented answers overload no one
                leases.push_async_callback(_give_back, request)
                while not (is_counted := await anyio.to_thread.run_sync(take_place, request)):
                    if is_counted is None:
                        await leases.enter_async_context(_find_limiter(provider, "alone"))
                        break
                    await anyio.sleep(LOOK_SECONDS)
        if waiting.cancelled_caught:
            raise Unanswered("down", "busy", retry_after=math.ceil(provider.timeout))
        yield


def _find_limiter(provider: Provider, group: Group) -> anyio.CapacityLimiter:
    """The limiter for this process's people or checks, or for both while Redis does not count."""
    limiters = _limiters.get(None)
    if limiters is None:
        _limiters.set(limiters := {})
    if (provider.name, group) not in limiters:
        own = max(1, provider.concurrency // _processes) if group == "alone" else provider.concurrency
        limiters[provider.name, group] = anyio.CapacityLimiter(own)
    return limiters[provider.name, group]


def take_place(request: ProviderRequest) -> bool | None:
    """Takes a place if one is free; None while Redis is down. Blocks."""
    provider = request.provider
    hurried = [_key(provider, "hurried", part.ticket) for part in request.parts or (request,)]
    keys = _key(provider), _key(provider, "people"), *hurried
    lease, person = round((provider.timeout + GRACE_SECONDS) * 1000), round(PERSON_SECONDS * 1000)
    arguments = request.ticket, provider.concurrency, lease, int(request.background), person
    taken = call_redis(partial(connect().eval, _TAKE, len(keys), *keys, *arguments))
    return None if taken is None else bool(taken)


async def _give_back(request: ProviderRequest) -> None:
    """Gives it back, even one taken during a cancellation: waits for the thread that took it."""
    with anyio.move_on_after(RETURN_SECONDS, shield=True):
        command = partial(connect().zrem, _key(request.provider), request.ticket)
        await anyio.to_thread.run_sync(call_redis, command, abandon_on_cancel=True)


async def hurry(provider: Provider, ticket: str) -> None:
    """Lets this ticket's check look for its place as people do, because a person waits for its answer."""
    command = partial(connect().set, _key(provider, "hurried", ticket), 1, ex=HURRY_SECONDS)
    await anyio.to_thread.run_sync(call_redis, command)


def _key(provider: Provider, *parts: str) -> str:
    return key("places", provider.name, *parts)
