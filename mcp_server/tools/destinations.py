"""Destinations from London that a balance of Avios covers, by the award chart."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import LooseName, Points
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Money, Part, Result
from shared.domain.award_charts import RoutePrice
from shared.domain.destinations import Destination, find_farthest
from shared.domain.plurals import pluralize
from shared.errors import Candidates, Fault, Invalid, NoData

PROGRAM, CARRIER = "british-airways-club", "BA"
LONDON = ("LHR", "LGW", "LCY", "STN", "LTN")
MAX_DESTINATIONS = 10
_ORIGINS = {"LONDON", "LON", *LONDON}


class AffordableDestination(Part):
    destination: str
    city: str
    country: str
    origin: str
    cabin: str
    points: int
    peak_points: int | None
    taxes_estimate: Money | None
    distance_miles: int


class AffordableDestinations(Result, Verified):
    destinations: list[AffordableDestination]
    program: str
    balance: int
    total_found: int


def _check_program(call: Call, text: str) -> None:
    """Accepts Avios although several programmes use it: only one of them is supported. Raises Invalid."""
    try:
        meant = {call.reference.program(text).slug}
    except Candidates as several:
        meant = {c["program"] for c in several.facts["candidates"]}
    if PROGRAM not in meant:
        name = call.reference.programs[PROGRAM].name
        raise Invalid(Fault("program", "is not supported here", f"avios, BA or {PROGRAM}: only {name} is supported"))


def _check_origin(text: str | None) -> None:
    if text is not None and text.strip().upper() not in _ORIGINS:
        expected = f"London, LON, {', '.join(LONDON)}, or nothing: only London is supported"
        raise Invalid(Fault("origin", "is not London", expected))


def _find_lowest(price: RoutePrice, cabin: str) -> tuple[int, int | None] | None:
    """Off-peak or year-round points, and peak points."""
    cabin_price = price.cabins.get(cabin)
    points = cabin_price.points if cabin_price else {}
    low = points.get("off_peak", points.get("standard"))
    return None if low is None else (low, points.get("peak"))


def _price_destinations(call: Call, cabins: tuple[str, ...]) -> Iterator[Destination]:
    nonstop = call.reference.nonstop[CARRIER]
    for origin in LONDON:
        for code in nonstop.get(origin, ()):
            price = call.reference.route_price(PROGRAM, CARRIER, origin, code, call.today)
            airport = call.reference.airport(code)
            for cabin in cabins:
                if price and (points := _find_lowest(price, cabin)):
                    yield Destination(code, airport.city, airport.country, origin, cabin, *points, price.miles)


@tool(area="search", tier=Tier.FREE, effect=Effect.READS, anonymous=True)
def affordable_destinations(
    call: Call,
    program: Annotated[LooseName, Field(description="The one supported UK programme: avios, BA or its slug.")],
    balance: Points,
    origin: Annotated[str | None, Field(max_length=10, description="London only; may be left out.")] = None,
    cabin: Literal["economy", "business"] | None = None,
) -> AffordableDestinations:
    """Lists up to 10 one-way destinations from London that a balance covers, with cabin and lowest price.

    Farthest first; off-peak points for one person. Free.
    """
    _check_program(call, program)
    _check_origin(origin)
    destinations = list(_price_destinations(call, (cabin,) if cabin else ("economy", "business")))
    if not destinations:
        raise NoData("No chart prices from London are known today.", missing=["award chart"])
    listed, total = find_farthest(destinations, balance, MAX_DESTINATIONS)
    price = call.reference.route_price(PROGRAM, CARRIER, destinations[0].origin, destinations[0].airport, call.today)
    chart = price.chart_of(destinations[0].cabin) if price else None
    cut = f"; the {len(listed)} farthest are listed" if total > len(listed) else ""
    summary = f"{balance:,} Avios cover {pluralize(total, 'city', 'cities')} one way from London{cut}."
    if not listed:
        least = min(d.points for d in destinations)
        summary = f"{balance:,} Avios cover no flight from London: the cheapest takes {least:,}."
    return AffordableDestinations(
        message=summary,
        destinations=[_to_destination(d) for d in listed],
        program=PROGRAM,
        balance=balance,
        total_found=total,
        **describe_verified(chart),
    )


def _to_destination(destination: Destination) -> AffordableDestination:
    return AffordableDestination(
        destination=destination.airport,
        city=destination.city,
        country=destination.country,
        origin=destination.origin,
        cabin=destination.cabin,
        points=destination.points,
        peak_points=destination.peak,
        taxes_estimate=None,  # averages come from observations only, which are not stored by route here
        distance_miles=destination.miles,
    )
