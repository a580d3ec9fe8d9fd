"""Vouchers: a last day, a booking and what a kind applies to go in; the state and whether it may be used come out."""

from collections.abc import Collection
from datetime import date
from typing import Literal

State = Literal["held", "applied", "expired"]
BookingType = Literal["flight", "hotel"]
SOON_DAYS = 90


def state(expires_on: date | None, applied: bool, today: date) -> State:
    """One put on a booking was used: that it ends later changes nothing. The last day itself still counts."""
    if applied:
        return "applied"
    return "expired" if expires_on is not None and expires_on < today else "held"


def why_not(
    booking_type: BookingType, applies_to: Collection[str], cancelled: bool, expires_on: date | None, today: date
) -> str | None:
    """What stands against putting a voucher on a booking, worded to follow "the voucher"; None when nothing does."""
    if booking_type not in applies_to:
        return f"is for {' or '.join(sorted(applies_to))} use, not for a {booking_type} booking"
    if cancelled:
        return "cannot go on a booking that is cancelled"
    if expires_on is not None and expires_on < today:
        return f"ended on {expires_on.isoformat()}"
    return None
