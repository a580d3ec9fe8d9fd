"""Catalogue cards, prepared for valuing: earning rates, value of a point, transfer partners."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from shared.domain import card_credits, welcome_offers
from shared.domain.card_prices import PORTAL_CENTS
from shared.domain.card_value import CardOffer, CategoryRate
from shared.domain.offers import find_state
from shared.domain.transfers import Edge, find_paths
from shared.domain.valuations import choose_value
from shared.reference.exchange_rates import find_exchange_rate
from shared.reference.fact_life import ANY
from shared.reference.reference import Reference
from shared.reference.rows.travel import CardCredit, CardEarn, CardFees, CatalogCard, IssuerRule, WelcomeOffer
from shared.reference.transfer_rates import format_ratio

MAX_PARTNERS_NAMED = 3  # with one ratio; more are summed up


@lru_cache(maxsize=3)
def _rows_by_card(reference: Reference, file: str) -> dict[str, list[Any]]:
    rows_by_card: dict[str, list[Any]] = defaultdict(list)
    for row in reference.rows(file):
        rows_by_card[row.card_slug].append(row)
    return dict(rows_by_card)


def list_earn_rows(reference: Reference, slug: str, on: date) -> Sequence[CardEarn]:
    """The rates valid on a day."""
    return [row for row in _rows_by_card(reference, "card_earn.csv").get(slug, ()) if row.is_valid(on)]


def find_remark(reference: Reference, slug: str, category: str, on: date) -> str | None:
    """The condition of a category's rate."""
    rows = list_earn_rows(reference, slug, on)
    return next((row.remark for row in rows if row.category == category and row.remark), None)


def find_welcome_offer(reference: Reference, slug: str, on: date) -> WelcomeOffer | None:
    """The welcome offer to show on a day: a current one, else the latest past one."""
    return welcome_offers.pick_offer(_rows_by_card(reference, "welcome_offers.csv").get(slug, ()), on)


def find_counted_offer(reference: Reference, slug: str, on: date) -> WelcomeOffer | None:
    """The welcome offer current on a day; None if none is known or all are past."""
    offer = find_welcome_offer(reference, slug, on)
    return offer if offer and find_state(offer, on) != "past" else None


def value_point(
    reference: Reference, program: str | None, currency: str, own_cents: Decimal | None = None
) -> Decimal | None:
    """The value of the programme's point in a currency; None if the valuation or the rate is unknown."""
    programme = reference.programs.get(program) if program else None
    rate = find_exchange_rate(currency)
    cents = choose_value(own_cents, programme.value_usd_cents if programme else None)
    return None if cents is None or rate is None else cents / 100 / rate.usd_per_unit


def find_premium_cards(reference: Reference, card: CatalogCard) -> list[CatalogCard]:
    """Cards that let this card's points move, of which one must be held; empty where none is needed.

    Only of the same segment, if any: a person without a business cannot get a business card.
    """
    if card.transferable != "with-premium-card":
        return []
    partners = [
        c
        for c in reference.cards.values()
        if (c.program, c.country, c.transferable) == (card.program, card.country, "yes") and c.status != "closed"
    ]
    return [c for c in partners if c.segment == card.segment] or partners


def moves_alone(reference: Reference, card: CatalogCard, open_slugs: Collection[str]) -> bool:
    """Whether the points move to other programmes with the cards held: by themselves, or with an open premium card."""
    if card.transferable != "with-premium-card":
        return True
    return any(
        c.transferable == "yes" and (c.program, c.country) == (card.program, card.country)
        for slug in open_slugs
        if (c := reference.cards.get(slug))
    )


def value_point_as_cash(currency: str) -> Decimal | None:
    """The value of a point that cannot be transferred: the cent of cash back and card portals."""
    rate = find_exchange_rate(currency)
    return None if rate is None else Decimal(PORTAL_CENTS) / 100 / rate.usd_per_unit


def build_offer(reference: Reference, card: CatalogCard, point: Decimal | None, on: date) -> CardOffer:
    welcome = find_counted_offer(reference, card.slug, on)
    return CardOffer(
        fee=card.annual_fee,
        currency=card.fee_currency,
        benefits=card.benefits,
        rates=[
            CategoryRate(r.category, r.multiplier, r.annual_cap, r.unit == "percent", r.cap_group, r.cap_months or 12)
            for r in list_earn_rows(reference, card.slug, on)
        ],
        bonus=welcome.amount if welcome else None,
        bonus_spend=welcome.spend if welcome else None,
        bonus_months=welcome.months if welcome else None,
        point=point,
        credits=card_credits.sum_counted(list_credits(reference, card.slug, on), card.fee_currency),
    )


def find_currency_name(reference: Reference, card: CatalogCard) -> str:
    """The everyday name of the card's currency."""
    programme = reference.programs.get(card.program) if card.program else None
    return programme.currency if programme else f"points of {card.name}"


def list_partners(reference: Reference, card: CatalogCard, on: date) -> list[str]:
    """The programmes a card's points move to directly, by its catalogue entry."""
    if card.program is None or card.transferable == "no":
        return []
    edges = reference.routes(on, (card.slug,)).get(card.program, ())
    return sorted({edge.target for edge in edges if _is_for_country(card.country, edge)})


def describe_own_rates(reference: Reference, card: CatalogCard, on: date) -> list[str]:
    """The ratios of this card that other cards of its currency do not give, in a sentence."""
    if card.program is None or card.transferable == "no":
        return []
    edges = reference.routes(on, (card.slug,)).get(card.program, ())
    names_by_ratio: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        if edge.cards_held:
            names_by_ratio[format_ratio(edge)].append(reference.programs[edge.target].name)
    if not names_by_ratio:
        return []
    usual = max(names_by_ratio, key=lambda ratio: len(names_by_ratio[ratio]))
    rest = sorted(f"{name} {ratio}" for ratio, names in names_by_ratio.items() for name in names if ratio != usual)
    if len(names_by_ratio[usual]) <= MAX_PARTNERS_NAMED:
        rest = sorted([*rest, *(f"{name} {usual}" for name in names_by_ratio[usual])])
        return [f"Ratios of this card: {', '.join(rest)}."]
    others = f", except {', '.join(rest)}" if rest else ""
    return [f"Where the ratio depends on the card, this one gives {usual}{others}."]


def _is_for_country(country: str, edge: Edge) -> bool:
    """A bank's routes are valid in its own country: cards of the same name elsewhere have other partners."""
    return edge.region == "worldwide" or country in edge.region.replace("UK", "GB").split("|")


def find_ratio(reference: Reference, card: CatalogCard, goal: str, on: date) -> Fraction | None:
    """Points of the goal programme for one of the card's, without current bonuses; None if none arrive."""
    if card.program == goal:
        return Fraction(1)
    if card.program is None:
        return None
    paths = find_paths(reference.routes(on, (card.slug,)), card.program, goal, max_hops=2)
    paths_for_card = (p for p in paths if _is_for_country(card.country, p.edges[0]))
    best = min(paths_for_card, key=lambda p: (len(p.edges), -p.ratio), default=None)
    if best is None:
        return None
    ratio = Fraction(1)
    for edge in best.edges:
        ratio *= edge.ratio_to / edge.ratio_from
    return ratio


def list_credits(reference: Reference, slug: str, on: date) -> Sequence[CardCredit]:
    """The credits a card gives on a day."""
    return [row for row in _rows_by_card(reference, "card_credits.csv").get(slug, ()) if row.is_valid(on)]


def find_fees(reference: Reference, slug: str) -> CardFees | None:
    """The card's fees abroad and for a second person, if known."""
    return next(iter(_rows_by_card(reference, "card_fees.csv").get(slug, ())), None)


def list_issuer_rules(reference: Reference, card: CatalogCard, on: date) -> list[IssuerRule]:
    """The reported rules about a card on a day: those of its issuer in its country, or that name it."""
    return [
        row
        for row in reference.rows("issuer_rules.csv")
        if row.is_valid(on)
        and (row.issuer, row.country) == (card.issuer, card.country)
        and (ANY in row.cards or card.slug in row.cards)
        and not (row.personal_only and row.kind != "opened_any" and card.segment == "business")
    ]
