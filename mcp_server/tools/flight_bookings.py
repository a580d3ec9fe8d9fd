"""Flights a person booked: one record per leg, with points or cash, read, changed and removed."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from sqlalchemy import ColumnElement, func

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.edits import describe_changes, edit
from mcp_server.toolkit.own_rows import get_own
from mcp_server.toolkit.parameters import AirportCapitals, Amount, AnyName, Cabin, Currency, Day, Page, PerPage, RowId
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import NO_DATA, Money, NoDataWord, Paging, Part, Result
from mcp_server.views.bookings import FlightBooking, to_flight_booking, to_flight_bookings
from mcp_server.views.vouchers import Voucher, to_voucher
from shared.db.bookings import FlightBooking as Row
from shared.db.bookings import When, fare_seen, legs_of, page_of_flights
from shared.db.trips import open_trip
from shared.db.vouchers import on_bookings
from shared.domain import bookings as rules
from shared.domain.plurals import some
from shared.errors import Fault, Invalid
from shared.services.bookings import bookings

UUID_PATTERN = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
MOST_POINTS = 10**12
MOST_PEOPLE = 999


def _uuid(value: Any) -> UUID:
    if isinstance(value, UUID):
        return value
    if not isinstance(value, str) or len(value) != 36:
        raise ValueError("is not a UUID")
    try:
        return UUID(value)
    except ValueError:
        raise ValueError("is not a UUID") from None


def _up_to(most: int) -> AfterValidator:
    """A bound of sense, kept out of the schema."""

    def check(value: int) -> int:
        if value > most:
            raise ValueError("is too large")
        return value

    return AfterValidator(check)


def _written(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty")
    return value.strip()


Uuid = Annotated[UUID, BeforeValidator(_uuid), WithJsonSchema({"type": "string", "pattern": UUID_PATTERN})]
Airline = Annotated[str, Field(max_length=80), AfterValidator(_written)]
PointsSpent = Annotated[
    Annotated[int, Field(ge=0), _up_to(MOST_POINTS)] | None,
    Field(description="Award only; whole leg; 0 on connecting legs."),
]
Program = Annotated[str | None, Field(max_length=80, description="Award only.")]
CashPaid = Annotated[Amount | None, Field(description="Cash only; in taxes_currency.")]
Together = Annotated[Uuid | None, Field(description="Same on every leg of one booking; none if single.")]
Workspace = Annotated[RowId | None, Field(description="Workspace trip, not trip_id.")]
Number = Annotated[str, Field(max_length=12)] | None
People = Annotated[int, Field(ge=1), _up_to(MOST_PEOPLE)]
Confirmation = Annotated[str, Field(max_length=40)] | None
Notes = Annotated[str, Field(max_length=4000)] | None
PaidIn = Annotated[Currency, Field(description="For taxes_paid and cash_paid.")]
Clearable = Literal[
    "points_spent",
    "program",
    "cash_paid",
    "trip_id",
    "workspace_trip_id",
    "flight_number",
    "return_date",
    "taxes_paid",
    "passengers",
    "confirmation_number",
    "notes",
]


class AddedFlight(Result):
    booking: FlightBooking
    legs: list[FlightBooking]
    cents_per_point: Money | None


class CancellationFee(Part):
    amount: Money | NoDataWord
    currency: str
    unit: str
    exempt_tiers: list[str]
    source_url: str
    verified_on: str | None


class FlightDetails(Result):
    booking: FlightBooking
    legs: list[FlightBooking]
    vouchers: list[Voucher]
    cancellation: CancellationFee | None


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


class RemovedFlight(Part):
    booking_id: int
    route: str
    departure_date: date
    confirmation_number: str | None


class DeletedFlight(Result):
    removed: RemovedFlight
    vouchers_detached: list[int]


_own = partial(get_own, Row, "flight booking")


def _route(row: Row) -> str:
    return f"{row.origin}-{row.destination}"


@tool(area="bookings", tier=Tier.PAID, effect=Effect.ADDS)
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
    trip_id: Together = None,
    workspace_trip_id: Workspace = None,
    flight_number: Number = None,
    return_date: Day | None = None,
    taxes_paid: Amount | None = None,
    taxes_currency: PaidIn = "USD",
    passengers: People | None = None,
    confirmation_number: Confirmation = None,
    notes: Notes = None,
) -> AddedFlight:
    """Logs one leg of an award or cash flight booking.

    Multi-leg: one call per leg with one trip_id, the whole cost on the first leg, 0 on later ones. Paid.
    """
    row = bookings.add_flight(
        call.db,
        call.reference,
        {
            "airline": airline,
            "origin": origin,
            "destination": destination,
            "departure_date": departure_date,
            "cabin_class": cabin_class,
            "kind": kind,
            "points_spent": points_spent,
            "program": program or None,
            "cash_paid": cash_paid,
            "trip_id": trip_id,
            "workspace_trip_id": workspace_trip_id,
            "flight_number": flight_number or None,
            "return_date": return_date,
            "taxes_paid": taxes_paid,
            "taxes_currency": taxes_currency,
            "passengers": passengers,
            "confirmation_number": confirmation_number or None,
            "notes": notes or None,
        },
    )
    legs = legs_of(call.db, row)
    worth = _worth(call, legs)
    return AddedFlight(
        message=f"Saved as flight booking {row.id}: {_route(row)} on {row.departure_date}.{_remarks(call, row, legs)}",
        booking=to_flight_booking(call, row, []),
        legs=to_flight_bookings(call, legs),
        cents_per_point=worth,
    )


def _remarks(call: Call, row: Row, legs: Sequence[Row]) -> str:
    """What the caller should know about what was stored."""
    said = []
    if row.airline not in call.reference.carriers:
        said.append(f"{row.airline} is kept as written; no airline known here is called so.")
    if sum(rules.bears_cost(leg.points_spent, leg.cash_paid) for leg in legs) > 1:
        said.append("More than one leg carries a cost: put the whole cost on the first and 0 on the others.")
    return "".join(f" {sentence}" for sentence in said)


def _worth(call: Call, legs: Sequence[Row]) -> Decimal | None:
    """Of a single award leg whose cash fare was seen here; a fare of other seats says nothing about these."""
    row = legs[0]
    if len(legs) > 1 or not row.points_spent or row.taxes_paid is None or row.passengers is None:
        return None
    fare = fare_seen(call.db, row)
    return None if fare is None else rules.cents_per_point(fare, row.taxes_paid, row.points_spent)


@tool(area="bookings", tier=Tier.FREE, effect=Effect.READS)
def get_flight_booking(call: Call, booking_id: RowId) -> FlightDetails:
    """Shows one logged flight booking with its sibling legs, vouchers and cancellation fee. Free."""
    row = _own(call.db, booking_id)
    legs = legs_of(call.db, row)
    held = on_bookings(call.db, "flight", [leg.id for leg in legs])
    shown = {leg.id: to_flight_booking(call, leg, [v.id for v in held[leg.id]]) for leg in legs}
    return FlightDetails(
        message=f"{_route(row)} on {row.departure_date}, {shown[row.id].state}; legs of the booking: {len(legs)}.",
        booking=shown[row.id],
        legs=list(shown.values()),
        vouchers=[to_voucher(call, v) for v in held[row.id]],
        cancellation=_cancellation(call, row),
    )


def _cancellation(call: Call, row: Row) -> CancellationFee | None:
    """What the programme that booked the award charges; None for a cash fare, and where that is not known."""
    fee = call.reference.cancellation_fee(row.program) if row.program else None
    if fee is None:
        return None
    return CancellationFee(
        amount=NO_DATA if fee.cancel_fee is None else fee.cancel_fee,
        currency=fee.fee_currency,
        unit=fee.cancel_unit,
        exempt_tiers=list(fee.exempt_tiers),
        source_url=fee.source_url,
        verified_on=fee.audited_on.isoformat() if fee.audited_on else fee.as_of,
    )


@tool(area="bookings", tier=Tier.FREE, effect=Effect.READS)
def list_flight_bookings(
    call: Call,
    when: When = "all",
    from_date: Day | None = None,
    to_date: Day | None = None,
    program: AnyName | None = None,
    airline: AnyName | None = None,
    trip_id: Uuid | None = None,
    workspace_trip_id: RowId | None = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Flights:
    """Lists logged flight bookings with totals per programme and currency.

    Totals cover every booking that fits, cancelled ones only with when cancelled. Free.
    """
    if from_date and to_date and to_date < from_date:
        raise Invalid(Fault("to_date", "is before from_date", f"a date from {from_date}"))
    only = _chosen(call, program, airline)
    bookings.check_trip(call.db, workspace_trip_id)
    asked = ((Row.trip_id, trip_id), (Row.workspace_trip_id, workspace_trip_id))
    only += [column == wanted for column, wanted in asked if wanted is not None]
    only += [Row.departure_date >= from_date] if from_date else []
    only += [Row.departure_date <= to_date] if to_date else []
    today = bookings.today(call.reference, "flight", call.now)
    rows, sums = page_of_flights(call.db, today, when, only, page, per_page)
    return Flights(
        message=f"{some(sums.total, 'flight booking')}.",
        bookings=to_flight_bookings(call, rows),
        totals=FlightTotals(points_by_program=sums.points, cash_by_currency=sums.cash, taxes_by_currency=sums.taxes),
        paging=Paging.of(page, per_page, sums.total),
    )


def _chosen(call: Call, program: str | None, airline: str | None) -> list[ColumnElement[bool]]:
    only: list[ColumnElement[bool]] = []
    code = bookings.airline(call.reference, airline) if airline else None
    if code:
        only.append(func.lower(Row.airline).in_({code.lower(), str(airline).strip().lower()}))
    if program:
        only.append(Row.program == bookings.program(call.reference, program, code))
    return only


@tool(area="bookings", tier=Tier.PAID, effect=Effect.CHANGES)
def update_flight_booking(
    call: Call,
    booking_id: RowId,
    airline: Airline | None = None,
    origin: AirportCapitals | None = None,
    destination: AirportCapitals | None = None,
    departure_date: Day | None = None,
    cabin_class: Cabin | None = None,
    kind: Literal["award", "cash"] | None = None,
    points_spent: PointsSpent = None,
    program: Program = None,
    cash_paid: CashPaid = None,
    trip_id: Together = None,
    workspace_trip_id: Workspace = None,
    flight_number: Number = None,
    return_date: Day | None = None,
    taxes_paid: Amount | None = None,
    taxes_currency: PaidIn | None = None,
    passengers: People | None = None,
    confirmation_number: Confirmation = None,
    notes: Notes = None,
    clear: Annotated[list[Clearable] | None, Field(description="Fields to empty.")] = None,
) -> ChangedFlight:
    """Changes fields of one logged flight booking. Another kind empties what only the old one has. Paid."""
    if workspace_trip_id is not None:
        open_trip(call.db, workspace_trip_id, "workspace_trip_id")
    row = _own(call.db, booking_id, locked=True)
    sent = {
        "airline": airline,
        "origin": origin,
        "destination": destination,
        "departure_date": departure_date,
        "cabin_class": cabin_class,
        "kind": kind,
        "points_spent": points_spent,
        "program": program,
        "cash_paid": cash_paid,
        "trip_id": trip_id,
        "workspace_trip_id": workspace_trip_id,
        "flight_number": flight_number,
        "return_date": return_date,
        "taxes_paid": taxes_paid,
        "taxes_currency": taxes_currency,
        "passengers": passengers,
        "confirmation_number": confirmation_number,
        "notes": notes,
    }
    settled = bookings.flight_names(call.reference, {"airline": airline or row.airline, "program": program})
    sent |= {"airline": airline and settled["airline"], "program": settled["program"]}
    changed = edit(row, call.now, sent, [*(clear or ()), *bookings.unfitting(row, sent)])
    bookings.check_flight(call.reference, {name: getattr(row, name) for name in sent})
    call.db.flush()
    return ChangedFlight(message=describe_changes(changed), booking=to_flight_bookings(call, [row])[0], changed=changed)


@tool(area="bookings", tier=Tier.FREE, effect=Effect.CHANGES)
def delete_flight_booking(call: Call, booking_id: RowId) -> DeletedFlight:
    """Removes one logged flight booking; nothing is cancelled with the airline. Free."""
    row = _own(call.db, booking_id, locked=True)
    freed = bookings.remove(call.db, row)
    back = f" Vouchers held again: {', '.join(map(str, freed))}." if freed else ""
    return DeletedFlight(
        message=f"Flight booking {row.id}, {_route(row)}, is removed here. With the airline it still stands.{back}",
        removed=RemovedFlight(
            booking_id=row.id,
            route=_route(row),
            departure_date=row.departure_date,
            confirmation_number=row.confirmation_number,
        ),
        vouchers_detached=freed,
    )
