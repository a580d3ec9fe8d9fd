"""The airports a watch looks at for a city, and the other airports of an airport's city."""

from shared.reference.reference import Reference

MAX_AIRPORTS = 3  # of one end of a route: each pair of airports is a question to every source


def list_watched_airports(reference: Reference, code: str) -> list[str]:
    """An airport itself; of a city its busiest airports, those without any known flight left out."""
    if code in reference.airports:
        return [code]
    members = [member for member in reference.metros.get(code, ()) if member in reference.airports]
    flown = [member for member in members if reference.count_flights(member)] or members
    return sorted(flown, key=lambda member: (-reference.count_flights(member), member))[:MAX_AIRPORTS]


def list_neighbours(reference: Reference, airport: str) -> list[str]:
    """The other airports of the cities an airport belongs to."""
    cities = [members for members in reference.metros.values() if airport in members]
    return sorted({code for members in cities for code in members if code != airport and code in reference.airports})
