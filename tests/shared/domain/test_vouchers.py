"""The state of a voucher on every side of its last day, on a booking and off."""

from datetime import date

import pytest

from shared.domain.vouchers import get_voucher_state

TODAY = date(2028, 2, 29)


@pytest.mark.parametrize(
    ("expires_on", "applied", "expected"),
    [
        (None, False, "held"),
        (date(2028, 3, 1), False, "held"),
        (TODAY, False, "held"),
        (date(2028, 2, 28), False, "expired"),
        (None, True, "applied"),
        (date(2028, 3, 1), True, "applied"),
        (date(2028, 2, 28), True, "applied"),
    ],
)
def test_a_voucher_is_held_to_the_end_of_its_last_day_unless_a_booking_uses_it(
    expires_on: date | None, applied: bool, expected: str
) -> None:
    assert get_voucher_state(expires_on, applied, TODAY) == expected
