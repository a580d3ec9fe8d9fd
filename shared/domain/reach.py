"""How far balances reach: what is held and transfer routes go in, the most points each programme can get come out."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.domain.transfers import Edge, Network

HOPS = 3


@dataclass(frozen=True)
class Purse:
    """What one balance can become at most in one programme."""

    source: str
    held: int
    delivered: int


def sent(edge: Edge, held: int) -> int:
    """The most that can be sent in whole blocks; 0 where the minimum is not reached."""
    block = edge.increment or 1
    points = held // block * block
    return points if points >= (edge.minimum or 1) else 0


def _from(routes: Network, start: str, held: int, hops: int) -> dict[str, int]:
    """The most that arrives in each other programme in so many steps. More points on the way never bring fewer."""
    best: dict[str, int] = {}
    here = {start: held}
    for _ in range(hops):
        arrived: dict[str, int] = {}
        for program, points in here.items():
            for edge in routes.get(program, ()):
                got = edge.received(points_sent) if (points_sent := sent(edge, points)) else 0
                if edge.target != start and got > max(best.get(edge.target, 0), arrived.get(edge.target, 0)):
                    arrived[edge.target] = got
        best |= arrived
        here = arrived
    return best


def reach(routes: Network, held: Mapping[str, int], hops: int = HOPS) -> dict[str, list[Purse]]:
    """For each programme the balances that reach it, each by itself: its own first, then by what is held."""
    found: dict[str, list[Purse]] = {p: [Purse(p, points, points)] for p, points in held.items() if points > 0}
    for source, points in sorted(held.items(), key=lambda item: (-item[1], item[0])):
        for target, got in _from(routes, source, points, hops).items():
            found.setdefault(target, []).append(Purse(source, points, got))
    return found


def covering(purses: list[Purse], points: int) -> Purse | None:
    """The first balance that covers so many points: the programme's own, else the largest that does by transfer."""
    return next((p for p in purses if p.delivered >= points), None)
