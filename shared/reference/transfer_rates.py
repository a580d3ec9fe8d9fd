"""Ratios that depend on the card, in words."""

from collections.abc import Iterable, Sequence

from shared.domain.transfers import CardRate, Edge
from shared.reference.reference import Reference


def format_ratio(rate: CardRate | Edge) -> str:
    return f"{float(rate.ratio_from):g}:{float(rate.ratio_to):g}"


def list_card_names(reference: Reference, slugs: Sequence[str], word: str = "or") -> str:
    names = [reference.cards[slug].name for slug in slugs]
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def describe_rates(reference: Reference, edge: Edge) -> str | None:
    """Which cards give which ratio and which one is counted; None where the card does not matter."""
    if not edge.rates:
        return None
    route = f"{reference.programs[edge.source].name} to {reference.programs[edge.target].name}"
    rates = "; ".join(
        f"{format_ratio(rate)} with {list_card_names(reference, rate.cards) if rate.cards else 'other cards'}"
        for rate in edge.rates
    )
    return f"{route} depends on the card: {rates}. {_describe_choice(reference, edge)}"


def _describe_choice(reference: Reference, edge: Edge) -> str:
    if edge.cards_held:
        return f"Counted at {format_ratio(edge)}, for {list_card_names(reference, edge.cards_held, 'and')}."
    return f"Counted at {format_ratio(edge)}, the lowest, because no card is known that decides it."


def describe_all_rates(reference: Reference, edges: Iterable[Edge]) -> list[str]:
    """The sentences for the routes where the card matters, each route once."""
    return [words for edge in dict.fromkeys(edges) if (words := describe_rates(reference, edge))]
