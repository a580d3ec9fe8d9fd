"""Vouchers as results show them, with the name of their kind and their state."""

from collections.abc import Sequence
from datetime import date, datetime

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.results import Part
from shared.db.vouchers import Voucher as Row
from shared.domain import vouchers
from shared.domain.balances import count_days_left


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
    return Voucher(
        voucher_id=row.id,
        voucher_slug=row.voucher_slug,
        name=kind.name if kind else row.voucher_slug,
        program=kind.program if kind else None,
        reference=row.reference,
        expires_on=row.expires_on,
        days_left=count_days_left(row.expires_on, today),
        state=vouchers.get_voucher_state(row.expires_on, where is not None, today),
        applied_to=where,
        notes=row.notes,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def describe_freed_vouchers(ids: Sequence[int]) -> str:
    """A sentence about vouchers that were taken off a removed booking; empty when there are none."""
    if not ids:
        return ""
    return f" {'Voucher' if len(ids) == 1 else 'Vouchers'} {', '.join(map(str, ids))} can be used again."
