"""Transfer ratios by card: which of a route's ratios a person gets.

Where cards give different ratios, a held card decides, the best of several: points of one currency can be put together.
Where no held card is known to have a ratio, the lowest counts, because a transfer cannot be undone.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from shared.domain.transfers import CardRate, Edge


def pick_rates(edges: Iterable[Edge], held: Collection[str] = ()) -> Iterator[Edge]:
    """One edge for each route; `held` are the cards of the person."""
    routes: dict[tuple[str, str], list[Edge]] = {}
    for edge in edges:
        routes.setdefault((edge.source, edge.target), []).append(edge)
    for route in routes.values():
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
