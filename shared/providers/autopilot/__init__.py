"""A service of the operator's choice that watches prices of booked travel: bookings go out to it, nothing comes in."""
