"""The daily check of a stay that is watched before it is booked: the same as for a booked one."""

from jobs.handlers.hotel_prices import check

__all__ = ["check"]
