"""Trip plans on points: journeys the balances can pay, with the payment of each, cheapest first.

Points and money are those of all travellers, money in one currency, points at what they are worth where they lie.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from heapq import nsmallest
from typing import Generic, TypeVar

from shared.domain.funding import Funds, Payments, find_payment, find_slowest, sum_cost
from shared.domain.transfers import POSTING, find_reach

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
    ends: frozenset[str] = frozenset()  # the places it goes between, the same for the way out and the way back

    @cached_property
    def worth(self) -> Decimal:
        """Taxes and points in money; 0 where one is not known."""
        if self.value is None or self.taxes is None:
            return Decimal(0)
        return self.taxes + self.points * self.value / 100

    @cached_property
    def rough(self) -> tuple[object, ...]:
        """Sort key before the payment is computed."""
        unknown = self.value is None or self.taxes is None
        return (unknown, self.worth, self.points, self.stops or 0, self.day)


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

    @cached_property
    def rough(self) -> tuple[object, ...]:
        out, back = self.out, self.back
        if back is None:
            return (out.rough[0], out.worth, out.points, out.day)
        return (out.rough[0] or back.rough[0], out.worth + back.worth, out.points + back.points, out.day)


@dataclass(frozen=True)
class PaidJourney(Generic[Offer]):
    """A journey with the balances that pay it, by programme."""

    journey: Journey[Offer]
    ways: Payments

    @cached_property
    def cost(self) -> Decimal | None:
        """The taxes and what the points spent are worth to the person."""
        spent = sum_cost(w for ways in self.ways.values() for w in ways)
        return None if self.journey.taxes is None or spent is None else self.journey.taxes + spent / 100

    @property
    def slowest(self) -> str:
        return find_slowest(w for ways in self.ways.values() for w in ways)

    @property
    def waits_for_days(self) -> bool:
        """Whether the points take days or an unknown time to arrive, in which the seat can go."""
        return POSTING.index(self.slowest) > POSTING.index("hours")

    @property
    def order(self) -> tuple[object, ...]:
        transfers = sum(w.path is not None for ways in self.ways.values() for w in ways)
        stops = sum(s.stops or 0 for s in self.journey.seats)
        cost = (self.cost is None, self.cost or Decimal(0))
        return (self.waits_for_days, *cost, *self.journey.rough, transfers, stops)


def pair_journeys(
    outs: Sequence[PlanSeat[Offer]], backs: Sequence[PlanSeat[Offer]] | None, nights: int | None
) -> Iterator[Journey[Offer]]:
    """Each way out, with each way back between the same places so many nights after it lands, where one is wanted."""
    if backs is None or nights is None:
        yield from map(Journey, outs)
        return
    by_day: dict[tuple[date, frozenset[str]], list[PlanSeat[Offer]]] = {}
    for seat in backs:
        by_day.setdefault((seat.day, seat.ends), []).append(seat)
    for out in outs:
        yield from (Journey(out, back) for back in by_day.get((out.lands_on + timedelta(days=nights), out.ends), ()))


def find_payable(seats: Iterable[PlanSeat[Offer]], funds: Funds) -> list[PlanSeat[Offer]]:
    """Finds those all balances together could pay; of one programme, day and pair of places the few cheapest."""
    most = {
        p: sum(x.points_delivered for x in reaches)
        for p, reaches in find_reach(funds.routes, funds.count_points()).items()
    }
    chosen_seats: dict[tuple[str, date, frozenset[str]], list[PlanSeat[Offer]]] = {}
    for seat in sorted((s for s in seats if s.points <= most.get(s.program, 0)), key=lambda s: s.rough):
        same = chosen_seats.setdefault((seat.program, seat.day, seat.ends), [])
        if len(same) < MAX_SEATS_PER_DAY:
            same.append(seat)
    return [seat for same in chosen_seats.values() for seat in same]


def rank_journeys(journeys: Iterable[Journey[Offer]], funds: Funds) -> list[PaidJourney[Offer]]:
    """The journeys the balances pay: those whose points arrive within hours first, then the cheapest."""
    payments: dict[tuple[tuple[str, int], ...], Payments | None] = {}
    plans = []
    for journey in nsmallest(MAX_JOURNEYS, journeys, key=lambda j: j.rough):
        needs = tuple(sorted(journey.needs.items()))
        if needs not in payments:
            payments[needs] = find_payment(journey.needs, funds)
        if ways := payments[needs]:
            plans.append(PaidJourney(journey, ways))
    return sorted(plans, key=lambda p: p.order)


def find_fallback(plans: Sequence[PaidJourney[Offer]]) -> PaidJourney[Offer] | None:
    """The next plan for when the best one's seats are gone: on other flights both ways, else on another way out."""
    if not plans:
        return None
    best = plans[0].journey
    flights = {s.flight for s in best.seats}
    others = [p for p in plans[1:] if p.journey.out.flight != best.out.flight]
    apart = (p for p in others if not flights & {s.flight for s in p.journey.seats})
    return next(apart, next(iter(others), None))
