"""Flight and hotel bookings for results; the number of SQL statements does not grow with the rows."""

from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import PlainSerializer

from mcp_server.toolkit import Call, LiveCall, Marked, Money, Part
from mcp_server.toolkit.parameters import Cabin
from shared.db import bookings as store
from shared.db.bookings import HotelPrice, Watched
from shared.db.vouchers import on_bookings
from shared.domain import bookings
from shared.domain.party_prices import format_amount
from shared.reference import hotels
from shared.services.bookings.bookings import find_zone_of, flight_state, next_check, stay_state

ClockTime = Annotated[
    time | None,
    PlainSerializer(lambda at: at and at.strftime("%H:%M"), return_type=str | None),
]


class BookingChange(Part):
    """What one letter changed of a booking. `on` is the day of the letter."""

    on: date | None
    field: str
    old: Any
    new: Any


class FlightBooking(Part):
    booking_id: int
    member: str | None
    airline: str
    flight_number: str | None
    origin: str
    destination: str
    departure_date: date
    departure_time: ClockTime
    departure_zone: str | None
    arrival_date: date | None
    arrival_time: ClockTime
    arrival_zone: str | None
    return_date: date | None
    cabin_class: Cabin
    kind: Literal["award", "cash"]
    program: str | None
    points_spent: int | None
    cash_paid: Money | None
    cash_price: Money | None
    taxes_paid: Money | None
    taxes_currency: str
    passengers: int | None
    confirmation_number: str | None
    notes: str | None
    trip_id: UUID | None
    workspace_trip_id: int | None
    voucher_ids: list[int]
    changes: list[BookingChange]
    state: bookings.FlightState
    cancelled_at: datetime | None
    cancelled_on: date | None
    points_back: int | None
    money_back: Money | None
    points_credited: int | None
    created_at: datetime
    updated_at: datetime


class Hotel(Part):
    """Where a stay is; of a hotel that has left the facts only its code and the name it had then.

    A hotel that was given by name and is none of the known ones has neither id nor code.
    """

    hotel_id: str | None
    hotel_code: str | None
    name: str
    chain: str | None
    city: str | None
    country: str | None


class PriceSnapshot(Marked):
    captured_at: datetime
    points: int | None
    cash: Money | None
    currency: str | None
    room_type: str | None
    source: str
    mode: Literal["live", "cached", "sandbox"]
    provider_checked_at: datetime | None


class PriceDrop(Marked):
    points_saved: int | None
    cash_saved: Money | None
    currency: str | None
    percent: Money
    against: bookings.Against
    captured_at: datetime


class Monitoring(Part):
    active: bool
    last_checked_at: datetime | None
    next_check_on: date | None
    last_error: str | None


class HotelBooking(Part):
    booking_id: int
    member: str | None
    hotel: Hotel
    check_in_date: date
    check_out_date: date
    nights: int
    kind: Literal["award", "cash"]
    original_points: int | None
    original_pay_rate_usd: Money | None
    cash_rate_currency: str
    room_type: str | None
    rate_plan: str | None
    confirmation_number: str | None
    notes: str | None
    trip_id: int | None
    voucher_ids: list[int]
    monitoring: Monitoring
    latest: PriceSnapshot | None
    drop: PriceDrop | None
    changes: list[BookingChange]
    state: bookings.StayState
    cancelled_at: datetime | None
    cancelled_on: date | None
    points_back: int | None
    money_back: Money | None
    points_credited: int | None
    free_cancellation_until: date | None
    booked: bool
    max_points_per_night: int | None
    max_cash_per_night: Money | None
    created_at: datetime
    updated_at: datetime


def to_flight_bookings(call: Call, rows: Sequence[store.FlightBooking]) -> list[FlightBooking]:
    """Converts rows; one statement reads the vouchers of all."""
    vouchers = on_bookings(call.db, "flight", [row.id for row in rows])
    return [to_flight_booking(call, row, [v.id for v in vouchers[row.id]]) for row in rows]


def to_hotel_bookings(call: Call, rows: Sequence[store.HotelStay]) -> list[HotelBooking]:
    """Converts rows; one statement reads the vouchers of all, and one the prices."""
    vouchers = on_bookings(call.db, "hotel", [row.id for row in rows])
    prices = store.prices_of(call.db, rows)
    return [to_hotel_booking(call, row, [v.id for v in vouchers[row.id]], prices.get(row.id)) for row in rows]


def to_flight_booking(call: Call, row: store.FlightBooking, voucher_ids: list[int]) -> FlightBooking:
    columns = {name: getattr(row, name) for name in FlightBooking.model_fields if hasattr(row, name)}
    computed = {
        "booking_id": row.id,
        "member": row.member or None,
        "voucher_ids": voucher_ids,
        "state": flight_state(call.reference, row, call.now),
        "departure_zone": row.departure_zone or find_zone_of(call.reference, row.origin),
        "arrival_zone": row.arrival_zone or find_zone_of(call.reference, row.destination),
        "changes": row.changes or [],
        "cancelled_on": _find_cancelled_day(row),
    }
    return FlightBooking.model_validate(columns | computed)


def to_hotel_booking(
    call: Call, row: store.HotelStay, voucher_ids: list[int], watched: Watched | None = None
) -> HotelBooking:
    """`watched` is None for a stay whose price was never checked."""
    prices = watched or Watched(None, None, None)
    state = stay_state(call.reference, row, call.now)
    is_watched = bool(row.hotel_code) and row.active and row.paused_at is None
    columns = {name: getattr(row, name) for name in HotelBooking.model_fields if hasattr(row, name)}
    computed = {
        "booking_id": row.id,
        "member": row.member or None,
        "hotel": to_hotel(call, row),
        "changes": row.changes or [],
        "cancelled_on": _find_cancelled_day(row),
        "voucher_ids": voucher_ids,
        "monitoring": Monitoring(
            active=state == "upcoming" and is_watched,
            last_checked_at=row.last_checked_at,
            next_check_on=next_check(state, prices.next_due_at, call.now) if is_watched else None,
            last_error=row.last_error,
        ),
        "latest": to_price_snapshot(prices.latest) if prices.latest else None,
        "drop": find_price_drop(row, prices.comparable) if state == "upcoming" and prices.comparable else None,
        "state": state,
    }
    return HotelBooking.model_validate(columns | computed)


def _find_cancelled_day(row: store.FlightBooking | store.HotelStay) -> date | None:
    """The day the person gave, else the day of the letter."""
    return row.cancelled_on or (row.cancelled_at and row.cancelled_at.date())


def to_hotel(call: Call, row: store.HotelStay) -> Hotel:
    facts = hotels.find_stored(call.reference, row.hotel_code)
    if facts is None:
        place = {"city": row.hotel_city, "country": row.hotel_country}
        return Hotel(hotel_id=None, hotel_code=row.hotel_code or None, name=row.hotel_name, chain=None, **place)
    return Hotel(**hotels.to_card(facts))


def to_price_snapshot(row: HotelPrice) -> PriceSnapshot:
    """Converts a stored price: live data then is cached data now."""
    columns = {name: getattr(row, name) for name in PriceSnapshot.model_fields if name != "generated_at"}
    marks = {"mode": "sandbox" if row.mode == "sandbox" else "cached", "generated_at": _generated_at(row)}
    return PriceSnapshot.model_validate(columns | marks)


def _generated_at(row: HotelPrice) -> datetime | None:
    return row.captured_at if row.mode == "sandbox" else None


def find_price_drop(row: store.HotelStay, price: HotelPrice) -> PriceDrop | None:
    """How much less the stay costs now than when booked; None if it does not."""
    booked = (row.original_points, row.original_pay_rate_usd, row.cash_rate_currency)
    saving = bookings.find_price_drop(row.kind, booked, (price.points, price.cash, price.currency))
    if saving is None:
        return None
    return PriceDrop.from_row(saving, captured_at=price.captured_at, generated_at=_generated_at(price))


def describe_drop(booking: HotelBooking, drop: PriceDrop) -> str:
    """`now 2,884 USD, 1,116 USD (27.9%) less than you booked`."""
    if drop.points_saved:
        points = (booking.original_points or 0) - drop.points_saved
        return f"now {points:,} points, {drop.points_saved:,} ({drop.percent}%) less than you booked"
    saved, currency = Decimal(str(drop.cash_saved)), drop.currency or booking.cash_rate_currency
    price = Decimal(str(booking.original_pay_rate_usd)) - saved
    less = format_amount(saved, currency)
    return f"now {format_amount(price, currency)}, {less} ({drop.percent}%) less than you booked"


def describe_no_watch(call: Call | LiveCall) -> str:
    """Says why the price of a stay at a hotel without a code is not watched."""
    hotel_count = len(call.reference.rows("hotels.csv"))
    return f"Prices of this hotel are not watched: it is not among the {hotel_count:,} known ones."
