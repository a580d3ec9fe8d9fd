"""One question to one provider, with the credential it is sent with and the cache key of its answer."""

from dataclasses import dataclass
from typing import Any

from shared import clock
from shared.providers import cache
from shared.providers.contract import Provider, Reading, Status
from shared.settings import settings

QUOTA = "quota"  # of the source's day, for everybody
PUT_OFF = "put_off"  # the calls that are left are kept for people, or for later in the day


@dataclass(frozen=True)
class ProviderRequest:
    """`scope` says whose credential it is: the operator's, one account's or nobody's."""

    provider: Provider
    verb: str
    question: Any
    credential: str | None
    scope: str
    cache_key: cache.CacheKey
    account_id: int | None
    background: bool
    can_wait: bool = False  # a check that loses nothing by being done later in the day

    @property
    def health(self) -> str:
        """The name under which the circuit breaker counts this provider with this credential."""
        return f"{self.provider.name}:{self.scope}"

    def failure(self, status: Status, reason: str, **fields: Any) -> Reading[Any]:
        return Reading(self.provider.name, status, None, reason, settings().data_mode, clock.now(), **fields)
