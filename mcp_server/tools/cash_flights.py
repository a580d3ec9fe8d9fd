"""Live search of cash fares, cheapest first, converted to one currency."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated

from pydantic import Field

from mcp_server.toolkit import Effect, LiveCall, Result, Tier, tool
from mcp_server.toolkit.parameters import AirportOrCity, Cabin, Currency, Day, Passengers
from mcp_server.views.cash_flights import Fare, resolve_journey, to_fare
from shared.domain.dates import format_weekday
from shared.domain.party_prices import describe_travellers, format_amount
from shared.domain.plurals import pluralize
from shared.errors import NoData
from shared.providers.contract import FaresQuestion
from shared.services.search import exchange_rates, fares
from shared.services.search.ask_each import ask_each
from shared.services.search.fares import VERB, FareOption
from shared.services.search.provenance import Coverage, Freshness, coverage, freshness, require_answer


class CashFlights(Result):
    fares: list[Fare]
    total_found: int
    currency: str
    coverage: Coverage
    freshness: Freshness


@tool("search", Tier.PREMIUM, Effect.READS, "Search flights for cash", live=True, open_world=True, meter="search")
async def search_cash_flights(
    call: LiveCall,
    origin: AirportOrCity,
    destination: AirportOrCity,
    date: Day,
    return_date: Day | None = None,
    cabin: Cabin = "economy",
    passengers: Passengers = 1,
    max_stops: Annotated[int | None, Field(ge=0, le=3)] = None,
    currency: Currency = "USD",
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
) -> CashFlights:
    """Searches the cheapest plane tickets or fares for cash, one way or return: the normal price in money.

    For "What does it cost to just buy the ticket?" Total for all passengers, with source and age. Premium.
    """
    routes = resolve_journey(call, origin, destination, date, return_date)
    questions = [FaresQuestion(*route, date, return_date, cabin, passengers, currency) for route in routes]
    readings = [reading for answer in await ask_each(call.ask, VERB, questions) for reading in answer]
    require_answer(readings, VERB, "The search for cash fares", "fares")
    options = call.taste.choose(fares.options(readings, cabin), attrgetter("carriers"))
    result_coverage = coverage(readings)
    back = f", back on {format_weekday(return_date)}" if return_date else ""
    where = f"{origin} to {destination} on {format_weekday(date)}{back}"
    if not options and not result_coverage.failed:
        raise NoData(f"No source has a cash fare in {cabin.replace('_', ' ')} from {where}.", missing=["cash fares"])
    rates = await exchange_rates.rates(call.ask, [currency, *(f.currency for f in options)])
    matches = [f for f in options if max_stops is None or (f.stops is not None and f.stops <= max_stops)]
    priced = fares.sort_by_price(matches, rates, currency)
    return CashFlights(
        status="partial" if result_coverage.failed else "ok",
        message=_describe_result(
            where,
            priced,
            len(options),
            [f"{f.name} ({f.reason})" for f in result_coverage.failed],
            currency,
            describe_travellers(passengers) + (", there and back" if return_date else ""),
        ),
        fares=[to_fare(f) for f in priced[:limit]],
        total_found=len(priced),
        currency=currency,
        coverage=result_coverage,
        freshness=freshness(readings),
    )


def _describe_result(
    where: str, priced: Sequence[FareOption], found_total: int, failed: Sequence[str], currency: str, party: str
) -> str:
    sentences = [f"{pluralize(len(priced), 'cash fare')} from {where}."]
    if (best := fares.find_cheapest(priced)) and best.converted:
        sentences.insert(0, f"From {format_amount(best.converted.amount, currency)}, the total for {party}.")
    if left_out := found_total - len(priced):
        sentences.append(f"{left_out} with more stops, or with stops not stated, left out.")
    if unconverted := sorted({f.currency for f in priced if f.converted is None}):
        sentences.append(
            f"No current exchange rate from {', '.join(unconverted)} to {currency} is known: those come last."
        )
    if any(f.city_wide for f in priced):
        sentences.append("Some sources price cities: check which airports a fare uses.")
    if failed:
        sentences.append(f"Not answered by {', '.join(failed)}, so this may not be all.")
    return " ".join(sentences)
