"""TripIt: a person's flights and stays, by its API or from a private calendar. Only read."""
