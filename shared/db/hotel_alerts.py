"""Stays that are watched before anyone has booked them, until a night is free or cheap enough."""

from shared.db.bookings import HotelStay
from shared.domain.dates import format_days
from shared.domain.watch_kinds import HOTEL_ALERT


class HotelAlert(HotelStay):
    """A stay not booked yet, and the limit for its nights."""

    KIND = HOTEL_ALERT
    __mapper_args__ = {"polymorphic_identity": False}

    @property
    def title(self) -> str:
        return f"{self.hotel_name}, {format_days(self.check_in_date, self.check_out_date)}"

    def switch(self, *, on: bool) -> None:
        self.active = on
        if on:
            self.paused_at = self.told_price = None
