"""One question to one provider, with the credential it is sent with and the cache key of its answer."""

import secrets
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from shared import clock
from shared.providers import cache
from shared.providers.contract import Provider, Reading, Status, Unanswered
from shared.settings import settings

QUOTA = "quota"  # of the source's day, for everyone
PUT_OFF = "put_off"  # the remaining calls are reserved for people, or for later in the day
CHECK = "check"  # prefix of the tickets of requests in the background


def draw_number() -> str:
    return secrets.token_hex(8)


@dataclass(frozen=True)
class ProviderRequest:
    """`scope` is the credential's owner: the operator, an account or no one."""

    provider: Provider
    verb: str
    question: Any
    credential: str | None
    scope: str
    cache_key: cache.CacheKey
    account_id: int | None
    background: bool
    can_wait: bool = False  # a check that may be made later in the day
    parts: tuple["ProviderRequest", ...] = ()  # requests that this one answers together; its question combines theirs
    number: str = field(default_factory=draw_number)

    @property
    def ticket(self) -> str:
        """The name under which this request has a place and fetches the answer for all that ask the same."""
        return f"{CHECK if self.background else 'person'}-{self.number}"

    @property
    def is_fetched_once(self) -> bool:
        """Whether equal requests share one answer: if a source is spared and the answer may be cached."""
        return self.provider.data_mode == "live" and self.cache_key.max_age > timedelta(0)

    @property
    def health(self) -> str:
        """The name under which the circuit breaker counts this provider with this credential."""
        return f"{self.provider.name}:{self.scope}"

    @property
    def method(self) -> str:
        """The name of the adapter's method."""
        return f"{self.verb}_together" if self.parts else self.verb

    def answer(self, rows: Any) -> Reading[Any]:
        return Reading(
            source=self.provider.name,
            status="ok" if rows else "no_data",
            value=rows,
            reason=None if rows else "empty",
            data_mode=settings().data_mode,
            taken_at=clock.now(),
            provider_checked_at=min((at for row in rows if (at := getattr(row, "checked_at", None))), default=None),
        )

    def refuse(self, why: Unanswered) -> Reading[Any]:
        """Turns an adapter's refusal into a reading; `no_data` is an answer, an empty one."""
        if why.status == "no_data":
            return replace(self.failure("no_data", why.reason), value=())
        return self.failure(why.status, why.reason, retry_after=why.retry_after)

    def failure(self, status: Status, reason: str, **fields: Any) -> Reading[Any]:
        return Reading(self.provider.name, status, None, reason, settings().data_mode, clock.now(), **fields)
