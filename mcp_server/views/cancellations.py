"""A cancellation that a person records: the refund, in sentences, and the balance to add it to."""

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, Field

from mcp_server.toolkit import Call, Part
from mcp_server.toolkit.edits import describe_changes
from mcp_server.toolkit.parameters import at_most
from mcp_server.toolkit.wording import program_name
from mcp_server.views.vouchers import describe_freed_vouchers
from shared.db.balances import find_balance
from shared.db.bookings import FlightBooking, HotelBooking, find_legs
from shared.domain.dates import format_day
from shared.domain.party_prices import format_amount
from shared.errors import Fault, Invalid
from shared.reference import hotels
from shared.services.bookings import bookings

PointsBack = Annotated[int, Field(ge=0), at_most(10**12)] | None
Credit = Annotated[bool, Field(description="Into the balance; ask first.")]
FIELDS = frozenset(("cancelled_on", "points_back", "money_back"))


class BalanceOffer(Part):
    """Points that came back and are in no balance here yet; `balance` is what is saved, null without any."""

    program: str
    points: int
    balance: int | None
    question: str


@dataclass(frozen=True)
class Settled:
    """What became of a cancellation. `sentences` is empty for a booking that is not cancelled."""

    sentences: str = ""
    offer: BalanceOffer | None = None


@dataclass(frozen=True)
class _Paid:
    """What the whole booking cost in points, whose they were, and the legs not cancelled."""

    points: int
    program: str | None
    standing: int


def settle(
    call: Call, row: FlightBooking | HotelBooking, changed: Collection[str], *, takes_back: bool, credits: bool
) -> Settled:
    """Cancels or reinstates a booking by its edited fields. `credits`: its points go to the balance."""
    if takes_back and row.cancelled_at is not None:
        bookings.reinstate(call.db, call.reference, row)
        return Settled(" It is booked again.")
    freed = bookings.cancel(call.db, row, call.now) if row.cancelled_on and row.cancelled_at is None else []
    paid = _read_paid(call, row)
    _check(call, row, paid, credits=credits)
    if row.cancelled_at is None or not (credits or FIELDS & set(changed)):
        return Settled()
    day = row.cancelled_on or row.cancelled_at.date()
    sentences = [f"Cancelled on {format_day(day)}.", *_describe_return(call, row, paid)]
    offer = _find_offer(call, row, paid)
    if offer and credits:
        sentences.append(_credit(call, row, offer))
        offer = None
    elif credits:
        sentences.append("These points were added before.")
    elif offer:
        sentences.append(offer.question)
    if paid.standing:
        sentences.append(f"{paid.standing} more of its legs {'stands' if paid.standing == 1 else 'stand'} here.")
    return Settled(" " + " ".join(sentences) + describe_freed_vouchers(freed), offer)


def describe_update(name: str, booking: BaseModel, changed: Collection[str], settled: Settled) -> str:
    """Describes an update: a cancellation specially, other fields with their new values."""
    if not settled.sentences:
        return describe_changes(name, booking, changed)
    others = [field for field in changed if field not in FIELDS]
    return f"{name}:{settled.sentences}" + (f" {describe_changes('it', booking, others)}" if others else "")


def describe_removal(row: FlightBooking | HotelBooking) -> str:
    """A sentence on what removing a record does not change."""
    if row.cancelled_at is not None:
        return ""
    return f" Nothing was cancelled with the {'airline' if isinstance(row, FlightBooking) else 'hotel'}."


def _read_paid(call: Call, row: FlightBooking | HotelBooking) -> _Paid:
    if isinstance(row, HotelBooking):
        hotel = hotels.find_stored(call.reference, row.hotel_code)
        return _Paid(row.original_points or 0, hotel.program if hotel else None, 0)
    legs = find_legs(call.db, row)
    program = row.program or next((leg.program for leg in legs if leg.program), None)
    return _Paid(sum(leg.points_spent or 0 for leg in legs), program, sum(leg.cancelled_at is None for leg in legs))


def _check(call: Call, row: FlightBooking | HotelBooking, paid: _Paid, *, credits: bool) -> None:
    """Raises Invalid."""
    faults = []
    if row.cancelled_on and row.cancelled_on > call.own_day:
        faults.append(Fault("cancelled_on", "is in the future", f"a day up to {call.own_day}"))
    if row.cancelled_at is None and (row.points_back is not None or row.money_back is not None):
        name = "points_back" if row.points_back is not None else "money_back"
        faults.append(Fault(name, "is of a booking that stands", "it with cancelled_on"))
    if paid.points and (row.points_back or 0) > paid.points:
        faults.append(Fault("points_back", "is more than was paid", f"up to {paid.points:,}"))
    if credits and not (row.points_back and paid.program):
        faults.append(Fault("credit_points_back", "has no points to add", "points_back, and a known programme"))
    if faults:
        raise Invalid(*faults)


def _describe_return(call: Call, row: FlightBooking | HotelBooking, paid: _Paid) -> list[str]:
    currency = row.taxes_currency if isinstance(row, FlightBooking) else row.cash_rate_currency
    parts = [f"{row.points_back:,} points"] if row.points_back else []
    parts += [format_amount(Decimal(row.money_back), currency)] if row.money_back else []
    if parts:
        return [f"{' and '.join(parts)} came back."]
    if row.points_back is None and paid.points:
        whose = f" of {program_name(call.reference, paid.program)}" if paid.program else ""
        return [f"Did the {paid.points:,} points{whose} come back?"]
    return []


def _find_offer(call: Call, row: FlightBooking | HotelBooking, paid: _Paid) -> BalanceOffer | None:
    due = (row.points_back or 0) - (row.points_credited or 0)
    if due <= 0 or paid.program is None:
        return None
    balance = find_balance(call.db, paid.program, row.member)
    name = program_name(call.reference, paid.program)
    saved = f"{balance.balance:,} as of {format_day(balance.as_of)}" if balance else "no balance is saved"
    question = f"Add {due:,} to {name} ({saved})?"
    return BalanceOffer(
        program=paid.program, points=due, balance=balance.balance if balance else None, question=question
    )


def _credit(call: Call, row: FlightBooking | HotelBooking, offer: BalanceOffer) -> str:
    """Adds the points to an existing balance; without one its amount is unknown."""
    balance = find_balance(call.db, offer.program, row.member)
    name = program_name(call.reference, offer.program)
    if balance is None:
        return f"No balance of {name} is saved, so none was changed: say how much it holds now."
    balance.balance, balance.as_of, balance.source, balance.updated_at = (
        balance.balance + offer.points,
        call.today,
        "manual",
        call.now,
    )
    row.points_credited = row.points_back
    call.db.flush()
    return f"{name} now holds {balance.balance:,}."
