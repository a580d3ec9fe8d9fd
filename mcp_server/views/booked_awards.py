"""Watches of booked awards: the parameter, its checks, and what an answer says of them."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.own_rows import get_own
from mcp_server.toolkit.parameters import RowId
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.results import Money
from shared.db.bookings import FlightBooking
from shared.db.route_monitors import RouteMonitor
from shared.domain.dates import format_weekday
from shared.domain.party_prices import format_amount
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid
from shared.services.watches.booked_awards import BookedAward, is_better_cabin, read_award, set_terms

BookedAwardId = Annotated[
    RowId | None,
    Field(description="A booked award: tells when it is cheaper, fee deducted, or in a better cabin."),
]


class RebookingFee(Verified):
    """What cancelling the booked award costs each person: money, or points where `currency` is null."""

    amount: Money
    currency: str | None


def to_fee(call: Call, award: BookedAward | None) -> RebookingFee | None:
    fact = call.reference.cancellation_fee(award.program) if award else None
    if award is None or award.fee is None or fact is None:
        return None
    amount = Decimal(award.fee.points) if award.fee.money is None else award.fee.money
    return RebookingFee(amount=amount, currency=award.fee.currency, **describe_verified(fact))


def read_booked_award(call: Call, row: RouteMonitor, booking_id: int | None) -> BookedAward | None:
    """The award a monitor is to watch, whose terms it takes. Raises NotFound and Invalid."""
    if booking_id is None:
        return None
    award = read_award(call.db, call.reference, get_own(FlightBooking, "flight booking", call.db, booking_id))
    if (row.origin, row.destination) != (award.origin, award.destination):
        raise Invalid(
            Fault("origin", "and destination are not those of the booking", f"{award.origin} and {award.destination}")
        )
    if not row.earliest_date <= award.day <= row.latest_date:
        raise Invalid(
            Fault("earliest_date", "and latest_date leave out the day of the booking", f"{award.day} within them")
        )
    if row.cabin is not None and row.cabin != award.cabin and not is_better_cabin(row.cabin, award):
        raise Invalid(Fault("cabin", "is below the booked one", f"{award.cabin} or a better cabin"))
    set_terms(row, award)
    return award


def describe_award(award: BookedAward | None, row: RouteMonitor) -> str:
    """What is watched of a booking, and the fee that counts."""
    if award is None:
        return ""
    cabin = str(row.cabin).replace("_", " ")
    flight = f"{award.flight_number or award.airline} on {format_weekday(award.day)}"
    if row.cabin != award.cabin:
        return f" for booking {award.booking_id}: {cabin} on {flight}"
    return (
        f" for booking {award.booking_id}: {flight} in {cabin} for fewer than the {award.points_each:,} points each"
        f" that were paid, after the fee for cancelling{_describe_fee(award)}"
    )


def _describe_fee(award: BookedAward) -> str:
    fee = award.fee
    if fee is None:
        return ", which is not known"
    if fee.money is not None and fee.currency is not None:
        return f", {format_amount(fee.money, fee.currency)} per person" if fee.money else ", which is nothing"
    return f", {pluralize(fee.points, 'point')} per person"
