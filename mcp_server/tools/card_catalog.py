"""Search of the card catalogue: fee, welcome offer, earn rates and perks."""

import re
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit import Call, Effect, Money, Paging, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import Amount, AnyName, Country, LooseName, Page, PerPage
from mcp_server.toolkit.provenance import Verified, describe_verified, find_newest_date
from mcp_server.toolkit.wording import tell_rows
from shared.domain import cards, names, welcome_offers
from shared.domain.offers import find_state
from shared.domain.party_prices import format_money
from shared.domain.plurals import pluralize
from shared.errors import NotCovered, NotFound
from shared.reference import cards as catalogue
from shared.reference.ages import find_page_day
from shared.reference.exchange_rates import find_exchange_rate
from shared.reference.load import Reference
from shared.reference.rows.travel import CatalogCard as Row


class EarnRate(Part):
    """`unit`: points_per_unit or percent. A category of the catalogue may be a condition such as portal or brand."""

    category: str
    multiplier: Money
    unit: str
    annual_cap: Money | None
    confidence: str
    verified_on: date | None
    note: str | None


class WelcomeBonus(Part):
    """`currency` is what it is paid in; `estimated_value` is in the card's currency, None when no one knows.

    `as_of` is the day the offer was seen. `description` is the offer in words, with that day: never tell it without.
    """

    amount: int | None
    currency: str
    spend_requirement: Money | None
    window_months: int | None
    estimated_value: Money | None
    ends_on: str | None
    source_url: str | None
    as_of: str | None
    verified_on: date | None
    description: str


class CatalogCredit(Part):
    """`cycle` yearly: once a year, and which year it is was not seen. `enrolment`: it must be activated first."""

    credit: str
    name: str
    amount: Money
    currency: str
    cycle: str
    enrolment: bool
    as_of: str | None
    verified_on: date | None
    note: str | None


class CatalogCard(Verified):
    """`fees_source`: of the fees abroad and of an additional card, None where it is the card's own source."""

    slug: str
    name: str
    issuer: str
    network: str
    country: str
    segment: str
    state: str
    currency: str
    annual_fee: Money | None
    foreign_fee_percent: Money | None
    additional_card_fee: Money | None
    fees_source: str | None
    earns_program: str | None
    welcome_bonus: WelcomeBonus | None
    past_welcome_offer: str | None
    earn_rates: list[EarnRate]
    credits: list[CatalogCredit]
    transferable: str
    transfer_partners: list[str]
    lounge_access: list[str]
    perks: list[str]
    audit_flag: str | None
    note: str | None


class Catalog(Result):
    cards: list[CatalogCard]
    as_of: str | None
    paging: Paging


def value_bonus(reference: Reference, card: Row, on: date) -> Decimal | None:
    point = catalogue.value_point(reference, card.program, card.fee_currency)
    offer = catalogue.find_counted_offer(reference, card.slug, on)
    return None if offer is None or offer.amount is None or point is None else round(offer.amount * point, 2)


def _to_welcome_bonus(reference: Reference, card: Row, on: date) -> WelcomeBonus | None:
    offer = catalogue.find_counted_offer(reference, card.slug, on)
    if offer is None:
        return None
    unit = catalogue.find_currency_name(reference, card)
    terms = welcome_offers.describe_terms(offer, unit, card.fee_currency)
    return WelcomeBonus.from_row(
        offer,
        currency=unit,
        spend_requirement=offer.spend,
        window_months=offer.months,
        estimated_value=value_bonus(reference, card, on),
        ends_on=offer.valid_to.isoformat() if offer.valid_to else None,
        verified_on=find_page_day(offer),
        description=f"{terms}, {welcome_offers.describe_age(offer)}",
    )


def _describe_past_offer(reference: Reference, card: Row, on: date) -> str | None:
    offer = catalogue.find_welcome_offer(reference, card.slug, on)
    if offer is None or find_state(offer, on) != "past":
        return None
    return welcome_offers.describe_past(offer, catalogue.find_currency_name(reference, card), card.fee_currency)


def _to_catalog_card(call: Call, card: Row) -> CatalogCard:
    reference = call.reference
    vouchers = {row.slug: row.name for row in reference.rows("voucher_types.csv")}
    copied = ("slug", "name", "issuer", "network", "country", "segment", "annual_fee", "transferable", "audit_flag")
    fees = catalogue.find_fees(reference, card.slug)
    partners = catalogue.list_partners(reference, card, call.today)
    no_routes_known = card.program is not None and card.transferable != "no" and not partners
    notes = (
        card.remark and f"{card.remark.rstrip('.')}.",
        "The transfer routes of this card's country are not known here." if no_routes_known else None,
        *catalogue.describe_own_rates(reference, card, call.today),
    )
    return CatalogCard.model_validate(
        {name: getattr(card, name) for name in copied}
        | describe_verified(card)
        | {
            "state": card.status,
            "currency": card.fee_currency,
            "foreign_fee_percent": fees and fees.foreign_fee_percent,
            "additional_card_fee": fees and fees.additional_card_fee,
            "fees_source": fees.source_url if fees and fees.source_url != card.source_url else None,
            "earns_program": card.program,
            "welcome_bonus": _to_welcome_bonus(reference, card, call.today),
            "past_welcome_offer": _describe_past_offer(reference, card, call.today),
            "earn_rates": [
                EarnRate.from_row(row, verified_on=find_page_day(row), note=row.remark)
                for row in catalogue.list_earn_rows(reference, card.slug, call.today)
            ],
            "credits": [
                CatalogCredit.from_row(row, verified_on=find_page_day(row), note=row.remark)
                for row in catalogue.list_credits(reference, card.slug, call.today)
            ],
            "transfer_partners": partners,
            "note": " ".join(n for n in notes if n) or None,
            "lounge_access": list(card.lounge),
            "perks": [*card.benefits, *(vouchers[slug] for slug in card.voucher_slugs)],
        }
    )


def _find_issuers(reference: Reference, text: str) -> set[str]:
    """The issuers a loose name means. Raises NotFound with the nearest."""
    issuers = {card.issuer for card in reference.cards.values()}
    query = names.normalize_name(text)
    matches = {i for i in issuers if query and query in names.normalize_name(i)}
    matches |= {c.issuer for c in reference.cards.values() if query in c.slug.split("-")}
    if not matches:
        if outside := reference.find_outside_names(text):
            raise NotCovered("issuer", text, outside)
        raise NotFound("issuer", text, _find_close(text, issuers))
    return matches


def _find_by_slug(reference: Reference, slug: str) -> list[Row]:
    if card := reference.cards.get(slug.strip().lower()):
        return [card]
    raise NotFound("card", slug, _find_close(slug, reference.cards))


def _find_close(text: str, texts: Iterable[str]) -> list[str]:
    spelled = {names.normalize_name(name): name for name in texts}
    return [spelled[n] for n in names.find_close(text, spelled)]


# Words around what people look for that do not distinguish cards.
_PLURAL = re.compile(r"(?<=x)es$|(?<=\w\w[^s])s$")
_AROUND = {
    *("a", "an", "and", "any", "for", "i", "in", "me", "my", "of", "on", "or", "that", "the", "to", "which", "with"),
    *("best", "card", "come", "earn", "get", "give", "good", "great", "have", "offer", "pay", "access", "lounge"),
}


def _split_asked(text: str) -> set[str]:
    """The words to look for, each in the singular."""
    return {_PLURAL.sub("", word) for word in names.normalize_name(text).split()} - _AROUND


def _find_by_offering(reference: Reference, query: str, on: date) -> list[Row]:
    """Cards with a rate, lounge, credit or perk of this name, else with these words, which may also name the card."""
    typed, words = names.normalize_name(query), _split_asked(query)
    vouchers = {row.slug: row.name for row in reference.rows("voucher_types.csv")}
    by_name, by_words = list[Row](), list[Row]()
    for card in sorted(reference.cards.values(), key=lambda c: (c.country, c.name)):
        rates = (row.category.replace("_", " ") for row in catalogue.list_earn_rows(reference, card.slug, on))
        own_credits = (row.name for row in catalogue.list_credits(reference, card.slug, on))
        perks = (*card.lounge, *card.benefits, *(vouchers[slug] for slug in card.voucher_slugs))
        texts = [*rates, *own_credits, *perks]
        offered = set[str]().union(*map(_split_asked, texts))
        if typed and any(f" {typed} " in f" {names.normalize_name(text)} " for text in texts):
            by_name.append(card)
        if words & offered and words <= offered | _split_asked(f"{card.name} {card.issuer} {card.slug}"):
            by_words.append(card)
    return by_name or by_words


def _search(reference: Reference, query: str | None, on: date) -> list[Row]:
    """Cards ordered by how well they match the query, by name or else by what they offer; without one all."""
    if not query or not query.strip():
        return sorted(reference.cards.values(), key=lambda c: (c.country, c.name))
    catalog = reference.cards
    match = cards.match_card(query, catalog.values())
    fits = [match.exact] if match.exact else [fit.slug for fit in cards.rank_candidates(query, catalog.values())]
    if not fits and (offering := _find_by_offering(reference, query, on)):
        return offering
    if not fits:
        raise NotFound("card", query, _find_close(query, [card.name for card in catalog.values()]))
    return [catalog[slug] for slug in fits]


def _sort(reference: Reference, matches: Iterable[Row], sort: str, on: date) -> list[Row]:
    if sort == "annual_fee":
        return sorted(matches, key=lambda c: (_to_usd(c, c.annual_fee) is None, _to_usd(c, c.annual_fee)))
    if sort == "welcome_bonus_value":
        return sorted(matches, key=lambda c: -(_to_usd(c, value_bonus(reference, c, on)) or 0))
    return list(matches)


def _to_usd(card: Row, amount: Decimal | None) -> Decimal | None:
    """An amount in US dollars, so that several currencies can be sorted."""
    rate = find_exchange_rate(card.fee_currency)
    return None if amount is None or rate is None else amount * rate.usd_per_unit


@tool("cards", Tier.FREE, Effect.READS, "Look up cards", condenses=True)
def search_card_catalog(
    call: Call,
    query: Annotated[str | None, Field(max_length=120)] = None,
    slug: Annotated[str | None, Field(max_length=80)] = None,
    country: Country | None = None,
    issuer: LooseName | None = None,
    earns_program: AnyName | None = None,
    max_annual_fee: Annotated[Amount | None, Field(description="In the card's currency.")] = None,
    sort: Literal["relevance", "welcome_bonus_value", "annual_fee"] = "relevance",
    page: Page = 1,
    per_page: PerPage = 10,
) -> Catalog:
    """Looks up facts of credit cards: annual fee, welcome bonus, earn rates, travel credits, lounge access, perks.

    For "What does the Amex Gold give me?" By name, bank or country (US, CA, GB, AU). Best one: recommend_cards. Free.
    """
    reference = call.reference
    matches = _find_by_slug(reference, slug) if slug and slug.strip() else _search(reference, query, call.today)
    if country:
        matches = [c for c in matches if c.country == country]
    if issuer and issuer.strip():
        issuers = _find_issuers(reference, issuer)
        matches = [c for c in matches if c.issuer in issuers]
    if earns_program and earns_program.strip():
        program = reference.program(earns_program).slug
        matches = [c for c in matches if c.program == program]
    if max_annual_fee is not None:
        matches = [c for c in matches if c.annual_fee is not None and c.annual_fee <= max_annual_fee]
    matches = _sort(reference, matches, sort, call.today)
    page_rows = matches[(page - 1) * per_page : page * per_page]
    paging = Paging.of(page, per_page, len(matches))
    return Catalog(
        message=_describe_matches(reference, matches, country, call.today) + paging.more,
        cards=[_to_catalog_card(call, c) for c in page_rows],
        as_of=find_newest_date(list(matches)),
        paging=paging,
    )


def _describe_matches(reference: Reference, matches: list[Row], country: str | None, on: date) -> str:
    countries = sorted({c.country for c in reference.cards.values()})
    if not matches:
        nowhere = country is not None and country not in countries
        return f"No card fits. The catalogue has cards of {', '.join(countries)}." if nowhere else "No card fits."
    offers = [o for c in matches if (o := catalogue.find_counted_offer(reference, c.slug, on))]
    without_offer = len(matches) - len(offers)
    bonus = f" {welcome_offers.describe_ages(offers)}" if offers else ""
    if without_offer:
        bonus += f" No current welcome offer is known for {pluralize(without_offer, 'card')}."
    fees = f" {words}" if len(matches) == 1 and (words := _describe_fees(reference, matches[0])) else ""
    return f"{tell_rows(len(matches), 'card', (card.name for card in matches))}{fees}{bonus}"


def _describe_fees(reference: Reference, card: Row) -> str:
    """`Purchases abroad cost 3 % more. An additional card costs $195 a year.`, as far as that is known."""
    fees = catalogue.find_fees(reference, card.slug)
    if fees is None:
        return ""
    sentences = []
    if fees.foreign_fee_percent is not None:
        sentences.append(
            f"Purchases abroad cost {fees.foreign_fee_percent.normalize():f} % more."
            if fees.foreign_fee_percent
            else "No fee on purchases abroad."
        )
    if fees.additional_card_fee is not None:
        price = format_money(fees.additional_card_fee, card.fee_currency)
        sentences.append(
            f"An additional card costs {price} a year." if fees.additional_card_fee else "Additional cards free."
        )
    return " ".join(sentences)
