"""Where a balance reaches: a programme and points go in, priced destinations from London come out."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import LooseName, Points
from mcp_server.toolkit.provenance import Sourced, caution, sourced
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Money, Part, Result
from shared.domain.award_charts import RoutePrice
from shared.domain.destinations import Destination, farthest
from shared.domain.plurals import some
from shared.errors import Candidates, Fault, Invalid, NoData

PROGRAM, CARRIER = "british-airways-club", "BA"
LONDON = ("LHR", "LGW", "LCY", "STN", "LTN")
LISTED = 10
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


class AffordableDestinations(Result, Sourced):
    destinations: list[AffordableDestination]
    program: str
    balance: int
    total_found: int


def _check_program(call: Call, text: str) -> None:
    """The shared currency name is no question here: one programme is supported, and it uses that currency."""
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


def _lowest(price: RoutePrice, cabin: str) -> tuple[int, int | None] | None:
    """Off-peak or year-round points, and the peak ones."""
    known = price.cabins.get(cabin)
    points = known.points if known else {}
    low = points.get("off_peak", points.get("standard"))
    return None if low is None else (low, points.get("peak"))


def _priced(call: Call, cabins: tuple[str, ...]) -> Iterator[Destination]:
    nonstop = call.reference.nonstop[CARRIER]
    for origin in LONDON:
        for code in nonstop.get(origin, ()):
            price = call.reference.route_price(PROGRAM, CARRIER, origin, code, call.today)
            airport = call.reference.airport(code)
            for cabin in cabins:
                if price and (found := _lowest(price, cabin)):
                    yield Destination(code, airport.city, airport.country, origin, cabin, *found, price.miles)


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
    every = list(_priced(call, (cabin,) if cabin else ("economy", "business")))
    if not every:
        raise NoData("No chart prices from London are known today.", missing=["award chart"])
    shown, total = farthest(every, balance, LISTED)
    price = call.reference.route_price(PROGRAM, CARRIER, every[0].origin, every[0].airport, call.today)
    chart = price.chart_of(every[0].cabin) if price else None
    cut = f"; the {len(shown)} farthest are listed" if total > len(shown) else ""
    said = f"{balance:,} Avios cover {some(total, 'city', 'cities')} one way from London{cut}."
    if not shown:
        said = f"{balance:,} Avios cover no flight from London: the cheapest takes {min(d.points for d in every):,}."
    return AffordableDestinations(
        message=f"{said} {caution(chart)}".strip(),
        destinations=[_shown(d) for d in shown],
        program=PROGRAM,
        balance=balance,
        total_found=total,
        **sourced(chart),
    )


def _shown(found: Destination) -> AffordableDestination:
    return AffordableDestination(
        destination=found.airport,
        city=found.city,
        country=found.country,
        origin=found.origin,
        cabin=found.cabin,
        points=found.points,
        peak_points=found.peak,
        taxes_estimate=None,  # averages come from observations alone, and none is kept by route here
        distance_miles=found.miles,
    )
