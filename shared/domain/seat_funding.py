"""Payment of one award from balances: the fastest transfer that covers it, since an open seat can be taken in the
meantime.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shared.domain.transfer_options import Purse, Way, find_combinations, find_shortfall, find_ways
from shared.domain.transfers import POSTING, Network


@dataclass(frozen=True)
class SeatFunding:
    """The balances that pay; or none, and the points that are missing when all of them are transferred."""

    ways: tuple[Way, ...]
    missing: int


def find_funding(routes: Network, purses: Iterable[Purse], program: str, needed: int) -> SeatFunding:
    """One balance where one is enough, else a combination; of each the fastest, and of these the cheapest."""
    ways = find_ways(routes, purses, program, needed)
    choices: list[tuple[Way, ...]] = [(way,) for way in ways if way.covers]
    choices = choices or [combination.parts for combination in find_combinations(ways, needed)]
    if not choices:
        return SeatFunding((), find_shortfall(ways, needed))
    return SeatFunding(min(choices, key=_rank), 0)  # the first of equals: they come cheapest first


def _rank(ways: Sequence[Way]) -> tuple[int, int]:
    return max(POSTING.index(way.posting) for way in ways), sum(way.hops for way in ways)
