"""Destinations from London that a balance of Avios covers, at published prices."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from mcp_server.toolkit import Call, Effect, Money, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import LooseName, Points
from mcp_server.toolkit.provenance import Verified, describe_verified
from shared.domain.award_charts import Chart, RoutePrice
from shared.domain.dates import format_day
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


class _PricedDestination(NamedTuple):
    """A destination with the chart or announced price behind it."""

    destination: Destination
    fact: Any


def _check_program(call: Call, text: str) -> None:
    """Accepts Avios although several programmes use it: only one of them is supported. Raises Invalid."""
    try:
        slugs = {call.reference.program(text).slug}
    except Candidates as several:
        slugs = {c["program"] for c in several.facts["candidates"]}
    if PROGRAM not in slugs:
        name = call.reference.programs[PROGRAM].name
        raise Invalid(Fault("program", "is not supported here", f"avios, BA or {PROGRAM}: only {name} is supported"))


def _find_lowest(price: RoutePrice, cabin: str) -> tuple[int, int | None] | None:
    """The least, off-peak or year-round points, and peak points."""
    cabin_price = price.cabins.get(cabin)
    points = cabin_price.points if cabin_price else {}
    low = points.get("lowest", points.get("off_peak", points.get("standard")))
    return None if low is None else (low, points.get("peak"))


def _price_by_chart(call: Call, cabins: tuple[str, ...]) -> Iterator[_PricedDestination]:
    flown = call.reference.flights[CARRIER].pairs
    for origin in LONDON:
        for code in flown.get(origin, ()):
            price = call.reference.route_price(PROGRAM, CARRIER, origin, code, call.today)
            for cabin in cabins:
                if price and (points := _find_lowest(price, cabin)):
                    yield _to_priced(call, origin, code, cabin, points, price.chart_of(cabin))


def _price_by_examples(call: Call, cabins: tuple[str, ...]) -> Iterator[_PricedDestination]:
    """Prices announced singly: one way, by a known flight."""
    for row in call.reference.examples(PROGRAM):
        airports = call.reference.flights[CARRIER].pairs.get(row.origin, frozenset())
        fits = row.airline == CARRIER and row.origin in LONDON and row.destination in airports
        if fits and row.direction == "one_way" and row.cabin in cabins:
            yield _to_priced(call, row.origin, row.destination, row.cabin, (row.points, None), row)


def _to_priced(
    call: Call, origin: str, code: str, cabin: str, points: tuple[int, int | None], fact: Any
) -> _PricedDestination:
    airport, miles = call.reference.airport(code), call.reference.miles(origin, code)
    return _PricedDestination(Destination(code, airport.city, airport.country, origin, cabin, *points, miles), fact)


@tool("search", Tier.FREE, Effect.READS, "Find cities my points can reach", anonymous=True, static=True)
def affordable_destinations(
    call: Call,
    program: LooseName,
    balance: Points,
    origin: Annotated[str | None, Field(max_length=10)] = None,
    cabin: Literal["economy", "business"] | None = None,
) -> AffordableDestinations:
    """Shows how far Avios reach from London: ten cities a balance covers, with cabin and lowest price.

    For "Where could 50k Avios take us?" From Heathrow or Gatwick, off-peak, one way, per person.
    Elsewhere: explore_destinations. Free.
    """
    _check_program(call, program)
    if origin is not None and origin.strip().upper() not in _ORIGINS:
        expected = f"London, LON, {', '.join(LONDON)}, or nothing: only London is supported"
        raise Invalid(Fault("origin", "is not London", expected))
    # By the chart in force; without one, by prices announced singly.
    cabins = (cabin,) if cabin else ("economy", "business")
    priced = list(_price_by_chart(call, cabins)) or list(_price_by_examples(call, cabins))
    ended = call.reference.last_chart_day(PROGRAM)
    gap = f"No chart is known since {format_day(ended)}" if ended else "No chart is known"
    if not priced:
        in_cabin = f" in {cabin}" if cabin else ""
        raise NoData(f"{gap}, and no single price{in_cabin} from London was announced.", missing=["award chart"])
    destinations, total = find_farthest([p.destination for p in priced], balance, MAX_DESTINATIONS)
    cut = f"; the {len(destinations)} farthest are listed" if total > len(destinations) else ""
    summary = f"{balance:,} Avios cover {pluralize(total, 'city', 'cities')} one way from London{cut}."
    if not destinations:
        least = min(p.destination.points for p in priced)
        summary = f"{balance:,} Avios cover no flight from London whose price is known: the cheapest takes {least:,}."
    if not isinstance(priced[0].fact, Chart):
        summary += f" {gap}: only prices that were announced one by one count; other cities may be in reach too."
    return AffordableDestinations(
        message=summary,
        destinations=[_to_destination(d) for d in destinations],
        program=PROGRAM,
        balance=balance,
        total_found=total,
        **describe_verified(priced[0].fact),
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
