"""Cards a person owns: their fields, the rules between them, and how results show one."""

from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import select

from mcp_server.toolkit import Call, CallBase, Money, Part, edits
from mcp_server.toolkit.parameters import (
    ClearableCountry,
    ClearableDay,
    ClearableMoney,
    ClearableWindow,
    Currency,
)
from mcp_server.views.own_credits import BonusSpending, to_bonus_spending
from shared.db.card_spending import CardSpending
from shared.db.cards import Card as Row
from shared.db.cards import OpenFee
from shared.db.profile import Profile
from shared.domain import cards
from shared.errors import Ambiguity, Candidates, Choice, Fault, Invalid
from shared.reference.reference import Reference
from shared.services.deadlines import find_progress

Nickname = Annotated[str, Field(max_length=80)] | None
Notes = Annotated[str, Field(max_length=4000)] | None
BonusCurrency = Annotated[str | None, Field(max_length=60, description="What the bonus is paid in.")]
BonusStatus = Annotated[
    Literal["pending", "earned", "missed", ""] | None,
    Field(description="Leave unset when unknown."),
]
OptionalDay = ClearableDay | None
OptionalMoney = ClearableMoney | None
SpendWindow = Annotated[
    ClearableWindow | None,
    Field(description="1, 2, 3, 6 or 12; without spend_deadline_on: counted from opened_on."),
]
CardCurrency = Annotated[Currency, Field(description="For spend_requirement and annual_fee.")]
Country = Annotated[
    ClearableCountry | None,
    Field(description="ISO code; empty string resets to the catalogue's."),
]


class CardFee(Part):
    """`source` stored: recorded with the card; catalogue: what the issuer asks of everybody."""

    amount: Money
    currency: str
    source: Literal["stored", "catalogue"]


class Card(Part):
    card_id: int
    member: str | None
    slug: str | None
    name: str
    issuer: str | None
    country: str | None
    currency: str
    custom: bool
    nickname: str | None
    opened_on: date | None
    closed_on: date | None
    annual_fee: Money | None
    expected_fee: CardFee | None
    next_fee_on: date | None
    bonus_amount: int | None
    bonus_currency: str | None
    bonus_status: Literal["pending", "earned", "missed"] | None
    bonus_earned_on: date | None
    spend_requirement: Money | None
    spend_so_far: Money | None
    spend_so_far_on: date | None
    spend_deadline_on: date | None
    spend_window_months: int | None
    bonus_days_left: int | None
    bonus_progress: BonusSpending | None
    notes: str | None
    created_at: datetime
    updated_at: datetime


_COLUMNS = tuple(name for name in Card.model_fields if name in Row.__table__.columns)


class CardCandidate(Part):
    slug: str
    name: str
    issuer: str
    country: str
    score: float


def to_card(call: Call, row: Row, spending: Mapping[int, CardSpending] | None = None) -> Card:
    """`spending`: from statements of the cards."""
    catalogued = call.reference.cards.get(row.slug) if row.slug else None
    fee = find_fee(call.reference, row.slug, row.annual_fee, row.currency)
    read = vars(row)  # attributes of a mapped class take five times as long: 60 us of a page of five cards
    columns = {name: read[name] if name in read else getattr(row, name) for name in _COLUMNS}
    today = call.own_day if row.opened_on or row.spend_deadline_on else call.today
    progress = find_progress(spending or {}, row)
    return Card.model_validate(
        columns
        | {
            "card_id": row.id,
            "member": row.member or None,
            "issuer": catalogued.issuer if catalogued else None,
            "country": row.country or (catalogued.country if catalogued else None),
            "expected_fee": fee,
            "next_fee_on": cards.find_next_fee_date(row.opened_on, row.closed_on, bool(fee and fee.amount), today),
            "bonus_days_left": cards.count_bonus_days(row.bonus_status, row.spend_deadline_on, today),
            "bonus_progress": progress and to_bonus_spending(progress, today),
        }
    )


def find_fee(reference: Reference, slug: str | None, stored: Decimal | None, currency: str) -> CardFee | None:
    """The card's yearly fee: the stored one, else the catalogue's; None if neither is known."""
    catalogued = reference.cards.get(slug or "")
    fee = cards.choose_fee(
        stored,
        currency,
        catalogued.annual_fee if catalogued else None,
        catalogued.fee_currency if catalogued else None,
    )
    return fee and CardFee(amount=fee[0], currency=fee[1], source="catalogue" if stored is None else "stored")


def sum_fees(reference: Reference, open_fees: Iterable[OpenFee]) -> dict[str, Decimal]:
    """The annual fees of the open cards by currency; a card without a known fee adds nothing."""
    fees = [(find_fee(reference, o.slug, o.annual_fee, o.currency), o.cards) for o in open_fees]
    return cards.sum_by_currency((fee.amount * count, fee.currency) for fee, count in fees if fee)


def find_home_country(call: Call, country: str | None) -> str | None:
    """The country to look for a card in: the given one, else the profile's if the catalogue has cards of it."""
    if country:
        return country
    home = call.db.scalar(select(Profile.country))
    return home if home in {card.country for card in call.reference.cards.values()} else None


def find_catalogue_slug(
    call: CallBase, text: str, alternative: str = "", *, saves: bool = True, country: str | None = None
) -> str | None:
    """The catalogue slug that the text names, or None. Raises Candidates if it might name some.

    `country`: its cards come first; others' count only if none of its cards fits.
    """
    match = cards.match_card(text, call.reference.cards.values(), country)
    if not match.candidates:
        return match.exact
    candidates = [
        CardCandidate.from_row(c, score=fit.score) for fit in match.candidates if (c := call.reference.cards[fit.slug])
    ]
    raise Candidates(
        f"No card is called exactly {text!r}{', and nothing was saved' if saves else ''}. Ask the user which of these"
        f" is meant and call again with its slug{alternative}.",
        candidates,
        Ambiguity("card", text, [Choice(c.slug, f"{c.name} ({c.issuer}, {c.country})") for c in candidates]),
    )


def store_fields(
    call: CallBase, row: Row, values: Mapping[str, Any], clear: Collection[str] | None = None
) -> list[str]:
    """Stores the fields by the rules of a card; returns those that changed. Raises Invalid, storing nothing."""

    def value_after(name: str) -> Any:
        return getattr(row, name) if values[name] is None else values[name] or None

    values = edits.mark_cleared(values, clear)
    values |= _resolve_spend_deadline(row, values, value_after("opened_on"))
    opened_on = value_after("opened_on")
    faults = [
        _describe_wrong_order(name, values[name] is not None, opened_on, value_after(name))
        for name in ("closed_on", "spend_deadline_on", "bonus_earned_on")
        if {values["opened_on"], values[name]} != {None}
        and opened_on
        and value_after(name)
        and value_after(name) < opened_on
    ]
    if faults:
        raise Invalid(*faults)
    return edits.edit(row, call.now, values)


def _describe_wrong_order(name: str, is_set: bool, opened_on: date, day: date) -> Fault:
    if is_set:
        return Fault(name, "is before opened_on", f"a date from {opened_on.isoformat()}")
    return Fault("opened_on", f"is after {name}", f"a date up to {day.isoformat()}")


def _resolve_spend_deadline(row: Row, values: Mapping[str, Any], opened_on: date | None) -> dict[str, Any]:
    """The changes to deadline and window: setting a deadline clears the window; otherwise the window gives the
    deadline, also when the opening day is corrected later."""
    if values["spend_deadline_on"]:
        return {"spend_window_months": ""}
    window = values["spend_window_months"]
    if window and opened_on is None:
        raise Invalid(Fault("opened_on", "is needed to count spend_window_months from", "a date YYYY-MM-DD"))
    if window:
        return {"spend_deadline_on": cards.find_spend_deadline(opened_on, window)}
    from_window = cards.find_spend_deadline(row.opened_on, row.spend_window_months)
    if window is None and values["spend_deadline_on"] is None and from_window and from_window == row.spend_deadline_on:
        return {"spend_deadline_on": cards.find_spend_deadline(opened_on, row.spend_window_months)}
    return {}


def describe_missing_bonus_day(row: Row) -> str:
    """A request for the missing day of a bonus marked as earned; it is never guessed."""
    if row.bonus_status != "earned" or row.bonus_earned_on is not None:
        return ""
    return " The bonus is marked earned, but the date is missing: ask for bonus_earned_on."
