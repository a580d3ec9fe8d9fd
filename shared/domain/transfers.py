"""Transfers between programmes: routes, bonuses, blocks and minimums, paths to a target and the reach of balances."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from functools import cached_property

MAX_HOPS = 3
# Limits of ways that count: no expert would name longer ones, or ones that yield less than a third.
SENSIBLE_HOPS, MOST_SENT_FOR_ONE = 2, 3
POSTING = ("instant", "hours", "days", "unknown")  # fastest first; unknown counts as slowest


@dataclass(frozen=True)
class Bonus:
    """A bonus that runs on the day asked about; both days are part of it.

    Only of one that the person alone was offered is the last day not known.
    """

    percent: int
    starts_on: date | None
    ends_on: date | None
    targeted: bool


@dataclass(frozen=True)
class CardRate:
    """One of the ratios of a route, and the cards that give it; none listed: every card that earns the currency."""

    cards: tuple[str, ...]
    ratio_from: Fraction
    ratio_to: Fraction

    @property
    def ratio(self) -> Fraction:
        return self.ratio_to / self.ratio_from


@dataclass(frozen=True)
class Edge:
    """One transfer route as it is on a day: `ratio` is points received for one point sent, without bonus."""

    source: str
    target: str
    ratio_from: Fraction
    ratio_to: Fraction
    increment: int | None
    minimum: int | None
    posting: str
    posting_text: str | None
    fee: str | None
    cap: str | None
    step: int | None  # for each block of this many points sent at once step_bonus more arrive
    step_bonus: int
    block_source: str | None  # where increment and minimum are from
    region: str
    bonus: Bonus | None
    source_url: str
    second_source_url: str | None
    as_of: str | None
    audited_on: date | None
    confidence: str
    note: str | None
    cards: tuple[str, ...] = ()  # that give this ratio; none listed: every card that earns the currency
    rates: tuple[CardRate, ...] = ()  # where cards give different ratios: all of them, the best first
    cards_held: tuple[str, ...] = ()  # of the person, for which this ratio was chosen; none: it is the lowest

    @property
    def rate(self) -> CardRate:
        return CardRate(self.cards, self.ratio_from, self.ratio_to)

    @cached_property
    def yields(self) -> Fraction:
        """Points received for one point sent, a bonus included if everybody gets it."""
        percent = self.bonus.percent if self.bonus and not self.bonus.targeted else 0
        return self.ratio_to / self.ratio_from * Fraction(100 + percent, 100)

    def points_to_send(self, needed: int) -> int:
        """The fewest points to send so that at least `needed` arrive."""
        block = self.increment or 1
        least = -(-max(self.minimum or 1, 1) // block)
        amount = -(-needed * self.yields.denominator // self.yields.numerator)  # whole numbers: fractions are slow
        most = max(-(-amount // block), least)
        if not self.step:
            return most * block
        # Step bonuses can make a smaller amount enough. Binary search works because received points never fall.
        return (least + bisect_left(range(least, most), needed, key=lambda b: self.points_received(b * block))) * block

    def most_sendable(self, points: int) -> int:
        """The most that can be sent of that many points, in whole blocks; 0 where the minimum is not reached."""
        block = self.increment or 1
        whole = points // block * block
        return whole if whole >= (self.minimum or 1) else 0

    def points_received(self, amount: int) -> int:
        whole = amount * self.yields.numerator // self.yields.denominator
        return whole + (amount // self.step * self.step_bonus if self.step else 0)


@dataclass(frozen=True)
class TransferPath:
    """A way from one programme to another. Amounts are None when no target amount was asked for."""

    edges: tuple[Edge, ...]
    amounts: tuple[int, ...] | None = field(default=None)  # points sent on each edge

    @cached_property
    def ratio(self) -> Fraction:
        product = Fraction(1)
        for edge in self.edges:
            product *= edge.yields
        return product

    @property
    def is_sensible(self) -> bool:
        """Whether balances count by it: it has few steps, and at least a third of the points arrive."""
        return len(self.edges) <= SENSIBLE_HOPS and self.ratio * MOST_SENT_FOR_ONE >= 1

    @property
    def source_points(self) -> int | None:
        return self.amounts[0] if self.amounts else None

    @property
    def points_delivered(self) -> int | None:
        return self.edges[-1].points_received(self.amounts[-1]) if self.amounts else None

    @property
    def slowest(self) -> str:
        return max((e.posting for e in self.edges), key=POSTING.index)

    @property
    def bonus_ends_on(self) -> date | None:
        bonuses = [e.bonus for e in self.edges if e.bonus and not e.bonus.targeted]
        return min((bonus.ends_on for bonus in bonuses if bonus.ends_on), default=None)

    @property
    def points_stranded(self) -> int:
        """Points left in intermediate programmes because of increments and minimums."""
        if not self.amounts:
            return 0
        arrived = (e.points_received(a) for e, a in zip(self.edges, self.amounts, strict=True))
        return sum(got - amount for got, amount in zip(arrived, self.amounts[1:], strict=False))


Network = Mapping[str, Sequence[Edge]]


def build_network(edges: Iterable[Edge]) -> dict[str, list[Edge]]:
    """Routes by the programme they start from."""
    out: dict[str, list[Edge]] = {}
    for edge in edges:
        out.setdefault(edge.source, []).append(edge)
    return out


def _find_walks(routes: Network, start: str, goal: str, hops: int) -> Iterable[tuple[Edge, ...]]:
    """Every way of at most `hops` steps that visits no programme twice."""
    waiting: list[tuple[Edge, ...]] = [(e,) for e in routes.get(start, ())]
    while waiting:
        way = waiting.pop()
        here = way[-1].target
        if here == goal:
            yield way
        elif len(way) < hops:
            visited = {start, *(e.target for e in way)}
            waiting += [(*way, e) for e in routes.get(here, ()) if e.target not in visited]


def count_amounts(edges: Sequence[Edge], needed: int) -> tuple[int, ...]:
    """Points to send on each step so that `needed` arrive, computed backwards from the target."""
    out: list[int] = []
    for edge in reversed(edges):
        needed = edge.points_to_send(needed)
        out.append(needed)
    return tuple(reversed(out))


def find_paths(
    routes: Network, start: str, goal: str, needed: int | None = None, max_hops: int = MAX_HOPS
) -> list[TransferPath]:
    """All paths, cheapest first: by source points when an amount is needed, else by points received per point."""
    paths = [
        TransferPath(edges, count_amounts(edges, needed) if needed else None)
        for edges in _find_walks(routes, start, goal, max_hops)
    ]

    def order(path: TransferPath) -> tuple[object, ...]:
        cost = path.source_points if path.amounts else -path.ratio
        return (cost, len(path.edges), POSTING.index(path.slowest), [e.target for e in path.edges])

    return sorted(paths, key=order)


def find_dead_ends(routes: Network, start: str, paths: Iterable[TransferPath]) -> list[str]:
    """Programmes that accept points of `start` but begin none of its paths."""
    first_steps = {path.edges[0].target for path in paths}
    return sorted({edge.target for edge in routes.get(start, ())} - first_steps)


@dataclass(frozen=True)
class Reach:
    """The most one balance can become in one programme."""

    source: str
    points: int  # of the balance
    points_delivered: int


def find_sensible_paths(routes: Network, start: str, goal: str, needed: int | None = None) -> list[TransferPath]:
    """The paths by which points of one programme count for another, cheapest first."""
    return [path for path in find_paths(routes, start, goal, needed, SENSIBLE_HOPS) if path.is_sensible]


def _find_most_delivered(routes: Network, start: str, points: int) -> dict[str, int]:
    """The most that arrives in each other programme by a sensible path."""
    firsts = [(edge,) for edge in routes.get(start, ())]
    seconds = [(first, edge) for (first,) in firsts for edge in routes.get(first.target, ()) if edge.target != start]
    most: dict[str, int] = {}
    for edges in (*firsts, *seconds):
        arriving = points
        for edge in edges:
            amount = edge.most_sendable(arriving)
            arriving = edge.points_received(amount) if amount else 0
        target = edges[-1].target
        if arriving > most.get(target, 0) and TransferPath(edges).is_sensible:
            most[target] = arriving
    return most


def find_reach(routes: Network, balances: Mapping[str, int]) -> dict[str, list[Reach]]:
    """The balances that reach each programme, each by itself: its own first, then the largest first."""
    reaches = {program: [Reach(program, points, points)] for program, points in balances.items() if points > 0}
    for source, points in sorted(balances.items(), key=lambda item: (-item[1], item[0])):
        for target, delivered in _find_most_delivered(routes, source, points).items():
            reaches.setdefault(target, []).append(Reach(source, points, delivered))
    return reaches


def first_covering(reaches: Iterable[Reach], points: int) -> Reach | None:
    """The first balance that covers that many points: the programme's own, else the largest that does by transfer."""
    return next((r for r in reaches if r.points_delivered >= points), None)


# Transfer ratios by card: which of a route's ratios a person gets. Where cards give different ratios, a held card
# decides, the best of several: points of one currency can be put together. Where no held card is known to have a
# ratio, the lowest counts, because a transfer cannot be undone. Where cards of the currency are held, a route that is
# known for others alone is left out: their ratio is not borrowed.


def pick_rates(edges: Iterable[Edge], held: Collection[str] = ()) -> Iterator[Edge]:
    """One edge for each route that these cards of a person are known to have; without cards, for each route."""
    routes: dict[tuple[str, str], list[Edge]] = {}
    sources_held: set[str] = set()
    for edge in edges:
        routes.setdefault((edge.source, edge.target), []).append(edge)
        if set(edge.cards) & set(held):
            sources_held.add(edge.source)
    for (source, _), route in routes.items():
        if source in sources_held and all(edge.cards and not set(edge.cards) & set(held) for edge in route):
            continue
        yield _pick_rate(route, held) if len(route) > 1 or route[0].cards else route[0]


def _pick_rate(route: Sequence[Edge], held: Collection[str]) -> Edge:
    by_rate = sorted(route, key=lambda e: (-e.rate.ratio, e.cards))
    rates = _merge_rates(by_rate)
    best = next((e for e in by_rate if set(e.cards) & set(held)), None)
    if best is None:
        return replace(by_rate[-1], rates=rates)
    return replace(best, rates=rates, cards_held=tuple(c for c in best.cards if c in held))


def _merge_rates(edges: Iterable[Edge]) -> tuple[CardRate, ...]:
    """Each ratio once, with all cards that give it."""
    rates: dict[Fraction, CardRate] = {}
    for edge in edges:
        rate = rates.setdefault(edge.rate.ratio, edge.rate)
        rates[rate.ratio] = replace(rate, cards=tuple(dict.fromkeys((*rate.cards, *edge.cards))))
    return tuple(rates.values())
