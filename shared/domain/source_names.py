"""Sources of live data by the names that people know, for pages, mails and documents."""

NAMES = {
    "duffel": "Duffel",
    "ecb": "European Central Bank",
    "faa_nas": "FAA",
    "flightaware": "FlightAware",
    "frankfurter": "Frankfurter",
    "liteapi": "LiteAPI",
    "rooms_aero": "rooms.aero",
    "sandbox": "invented data",
    "seats_aero": "seats.aero",
    "serpapi": "Google Flights",
    "travelpayouts": "Aviasales",
}


def name_source(source: str) -> str:
    """One name of a provider, or several joined by commas; an unlisted one is unchanged.

    >>> name_source("seats_aero, faa_nas"), name_source("Seats.aero"), name_source("my notes")
    ('seats.aero, FAA', 'seats.aero', 'my notes')
    """
    return ", ".join(NAMES.get(part.strip().lower().replace(".", "_"), part) for part in source.split(", "))
