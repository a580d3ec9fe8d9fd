"""The airports an airline serves, from its known non-stop routes."""

from typing import Annotated

from pydantic import Field

from mcp_server.toolkit import Call, Effect, Paging, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import AirportOrCity, Country, LooseName, Page, PerPage
from mcp_server.toolkit.provenance import Verified, describe_verified
from shared.domain import names
from shared.domain.airports import Airport as Known
from shared.domain.plurals import pluralize
from shared.errors import NoData
from shared.reference.city_airports import require_airports
from shared.reference.rows.travel import Route

CONFIDENCE_LEVELS = ("low", "medium", "high")


class ServingAirline(Part):
    code: str
    name: str


class ServedAirport(Part):
    iata: str
    name: str
    city: str
    country: str


class ServedAirports(Result, Verified):
    airline: ServingAirline
    airports: list[ServedAirport]
    paging: Paging


def _matches(airport: Known, text: str, country: str | None) -> bool:
    words = names.normalize_name(f"{airport.code} {airport.city} {airport.name}")
    return country in (None, airport.country) and text in words


def _list_routes(call: Call, carrier: str, served: set[str], origins: set[str]) -> list[Route]:
    """The routes behind an answer: those between the airports it lists and its origins, else all of the carrier."""
    routes: list[Route] = [r for r in call.reference.rows("routes.csv") if r.carrier == carrier]
    ends = [(r, {r.origin, r.destination}) for r in routes]
    return [r for r, pair in ends if pair & served and (not origins or pair & origins)] or routes


@tool("pricing", Tier.FREE, Effect.READS, "List an airline's routes")
def get_airports(
    call: Call,
    airline: LooseName,
    query: Annotated[str | None, Field(max_length=60)] = None,
    country: Country | None = None,
    from_airport: Annotated[
        AirportOrCity | None, Field(description="Only airports reachable non-stop from here.")
    ] = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> ServedAirports:
    """Lists the cities and airports an airline flies to: its network, and nonstop or direct routes from one.

    For "Where does Iberia fly direct from Boston?" Free.
    """
    carrier = call.reference.airline(airline)
    network = call.reference.flights[carrier.iata].pairs
    if not network:
        raise NoData(f"Which airports {carrier.name} serves is not known.", missing=["routes"])
    origins = require_airports(call.reference, from_airport) if from_airport else ()
    codes = {c for origin in origins for c in network.get(origin, ())} if origins else set(network)
    query_text = names.normalize_name(query or "")
    matches = [a for a in (call.reference.airport(c) for c in sorted(codes)) if _matches(a, query_text, country)]
    routes = _list_routes(call, carrier.iata, {a.code for a in matches}, set(origins))
    weakest = min(routes, key=lambda r: (CONFIDENCE_LEVELS.index(r.confidence), r.audited_on is not None))
    audited_count = sum(r.audited_on is not None for r in routes)
    count = pluralize(len(matches), "airport")
    where = f" non-stop from {from_airport}" if from_airport else ""
    return ServedAirports(
        message=f"{carrier.name} is known to serve {count}{where}."
        f" {audited_count} of {pluralize(len(routes), 'route')} stand in two sources.",
        airline=ServingAirline(code=carrier.iata, name=carrier.name),
        airports=[ServedAirport.from_row(a, iata=a.code) for a in matches[(page - 1) * per_page : page * per_page]],
        paging=Paging.of(page, per_page, len(matches)),
        **describe_verified(weakest),
    )
