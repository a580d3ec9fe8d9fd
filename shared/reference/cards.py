"""Catalogue cards as offers to be valued: earning rates, value of a point, transfer partners."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from shared.domain.card_value import CardOffer, Rate
from shared.domain.transfers import Edge, find_paths
from shared.reference.exchange_rates import find_exchange_rate
from shared.reference.reference import Reference
from shared.reference.rows.travel import CardEarn, CatalogCard


@lru_cache(maxsize=1)
def _rows_by_card(reference: Reference) -> dict[str, list[CardEarn]]:
    rows_by_card: dict[str, list[CardEarn]] = defaultdict(list)
    for row in reference.rows("card_earn.csv"):
        rows_by_card[row.card_slug].append(row)
    return dict(rows_by_card)


def list_earn_rows(reference: Reference, slug: str) -> Sequence[CardEarn]:
    return _rows_by_card(reference).get(slug, ())


def value_point(reference: Reference, program: str | None, currency: str) -> Decimal | None:
    """What a point of the programme is worth in a currency; None when the valuation or the rate is unknown."""
    programme = reference.programs.get(program) if program else None
    rate = find_exchange_rate(currency)
    if programme is None or programme.value_usd_cents is None or rate is None:
        return None
    return programme.value_usd_cents / 100 / rate.usd_per_unit


def build_offer(reference: Reference, card: CatalogCard, point: Decimal | None) -> CardOffer:
    rows = list_earn_rows(reference, card.slug)
    return CardOffer(
        fee=card.annual_fee,
        currency=card.fee_currency,
        benefits=card.benefits,
        rates=[Rate(r.category, r.multiplier, r.annual_cap, r.unit == "percent") for r in rows],
        bonus=card.bonus_amount,
        bonus_spend=card.bonus_spend,
        bonus_months=card.bonus_months,
        point=point,
    )


def find_currency_name(reference: Reference, card: CatalogCard) -> str:
    """What the card pays in, as people call it."""
    programme = reference.programs.get(card.program) if card.program else None
    return programme.currency if programme else f"points of {card.name}"


def list_partners(reference: Reference, card: CatalogCard, on: date) -> list[str]:
    """The programmes a card's points move to directly, as its catalogue entry says they do."""
    if card.program is None or card.transferable == "no":
        return []
    edges = reference.routes(on).get(card.program, ())
    return sorted({edge.target for edge in edges if _is_for_country(card.country, edge)})


def _is_for_country(country: str, edge: Edge) -> bool:
    """A bank's routes hold in its own country: cards of the same name elsewhere have other partners."""
    return edge.region == "worldwide" or country in edge.region.replace("UK", "GB").split("|")


def find_ratio(reference: Reference, card: CatalogCard, goal: str, on: date) -> Fraction | None:
    """Points of the goal programme for one of the card's, without bonuses of the day; None when none arrive."""
    if card.program == goal:
        return Fraction(1)
    if card.program is None:
        return None
    paths = find_paths(reference.routes(on), card.program, goal, max_hops=2)
    paths_for_card = (p for p in paths if _is_for_country(card.country, p.edges[0]))
    best = min(paths_for_card, key=lambda p: (len(p.edges), -p.ratio), default=None)
    if best is None:
        return None
    ratio = Fraction(1)
    for edge in best.edges:
        ratio *= edge.ratio_to / edge.ratio_from
    return ratio
