"""Names of sources as people know them, for notices and mails."""

_NAMES = {
    "faa_nas": "the FAA",
    "flightaware": "FlightAware",
    "liteapi": "LiteAPI",
    "rooms_aero": "rooms.aero",
    "seats_aero": "seats.aero",
    "sandbox": "the sandbox",
}


def describe_source(name: str) -> str:
    """A name that is not listed stays as it is; several are joined by commas already."""
    return ", ".join(_NAMES.get(part, part) for part in name.split(", "))
