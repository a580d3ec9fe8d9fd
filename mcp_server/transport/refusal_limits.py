"""Limits on bad tokens by address; tokens that were good recently are never kept out by them."""

import math
import time
from collections import OrderedDict

from shared.limits import address_key, choose_limit, hit

REFUSALS_PER_MINUTE = 600  # of one address that the auth server was asked about: guesses, or a host of many people
TRUSTED_REFUSALS_PER_MINUTE = 20_000  # of networks that act for many people: some 36,000 tokens an hour expire there
LOOKUPS_WHEN_CROWDED = 5  # unknown tokens of a crowded address that are still looked up each second
GOOD_SECONDS = 3600.0  # that a good token is remembered, by digest: the lifetime of an access token
MAX_REMEMBERED = 50_000  # tokens, and addresses


class RefusalLimits:
    """Counts refused tokens of each address, and remembers which tokens were good within the last hour."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.good_until: OrderedDict[str, float] = OrderedDict()  # by digest of the token
        self.crowded_until: OrderedDict[str, float] = OrderedDict()  # by address
        self.lookups: dict[str, tuple[int, int]] = {}  # of crowded addresses: the second, and how many in it

    def remember_good(self, name: str) -> None:
        _put(self.good_until, name, time.monotonic() + GOOD_SECONDS)

    def find_wait(self, name: str, address: str) -> int:
        """Seconds this token of this address has to wait before it is looked up; 0 when it need not."""
        now = time.monotonic()
        wait = self.crowded_until.get(address_key(address), 0.0) - now
        if wait <= 0 or self.good_until.get(name, 0.0) > now or self._take_lookup(address_key(address), int(now)):
            return 0
        return math.ceil(wait)

    def _take_lookup(self, address: str, second: int) -> bool:
        last_second, count = self.lookups.get(address, (second, 0))
        count = count + 1 if last_second == second else 1
        if len(self.lookups) > MAX_REMEMBERED:
            self.lookups.clear()
        self.lookups[address] = (second, count)
        return count <= LOOKUPS_WHEN_CROWDED

    def count_refusal(self, address: str) -> None:
        """One more refused token; over the limit the address counts as crowded until the minute ends."""
        limit = choose_limit(address, REFUSALS_PER_MINUTE, TRUSTED_REFUSALS_PER_MINUTE) or REFUSALS_PER_MINUTE
        verdict = hit(f"refused:{self.prefix}:{address_key(address)}", limit, 60)
        if not verdict.allowed:
            _put(self.crowded_until, address_key(address), time.monotonic() + verdict.retry_after)


def _put(moments: "OrderedDict[str, float]", name: str, moment: float) -> None:
    """The newest last; the oldest go first when there are too many."""
    moments[name] = moment
    moments.move_to_end(name)
    while len(moments) > MAX_REMEMBERED:
        moments.popitem(last=False)
