"""One question on its way to one provider, with the credential it is asked with and the place its answer is kept at."""

from dataclasses import dataclass
from typing import Any

from shared import clock
from shared.providers import cache
from shared.providers.contract import Provider, Reading, Status
from shared.settings import settings

QUOTA = "quota"


@dataclass(frozen=True)
class ProviderRequest:
    """`scope` says whose credential it is: of the operator, of one account, or of nobody."""

    provider: Provider
    verb: str
    question: Any
    credential: str | None
    scope: str
    place: cache.CacheKey
    account_id: int | None
    background: bool

    @property
    def health(self) -> str:
        return f"{self.provider.name}:{self.scope}"

    def failure(self, status: Status, reason: str, **more: Any) -> Reading[Any]:
        return Reading(self.provider.name, status, None, reason, settings().data_mode, clock.now(), **more)
