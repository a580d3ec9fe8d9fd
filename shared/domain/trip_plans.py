"""Trip plans on points: journeys the balances can pay, with the payment of each, cheapest first.

Points and money are those of all travellers, money in one currency, points at what they are worth where they lie.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Generic, TypeVar

from shared.domain import transfer_options
from shared.domain.transfer_options import Purse, Way
from shared.domain.transfers import Network, find_reach

MAX_JOURNEYS = 150  # journeys whose payment is computed, in the order of their estimated cost
MAX_SEATS_PER_DAY = 3  # offers of one programme on one day
Offer = TypeVar("Offer")


@dataclass(frozen=True)
class PlanSeat(Generic[Offer]):
    """One way by one offer. `value` is what a point of its programme is usually worth, in hundredths."""

    offer: Offer
    program: str
    flight: str  # airline and day: two programmes may sell the same seats
    points: int
    taxes: Decimal | None
    value: Decimal | None
    day: date
    lands_on: date
    stops: int | None

    @property
    def rough(self) -> tuple[object, ...]:
        """Sort key before the payment is computed."""
        worth = None if self.value is None or self.taxes is None else self.taxes + self.points * self.value / 100
        return (worth is None, worth or Decimal(0), self.points, self.stops or 0, self.day)


@dataclass(frozen=True)
class Journey(Generic[Offer]):
    out: PlanSeat[Offer]
    back: PlanSeat[Offer] | None = None

    @property
    def seats(self) -> tuple[PlanSeat[Offer], ...]:
        return (self.out, self.back) if self.back else (self.out,)

    @property
    def needs(self) -> dict[str, int]:
        """Points by programme: both ways of one programme are paid together."""
        sums: dict[str, int] = {}
        for seat in self.seats:
            sums[seat.program] = sums.get(seat.program, 0) + seat.points
        return sums

    @property
    def taxes(self) -> Decimal | None:
        taxes = [s.taxes for s in self.seats]
        return None if None in taxes else sum((t for t in taxes if t is not None), Decimal(0))

    @property
    def rough(self) -> tuple[object, ...]:
        both = [s.rough for s in self.seats]
        worths = [r[1] for r in both]
        worth = sum((w for w in worths if isinstance(w, Decimal)), Decimal(0))
        return (any(r[0] for r in both), worth, sum(s.points for s in self.seats), self.out.day)


@dataclass(frozen=True)
class PaidJourney(Generic[Offer]):
    """A journey with the balances that pay it, by programme."""

    journey: Journey[Offer]
    ways: Mapping[str, tuple[Way, ...]]

    @property
    def cost(self) -> Decimal | None:
        """The taxes and what the points spent would be worth elsewhere."""
        spent = [w.cost for ways in self.ways.values() for w in ways]
        if self.journey.taxes is None or None in spent:
            return None
        return self.journey.taxes + sum((c for c in spent if c is not None), Decimal(0)) / 100

    @property
    def order(self) -> tuple[object, ...]:
        transfers = sum(w.path is not None for ways in self.ways.values() for w in ways)
        stops = sum(s.stops or 0 for s in self.journey.seats)
        return (self.cost is None, self.cost or Decimal(0), *self.journey.rough, transfers, stops)


def pair_journeys(
    outs: Sequence[PlanSeat[Offer]], backs: Sequence[PlanSeat[Offer]] | None, nights: int | None
) -> Iterator[Journey[Offer]]:
    """Each way out, with each way back so many nights after it lands where a return is wanted. There can be many."""
    if backs is None or nights is None:
        yield from map(Journey, outs)
        return
    by_day: dict[date, list[PlanSeat[Offer]]] = {}
    for seat in backs:
        by_day.setdefault(seat.day, []).append(seat)
    for out in outs:
        yield from (Journey(out, back) for back in by_day.get(out.lands_on + timedelta(days=nights), ()))


def find_payable(seats: Iterable[PlanSeat[Offer]], routes: Network, purses: Sequence[Purse]) -> list[PlanSeat[Offer]]:
    """Those all balances together could pay; of one programme and day the few cheapest."""
    most = {
        p: sum(x.points_delivered for x in reaches)
        for p, reaches in find_reach(routes, {p.program: p.points for p in purses}).items()
    }
    chosen_seats: dict[tuple[str, date], list[PlanSeat[Offer]]] = {}
    for seat in sorted((s for s in seats if s.points <= most.get(s.program, 0)), key=lambda s: s.rough):
        same = chosen_seats.setdefault((seat.program, seat.day), [])
        if len(same) < MAX_SEATS_PER_DAY:
            same.append(seat)
    return [seat for same in chosen_seats.values() for seat in same]


def find_payment(
    needs: Mapping[str, int], routes: Network, purses: Sequence[Purse]
) -> dict[str, tuple[Way, ...]] | None:
    """Which balances pay each programme, none of them twice; None when they do not reach."""
    purses_left = list(purses)
    payments: dict[str, tuple[Way, ...]] = {}
    for program, points in sorted(needs.items(), key=lambda need: (-need[1], need[0])):
        ways = _find_cheapest(transfer_options.find_ways(routes, purses_left, program, points), points)
        if ways is None:
            return None
        payments[program] = ways
        spent = {w.purse.program: w.points_sent for w in ways}
        purses_left = [replace(p, points=p.points - spent.get(p.program, 0)) for p in purses_left]
    return payments


def _find_cheapest(ways: Sequence[Way], points: int) -> tuple[Way, ...] | None:
    alone = [(w,) for w in ways if w.covers][:1]
    choices = [*alone, *(c.parts for c in transfer_options.find_combinations(ways, points, 1))]
    return min(choices, key=_price_key, default=None)


def _price_key(ways: Sequence[Way]) -> tuple[bool, Decimal, int]:
    costs = [w.cost for w in ways]
    return (None in costs, sum((c for c in costs if c is not None), Decimal(0)), len(ways))


def rank_journeys(
    journeys: Iterable[Journey[Offer]], routes: Network, purses: Sequence[Purse]
) -> list[PaidJourney[Offer]]:
    """The journeys the balances pay, cheapest first."""
    payments: dict[tuple[tuple[str, int], ...], dict[str, tuple[Way, ...]] | None] = {}
    plans = []
    for journey in sorted(journeys, key=lambda j: j.rough)[:MAX_JOURNEYS]:
        needs = tuple(sorted(journey.needs.items()))
        if needs not in payments:
            payments[needs] = find_payment(journey.needs, routes, purses)
        if ways := payments[needs]:
            plans.append(PaidJourney(journey, ways))
    return sorted(plans, key=lambda p: p.order)


def find_fallback(plans: Sequence[PaidJourney[Offer]]) -> PaidJourney[Offer] | None:
    """The next plan for when the best one's seats are gone: on other flights both ways, else on another way out."""
    if not plans:
        return None
    best = plans[0].journey
    taken = {s.flight for s in best.seats}
    others = [p for p in plans[1:] if p.journey.out.flight != best.out.flight]
    apart = (p for p in others if not taken & {s.flight for s in p.journey.seats})
    return next(apart, next(iter(others), None))
