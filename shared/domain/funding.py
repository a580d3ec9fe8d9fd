"""Payment of awards from balances: by the fastest transfers that cover them, and among these the cheapest.

An open seat can go while points are on their way, so a slow transfer pays only if no faster one does.
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
    """One balance if enough, else a combination; the fastest, and among these the cheapest.

    Members' points are pooled with it only if the person's own are not enough.
    """
    own = tuple(purses)
    for balances in dict.fromkeys((own, tuple(purse.pool() for purse in own))):
        ways = find_ways(routes, balances, program, needed)
        choices: list[tuple[Way, ...]] = [(way,) for way in ways if way.covers]
        choices = choices or [combination.parts for combination in find_combinations(ways, needed)]
        if choices:
            return SeatFunding(min(choices, key=_rank), 0)  # the first of equals: they are sorted cheapest first
    return SeatFunding((), find_shortfall(ways, needed))


def _rank(ways: Sequence[Way]) -> tuple[int, int]:
    return max(POSTING.index(way.posting) for way in ways), sum(way.hops for way in ways)


Payments = Mapping[str, tuple[Way, ...]]
MAX_WALKS = 3  # of one speed between two programmes, besides the direct ones: others yield fewer points
MAX_CHOICES = 3  # payments of one programme to try before the other's
MAX_BEGUN = 3  # payments so far to try with the next programme's
MAX_PERMUTED = 2  # programmes paid in every order


class Funds:
    """Balances and the routes between programmes. Ways through the routes are looked up once.

    `apart` are balances of other members that cannot be joined; they pay for whole tickets of the `travellers`.
    """

    def __init__(
        self, routes: Network, purses: Iterable[Purse], apart: Sequence[Apart] = (), travellers: int = 1
    ) -> None:
        self.routes = routes
        self.purses = tuple(purses)
        self.apart = tuple(apart)
        self.travellers = travellers
        self._walks: dict[tuple[str, str], list[tuple[int, tuple[Edge, ...]]]] = {}
        self._payments: dict[tuple[tuple[str, int], ...], Payments | None] = {}
        self._surveys: dict[tuple[object, ...], tuple[int, int]] = {}
        self._choices: dict[tuple[object, ...], list[tuple[Way, ...]]] = {}

    def leave_out(self, programs: Collection[str]) -> "Funds":
        """The same without the balances of these programmes."""
        purses = (purse for purse in self.purses if purse.program not in programs)
        return self._replace(purses, [balance for balance in self.apart if balance.program not in programs])

    @cached_property
    def without_tickets(self) -> "Funds":
        """The same without what other members could pay in tickets of their own."""
        return self._replace(self.purses, ()) if self.apart else self

    def _replace(self, purses: Iterable[Purse], apart: Sequence[Apart]) -> "Funds":
        """Others on the same routes, whose ways are known already."""
        others = Funds(self.routes, purses, apart, self.travellers)
        others._walks = self._walks
        return others

    def pay(self, needs: Mapping[str, int]) -> Payments | None:
        """Like find_payment, but cached by needs: journeys on other days cost the same points."""
        key = tuple(sorted(needs.items()))
        if key not in self._payments:
            self._payments[key] = find_payment(needs, self) or self._pay_in_tickets(needs)
        return self._payments[key]

    def _pay_in_tickets(self, needs: Mapping[str, int]) -> Payments | None:
        """A payment in which other members book tickets from what cannot be joined, as few as are needed."""
        for most in range(1, self.travellers + 1) if self.apart else ():
            rest, tickets = self.book_tickets(needs, most)
            own = find_payment(rest, self) if rest and tickets else {}
            if tickets and own is not None:
                return {program: (*own.get(program, ()), *tickets.get(program, ())) for program in needs}
        return None

    def book_tickets(self, needs: Mapping[str, int], most: int) -> tuple[dict[str, int], dict[str, tuple[Way, ...]]]:
        """What stays to be paid once other members have booked at most so many tickets of each programme, and how."""
        rest, tickets = dict(needs), dict[str, tuple[Way, ...]]()
        for member in dict.fromkeys(balance.member for balance in self.apart):
            theirs = self._replace((b.to_purse() for b in self.apart if b.member == member), ())
            for program, points in needs.items():
                price = max(points // self.travellers, 1)
                booked = (points - rest.get(program, 0)) // price
                for count in range(min(most, self.travellers) - booked, 0, -1):
                    if payment := find_payment({program: count * price}, theirs):
                        theirs = theirs.spend(payment)
                        tickets[program] = (*tickets.get(program, ()), *payment[program])
                        rest[program] -= count * price
                        break
        return {program: points for program, points in rest.items() if points}, tickets

    def survey(self, purses: Sequence[Purse], goal: str, needed: int) -> tuple[int, int]:
        """The points that these purses together lack, and the number of ways they provide some."""
        key = (goal, needed, _describe_holdings(purses))
        if key not in self._surveys:
            ways = self.list_ways(purses, goal, needed)
            self._surveys[key] = find_shortfall(ways, needed), len(ways)
        return self._surveys[key]

    def list_choices(self, purses: Sequence[Purse], goal: str, needed: int, speed: int) -> list[tuple[Way, ...]]:
        """The best payments of one programme from what is left in the purses, looked up once."""
        key = (goal, needed, speed, _describe_holdings(purses))
        if key not in self._choices:
            self._choices[key] = _list_choices(self.list_ways(purses, goal, needed, speed), needed)
        return self._choices[key]

    @cached_property
    def household_purses(self) -> tuple[Purse, ...]:
        """The balances with those of other members, if the programme lets them pool points."""
        return tuple(purse.pool() for purse in self.purses)

    def count_points(self) -> dict[str, int]:
        """The points of the household by programme, as far as they can be pooled."""
        return {purse.program: purse.points for purse in self.household_purses}

    def spend(self, payments: Payments) -> "Funds":
        """What these payments leave, for what is paid after them."""
        funds = self._replace(self.purses, self.apart)
        for ways in payments.values():
            pooled = {way.purse.program for way in ways if way.purse.pooled}
            balances = (purse.pool() if purse.program in pooled else purse for purse in funds.purses)
            funds.purses = _spend(balances, ways)
        return funds

    def list_ways(self, purses: Iterable[Purse], goal: str, needed: int, speed: int = len(POSTING) - 1) -> list[Way]:
        """The ways from these purses to the points by transfers at least this fast (an index of POSTING)."""
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
        """The most generous ways of each speed, and all direct ones, which waste the least of small amounts."""
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
    """A key for a state of the balances: what is left of each, and whether members' points are included."""
    return tuple((purse.points, bool(purse.pooled)) for purse in purses)


def find_payment(needs: Mapping[str, int], funds: Funds) -> Payments | None:
    """Which balances pay each programme, none of them twice; None if they are not enough.

    The slowest transfer is as fast as possible, and no part is slower than its own programme needs. Members' points
    are pooled only if the person's own are not enough.
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
    """Orders of paying programmes: all for a few; for many by points, and those with fewer ways first."""
    if len(needs) <= MAX_PERMUTED:
        return permutations(needs)
    by_points = sorted(needs, key=lambda program: (-needs[program], program))
    by_ways = sorted(by_points, key=lambda program: funds.survey(purses, program, needs[program])[1])
    return dict.fromkeys((tuple(by_points), tuple(by_ways)))


def _pay_in_order(
    order: Sequence[str], needs: Mapping[str, int], funds: Funds, purses: tuple[Purse, ...], speed: int
) -> Payments | None:
    """The best payment of the programmes in sequence, each from what the one before left."""
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
    spent = {(w.purse.program, w.purse.member): w.points_sent for w in ways}
    return tuple(p.spend(spent[key]) if (key := (p.program, p.member)) in spent else p for p in purses)


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
    """The slowest posting of these ways; `instant` without a transfer."""
    return POSTING[max((POSTING.index(w.posting) for w in ways), default=0)]


def sum_cost(ways: Iterable[Way]) -> Decimal | None:
    """The worth of the points spent to the person, in cents; None if a value is unknown."""
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
    """The household's missing points in each programme; no points count twice.

    The largest need takes first; the points it took are gone for the next, even if they were not enough.
    """
    lacking: dict[str, int] = {}
    purses = funds.household_purses
    needs, _ = funds.book_tickets(needs, funds.travellers)
    for program, points in sorted(needs.items(), key=lambda need: (-need[1], need[0])):
        ways = funds.list_ways(purses, program, points)
        choices = _list_choices(ways, points)
        taken = choices[0] if choices else _take_most(ways, points)
        purses = _spend(purses, taken)
        if (missing := points - sum(way.points_delivered for way in taken)) > 0:
            lacking[program] = missing
    return lacking


def _take_most(ways: Iterable[Way], points: int) -> list[Way]:
    """The most generous way of each balance until they reach that many points, or all of them."""
    best: dict[str, Way] = {}
    for way in sorted(ways, key=lambda way: (way.path is not None, -way.points_delivered, way.hops)):
        best.setdefault(way.purse.program, way)
    taken: list[Way] = []
    for way in best.values():
        if sum(w.points_delivered for w in taken) < points:
            taken.append(way)
    return taken


def find_leftovers(purses: Iterable[Purse], payments: Payments, needs: Mapping[str, int]) -> dict[str, int]:
    """What each balance holds once everything is paid, with what transfers in whole blocks bring beyond the need.

    Balances from which other members book tickets are not among them.
    """
    pooled = {way.purse.program for ways in payments.values() for way in ways if way.purse.pooled}
    points = {p.program: p.pool().points if p.program in pooled else p.points for p in purses}
    for program, every_way in payments.items():
        ways = [way for way in every_way if not way.purse.member]
        for way in ways:
            points[way.purse.program] -= way.points_sent
            if way.path and way.path.amounts:
                steps = zip(way.path.edges, way.path.amounts, way.path.amounts[1:], strict=False)
                for edge, amount, forwarded in steps:
                    points[edge.target] = points.get(edge.target, 0) + edge.points_received(amount) - forwarded
        booked = sum(min(way.points_delivered, way.needed) for way in every_way if way.purse.member)
        if ways:
            spare = sum(w.points_delivered for w in ways) - needs[program] + booked
            points[program] = points.get(program, 0) + spare
    return points
