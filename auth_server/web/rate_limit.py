"""Rate limits per client address: requests a minute over all pages and endpoints, and who may send more."""

from shared.limits import address_key, choose_limit, hit

PER_MINUTE = 600
TRUSTED_PER_MINUTE = 20_000  # hosts that act for many people from few addresses


class RateLimited(Exception):
    """Too many requests from one address."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after


def limit_per_minute(peer: str) -> int | None:
    """The limit; None for no limit. An empty peer is one of our own programs."""
    return choose_limit(peer, PER_MINUTE, TRUSTED_PER_MINUTE) if peer else None


def count_request(peer: str) -> None:
    """Counts one more request that will use the database. Raises RateLimited."""
    limit = limit_per_minute(peer)
    if limit is None:
        return
    verdict = hit(f"doors:{address_key(peer)}", limit, 60)
    if not verdict.allowed:
        raise RateLimited(verdict.retry_after)
