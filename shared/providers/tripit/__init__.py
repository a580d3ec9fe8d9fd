"""TripIt: flights and stays of a person come in, by its interface or from a private calendar; nothing goes out."""
