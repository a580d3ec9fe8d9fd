"""One address at all doors together: who asks goes in; over the limit of the minute nobody gets further."""

from auth_server.oauth.registration import allowance
from shared.limits import address_key, hit

PER_MINUTE = 600
TRUSTED_PER_MINUTE = 20_000  # hosts that act for many people from few addresses


class RateLimited(Exception):
    """Too many requests from one address."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after


def limit(peer: str) -> int | None:
    """None is without limit. An empty peer is one of our own programs."""
    return allowance(peer, PER_MINUTE, TRUSTED_PER_MINUTE) if peer else None


def count(peer: str) -> None:
    """One more request that will use the database. Raises Crowded."""
    most = limit(peer)
    if most is None:
        return
    verdict = hit(f"doors:{address_key(peer)}", most, 60)
    if not verdict.allowed:
        raise RateLimited(verdict.retry_after)
