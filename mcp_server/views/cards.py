"""What the card tools share: the fields a card is kept with, their rules, and the part of a result that shows one."""

from collections.abc import Collection, Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from mcp_server.toolkit import edits
from mcp_server.toolkit.context import Call, CallBase
from mcp_server.toolkit.parameters import (
    ClearableCount,
    ClearableCountry,
    ClearableDay,
    ClearableMoney,
    ClearableWindow,
    Currency,
)
from mcp_server.toolkit.results import Money, Part
from shared.db.cards import Card as Row
from shared.domain import cards
from shared.errors import Candidates, Fault, Invalid

_EMPTY_CLEARS = Field(description="Empty string clears.")
Nickname = Annotated[str, Field(max_length=80)] | None
Notes = Annotated[str, Field(max_length=4000)] | None
BonusAmount = Annotated[ClearableCount | None, Field(description="Whole number; empty string clears.")]
BonusCurrency = Annotated[str | None, Field(max_length=60, description="What the bonus is paid in.")]
BonusStatus = Annotated[
    Literal["pending", "earned", "missed", ""] | None,
    Field(description="Empty string clears; leave unset when unknown."),
]
OptionalDay = Annotated[ClearableDay | None, _EMPTY_CLEARS]
OptionalMoney = Annotated[ClearableMoney | None, _EMPTY_CLEARS]
SpendWindow = Annotated[
    ClearableWindow | None,
    Field(description="Read only without spend_deadline_on, which is then counted from opened_on."),
]
CardCurrency = Annotated[Currency, Field(description="For spend_requirement and annual_fee.")]
Country = Annotated[
    ClearableCountry | None,
    Field(description="ISO code, UK accepted for GB; empty string resets to the catalogue country."),
]


class Card(Part):
    card_id: int
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
    next_fee_on: date | None
    bonus_amount: int | None
    bonus_currency: str | None
    bonus_status: Literal["pending", "earned", "missed"] | None
    bonus_earned_on: date | None
    spend_requirement: Money | None
    spend_deadline_on: date | None
    spend_window_months: int | None
    bonus_days_left: int | None
    notes: str | None
    created_at: datetime
    updated_at: datetime


class CardCandidate(Part):
    slug: str
    name: str
    issuer: str
    country: str
    score: float


def to_card(call: Call, row: Row) -> Card:
    known = call.reference.cards.get(row.slug) if row.slug else None
    fee = row.annual_fee if row.annual_fee is not None else (known.annual_fee if known else None)
    kept = {name: getattr(row, name) for name in Card.model_fields if name in Row.__table__.columns}
    today = call.own_day if row.opened_on or row.spend_deadline_on else call.today
    return Card.model_validate(
        kept
        | {
            "card_id": row.id,
            "issuer": known.issuer if known else None,
            "country": row.country or (known.country if known else None),
            "next_fee_on": cards.next_fee(row.opened_on, row.closed_on, bool(fee), today),
            "bonus_days_left": cards.bonus_days_left(row.bonus_status, row.spend_deadline_on, today),
        }
    )


def find_catalogue_slug(call: CallBase, text: str, way_out: str) -> str | None:
    """The catalogue slug the text names; None when it names none. Raises Candidates when it might name some."""
    found = cards.match(text, call.reference.cards.values())
    if not found.candidates:
        return found.exact
    near = [
        CardCandidate(slug=c.slug, name=c.name, issuer=c.issuer, country=c.country, score=fit.score)
        for fit in found.candidates
        if (c := call.reference.cards[fit.slug])
    ]
    raise Candidates(
        f"No card is called exactly {text!r}, and nothing was saved. Ask the user which of these is meant and call"
        f" again with its slug{way_out}.",
        near,
    )


def store_fields(call: CallBase, row: Row, sent: Mapping[str, Any], clear: Collection[str] | None = None) -> list[str]:
    """Stores the fields sent by the rules of a card, or refuses and changes nothing; names what is different."""

    def after(name: str) -> Any:
        if name in (clear or ()) or sent[name] == "":
            return None
        return getattr(row, name) if sent[name] is None else sent[name]

    sent = {**sent, **_spend_by(row, sent, after("opened_on"))}
    opened_on = after("opened_on")
    faults = [
        _out_of_order(name, sent[name] is not None, opened_on, after(name))
        for name in ("closed_on", "spend_deadline_on", "bonus_earned_on")
        if {sent["opened_on"], sent[name]} != {None} and opened_on and after(name) and after(name) < opened_on
    ]
    if faults:
        raise Invalid(*faults)
    return edits.edit(row, call.now, sent, clear)


def _out_of_order(name: str, sent: bool, opened_on: date, day: date) -> Fault:
    if sent:
        return Fault(name, "is before opened_on", f"a date from {opened_on.isoformat()}")
    return Fault("opened_on", f"is after {name}", f"a date up to {day.isoformat()}")


def _spend_by(row: Row, sent: Mapping[str, Any], opened_on: date | None) -> dict[str, Any]:
    """What becomes of window and deadline. A day that was sent stands alone; else the window makes the day, now and
    when the opening day is corrected."""
    if sent["spend_deadline_on"]:
        return {"spend_window_months": ""}
    window = sent["spend_window_months"]
    if window and opened_on is None:
        raise Invalid(Fault("opened_on", "is needed to count spend_window_months from", "a date YYYY-MM-DD"))
    if window:
        return {"spend_deadline_on": cards.spend_deadline(None, opened_on, window)}
    counted = cards.spend_deadline(None, row.opened_on, row.spend_window_months)
    if window is None and sent["spend_deadline_on"] is None and counted and counted == row.spend_deadline_on:
        return {"spend_deadline_on": cards.spend_deadline(None, opened_on, row.spend_window_months)}
    return {}


def describe_missing_bonus_day(row: Row) -> str:
    """What is to be said of a bonus marked earned without its day; no day is guessed."""
    if row.bonus_status != "earned" or row.bonus_earned_on is not None:
        return ""
    return " The bonus is marked earned, but the date is missing: ask for bonus_earned_on."
