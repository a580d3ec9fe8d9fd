"""Credits and welcome bonuses of the cards a person holds: what is used or spent, what is open, and until when."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from sqlalchemy import select

from mcp_server.toolkit import Call, Money, Part
from mcp_server.toolkit.provenance import Verified, describe_verified
from shared.db.card_credits import CardCreditUse, store_credit_use
from shared.db.cards import Card
from shared.db.portfolio import Holdings
from shared.domain import cards
from shared.domain import names as names_of
from shared.domain.card_credits import describe_state, find_cycle_start
from shared.domain.cards import BonusProgress
from shared.domain.dates import add_months
from shared.domain.valuations import VALUATION_CURRENCY
from shared.errors import Fault, Invalid, NotFound
from shared.reference.cards import list_credits
from shared.services.deadlines import OwnCredit, Viewpoint, list_own_credits

MAX_MONTHS_BACK = 24


class HeldCredit(Verified):
    """`ends_on` is None where it is not known which year the issuer counts, or when the card was opened.

    `proof`: what an imported statement showed of its use; None where the user said it, or nothing is used.
    """

    card_id: int
    card: str
    member: str | None
    credit: str
    name: str
    amount: Money
    currency: str
    cycle: str
    used: Money
    open: Money
    cycle_start: date | None
    ends_on: date | None
    days_left: int | None
    due_soon: bool
    enrolment: bool
    note: str | None
    proof: str | None


class BonusSpending(Part):
    """What is known of the spending a bonus asks for, until the day `statements_until`: `is_told` by the person, else
    shown by imported statements. `is_most`: days after the deadline may be in."""

    spent: Money
    required: Money
    remaining: Money
    currency: str
    statements_until: date
    deadline: date | None
    is_most: bool
    is_told: bool
    sentence: str


class OpenBonus(Part):
    """`progress` is None where neither a statement nor the person says what was spent."""

    card_id: int
    card: str
    member: str | None
    bonus_amount: int | None
    bonus_currency: str | None
    spend_requirement: Money | None
    currency: str
    spend_deadline_on: date | None
    progress: BonusSpending | None


def to_held_credit(own: OwnCredit) -> HeldCredit:
    credit, state = own.credit, own.state
    return HeldCredit.model_validate(
        describe_verified(credit)
        | {
            "card_id": own.card.id,
            "card": name_card(own.card),
            "member": own.card.member or None,
            "credit": credit.credit,
            "name": credit.name,
            "amount": credit.amount,
            "currency": credit.currency,
            "cycle": credit.cycle,
            "used": state.used,
            "open": state.open,
            "cycle_start": state.period.first if state.period else None,
            "ends_on": state.period.last if state.period else None,
            "days_left": state.days_left,
            "due_soon": state.due_soon,
            "enrolment": credit.enrolment,
            "note": credit.remark,
            "proof": own.proof,
        }
    )


def to_bonus_spending(progress: BonusProgress, today: date) -> BonusSpending:
    return BonusSpending.from_row(
        progress, statements_until=progress.until, sentence=cards.describe_bonus_progress(progress, today)
    )


def name_card(row: Card) -> str:
    return row.nickname or row.name


def list_card_credits(call: Call, row: Card) -> list[OwnCredit]:
    """The credits of one card in their cycles of today."""
    if row.slug is None or not list_credits(call.reference, row.slug, call.own_day):
        return []
    uses = call.db.scalars(select(CardCreditUse).where(CardCreditUse.card_id == row.id)).all()
    view = Viewpoint(call.reference, call.now, call.own_day, VALUATION_CURRENCY)
    return list_own_credits(view, Holdings(cards=[row], credit_uses=uses))


def mark_credit(call: Call, row: Card, text: str | None, amount: Decimal | None, day: date | None) -> bool:
    """Stores the used part of a credit in the cycle of `day`; whether that is a change. Raises Invalid and NotFound."""
    if text is None:
        if amount is None and day is None:
            return False
        raise Invalid(Fault("credit", "is needed with credit_used", "a credit of the card"))
    day = _check_day(row, day or call.own_day, call.own_day)
    credits = {c.credit: c for c in list_credits(call.reference, row.slug or "", day)}
    names = {names_of.normalize_name(c.name): (slug,) for slug, c in credits.items()}
    slugs = (text.strip(),) if text.strip() in credits else names_of.find_meanings(text, names)
    if len(slugs) != 1:
        raise NotFound("credit", text, sorted(slugs or credits))
    credit = credits[slugs[0]]
    if credit.cycle == "anniversary" and row.opened_on is None:
        raise Invalid(Fault("opened_on", "is needed to know the year of this credit", "a date YYYY-MM-DD"))
    amount = credit.amount if amount is None else amount
    if amount > credit.amount * 5:  # extra in some months, such as Uber Cash in December, is within this
        raise Invalid(Fault("credit_used", "is far above the credit", f"an amount up to {credit.amount}"))
    start = find_cycle_start(credit.cycle, day, row.opened_on)
    return store_credit_use(call.db, row.id, credit.credit, start, amount, call.now)


def _check_day(row: Card, day: date, today: date) -> date:
    """Raises Invalid for a future day, one before the card was opened, or in a cycle long over."""
    first = max(row.opened_on or date.min, add_months(today, -MAX_MONTHS_BACK))
    if not first <= day <= today:
        expected = f"a date from {first.isoformat()} to {today.isoformat()}"
        raise Invalid(Fault("credit_used_on", "is not a day on which the credit can have been used", expected))
    return day


def describe_credit(own: Sequence[OwnCredit], text: str | None) -> str:
    """Says what is left of a card's credits after one was marked."""
    if text is None:
        return ""
    return "".join(f" {describe_state(c.credit.name, c.credit, c.state)}" for c in own if c.state.used)
