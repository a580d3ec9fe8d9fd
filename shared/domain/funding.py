"""Payment of awards from balances: by the fastest transfers that cover them, and of these the cheapest to the person.

An open seat can go while points are under way, so a slow transfer pays only where no faster one does.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from heapq import nsmallest
from itertools import permutations

from shared.domain.household import Apart
from shared.domain.transfer_options import Purse, Way, build_way, find_combinations, find_shortfall, find_ways
from shared.domain.transfers import POSTING, Edge, Network, TransferPath, count_amounts, find_sensible_paths

# Payment of one award from balances: the fastest transfer that covers it, since an open seat can be taken in the
# meantime.


@dataclass(frozen=True)
class SeatFunding:
    """The balances that pay; or none, and the points that are missing when all of them are transferred."""

    ways: tuple[Way, ...]
    missing: int


def find_funding(routes: Network, purses: Iterable[Purse], program: str, needed: int) -> SeatFunding:
    """One balance where one is enough, else a combination; of each the fastest, and of these the cheapest.

    What members hold is put together with it only where the person's own is not enough.
    """
    own = tuple(purses)
    for balances in dict.fromkeys((own, tuple(purse.pool() for purse in own))):
        ways = find_ways(routes, balances, program, needed)
        choices: list[tuple[Way, ...]] = [(way,) for way in ways if way.covers]
        choices = choices or [combination.parts for combination in find_combinations(ways, needed)]
        if choices:
            return SeatFunding(min(choices, key=_rank), 0)  # the first of equals: they come cheapest first
    return SeatFunding((), find_shortfall(ways, needed))


def _rank(ways: Sequence[Way]) -> tuple[int, int]:
    return max(POSTING.index(way.posting) for way in ways), sum(way.hops for way in ways)


Payments = Mapping[str, tuple[Way, ...]]
MAX_WALKS = 3  # of one speed between two programmes, besides the direct ones: others bring fewer points
MAX_CHOICES = 3  # payments of one programme that are tried before the other's
MAX_BEGUN = 3  # payments of the programmes so far that are tried with the next one's
MAX_PERMUTED = 2  # programmes that are paid in every order


class Funds:
    """Balances and the routes between programmes. Ways through the routes are looked up once.

    `apart` are balances of other members that cannot be joined.
    """

    def __init__(self, routes: Network, purses: Iterable[Purse], apart: Sequence[Apart] = ()) -> None:
        self.routes = routes
        self.purses = tuple(purses)
        self.apart = tuple(apart)
        self._walks: dict[tuple[str, str], list[tuple[int, tuple[Edge, ...]]]] = {}
        self._payments: dict[tuple[tuple[str, int], ...], Payments | None] = {}
        self._surveys: dict[tuple[object, ...], tuple[int, int]] = {}
        self._choices: dict[tuple[object, ...], list[tuple[Way, ...]]] = {}

    def leave_out(self, programs: Collection[str]) -> "Funds":
        """The same without the balances of these programmes."""
        others = Funds(self.routes, (p for p in self.purses if p.program not in programs), self.apart)
        others._walks = self._walks
        return others

    def pay(self, needs: Mapping[str, int]) -> Payments | None:
        """As find_payment, which is asked once for the same needs: journeys on other days cost the same points."""
        key = tuple(sorted(needs.items()))
        if key not in self._payments:
            self._payments[key] = find_payment(needs, self)
        return self._payments[key]

    def survey(self, purses: Sequence[Purse], goal: str, needed: int) -> tuple[int, int]:
        """The points that these purses together lack, and in how many ways they bring some."""
        key = (goal, needed, _describe_holdings(purses))
        if key not in self._surveys:
            ways = self.list_ways(purses, goal, needed)
            self._surveys[key] = find_shortfall(ways, needed), len(ways)
        return self._surveys[key]

    def list_choices(self, purses: Sequence[Purse], goal: str, needed: int, speed: int) -> list[tuple[Way, ...]]:
        """The best payments of one programme from what the purses hold still, looked up once."""
        key = (goal, needed, speed, _describe_holdings(purses))
        if key not in self._choices:
            self._choices[key] = _list_choices(self.list_ways(purses, goal, needed, speed), needed)
        return self._choices[key]

    @cached_property
    def household_purses(self) -> tuple[Purse, ...]:
        """The balances with those of other members, where the programme lets them put points together."""
        return tuple(purse.pool() for purse in self.purses)

    def count_points(self) -> dict[str, int]:
        """The points of the household by programme, as far as they can be put together."""
        return {purse.program: purse.points for purse in self.household_purses}

    def spend(self, payments: Payments) -> "Funds":
        """What these payments leave, for what is paid after them."""
        funds = Funds(self.routes, self.purses, self.apart)
        funds._walks = self._walks
        for ways in payments.values():
            pooled = {way.purse.program for way in ways if way.purse.pooled}
            balances = (purse.pool() if purse.program in pooled else purse for purse in funds.purses)
            funds.purses = _spend(balances, ways)
        return funds

    def list_ways(self, purses: Iterable[Purse], goal: str, needed: int, speed: int = len(POSTING) - 1) -> list[Way]:
        """The ways of these purses to the points by transfers at least so fast, an index of POSTING."""
        ways: list[Way] = []
        for purse in purses:
            if purse.points <= 0:
                continue
            if purse.program == goal:
                spent = min(purse.points, needed)
                ways.append(Way(purse, None, spent, spent, needed))
                continue
            for slowest, edges in self._find_walks(purse.program, goal):
                if slowest <= speed and (
                    way := build_way(purse, TransferPath(edges, count_amounts(edges, needed)), needed)
                ):
                    ways.append(way)
        return ways

    def _find_walks(self, source: str, goal: str) -> list[tuple[int, tuple[Edge, ...]]]:
        """The most generous ways of each speed, and all direct ones, which waste least of small amounts."""
        if (source, goal) not in self._walks:
            walks: list[tuple[int, tuple[Edge, ...]]] = []
            counts = [0] * len(POSTING)
            for path in find_sensible_paths(self.routes, source, goal):
                speed = POSTING.index(path.slowest)
                if counts[speed] < MAX_WALKS or len(path.edges) == 1:
                    counts[speed] += 1
                    walks.append((speed, path.edges))
            self._walks[source, goal] = walks
        return self._walks[source, goal]


def _describe_holdings(purses: Iterable[Purse]) -> tuple[tuple[int, bool], ...]:
    """What tells two states of the same balances apart: what is left of each, and whether members' points are in it."""
    return tuple((purse.points, bool(purse.pooled)) for purse in purses)


def find_payment(needs: Mapping[str, int], funds: Funds) -> Payments | None:
    """Which balances pay each programme, none of them twice; None when they do not reach.

    The slowest transfer is as fast as it can be, and no part is slower than its own programme needs. What members hold
    is put together only where the person's own balances do not reach.
    """
    for purses in dict.fromkeys((funds.purses, funds.household_purses)):
        if any(funds.survey(purses, program, points)[0] for program, points in needs.items()):
            continue
        for speed in range(len(POSTING)):
            every_order = (_pay_in_order(o, needs, funds, purses, speed) for o in _list_orders(needs, funds, purses))
            if payments := [payment for payment in every_order if payment is not None]:
                return min(payments, key=_rank_payments)
    return None


def _list_orders(needs: Mapping[str, int], funds: Funds, purses: tuple[Purse, ...]) -> Iterable[tuple[str, ...]]:
    """The orders in which programmes are paid: all of a few; of many by their points, and those by fewer ways first."""
    if len(needs) <= MAX_PERMUTED:
        return permutations(needs)
    by_points = sorted(needs, key=lambda program: (-needs[program], program))
    by_ways = sorted(by_points, key=lambda program: funds.survey(purses, program, needs[program])[1])
    return dict.fromkeys((tuple(by_points), tuple(by_ways)))


def _pay_in_order(
    order: Sequence[str], needs: Mapping[str, int], funds: Funds, purses: tuple[Purse, ...], speed: int
) -> Payments | None:
    """The best payment that pays the programmes one after the other, each from what the one before left."""
    partial: list[tuple[dict[str, tuple[Way, ...]], tuple[Purse, ...]]] = [({}, purses)]
    for program in order:
        if len(partial) > MAX_BEGUN:
            partial = nsmallest(MAX_BEGUN, partial, key=lambda begun: _rank_payments(begun[0]))
        partial = [
            ({**payments, program: ways}, _spend(rest, ways))
            for payments, rest in partial
            for ways in funds.list_choices(rest, program, needs[program], speed)
        ]
    return min((payments for payments, _ in partial), key=_rank_payments, default=None)


def _spend(purses: Iterable[Purse], ways: Iterable[Way]) -> tuple[Purse, ...]:
    spent = {w.purse.program: w.points_sent for w in ways}
    return tuple(p.spend(spent[p.program]) if p.program in spent else p for p in purses)


def _list_choices(ways: Sequence[Way], points: int) -> list[tuple[Way, ...]]:
    """The best payments of one programme: from one balance, or from several where that is cheaper or needed."""
    alone = sorted(((w,) for w in ways if w.covers), key=_rank_ways)
    choices: dict[str, tuple[Way, ...]] = {}
    for way in alone:
        choices.setdefault(way[0].purse.program, way)
    best = min((w.cents_per_point for w in ways if w.cents_per_point is not None), default=None)
    if not alone or best is None or alone[0][0].cents_per_point != best:
        for combination in find_combinations(ways, points, MAX_CHOICES):
            choices["+".join(w.purse.program for w in combination.parts)] = combination.parts
    return sorted(choices.values(), key=_rank_ways)[:MAX_CHOICES]


def find_slowest(ways: Iterable[Way]) -> str:
    """The slowest posting of these ways; `instant` where no transfer is needed."""
    return POSTING[max((POSTING.index(w.posting) for w in ways), default=0)]


def sum_cost(ways: Iterable[Way]) -> Decimal | None:
    """What the points spent are worth to the person, in cents; None where a value is not known."""
    costs = [w.cost for w in ways]
    return None if None in costs else sum((c for c in costs if c is not None), Decimal(0))


def _rank_ways(ways: Sequence[Way]) -> tuple[object, ...]:
    cost = sum_cost(ways)
    slowest = POSTING.index(find_slowest(ways))
    return (slowest, cost is None, cost or 0, len(ways), sum(w.hops for w in ways), ways[0].purse.program)


def _rank_payments(payments: Payments) -> tuple[object, ...]:
    speeds = sum(POSTING.index(find_slowest(ways)) for ways in payments.values())
    cost = sum_cost(w for ways in payments.values() for w in ways)
    return (speeds, cost is None, cost or 0, sum(map(len, payments.values())))


def find_lacking(needs: Mapping[str, int], funds: Funds) -> dict[str, int]:
    """The points that are missing in each programme, of the household together; none of what is held counts twice.

    The largest need takes first, and what a need has taken in part is gone for those after it.
    """
    lacking: dict[str, int] = {}
    purses = funds.household_purses
    for program, points in sorted(needs.items(), key=lambda need: (-need[1], need[0])):
        ways = funds.list_ways(purses, program, points)
        choices = _list_choices(ways, points)
        taken = choices[0] if choices else _take_most(ways, points)
        purses = _spend(purses, taken)
        if (missing := points - sum(way.points_delivered for way in taken)) > 0:
            lacking[program] = missing
    return lacking


def _take_most(ways: Iterable[Way], points: int) -> list[Way]:
    """The most generous way of each balance until they reach so many points, or all of them."""
    best: dict[str, Way] = {}
    for way in sorted(ways, key=lambda way: (way.path is not None, -way.points_delivered, way.hops)):
        best.setdefault(way.purse.program, way)
    taken: list[Way] = []
    for way in best.values():
        if sum(w.points_delivered for w in taken) < points:
            taken.append(way)
    return taken


def find_leftovers(purses: Iterable[Purse], payments: Payments, needs: Mapping[str, int]) -> dict[str, int]:
    """What each balance holds once everything is paid, with what transfers in whole blocks bring beyond the need."""
    pooled = {way.purse.program for ways in payments.values() for way in ways if way.purse.pooled}
    points = {p.program: p.pool().points if p.program in pooled else p.points for p in purses}
    for program, ways in payments.items():
        for way in ways:
            points[way.purse.program] -= way.points_sent
            if way.path and way.path.amounts:
                steps = zip(way.path.edges, way.path.amounts, way.path.amounts[1:], strict=False)
                for edge, amount, forwarded in steps:
                    points[edge.target] = points.get(edge.target, 0) + edge.points_received(amount) - forwarded
        spare = sum(w.points_delivered for w in ways) - needs[program]
        points[program] = points.get(program, 0) + spare
    return points
