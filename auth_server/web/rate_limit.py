"""Rate limits per client address: requests a minute over all pages and endpoints, and who is allowed more."""

import ipaddress

from shared.limits import address_key, hit
from shared.settings import SettingsError, settings

PER_MINUTE = 600
TRUSTED_PER_MINUTE = 20_000  # hosts that act for many people from few addresses


class RateLimited(Exception):
    """Too many requests from one address."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after


def parse_trusted_ranges() -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """The networks of well-known hosts, which act for many people; raises SettingsError when unreadable."""
    ranges = [r.strip() for r in settings().dcr_trusted_ranges.split(",") if r.strip()]
    try:
        return [ipaddress.ip_network(r, strict=False) for r in ranges]
    except ValueError:
        raise SettingsError("DCR_TRUSTED_RANGES: must be a comma list of networks such as 160.79.104.0/21") from None


def choose_limit(peer: str, usual: int, trusted: int) -> int | None:
    """The limit of an address: higher for trusted networks, none (None) for this machine itself."""
    try:
        ip = ipaddress.ip_address(peer)
    except ValueError:
        return usual
    ip = getattr(ip, "ipv4_mapped", None) or ip
    if ip.is_loopback:
        return None
    return trusted if any(ip in network for network in parse_trusted_ranges()) else usual


def limit_per_minute(peer: str) -> int | None:
    """None is without limit. An empty peer is one of our own programs."""
    return choose_limit(peer, PER_MINUTE, TRUSTED_PER_MINUTE) if peer else None


def count_request(peer: str) -> None:
    """Counts one more request that will use the database. Raises RateLimited."""
    limit = limit_per_minute(peer)
    if limit is None:
        return
    verdict = hit(f"doors:{address_key(peer)}", limit, 60)
    if not verdict.allowed:
        raise RateLimited(verdict.retry_after)
