"""Live award search of one airline on one route and day, and the list of airlines that can be searched."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit.context import Call, CallBase, LiveCall
from mcp_server.toolkit.parameters import AirportOrCity, Cabin, Day, Passengers
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import NO_DATA, Marked, Money, NoDataWord, Part, Result
from mcp_server.toolkit.wording import list_offer_names, program_name, tell_rows
from mcp_server.views.airlines import Endpoint, list_endpoints
from mcp_server.views.award_search import (
    SeatSearch,
    build_asked,
    build_not_on_sale,
    describe_hidden_cabins,
    find_best_offer,
    last_day_on_sale,
    list_searchable,
    require_cabins,
    resolve_routes,
)
from mcp_server.views.split_parties import describe_parts
from shared.domain.award_matches import SeatsKnown, judge_seats
from shared.domain.dates import format_weekday
from shared.domain.party_prices import Per, describe_price, price_party
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid
from shared.provider_health import State
from shared.reference.airlines import Airline
from shared.reference.booking_links import list_booking_links
from shared.reference.load import Reference
from shared.reference.phantom_seats import warn_of_phantoms
from shared.services.search.availability import VERB, Found, search
from shared.services.search.award_options import AwardOption
from shared.services.search.provenance import Coverage, Freshness
from shared.services.search.sources import SourceStanding, find_standing


class CabinOffer(Marked):
    """Points and taxes are per person; those of the party are null for one traveller."""

    program: str
    seats: int | None
    points: int
    taxes: Money | None
    taxes_currency: str | None
    per: Per
    party_points: int | None
    party_taxes: Money | None


class Availability(SeatSearch):
    """`states` tells of each cabin whether nothing is open, or whether that is not known.

    `names` of the options' airline by code, and of their programmes by slug.
    """

    options: list[AwardOption]
    names: dict[str, str]
    booking_pages: dict[str, str]
    warnings: list[str]
    cabins: dict[str, CabinOffer | NoDataWord]
    states: dict[str, SeatsKnown]
    coverage: Coverage
    freshness: Freshness
    searches_left_today: int | None


OTHER_SEARCHES = "A search of the month shows other days, one of all airlines other seats on this day."


class SearchableAirline(Part):
    code: str
    slug: str
    name: str
    program: str | None
    endpoints: list[Endpoint]
    state: State
    last_success_at: datetime | None


class SearchableAirlines(Result):
    """`live` counts the airlines whose source answers; in `mode` sandbox that source invents what it says."""

    mode: Literal["live", "sandbox"]
    airlines: list[SearchableAirline]
    live: int
    total: int


@tool(
    "search",
    Tier.FREE,
    Effect.READS,
    "Search one airline's award seats",
    live=True,
    open_world=True,
    meter="search",
    screen="award-results",
    condenses=True,
)
async def search_availability(
    call: LiveCall,
    airline: Annotated[str, Field(max_length=60)],
    origin: AirportOrCity,
    destination: AirportOrCity,
    date: Day,
    cabin: Cabin | None = None,
    passengers: Passengers = 1,
) -> Availability:
    """Searches one named airline's award seats on a route and date: what space is available, at how many points.

    For "Does BA have business seats on points on 3 May?" None named: search_all_airlines. Per person. Free accounts:
    economy, 5 a day. Free.
    """
    cabins = require_cabins(call, cabin)
    carrier, routes = call.reference.airline(airline), resolve_routes(call, origin, destination)
    if date < call.today:
        raise Invalid(Fault("date", "is in the past", f"{call.today} or later"))
    if date > last_day_on_sale(call, carrier.iata):
        raise build_not_on_sale(call, carrier, date)
    result = await search(call.ask, carrier.iata, routes, date, cabins, passengers)
    prices = {name: find_best_offer(carrier, (o for o in result.options if o.cabin == name)) for name in cabins}
    where = f"{origin} to {destination} on {format_weekday(date)}"
    return Availability.from_row(
        result,
        status="partial" if result.coverage.failed else "ok",
        message=_describe_result(call, carrier, where, result, [o for o in prices.values() if o], passengers)
        + ("" if cabin else describe_hidden_cabins(call)),
        asked=build_asked(origin, destination, cabins, passengers, carrier.iata, day=date),
        names=list_offer_names(call.reference, result.options),
        booking_pages=list_booking_links(call.reference, result.options, passengers),
        warnings=warn_of_phantoms(call.reference, result.options),
        cabins={name: CabinOffer.model_validate(best) if best else NO_DATA for name, best in prices.items()},
        states={
            name: judge_seats(best is not None, answered=not result.coverage.failed) for name, best in prices.items()
        },
        searches_left_today=call.searches_left,
    )


def _describe_result(
    call: CallBase, airline: Airline, where: str, result: Found, best: Sequence[AwardOption], passengers: int
) -> str:
    failed = [f"{f.name} ({f.reason})" for f in result.coverage.failed]
    sources = ", ".join(result.coverage.answered)
    if result.options:
        sentences = [_describe_cabin(call.reference, offer, passengers) for offer in best]
        sentences.append(f"{pluralize(len(result.options), 'award offer')} of {airline.name}, {where}.")
        sentences += warn_of_phantoms(call.reference, best)
    elif failed:
        sentences = [f"Whether {airline.name} has award seats, {where}, is not known."]
    else:
        sentences = [f"No award seats of {airline.name} are open, {where}."]
        sentences += describe_parts(call.reference, result.parts, passengers) or [OTHER_SEARCHES]
    if sources:
        sentences.append(f"Searched with {sources}.")
    if failed:
        sentences.append(f"Not answered by {', '.join(failed)}, so this may not be all.")
    return " ".join(sentences)


def _describe_cabin(facts: Reference, offer: AwardOption, passengers: int) -> str:
    price = describe_price(price_party(offer, passengers), program_name(facts, offer.program))
    return f"{offer.cabin.replace('_', ' ').capitalize()}: {price}."


@tool("pricing", Tier.FREE, Effect.READS, "List the airlines that can be searched", states_facts=True, condenses=True)
def list_supported_airlines(
    call: Call, endpoint: Endpoint | None = None, live_only: bool = False
) -> SearchableAirlines:
    """Lists the airlines searched here for award seats, by day or month, and whether the source is down.

    For "Can you search Emirates? Which airlines do you do?" mode: whether it is real. Free.
    """
    source_state = find_standing(VERB, call.account_id)
    rows = [_to_searchable_airline(call.reference.airlines[code], source_state) for code in list_searchable(call)]
    rows = [r for r in rows if endpoint is None or endpoint in r.endpoints]
    airlines = [r for r in rows if r.state == "live" or not live_only]
    listed = tell_rows(len(airlines), "airline", (airline.name for airline in airlines))
    return SearchableAirlines(
        message=f"{listed} {_describe_source(call, source_state)}",
        mode=call.data_mode,
        airlines=airlines,
        live=sum(r.state == "live" for r in airlines),
        total=len(airlines),
    )


def _describe_source(call: Call, source_state: SourceStanding) -> str:
    if call.data_mode == "sandbox":
        return "Their award seats are invented by the sandbox: no source is searched live."
    if not source_state.names:
        return "No source of award seats is configured."
    words = {"live": "answers", "degraded": "answers in part", "down": "does not answer now"}
    return f"Their source of award seats, {', '.join(source_state.names)}, {words[source_state.state]}."


def _to_searchable_airline(airline: Airline, source_state: SourceStanding) -> SearchableAirline:
    return SearchableAirline.from_row(
        airline,
        code=airline.iata,
        endpoints=list_endpoints(airline),
        state=source_state.state,
        last_success_at=source_state.last_success_at,
    )
