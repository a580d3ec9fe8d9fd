"""Cards a person owns: recorded from loose text, linked to the catalogue where it names one, and listed."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from mcp_server.call import Call
from mcp_server.fields import (
    ClearableCount,
    ClearableCountry,
    ClearableDay,
    ClearableMoney,
    ClearableWindow,
    Currency,
    Day,
    Page,
    PerPage,
    RowId,
    line,
)
from mcp_server.results import Money, Paging, Part, Result
from mcp_server.toolbox import Effect, Tier, tool
from shared.db.cards import Card as Row
from shared.db.cards import page_of_cards, wallet
from shared.domain import cards
from shared.errors import Candidates, Fault, Invalid, NotFound

N = TypeVar("N", int, Decimal)

_EMPTY_CLEARS = Field(description="Empty string clears.")
CardText = Annotated[str, line(120), Field(description="Catalogue slug, catalogue name or free text.")]
Nickname = Annotated[str, Field(max_length=80)] | None
Notes = Annotated[str, Field(max_length=4000)] | None
Custom = Annotated[bool, Field(description="True saves as free text and skips matching.")]
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


class AddedCard(Result):
    card: Card
    saved: bool
    linked_to_catalogue: bool


class CardTotals(Part):
    open: int
    closed: int
    annual_fees_by_currency: dict[str, Money]
    bonuses_pending: int


class Cards(Result):
    cards: list[Card]
    totals: CardTotals
    paging: Paging


def _card(call: Call, row: Row) -> Card:
    known = call.reference.cards.get(row.slug) if row.slug else None
    fee = row.annual_fee if row.annual_fee is not None else (known.annual_fee if known else None)
    kept = {name: getattr(row, name) for name in Card.model_fields if name in Row.__table__.columns}
    return Card.model_validate(
        kept
        | {
            "card_id": row.id,
            "issuer": known.issuer if known else None,
            "country": row.country or (known.country if known else None),
            "next_fee_on": cards.next_fee(row.opened_on, row.closed_on, bool(fee), call.today),
            "bonus_days_left": cards.bonus_days_left(row.bonus_status, row.spend_deadline_on, call.today),
        }
    )


def _linked(call: Call, text: str) -> str | None:
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
        " again with its slug, or with custom true to keep the text as it is.",
        near,
    )


def _consistent(opened_on: date | None, window: int | None, **later: date | None) -> None:
    if window is not None and opened_on is None:
        raise Invalid(Fault("opened_on", "is needed to count spend_window_months from", "a date YYYY-MM-DD"))
    early = [name for name, day in later.items() if day and opened_on and day < opened_on]
    if opened_on and early:
        wanted = f"a date from {opened_on.isoformat()}"
        raise Invalid(*(Fault(name, "is before opened_on", wanted) for name in early))


@tool(area="cards", tier=Tier.FREE, effect=Effect.ADDS)
def add_card(
    call: Call,
    card: CardText,
    nickname: Nickname = None,
    opened_on: Day | None = None,
    closed_on: Day | None = None,
    notes: Notes = None,
    custom: Custom = False,
    bonus_amount: BonusAmount = None,
    bonus_currency: BonusCurrency = None,
    bonus_status: BonusStatus = None,
    bonus_earned_on: OptionalDay = None,
    spend_requirement: OptionalMoney = None,
    spend_deadline_on: OptionalDay = None,
    spend_window_months: SpendWindow = None,
    annual_fee: OptionalMoney = None,
    currency: CardCurrency = "USD",
    country: Country = None,
) -> AddedCard:
    """Records a payment card the user owns, linked to the card catalogue where the text names exactly one entry.

    Call list_my_cards first to avoid duplicates. An exact slug or name links; any other fit returns candidates and
    saves nothing: confirm with the user and call again with the slug. A name that fits nothing is saved as free text.
    A welcome bonus keeps the bonus_status sent here; set bonus_earned_on with earned. Free.
    """
    window = None if spend_deadline_on else spend_window_months or None
    deadline = cards.spend_deadline(spend_deadline_on or None, opened_on, window)
    _consistent(
        opened_on, window, closed_on=closed_on, spend_deadline_on=deadline, bonus_earned_on=bonus_earned_on or None
    )
    slug = None if custom else _linked(call, card)
    row = Row(
        slug=slug,
        name=call.reference.cards[slug].name if slug else card,
        custom=custom,
        nickname=nickname or None,
        opened_on=opened_on,
        closed_on=closed_on,
        annual_fee=_sent(annual_fee),
        currency=currency,
        country=country or None,
        bonus_amount=_sent(bonus_amount),
        bonus_currency=bonus_currency or None,
        bonus_status=bonus_status or None,
        bonus_earned_on=bonus_earned_on or None,
        spend_requirement=_sent(spend_requirement),
        spend_deadline_on=deadline,
        spend_window_months=window,
        notes=notes or None,
    )
    call.db.add(row)
    call.db.flush()
    return AddedCard(message=_saved(row), card=_card(call, row), saved=True, linked_to_catalogue=slug is not None)


def _sent(value: N | Literal[""] | None) -> N | None:
    return None if value == "" else value


def _saved(row: Row) -> str:
    how = "linked to the catalogue" if row.slug else "as free text, outside the catalogue"
    undated = row.bonus_status == "earned" and row.bonus_earned_on is None
    missing = " The bonus is marked earned, but the date is missing: ask for bonus_earned_on." if undated else ""
    return f"{row.name} is saved as card {row.id}, {how}.{missing}"


@tool(area="cards", tier=Tier.FREE, effect=Effect.READS)
def list_my_cards(
    call: Call,
    card_id: Annotated[RowId | None, Field(description="Return only this card.")] = None,
    include_closed: bool = True,
    bonus_status: Literal["pending", "earned", "missed", "unknown"] | None = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Cards:
    """Lists the cards the user owns with their welcome-bonus progress and fee dates; totals cover all of them. Free."""
    rows, total = _chosen(call, card_id, include_closed, bonus_status, page, per_page)
    sums = wallet(call.db, call.today)
    return Cards(
        message=f"{total} card{'' if total == 1 else 's'}.",
        cards=[_card(call, r) for r in rows],
        totals=CardTotals(
            open=sums.open,
            closed=sums.closed,
            annual_fees_by_currency=sums.annual_fees,
            bonuses_pending=sums.bonuses_pending,
        ),
        paging=Paging.of(page, per_page, total),
    )


def _chosen(
    call: Call, card_id: int | None, include_closed: bool, bonus_status: str | None, page: int, per_page: int
) -> tuple[list[Row], int]:
    if card_id is None:
        return page_of_cards(
            call.db,
            call.today,
            include_closed=include_closed,
            bonus_status=bonus_status,
            page=page,
            per_page=per_page,
        )
    row = call.db.get(Row, card_id)
    if row is None:
        raise NotFound("card", card_id)
    return [row], 1
