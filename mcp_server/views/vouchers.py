"""Vouchers for results, with the name of their kind and their state."""

from collections.abc import Sequence
from datetime import date, datetime

from mcp_server.toolkit import Call, Part
from mcp_server.toolkit.wording import program_name
from shared.db.bookings import FlightBooking, HotelBooking, find_legs
from shared.db.vouchers import Voucher as Row
from shared.domain import vouchers
from shared.domain.balances import count_days_left
from shared.domain.vouchers import Fit, Use
from shared.reference import hotel_awards, hotels
from shared.reference.reference import Reference
from shared.reference.rows.travel import Hotel, VoucherType


class AppliedTo(Part):
    booking_type: vouchers.BookingType
    booking_id: int


class Voucher(Part):
    voucher_id: int
    voucher_slug: str
    name: str
    program: str | None
    reference: str | None
    expires_on: date | None
    days_left: int | None
    state: vouchers.State
    applied_to: AppliedTo | None
    notes: str | None
    created_at: datetime
    updated_at: datetime


def to_applied_to(flight_booking_id: int | None, hotel_booking_id: int | None) -> AppliedTo | None:
    if flight_booking_id is not None:
        return AppliedTo(booking_type="flight", booking_id=flight_booking_id)
    return None if hotel_booking_id is None else AppliedTo(booking_type="hotel", booking_id=hotel_booking_id)


def to_voucher(call: Call, row: Row) -> Voucher:
    """A kind that is no longer in the reference data is shown by its slug."""
    today = call.own_day if row.expires_on else call.today
    kind = call.reference.voucher_types.get(row.voucher_slug)
    where = to_applied_to(row.flight_booking_id, row.hotel_booking_id)
    return Voucher.from_row(
        row,
        voucher_id=row.id,
        name=kind.name if kind else row.voucher_slug,
        program=kind.program if kind else None,
        days_left=count_days_left(row.expires_on, today),
        state=vouchers.get_voucher_state(row.expires_on, where is not None, today),
        applied_to=where,
    )


def judge_booking(call: Call, row: Row, kind: VoucherType, booking: FlightBooking | HotelBooking) -> Fit:
    """Compares a booking with the limits of a voucher."""
    return judge_voucher(call.reference, row, kind, _build_use(call, booking))


def judge_voucher(facts: Reference, row: Row, kind: VoucherType, use: Use) -> Fit:
    return vouchers.judge_use(kind, row.expires_on, use, lambda slug: program_name(facts, slug))


def _build_use(call: Call, booking: FlightBooking | HotelBooking) -> Use:
    if isinstance(booking, FlightBooking):
        days = [leg.departure_date for leg in find_legs(call.db, booking) if leg.cancelled_at is None]
        return Use(
            what="flight",
            starts=booking.departure_date,
            ends=max(booking.return_date or booking.departure_date, *days, booking.departure_date),
            program=booking.program,
            airline=booking.airline if booking.airline in call.reference.airlines else None,
            cabin=booking.cabin_class,
            people=booking.passengers,
        )
    hotel = hotels.find_stored(call.reference, booking.hotel_code)
    nights = (booking.check_out_date - booking.check_in_date).days
    points = booking.original_points // nights if booking.original_points else None
    return build_stay_use(call.reference, hotel, (booking.check_in_date, booking.check_out_date), points, call.today)


def build_stay_use(
    facts: Reference, hotel: Hotel | None, dates: tuple[date, date], points: int | None, today: date
) -> Use:
    """A stay at a hotel, or None for an unknown one; `points` per night."""
    category = hotel_awards.find_category(facts, hotel, today) if hotel else None
    return Use(
        what="stay",
        starts=dates[0],
        ends=dates[1],
        program=hotel.program if hotel else None,
        category=category.category if category else None,
        points=points,
    )


def describe_freed_vouchers(ids: Sequence[int]) -> str:
    """A sentence about vouchers that were taken off a removed booking; empty when there are none."""
    if not ids:
        return ""
    return f" {'Voucher' if len(ids) == 1 else 'Vouchers'} {', '.join(map(str, ids))} can be used again."
