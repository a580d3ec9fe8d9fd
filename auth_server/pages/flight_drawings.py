"""Flights as pictures of a page: the map of several, and one as a slip with its length and its map."""

from collections.abc import Iterable
from dataclasses import dataclass

from auth_server.pages.booking_timeline import Row, find_days_later
from auth_server.pages.member import Member
from auth_server.pages.tool_calls import Answer, look
from shared.domain.flight_times import format_days_later, format_flight_times
from shared.domain.possible_flights import format_minutes
from shared.internal_api import DRAW_FLIGHTS

MAX_DRAWN = 24  # flights on a map


async def draw_map(member: Member, flights: Iterable[Row]) -> str:
    """The routes of flights that are not cancelled, in flight order; empty without any."""
    flown = sorted(
        (row for row in flights if row["state"] != "cancelled"),
        key=lambda row: (row["departure_date"], row["departure_time"] or ""),
    )
    return await draw_ways(member, [(row["origin"], row["destination"]) for row in flown])


async def draw_ways(member: Member, ways: Iterable[tuple[str, str]]) -> str:
    """The map of routes, each from an airport or a city to another; empty without one."""
    ends = [{"origin": origin, "destination": destination} for origin, destination in dict.fromkeys(ways)][:MAX_DRAWN]
    drawing = await look(member, DRAW_FLIGHTS, flights=ends) if ends else Answer()
    return str(drawing.get("map", ""))


def fill_slip(offer: Row) -> dict[str, str]:
    """What a slip says of a seat that was found."""
    return {
        "origin": offer["origin"],
        "destination": offer["destination"],
        "departure_time": format_flight_times(offer["departs_at"], None),
        "arrival_time": format_flight_times(None, offer["arrives_at"]),
        "later": format_days_later(offer["departs_at"], offer["arrives_at"]).strip(),
    }


@dataclass(frozen=True)
class DrawnBooking:
    """One flight with its map; `length` is how long it takes, empty where a time is not known."""

    flight: Row
    city: str
    length: str
    map: str


async def draw_flight(member: Member, flight: Row) -> DrawnBooking:
    ends = {"origin": flight["origin"], "destination": flight["destination"]}
    if flight["departure_time"] and flight["arrival_time"] and flight["arrival_date"]:
        ends["departs_at"] = f"{flight['departure_date']}T{flight['departure_time']}"
        ends["arrives_at"] = f"{flight['arrival_date']}T{flight['arrival_time']}"
    drawing = await look(member, DRAW_FLIGHTS, flights=[ends])
    facts = drawing["flights"][0] if drawing.is_good else {"destination_city": flight["destination"]}
    length = format_minutes(facts["minutes"]) if facts.get("minutes") else ""
    later = dict(flight, later=find_days_later(flight))
    return DrawnBooking(later, facts["destination_city"], length, drawing.get("map", ""))
