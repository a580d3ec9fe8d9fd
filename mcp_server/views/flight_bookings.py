"""Parameters and results of the tools for flight bookings."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit.parameters import NOT_BLANK, Amount, Clock, Currency, RowId, Uuid, at_most
from mcp_server.toolkit.provenance import Verified
from mcp_server.toolkit.results import Money, NoDataWord, Paging, Part, Result
from mcp_server.views.bookings import FlightBooking
from mcp_server.views.vouchers import Voucher

MAX_POINTS = 10**12
MAX_PASSENGERS = 999


Airline = Annotated[str, Field(max_length=80), NOT_BLANK]
PointsSpent = Annotated[
    Annotated[int, Field(ge=0), at_most(MAX_POINTS)] | None,
    Field(description="Award only; whole leg; 0 on connecting legs."),
]
Program = Annotated[str | None, Field(max_length=80, description="Award only.")]
CashPaid = Annotated[Amount | None, Field(description="Cash only; in taxes_currency.")]
CashPrice = Annotated[Amount | None, Field(description="Award only; the cash fare of all, in taxes_currency.")]
BookingUuid = Annotated[Uuid | None, Field(description="Same on every leg of one booking.")]
WorkspaceTripId = Annotated[RowId | None, Field(description="From list_trips; not trip_id.")]
FlightNumber = Annotated[str, Field(max_length=12)] | None
PassengerCount = Annotated[int, Field(ge=1), at_most(MAX_PASSENGERS)]
Confirmation = Annotated[str, Field(max_length=40)] | None
Notes = Annotated[str, Field(max_length=4000)] | None
LocalTime = Annotated[Clock | None, Field(description="Times are local.")]
PaymentCurrency = Annotated[Currency, Field(description="For taxes_paid and cash_paid.")]
Clearable = Literal[
    "points_spent",
    "program",
    "cash_paid",
    "trip_id",
    "workspace_trip_id",
    "flight_number",
    "return_date",
    "taxes_paid",
    "cash_price",
    "passengers",
    "confirmation_number",
    "notes",
    "departure_time",
    "arrival_time",
    "arrival_date",
]


class AddedFlight(Result):
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


class RemovedFlight(Part):
    booking_id: int
    route: str
    departure_date: date
    confirmation_number: str | None


class DeletedFlight(Result):
    removed: RemovedFlight
    vouchers_detached: list[int]
