"""Flight and hotel bookings: storing them, reading mail, the calendar feed, maps, and secret links."""
