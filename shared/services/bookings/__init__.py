"""Flight and hotel bookings: stored, read from mail, shown in the calendar feed, reached by secret links."""
