"""Ratios that depend on the card, in words."""

from collections.abc import Iterable, Sequence

from shared.domain.transfers import CardRate, Edge
from shared.reference.reference import Reference


def format_ratio(rate: CardRate | Edge) -> str:
    return f"{float(rate.ratio_from):g}:{float(rate.ratio_to):g}"


MOST_NAMED = 2  # cards of one ratio in a sentence; ratios_by_card has all


def list_card_names(reference: Reference, slugs: Sequence[str], word: str = "or") -> str:
    names = [reference.cards[slug].name for slug in slugs]
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def describe_rates(reference: Reference, edge: Edge, *, names_route: bool = True) -> str | None:
    """A sentence on the ratios by card and the one used; None if the card does not matter."""
    if not edge.rates:
        return None
    route = f"{reference.programs[edge.source].name} to {reference.programs[edge.target].name}"
    which = (
        list_card_names(reference, rate.cards)
        if 0 < len(rate.cards) <= MOST_NAMED
        else f"{len(rate.cards) or 'other'} cards"
        for rate in edge.rates
    )
    rates = "; ".join(f"{format_ratio(rate)} with {cards}" for rate, cards in zip(edge.rates, which, strict=True))
    lead = f"{route} depends on the card" if names_route else "The card decides the ratio"
    return f"{lead}: {rates}. {_describe_choice(reference, edge)}"


def _describe_choice(reference: Reference, edge: Edge) -> str:
    if edge.cards_held:
        return f"Counted at {format_ratio(edge)}, for {list_card_names(reference, edge.cards_held, 'and')}."
    return f"Counted at {format_ratio(edge)}, the lowest, because no card is known that decides it."


def describe_all_rates(reference: Reference, edges: Iterable[Edge], *, names_route: bool = True) -> list[str]:
    """The sentences for routes where the card matters, each route once."""
    sentences = (describe_rates(reference, edge, names_route=names_route) for edge in dict.fromkeys(edges))
    return [words for words in sentences if words]
