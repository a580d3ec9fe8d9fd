"""Trip plans on points: journeys the balances can pay, with the payment of each, cheapest first.

Points and money are those of all travellers, money in one currency, points at what they are worth where they lie.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from heapq import nsmallest
from itertools import pairwise
from typing import Generic, TypeVar

from shared.domain.airport_pairs import JourneyEnd
from shared.domain.funding import Funds, Payments, find_slowest, sum_cost
from shared.domain.transfers import POSTING, find_reach

MAX_JOURNEYS = 150  # journeys whose payment is computed, in the order of their estimated cost
MAX_OTHERS = 30  # plans that are tried with the points that the best one leaves over
MAX_SEATS_PER_DAY = 3  # offers of one programme on one day
MAX_LONG_JOURNEYS = 60  # the same of more than two flights, whose payment takes longer
MAX_NIGHTS_NAMED = 3  # stays that would have seats
MAX_BEGUN = 40  # starts of a longer trip to extend
Offer = TypeVar("Offer")
CanPay = Callable[[Mapping[str, int]], bool]


@dataclass(frozen=True)
class Leg:
    """One wished flight of a trip: between two places, that many nights after the flight before landed.

    `slack`: how many nights more or fewer will do; one night stays.
    """

    start: JourneyEnd
    end: JourneyEnd
    nights: int = 0
    slack: int = 0


@dataclass(frozen=True)
class VoucherCut:
    """The points that a voucher of the person takes off one flight."""

    voucher_id: int
    name: str
    points: int


@dataclass(frozen=True)
class PlanSeat(Generic[Offer]):
    """One way by one offer. `value` is what a point of its programme is usually worth, in hundredths.

    `points` are what is paid, after `cut`.
    """

    offer: Offer
    program: str
    flight: str  # airline and day: two programmes may sell the same seats
    points: int
    taxes: Decimal | None
    value: Decimal | None
    day: date
    lands_on: date
    stops: int | None
    ends: tuple[str, str] = ("", "")  # the places it goes from and to: a city, or an airport near it
    cut: VoucherCut | None = None

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
    """All flights of a trip in their order."""

    seats: tuple[PlanSeat[Offer], ...]

    @property
    def out(self) -> PlanSeat[Offer]:
        return self.seats[0]

    @property
    def back(self) -> PlanSeat[Offer] | None:
        """The flight home; None where the trip ends elsewhere."""
        last = self.seats[-1]
        return last if len(self.seats) > 1 and last.ends[1] == self.out.ends[0] else None

    @property
    def onward(self) -> tuple[PlanSeat[Offer], ...]:
        """The flights after the first, without the flight home."""
        return self.seats[1:-1] if self.back else self.seats[1:]

    @property
    def nights(self) -> list[int]:
        """Between each two flights."""
        return [(after.day - before.lands_on).days for before, after in pairwise(self.seats)]

    @cached_property
    def needs(self) -> dict[str, int]:
        """Points by programme: all flights of one programme are paid together."""
        return sum_needs(self.seats)

    @property
    def cuts(self) -> list[VoucherCut]:
        return [seat.cut for seat in self.seats if seat.cut]

    @property
    def is_bookable(self) -> bool:
        """Whether each voucher is on flights of one airline: it is for one booking."""
        airlines = {(seat.cut.voucher_id, seat.flight.partition("|")[0]) for seat in self.seats if seat.cut}
        return len(airlines) == len({voucher for voucher, _ in airlines})

    def choose_funds(self, funds: Funds) -> Funds:
        """With a voucher, those without tickets that other members book: one account books all."""
        return funds.without_tickets if self.cuts else funds

    @property
    def taxes(self) -> Decimal | None:
        taxes = [s.taxes for s in self.seats]
        return None if None in taxes else sum((t for t in taxes if t is not None), Decimal(0))

    @cached_property
    def rough(self) -> tuple[object, ...]:
        return _rank_roughly(self.seats)


def sum_needs(seats: Iterable[PlanSeat[Offer]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for seat in seats:
        sums[seat.program] = sums.get(seat.program, 0) + seat.points
    return sums


def _rank_roughly(seats: Sequence[PlanSeat[Offer]]) -> tuple[object, ...]:
    first = seats[0]
    unknown, worth, points = first.rough[0], first.worth, first.points
    for seat in seats[1:]:
        unknown = unknown or seat.rough[0]
        worth += seat.worth
        points += seat.points
    return (unknown, worth, points, first.day)


@dataclass(frozen=True)
class PaidJourney(Generic[Offer]):
    """A journey with the balances that pay it, by programme."""

    journey: Journey[Offer]
    ways: Payments

    @cached_property
    def cost(self) -> Decimal | None:
        """The taxes plus what the points spent are worth to the person."""
        spent = sum_cost(w for ways in self.ways.values() for w in ways)
        return None if self.journey.taxes is None or spent is None else self.journey.taxes + spent / 100

    @property
    def slowest(self) -> str:
        return find_slowest(w for ways in self.ways.values() for w in ways)

    @property
    def spent_programs(self) -> set[str]:
        """The programmes of the balances that are spent."""
        return {w.purse.program for ways in self.ways.values() for w in ways}

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


Chain = tuple[PlanSeat[Offer], ...]


def join_legs(
    sides: Sequence[Sequence[PlanSeat[Offer]]], legs: Sequence[Leg], can_pay: CanPay = bool
) -> Iterator[Journey[Offer]]:
    """Journeys with one seat of each leg, each that many nights after the one before lands, from where it lands.

    A leg from another place starts there, and one that goes home ends where the journey started. All journeys
    of two legs; of more, those that go on from the cheapest beginnings that `can_pay` lets through.
    """
    useful = _drop_dead_ends(sides, legs)
    chains: Iterable[Chain[Offer]] = [(seat,) for seat in useful[0]]
    for at in range(1, len(legs)):
        if len(legs) > 2:
            chains = _thin(chains, can_pay)
        chains = _extend(chains, useful[at], legs, at)
    yield from map(Journey, chains)


def _list_next_starts(seat: PlanSeat[Offer], legs: Sequence[Leg], at: int) -> list[tuple[date, str]]:
    """The days and the place of the next leg's start after the previous leg's seat."""
    leg = legs[at]
    place = leg.start.code if leg.start.code != legs[at - 1].end.code else seat.ends[1]
    fewest = max(leg.nights - leg.slack, min(leg.nights, 1))
    return [(seat.lands_on + timedelta(days=n), place) for n in range(fewest, leg.nights + leg.slack + 1)]


def _drop_dead_ends(
    sides: Sequence[Sequence[PlanSeat[Offer]]], legs: Sequence[Leg]
) -> Sequence[Sequence[PlanSeat[Offer]]]:
    """Drops seats that no seat of the next leg can follow."""
    useful: list[Sequence[PlanSeat[Offer]]] = [sides[-1]]
    for at in range(len(legs) - 1, 0, -1):
        starts = {(seat.day, seat.ends[0]) for seat in useful[0]}
        useful.insert(0, [s for s in sides[at - 1] if not starts.isdisjoint(_list_next_starts(s, legs, at))])
    return useful


def _extend(
    chains: Iterable[Chain[Offer]], seats: Sequence[PlanSeat[Offer]], legs: Sequence[Leg], at: int
) -> Iterator[Chain[Offer]]:
    goes_home = legs[at].end.code == legs[0].start.code
    onward: dict[tuple[tuple[date, str], str], list[PlanSeat[Offer]]] = {}
    for seat in seats:
        onward.setdefault(((seat.day, seat.ends[0]), seat.ends[1] if goes_home else ""), []).append(seat)
    for chain in chains:
        home = chain[0].ends[0] if goes_home else ""
        for start in _list_next_starts(chain[-1], legs, at):
            yield from ((*chain, seat) for seat in onward.get((start, home), ()))


def _thin(chains: Iterable[Chain[Offer]], can_pay: CanPay) -> list[Chain[Offer]]:
    """The cheapest beginnings: of each day and place they lead to, one for each choice of programmes."""
    chosen_chains: dict[tuple[object, ...], Chain[Offer]] = {}
    for chain in sorted(chains, key=_rank_roughly):
        ends = (chain[-1].lands_on, chain[-1].ends[1], chain[0].ends[0])
        key = (*ends, frozenset(seat.program for seat in chain))
        if key not in chosen_chains and can_pay(sum_needs(chain)):
            chosen_chains[key] = chain
            if len(chosen_chains) == MAX_BEGUN:
                break
    return list(chosen_chains.values())


def list_possible_nights(sides: Sequence[Sequence[PlanSeat[Offer]]], legs: Sequence[Leg]) -> list[int]:
    """The nights between a seat there and one home, those nearest to the wish."""
    out, home = sides
    stays = {(b.day - a.lands_on).days for a in out for b in home if a.ends == b.ends[::-1]}
    nearest = sorted((n for n in stays if n > 0), key=lambda n: (abs(n - legs[1].nights), n))
    return sorted(nearest[:MAX_NIGHTS_NAMED])


def find_payable(seats: Iterable[PlanSeat[Offer]], funds: Funds) -> list[PlanSeat[Offer]]:
    """Finds those all balances together could pay; of one programme, day and pair of places the few cheapest.

    A point is worth what it costs in points that are held: three of a bank for one make a cheap award dear.
    """
    held_points = Counter(funds.count_points())
    for balance in funds.apart:
        held_points[balance.program] += balance.points
    most = {p: sum(x.points_delivered for x in reaches) for p, reaches in find_reach(funds.routes, held_points).items()}
    chosen_seats: dict[tuple[object, ...], list[PlanSeat[Offer]]] = {}
    for seat in sorted((s for s in seats if s.points <= most.get(s.program, 0)), key=lambda s: s.rough):
        same = chosen_seats.setdefault((seat.program, seat.day, seat.ends, seat.cut is None), [])
        if len(same) < MAX_SEATS_PER_DAY:
            same.append(seat)
    prices: dict[str, Decimal | None] = {}  # what a point of the programme costs in points that are held
    for same in chosen_seats.values():
        if (program := same[0].program) not in prices:
            ways = funds.list_ways(funds.household_purses, program, most[program])
            prices[program] = min((w.cents_per_point for w in ways if w.cents_per_point is not None), default=None)
    return [replace(s, value=prices[s.program] or s.value) for same in chosen_seats.values() for s in same]


def rank_journeys(journeys: Iterable[Journey[Offer]], funds: Funds) -> list[PaidJourney[Offer]]:
    """The journeys the balances pay: those whose points arrive within hours first, then the cheapest."""
    cheapest = nsmallest(MAX_JOURNEYS, journeys, key=lambda j: j.rough)
    if cheapest and len(cheapest[0].seats) > 2:
        del cheapest[MAX_LONG_JOURNEYS:]
    plans = [PaidJourney(j, ways) for j in cheapest if (ways := j.choose_funds(funds).pay(j.needs))]
    return sorted(plans, key=lambda p: p.order)


def find_fallback(plans: Sequence[PaidJourney[Offer]], funds: Funds) -> PaidJourney[Offer] | None:
    """The next plan for when the best one's seats are gone: on other flights all the way, else on another way out.

    One that spends other points than the best comes first, unless its points take days to arrive.
    """
    if not plans:
        return None
    best = plans[0]
    flights = {s.flight for s in best.journey.seats}
    others = [p for p in plans[1:] if p.journey.out.flight != best.journey.out.flight]
    others.sort(key=lambda p: bool(flights & {s.flight for s in p.journey.seats}))
    unspent = funds.leave_out(best.spent_programs)
    for plan in others[:MAX_OTHERS]:
        if ways := plan.journey.choose_funds(unspent).pay(plan.journey.needs):
            other = PaidJourney(plan.journey, ways)
            if best.waits_for_days or not other.waits_for_days:
                return other
    return next(iter(others), None)
