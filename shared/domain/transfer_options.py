"""Ways to reach a points target: transfers from one balance and combinations of several, by cost.

The price of a point is its worth elsewhere, in cents; a purse without a known value has no price.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import combinations

from shared.domain.transfers import POSTING, Network, TransferPath, count_amounts, find_sensible_paths
from shared.domain.valuations import value_in_cents

MAX_WAYS_PER_PURSE = 5  # further ways cost more and are rarely chosen
MAX_PARTS = 3  # of one combination
MAX_CHEAPEST, MAX_LARGEST = 6, 4  # purses that are combined; the number of combinations grows with the third power


@dataclass(frozen=True)
class Share:
    """The points of another member of the household."""

    member: str
    points: int


@dataclass(frozen=True)
class Purse:
    """One balance. `others` may be put together with it; where it is `pooled`, `points` counts them too.

    `member`: whose it is, where it is not the person's and cannot be joined with theirs: it pays for whole tickets.
    """

    program: str
    points: int
    value: Decimal | None  # cents of one point
    as_of: date | None = None
    own_value: bool = False  # the person's, not the published one
    others: tuple[Share, ...] = ()
    pooled: bool = False
    member: str = ""

    def pool(self) -> "Purse":
        if self.pooled or not self.others:
            return self
        return replace(self, points=self.points + sum(share.points for share in self.others), pooled=True)

    def list_lent(self, spent: int) -> tuple[Share, ...]:
        """Which of that many points are other members': the person's own go first, then the largest balance."""
        missing = spent - (self.points - sum(share.points for share in self.others)) if self.pooled else 0
        lent = []
        for share in sorted(self.others, key=lambda share: (-share.points, share.member)):
            if missing > 0:
                lent.append(Share(share.member, min(share.points, missing)))
                missing -= share.points
        return tuple(lent)

    def spend(self, spent: int) -> "Purse":
        """The rest of the purse after spending from it."""
        lent = {share.member: share.points for share in self.list_lent(spent)}
        rest = (Share(share.member, share.points - lent.get(share.member, 0)) for share in self.others)
        return replace(self, points=self.points - spent, others=tuple(share for share in rest if share.points))


@dataclass(frozen=True)
class Way:
    """Points sent from one purse and what arrives. Without a path they are in the target programme already."""

    purse: Purse
    path: TransferPath | None
    points_sent: int
    points_delivered: int
    needed: int

    @property
    def covers(self) -> bool:
        return self.points_delivered >= self.needed

    @property
    def leftover(self) -> int:
        return max(0, self.points_delivered - self.needed)

    @property
    def cost(self) -> Decimal | None:
        return value_in_cents(self.points_sent, self.purse.value)

    @property
    def cents_per_point(self) -> Decimal | None:
        """Cents for one point of the target."""
        return None if self.cost is None else self.cost / self.points_delivered

    @property
    def lent(self) -> tuple[Share, ...]:
        """Points of other members among those sent, which are put together with the person's first."""
        return self.purse.list_lent(self.points_sent)

    @property
    def hops(self) -> int:
        return len(self.path.edges) if self.path else 0

    @property
    def posting(self) -> str:
        return self.path.slowest if self.path else POSTING[0]


@dataclass(frozen=True)
class Combination:
    parts: tuple[Way, ...]

    @property
    def cost(self) -> Decimal | None:
        costs = [p.cost for p in self.parts]
        return None if None in costs else sum((c for c in costs if c is not None), Decimal(0))

    @property
    def points_delivered(self) -> int:
        return sum(p.points_delivered for p in self.parts)


def send_everything(path: TransferPath, points: int) -> TransferPath | None:
    """The path that sends all of the purse, in whole blocks; None when a minimum is not reached."""
    amounts = []
    for edge in path.edges:
        amount = edge.most_sendable(points)
        if not amount:
            return None
        amounts.append(amount)
        points = edge.points_received(amount)
    return TransferPath(path.edges, tuple(amounts)) if points else None


def build_way(purse: Purse, path: TransferPath, needed: int) -> Way | None:
    """The way that sends what is needed, or all of a smaller purse; None where that is nothing."""
    if path.amounts is None or path.amounts[0] > purse.points:
        whole = send_everything(path, purse.points)
        if whole is None:
            return None
        path = whole
    return Way(purse, path, path.source_points or 0, path.points_delivered or 0, needed)


def find_ways(routes: Network, purses: Iterable[Purse], goal: str, needed: int) -> list[Way]:
    """Every purse's best ways, cheapest first; those that do not reach the target come after those that do."""
    ways: list[Way] = []
    for purse in purses:
        if purse.points <= 0:
            continue
        if purse.program == goal:
            spent = min(purse.points, needed)
            ways.append(Way(purse, None, spent, spent, needed))
        else:
            paths = find_sensible_paths(routes, purse.program, goal, needed)
            options = [w for p in paths if (w := build_way(purse, p, needed))]
            ways += sorted(options, key=_rank_key)[:MAX_WAYS_PER_PURSE]
    return sorted(ways, key=_rank_key)


def _rank_key(way: Way) -> tuple[object, ...]:
    price = way.cost if way.covers else way.cents_per_point
    unknown = (price is None, price or 0)
    return (not way.covers, *unknown, way.hops, POSTING.index(way.posting), way.purse.program)


def _price_key(way: Way) -> tuple[object, ...]:
    """Points already in the target programme first: they need no transfer. Then by cents for a point that arrives."""
    each = way.cents_per_point
    return (way.path is not None, each is None, each or 0, way.hops, way.purse.program)


def _find_best_of_each(ways: Sequence[Way]) -> list[Way]:
    """The cheapest way of each purse for a point that arrives; of many purses the cheapest and the largest."""
    best: dict[str, Way] = {}
    for way in sorted(ways, key=_price_key):
        best.setdefault(way.purse.program, way)
    cheap = list(best.values())
    large = sorted(cheap[MAX_CHEAPEST:], key=lambda w: -w.points_delivered)[:MAX_LARGEST]
    return [*cheap[:MAX_CHEAPEST], *large]


def _fill(parts: Sequence[Way], needed: int) -> Combination | None:
    """All but the last purse give what they can, the last exactly the rest; None if it is not enough."""
    ways_used: list[Way] = []
    missing = needed
    for way in parts:
        if missing <= 0:
            return None  # fewer purses are enough
        part = _build_part(way, missing)
        if part is None:
            return None
        ways_used.append(part)
        missing -= part.points_delivered
    return Combination(tuple(_trim(ways_used, -missing))) if missing <= 0 else None


def _trim(parts: Sequence[Way], spare: int) -> list[Way]:
    """The last purse sends whole blocks, so a little too much arrives: the dearest before it gives less."""
    out = list(parts)
    for at in range(len(out) - 2, -1, -1):
        less = _build_part(out[at], out[at].points_delivered - spare) if out[at].points_delivered > spare > 0 else None
        if less and less.points_sent < out[at].points_sent:
            spare -= out[at].points_delivered - less.points_delivered
            out[at] = less
    return out


def _build_part(way: Way, missing: int) -> Way | None:
    if way.path is None:
        spent = min(way.purse.points, missing)
        return Way(way.purse, None, spent, spent, missing)
    return build_way(way.purse, TransferPath(way.path.edges, count_amounts(way.path.edges, missing)), missing)


def find_combinations(ways: Sequence[Way], needed: int, count: int = 3) -> list[Combination]:
    """The cheapest combinations of two or three purses that reach the target together."""
    purses = _find_best_of_each(ways)
    groups = (g for size in range(2, MAX_PARTS + 1) for g in combinations(purses, size))
    combinations_found = [c for group in groups if (c := _fill(sorted(group, key=_price_key), needed))]
    return sorted(combinations_found, key=lambda c: (c.cost is None, c.cost or 0, len(c.parts)))[:count]


def find_shortfall(ways: Sequence[Way], needed: int) -> int:
    """Points still missing if every purse gives all it can by its most generous way."""
    delivered: dict[str, int] = {}
    for way in ways:
        whole = send_everything(way.path, way.purse.points) if way.path else None
        arrives = (
            (whole.points_delivered or 0) if whole else way.purse.points if way.path is None else way.points_delivered
        )
        delivered[way.purse.program] = max(delivered.get(way.purse.program, 0), arrives)
    return max(0, needed - sum(delivered.values()))
