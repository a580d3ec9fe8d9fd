"""Flight bookings a person logged, one record per leg, paid with points or cash."""

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from mcp_server.toolkit import NO_DATA, Added, Call, Effect, Money, NoDataWord, Paging, Part, Result, Tier, tool
from mcp_server.toolkit.argument_schema import UNASSUMED
from mcp_server.toolkit.edits import clears, edit, edit_member, pick_columns
from mcp_server.toolkit.own_rows import Again, find_saved, get_own
from mcp_server.toolkit.parameters import (
    NOT_BLANK,
    AirportCapitals,
    Amount,
    AnyName,
    Cabin,
    Clock,
    Currency,
    Day,
    FlightBookingId,
    Member,
    OtherMember,
    Page,
    PerPage,
    RowId,
    Uuid,
    at_most,
)
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.wording import list_program_names, tell_rows
from mcp_server.views.bookings import FlightBooking, to_flight_booking, to_flight_bookings
from mcp_server.views.cancellations import BalanceOffer, Credit, PointsBack, describe_removal, describe_update, settle
from mcp_server.views.vouchers import Voucher, describe_freed_vouchers, to_voucher
from shared.db.accounts import lock
from shared.db.booking_pages import When, load_flight_page
from shared.db.bookings import FlightBooking as Row
from shared.db.bookings import find_legs
from shared.db.household import find_member
from shared.db.trips import open_trip
from shared.db.vouchers import on_bookings
from shared.domain.dates import format_weekday
from shared.domain.flight_times import describe_times
from shared.domain.household import add_member
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid
from shared.services.bookings import bookings

# Parameters and results of the tools for flight bookings.

MAX_POINTS = 10**12
MAX_PASSENGERS = 999

Airline = Annotated[str, Field(max_length=80), NOT_BLANK]
PointsSpent = Annotated[
    Annotated[int, Field(ge=0), at_most(MAX_POINTS)] | None,
    Field(description="Award only; 0 on later legs."),
]
Program = Annotated[str | None, Field(max_length=80, description="Award only.")]
CashPaid = Annotated[Amount | None, Field(description="Cash only; in taxes_currency.")]
CashPrice = Annotated[Amount | None, Field(description="Award only: cash fare of all.")]
BookingUuid = Annotated[Uuid | None, Field(description="Same on every leg of one booking.")]
WorkspaceTripId = Annotated[RowId | None, Field(description="From list_trips; not trip_id.")]
FlightNumber = Annotated[str, Field(max_length=12)] | None
PassengerCount = Annotated[int, Field(ge=1), at_most(MAX_PASSENGERS)]
Confirmation = Annotated[str, Field(max_length=40)] | None
Notes = Annotated[str, Field(max_length=4000)] | None
LocalTime = Clock | None
PaymentCurrency = Annotated[Currency, Field(description="For taxes_paid and cash_paid.")]


class AddedFlight(Added):
    booking: FlightBooking
    legs: list[FlightBooking]
    cents_per_point: Money | None


class CancellationFee(Verified):
    amount: Money | NoDataWord
    currency: str
    unit: str
    exempt_tiers: list[str]


class FlightDetails(Result):
    booking: FlightBooking
    legs: list[FlightBooking]
    vouchers: list[Voucher]
    cancellation: CancellationFee | None
    names: dict[str, str]  # of programmes, by slug


class FlightTotals(Part):
    points_by_program: dict[str, int]
    cash_by_currency: dict[str, Money]
    taxes_by_currency: dict[str, Money]


class Flights(Result):
    bookings: list[FlightBooking]
    totals: FlightTotals
    paging: Paging


class ChangedFlight(Result):
    booking: FlightBooking
    changed: list[str]
    balance_offer: BalanceOffer | None


class RemovedFlight(Part):
    booking_id: int
    route: str
    departure_date: date
    confirmation_number: str | None


class DeletedFlight(Result):
    removed: RemovedFlight
    vouchers_detached: list[int]


_TIMES = frozenset(
    ("origin", "destination", "departure_date", "departure_time", "arrival_date", "arrival_time", "trip_id")
)
_get_own = partial(get_own, Row, "flight booking")


def _format_route(row: Row) -> str:
    return f"{row.origin}-{row.destination}"


@tool("bookings", Tier.PAID, Effect.ADDS, "Add a flight booking")
def add_flight_booking(
    call: Call,
    airline: Airline,
    origin: AirportCapitals,
    destination: AirportCapitals,
    departure_date: Day,
    cabin_class: Cabin,
    kind: Literal["award", "cash"] = "award",
    points_spent: PointsSpent = None,
    program: Program = None,
    cash_paid: CashPaid = None,
    trip_id: BookingUuid = None,
    workspace_trip_id: WorkspaceTripId = None,
    flight_number: FlightNumber = None,
    return_date: Day | None = None,
    taxes_paid: Amount | None = None,
    taxes_currency: PaymentCurrency = "USD",
    passengers: Annotated[PassengerCount | None, UNASSUMED] = None,
    confirmation_number: Confirmation = None,
    notes: Notes = None,
    departure_time: LocalTime = None,
    arrival_time: Clock | None = None,
    arrival_date: Day | None = None,
    cash_price: CashPrice = None,
    member: Member | None = None,
    again: Again = None,
) -> AddedFlight:
    """Adds a flight the user booked, on miles or in cash: ticket, taxes, confirmation number (PNR).

    For "We just booked our tickets to Rome." Records it; books nothing. One leg per call; outbound, return and
    connections share one trip_id, with the whole cost on the first leg and 0 on the others. Paid.
    """
    terms = pick_columns(Row, locals()) | {"member": find_member(call.db, member, Row.member)}
    loose = ("program", "flight_number", "confirmation_number", "notes")
    terms |= {name: terms[name] or None for name in loose}
    row = bookings.leg(call.reference, terms)
    if saved := find_saved(call, row, "flight booking", again=again):
        row, message = saved
    else:
        bookings.add_flight(call.db, call.reference, row)
        message = f"Saved as {add_member(f'flight booking {row.id}', row.member)}: {_describe_leg(row)}."
    legs = find_legs(call.db, row)
    return AddedFlight(
        message=message if saved else message + _describe_doubts(call, row, legs),
        already_saved=saved is not None,
        booking=to_flight_booking(call, row, []),
        legs=to_flight_bookings(call, legs),
        cents_per_point=bookings.cents_per_point(call.db, legs),
    )


def _describe_leg(row: Row) -> str:
    """`BA117 LHR-JFK on Thu 21 Jan 2027, 22:10 to 06:30 +1, Fri 22 Jan 2027`."""
    number = f"{row.flight_number} " if row.flight_number else ""
    leaves = f"{number}{_format_route(row)} on {format_weekday(row.departure_date)}"
    return f"{leaves}{describe_times(row.departure_date, row.departure_time, row.arrival_date, row.arrival_time)}"


def _describe_doubts(call: Call, row: Row, legs: Sequence[Row]) -> str:
    """Sentences about an unknown airline and a cost on more than one leg."""
    sentences = []
    if row.airline not in call.reference.carriers:
        sentences.append(f"No airline called {row.airline} is known here; the name is kept as you wrote it.")
    if sum(bool(leg.points_spent or leg.cash_paid) for leg in legs) > 1:
        sentences.append("More than one leg has a cost. Put the whole cost on the first leg and 0 on the others.")
    return "".join(f" {sentence}" for sentence in sentences)


@tool("bookings", Tier.FREE, Effect.READS, "Show a flight booking")
def get_flight_booking(call: Call, booking_id: FlightBookingId) -> FlightDetails:
    """Opens one booked flight: confirmation number (PNR), legs, departure, seat, miles and taxes paid.

    For "What did I pay for my Rome flight? What's the PNR?" Also its vouchers and cancellation fee. Free.
    """
    row = _get_own(call.db, booking_id)
    legs = find_legs(call.db, row)
    vouchers = on_bookings(call.db, "flight", [leg.id for leg in legs])
    whose = f"Flight of {row.member}: " if row.member else ""
    parts = {leg.id: to_flight_booking(call, leg, [v.id for v in vouchers[leg.id]]) for leg in legs}
    return FlightDetails(
        message=f"{whose}{_describe_leg(row)}, {parts[row.id].state}. The booking has {pluralize(len(legs), 'leg')}.",
        booking=parts[row.id],
        legs=list(parts.values()),
        vouchers=[to_voucher(call, v) for v in vouchers[row.id]],
        cancellation=_find_cancellation_fee(call, row),
        names=list_program_names(call.reference, [leg.program for leg in legs if leg.program]),
    )


def _find_cancellation_fee(call: Call, row: Row) -> CancellationFee | None:
    """The fee of the programme that booked the award; None for a cash fare and for an unknown fee."""
    fee = call.reference.cancellation_fee(row.program) if row.program else None
    if fee is None:
        return None
    return CancellationFee(
        amount=NO_DATA if fee.cancel_fee is None else fee.cancel_fee,
        currency=fee.fee_currency,
        unit=fee.cancel_unit,
        exempt_tiers=list(fee.exempt_tiers),
        **describe_verified(fee),
    )


@tool("bookings", Tier.FREE, Effect.READS, "List flight bookings")
def list_flight_bookings(
    call: Call,
    when: When = "all",
    from_date: Day | None = None,
    to_date: Day | None = None,
    program: AnyName | None = None,
    airline: AnyName | None = None,
    trip_id: Uuid | None = None,
    workspace_trip_id: WorkspaceTripId = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Flights:
    """Lists booked flights and tickets: upcoming, past, flown or cancelled, with the miles and cash spent.

    For "Which flights are coming up? What did we fly last year?" Free.
    """
    if from_date and to_date and to_date < from_date:
        raise Invalid(Fault("to_date", "is before from_date", f"a date from {from_date}"))
    only = bookings.list_flight_filters(call.reference, program, airline)
    bookings.check_trip(call.db, workspace_trip_id)
    only |= {"trip_id": trip_id, "workspace_trip_id": workspace_trip_id, "from_date": from_date, "to_date": to_date}
    today = bookings.today(call.reference, "flight", call.now)
    legs = load_flight_page(call.db, today, when, only, page, per_page)
    sums = legs.sums
    return Flights(
        message=tell_rows(sums.total, "flight booking", map(_describe_leg, legs.rows)),
        bookings=[to_flight_booking(call, row, legs.vouchers[row.id]) for row in legs.rows],
        totals=FlightTotals(points_by_program=sums.points, cash_by_currency=sums.cash, taxes_by_currency=sums.taxes),
        paging=Paging.of(page, per_page, sums.total),
    )


@tool("bookings", Tier.PAID, Effect.CHANGES, "Change a flight booking")
@clears(Row)
def update_flight_booking(
    call: Call,
    booking_id: FlightBookingId,
    airline: Airline | None = None,
    origin: AirportCapitals | None = None,
    destination: AirportCapitals | None = None,
    departure_date: Day | None = None,
    cabin_class: Cabin | None = None,
    kind: Literal["award", "cash"] | None = None,
    points_spent: PointsSpent = None,
    program: Program = None,
    cash_paid: CashPaid = None,
    trip_id: BookingUuid = None,
    workspace_trip_id: WorkspaceTripId = None,
    flight_number: FlightNumber = None,
    return_date: Day | None = None,
    taxes_paid: Amount | None = None,
    taxes_currency: PaymentCurrency | None = None,
    passengers: PassengerCount | None = None,
    confirmation_number: Confirmation = None,
    notes: Notes = None,
    departure_time: LocalTime = None,
    arrival_time: Clock | None = None,
    arrival_date: Day | None = None,
    clear: list[str] | None = None,
    cash_price: CashPrice = None,
    member: OtherMember | None = None,
    cancelled_on: Day | None = None,
    points_back: PointsBack = None,
    money_back: Amount | None = None,
    credit_points_back: Credit = False,
) -> ChangedFlight:
    """Changes or corrects a booked flight: date, departure time, cabin, seat, cost, confirmation number.

    For "They moved my flight to 9am; I typed it wrong, fix it." Another kind empties the old one's fields. Paid.
    """
    changes = pick_columns(Row, locals())
    lock(call.db, call.account_id)
    if workspace_trip_id is not None:
        open_trip(call.db, workspace_trip_id, "workspace_trip_id")
    owner = member if member is None else find_member(call.db, member, Row.member)
    row = _get_own(call.db, booking_id, locked=True)
    return _store_changes(call, row, changes, clear or (), owner, credits=credit_points_back)


def _store_changes(
    call: Call, row: Row, changes: dict[str, Any], clear: Sequence[str], owner: str | None, *, credits: bool
) -> ChangedFlight:
    """Stores changes, or nothing: raises Invalid, NotFound and Candidates."""
    airline = changes["airline"]
    names = bookings.flight_names(call.reference, {"airline": airline or row.airline, "program": changes["program"]})
    changes |= {"airline": airline and names["airline"], "program": names["program"]}
    outdated = bookings.list_outdated_times(row, changes)
    dropped = [*clear, *bookings.list_fields_to_drop(row, changes), *(name for name in outdated if name not in clear)]
    changed = edit(row, call.now, changes, dropped) + edit_member(row, call.now, owner)
    bookings.check_flight(call.reference, {name: getattr(row, name) for name in changes})
    if not _TIMES.isdisjoint(changed):  # another change is no reason to judge unchanged times
        bookings.settle_times(call.reference, row)
        bookings.check_legs(call.reference, row, find_legs(call.db, row))
    settled = settle(call, row, changed, takes_back="cancelled_on" in clear, credits=credits)
    call.db.flush()
    booking = to_flight_bookings(call, [row])[0]
    name = f"{row.flight_number or row.airline} {_format_route(row)}"
    return ChangedFlight(
        message=describe_update(name, booking, changed, settled),
        booking=booking,
        changed=changed,
        balance_offer=settled.offer,
    )


@tool("bookings", Tier.FREE, Effect.CHANGES, "Delete a flight booking")
def delete_flight_booking(call: Call, booking_id: FlightBookingId) -> DeletedFlight:
    """Deletes a booked flight or ticket: cancelled, refunded, not taken, entered twice or by mistake.

    For "We are not going, take our flight off my list." Removes the record; nothing is cancelled with the airline.
    Free.
    """
    row = _get_own(call.db, booking_id, locked=True)
    freed = bookings.remove(call.db, row)
    return DeletedFlight(
        message=f"Flight booking {row.id}, {_format_route(row)}, is removed here.{describe_removal(row)}"
        f"{describe_freed_vouchers(freed)}",
        removed=RemovedFlight(
            booking_id=row.id,
            route=_format_route(row),
            departure_date=row.departure_date,
            confirmation_number=row.confirmation_number,
        ),
        vouchers_detached=freed,
    )
