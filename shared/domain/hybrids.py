"""Hybrid trips: an award on one leg and a cash ticket on the other, joined at a hub.

Both flights are separate tickets, so a connection needs time to collect bags and check in again.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Generic, TypeVar
from zoneinfo import ZoneInfo

MIN_CONNECTION = timedelta(hours=3)  # between separate tickets: bags are collected and checked in again
MAX_CONNECTION = timedelta(hours=24)
MAX_DETOUR = 1.25  # maximum length over a hub, relative to the direct distance
MIN_LEG_MILES = 100  # nearer airports serve the same city
MAX_HUBS = 5  # each hub costs two requests to every source
MAX_PAIRED_OFFERS = 40  # offers of each leg that are paired
Offer = TypeVar("Offer")
First = TypeVar("First")
Second = TypeVar("Second")
Miles = Callable[[str, str], int]


def find_hubs(origin: str, destination: str, airports: Iterable[str], miles: Miles) -> list[str]:
    """Hubs nearest to the direct route, best first."""
    direct = miles(origin, destination)
    over = {h: (miles(origin, h), miles(h, destination)) for h in set(airports) - {origin, destination}}
    near = {h: sum(legs) for h, legs in over.items() if min(legs) >= MIN_LEG_MILES and sum(legs) <= MAX_DETOUR * direct}
    return sorted(near, key=lambda h: (near[h], h))[:MAX_HUBS]


def is_award_first(origin: str, hub: str, destination: str, miles: Miles) -> bool:
    """Whether the award is the first leg: points go to the longer one, where they save most."""
    return miles(origin, hub) > miles(hub, destination)


@dataclass(frozen=True)
class HybridLeg(Generic[Offer]):
    """One offer on one leg. Times are moments if the source gives them; the cost is the total in one currency."""

    offer: Offer
    day: date  # of departure
    leaves: datetime | None
    lands: datetime | None
    cost: Decimal | None

    @property
    def order(self) -> tuple[bool, Decimal, date]:
        return (self.cost is None, self.cost or Decimal(0), self.day)

    @property
    def next_from(self) -> date | None:
        """The day from which a connection can leave, by the clock of the hub."""
        return (self.lands + MIN_CONNECTION).date() if self.lands else None


def parse_local_time(text: str | None, zone: str) -> datetime | None:
    """Parses a source's local time in the zone of its airport; None if unreadable."""
    try:
        return datetime.fromisoformat(text or "").replace(tzinfo=ZoneInfo(zone))
    except (ValueError, KeyError):  # a KeyError: no such zone
        return None


@dataclass(frozen=True)
class Pair(Generic[First, Second]):
    first: HybridLeg[First]
    second: HybridLeg[Second]
    layover: timedelta | None  # None: the times are unknown

    @property
    def cost(self) -> Decimal | None:
        return None if self.first.cost is None or self.second.cost is None else self.first.cost + self.second.cost

    @property
    def order(self) -> tuple[bool, bool, Decimal]:
        return (self.cost is None, self.layover is None, self.cost or Decimal(0))


def pair_legs(first: HybridLeg[First], second: HybridLeg[Second]) -> Pair[First, Second] | None:
    """Pairs two legs; None if the second cannot be caught, or leaves more than a day later."""
    if first.lands and second.leaves:
        # Subtracting local times would ignore a change to daylight saving time.
        layover = timedelta(seconds=second.leaves.timestamp() - first.lands.timestamp())
        return Pair(first, second, layover) if MIN_CONNECTION <= layover <= MAX_CONNECTION else None
    earliest = first.next_from or first.day
    return Pair(first, second, None) if second.day >= earliest else None


def find_best_pair(
    firsts: Sequence[HybridLeg[First]], seconds: Sequence[HybridLeg[Second]]
) -> Pair[First, Second] | None:
    """The cheapest feasible pair; those with known costs and times first."""
    earlier = sorted(firsts, key=lambda leg: leg.order)[:MAX_PAIRED_OFFERS]
    later = sorted(seconds, key=lambda leg: leg.order)[:MAX_PAIRED_OFFERS]
    pairs = [p for a in earlier for b in later if (p := pair_legs(a, b))]
    return min(pairs, key=lambda p: p.order, default=None)
