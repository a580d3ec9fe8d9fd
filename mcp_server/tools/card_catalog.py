"""The card catalogue: words and filters go in; cards with fee, welcome offer, earn rates and perks come out."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import Amount, AnyName, Country, LooseName, Page, PerPage
from mcp_server.toolkit.provenance import Verified, newest, verified
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Money, Paging, Part, Result
from shared.domain import cards, names
from shared.domain.plurals import some
from shared.errors import NotFound
from shared.reference import cards as catalogue
from shared.reference.load import Reference
from shared.reference.rows.travel import CatalogCard as Row


class EarnRate(Part):
    """`unit`: points_per_unit or percent. A category of the catalogue may be a condition such as portal or brand."""

    category: str
    multiplier: Money
    unit: str
    annual_cap: Money | None
    confidence: str


class WelcomeBonus(Part):
    """`currency` is what it is paid in; `estimated_value` is in the card's currency, None when nobody knows."""

    amount: int
    currency: str
    spend_requirement: Money | None
    window_months: int | None
    estimated_value: Money | None
    ends_on: str | None
    source_url: str | None
    as_of: str | None


class CatalogCard(Verified):
    slug: str
    name: str
    issuer: str
    network: str
    country: str
    segment: str
    state: str
    currency: str
    annual_fee: Money | None
    earns_program: str | None
    welcome_bonus: WelcomeBonus | None
    earn_rates: list[EarnRate]
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


def bonus_value(reference: Reference, card: Row) -> Decimal | None:
    point = catalogue.point_in(reference, card.program, card.fee_currency)
    return None if card.bonus_amount is None or point is None else round(card.bonus_amount * point, 2)


def _bonus(reference: Reference, card: Row) -> WelcomeBonus | None:
    if card.bonus_amount is None:
        return None
    return WelcomeBonus(
        amount=card.bonus_amount,
        currency=catalogue.currency_name(reference, card),
        spend_requirement=card.bonus_spend,
        window_months=card.bonus_months,
        estimated_value=bonus_value(reference, card),
        ends_on=None,  # no source says when an offer ends
        source_url=card.bonus_source_url,
        as_of=card.bonus_as_of,
    )


def _shown(call: Call, card: Row) -> CatalogCard:
    known = call.reference
    vouchers = {row.slug: row.name for row in known.rows("voucher_types.csv")}
    plain = ("slug", "name", "issuer", "network", "country", "segment", "annual_fee", "transferable", "audit_flag")
    partners = catalogue.partners(known, card, call.today)
    silent = card.program is not None and card.transferable != "no" and not partners
    notes = (card.note, "The transfer routes of this card's country are not known here." if silent else None)
    return CatalogCard.model_validate(
        {name: getattr(card, name) for name in plain}
        | verified(card)
        | {
            "state": card.status,
            "currency": card.fee_currency,
            "earns_program": card.program,
            "welcome_bonus": _bonus(known, card),
            "earn_rates": [EarnRate.model_validate(r) for r in catalogue.earn_rows(known, card.slug)],
            "transfer_partners": partners,
            "note": " ".join(n for n in notes if n) or None,
            "lounge_access": list(card.lounge),
            "perks": [*card.benefits, *(vouchers[slug] for slug in card.voucher_slugs)],
        }
    )


def _of_issuer(reference: Reference, text: str) -> set[str]:
    """The issuers a loose name means. Raises NotFound with the nearest."""
    issuers = {card.issuer for card in reference.cards.values()}
    wanted = names.plain(text)
    found = {i for i in issuers if wanted and wanted in names.plain(i)}
    found |= {c.issuer for c in reference.cards.values() if wanted in c.slug.split("-")}
    if not found:
        spelled = {names.plain(i): i for i in issuers}
        raise NotFound("issuer", text, [spelled[n] for n in names.nearest(text, spelled)])
    return found


def _by_slug(reference: Reference, slug: str) -> list[Row]:
    if card := reference.cards.get(slug.strip().lower()):
        return [card]
    raise NotFound("card", slug, _near(reference, slug))


def _near(reference: Reference, text: str) -> list[str]:
    spelled = {names.plain(slug): slug for slug in reference.cards}
    return [spelled[n] for n in names.nearest(text, spelled)]


def _said(reference: Reference, query: str | None) -> list[Row]:
    """Cards in the order the words fit them; without words in the order of their names."""
    if not query or not query.strip():
        return sorted(reference.cards.values(), key=lambda c: (c.country, c.name))
    known = reference.cards
    match = cards.match(query, known.values())
    fits = [match.exact] if match.exact else [fit.slug for fit in cards.fitting(query, known.values())]
    if not fits:
        raise NotFound("card", query, _nearest_names(reference, query))
    return [known[slug] for slug in fits]


def _nearest_names(reference: Reference, text: str) -> list[str]:
    spelled = {names.plain(c.name): c.name for c in reference.cards.values()}
    return [spelled[n] for n in names.nearest(text, spelled)]


def _sorted(reference: Reference, found: Iterable[Row], sort: str) -> list[Row]:
    if sort == "annual_fee":
        return sorted(found, key=lambda c: (_usd(reference, c, c.annual_fee) is None, _usd(reference, c, c.annual_fee)))
    if sort == "welcome_bonus_value":
        return sorted(found, key=lambda c: -(_usd(reference, c, bonus_value(reference, c)) or 0))
    return list(found)


def _usd(reference: Reference, card: Row, amount: Decimal | None) -> Decimal | None:
    """Amounts of several currencies made comparable."""
    rate = catalogue.exchange(reference, card.fee_currency)
    return None if amount is None or rate is None else amount * rate.usd_per_unit


@tool(area="cards", tier=Tier.FREE, effect=Effect.READS, title="Search card catalogue")
def search_card_catalog(
    call: Call,
    query: Annotated[str | None, Field(max_length=120)] = None,
    slug: Annotated[str | None, Field(max_length=80, description="Returns this one card.")] = None,
    country: Country | None = None,
    issuer: LooseName | None = None,
    earns_program: AnyName | None = None,
    max_annual_fee: Annotated[Amount | None, Field(description="In the card's currency.")] = None,
    sort: Literal["relevance", "welcome_bonus_value", "annual_fee"] = "relevance",
    page: Page = 1,
    per_page: PerPage = 20,
) -> Catalog:
    """Finds catalogue cards by text, issuer, country or earned programme, with fee, offer, earn rates and perks.

    Cards of the US, Canada, Great Britain and Australia. A welcome_bonus of null: none is known here. Free.
    """
    known = call.reference
    found = _by_slug(known, slug) if slug and slug.strip() else _said(known, query)
    if country:
        found = [c for c in found if c.country == country]
    if issuer and issuer.strip():
        issuers = _of_issuer(known, issuer)
        found = [c for c in found if c.issuer in issuers]
    if earns_program and earns_program.strip():
        program = known.program(earns_program).slug
        found = [c for c in found if c.program == program]
    if max_annual_fee is not None:
        found = [c for c in found if c.annual_fee is not None and c.annual_fee <= max_annual_fee]
    found = _sorted(known, found, sort)
    shown = found[(page - 1) * per_page : page * per_page]
    return Catalog(
        message=_told(known, found, country),
        cards=[_shown(call, c) for c in shown],
        as_of=newest(list(found)),
        paging=Paging.of(page, per_page, len(found)),
    )


def _told(reference: Reference, found: list[Row], country: str | None) -> str:
    countries = sorted({c.country for c in reference.cards.values()})
    if not found:
        nowhere = country is not None and country not in countries
        return f"No card fits. The catalogue has cards of {', '.join(countries)}." if nowhere else "No card fits."
    silent = sum(1 for c in found if c.bonus_amount is None)
    bonus = f" Of {silent} no welcome offer is known." if silent else ""
    unaudited = sum(1 for c in found if c.audited_on is None)
    audit = f" {unaudited} {'is' if unaudited == 1 else 'are'} unaudited: check with the issuer." if unaudited else ""
    return f"{some(len(found), 'card')} fit{'s' if len(found) == 1 else ''}.{bonus}{audit}"
