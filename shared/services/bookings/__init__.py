"""Flight and hotel bookings: stored, read from mail, shown in a calendar feed and on maps, reached by secret links."""
