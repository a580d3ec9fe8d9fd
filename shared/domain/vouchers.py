"""State of a voucher: held, applied or expired."""

from datetime import date
from typing import Literal

State = Literal["held", "applied", "expired"]
BookingType = Literal["flight", "hotel"]


def get_voucher_state(expires_on: date | None, applied: bool, today: date) -> State:
    """A voucher on a booking stays applied after its last day. The last day itself still counts."""
    if applied:
        return "applied"
    return "expired" if expires_on is not None and expires_on < today else "held"
