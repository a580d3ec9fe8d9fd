"""One award offer in full: flights, times, aircraft and where to book."""

from typing import Annotated

from pydantic import Field

from mcp_server.toolkit import Effect, LiveCall, Marked, Money, Part, Result, Tier, tool
from mcp_server.toolkit.wording import program_name
from shared.domain.dates import format_weekday
from shared.domain.flight_times import format_flight_times
from shared.domain.flights_behind import describe_mixed_cabins, list_nights_between
from shared.domain.hybrids import parse_local_time
from shared.domain.party_prices import PER, Per, describe_price, price_party
from shared.domain.plurals import pluralize
from shared.providers.contract import AwardTrip, Segment
from shared.reference.load import Reference
from shared.services.search.award_ids import find_award_rows
from shared.services.search.award_trips import get_award_trips
from shared.services.search.provenance import Freshness, freshness


class TripSegment(Marked):
    """Times are local to their airport."""

    flight_number: str
    operating_carrier: str | None
    aircraft: str | None
    origin: str
    destination: str
    departs_at: str | None
    arrives_at: str | None
    cabin: str | None
    fare_class: str | None


class TripTaxes(Part):
    amount: Money | None
    currency: str | None


class TripLink(Marked):
    program: str
    label: str
    url: str


class AwardTripDetails(Result):
    """Points and taxes are those of one person."""

    segments: list[TripSegment]
    stops: int
    duration_minutes: int | None
    cabin: str
    points: int
    taxes: TripTaxes
    per: Per
    seats: int | None
    booking_links: list[TripLink]
    freshness: Freshness


@tool("search", Tier.FREE, Effect.READS, "Show the flights of an award", live=True, open_world=True)
async def get_award_trip_details(
    call: LiveCall,
    trip_id: Annotated[str, Field(max_length=120, description="From an award search result row.")],
) -> AwardTripDetails:
    """Opens one award result or option: plane, flight numbers, segments, layovers, times, and the link to book it.

    For "Tell me more about the second option." Per person. Needs seats.aero connected. Free.
    """
    (row,) = await call.in_session(lambda session: find_award_rows(session, call.account_id, [trip_id]))
    reading = await get_award_trips(call.ask, call.account_id, trip_id, row)
    trip = min(reading.value or (), key=_rank)
    marks = {"generated_at": call.sandbox_timestamp(reading.taken_at)}
    return AwardTripDetails.from_row(
        trip,
        message=_describe_trip(call.reference, trip, reading.source),
        segments=[TripSegment.model_validate(vars(s) | marks) for s in trip.segments],
        taxes=TripTaxes(amount=trip.taxes, currency=trip.taxes_currency),
        per=PER,
        booking_links=[TripLink.model_validate(vars(link) | marks) for link in trip.links],
        freshness=freshness([reading]),
    )


def _rank(trip: AwardTrip) -> tuple[int, int, int]:
    """Sorts the ways to fly one offer: cheapest, then fewest stops, then fastest."""
    return (trip.points, trip.stops, trip.duration_minutes or 10**6)


def _describe_trip(facts: Reference, trip: AwardTrip, source: str) -> str:
    flights = ", ".join(map(_describe_segment, trip.segments))
    stops = "nonstop" if trip.stops == 0 else pluralize(trip.stops, "stop")
    books = ", ".join(dict.fromkeys(program_name(facts, link.program) for link in trip.links))
    places = f"; book with {books}" if books else ""
    mixed = describe_mixed_cabins(trip.segments, facts.miles)
    price, cabin = describe_price(price_party(trip, 1)), trip.cabin.replace("_", " ")
    nights = "".join(f" {night}" for night in list_nights_between(trip.segments))
    return f"{flights}; {stops} in {mixed or cabin}, {price}, as {source} says{places}.{nights}"


def _describe_segment(segment: Segment) -> str:
    """`BA117 LHR-JFK, Thu 21 Jan 2027 22:10-02:00 +1`."""
    times = format_flight_times(segment.departs_at, segment.arrives_at)
    leaves = parse_local_time(segment.departs_at, "UTC")  # only the local day is used
    when = " ".join(filter(None, [format_weekday(leaves.date()) if leaves else "", times]))
    return f"{segment.flight_number} {segment.origin}-{segment.destination}" + (f", {when}" if when else "")
