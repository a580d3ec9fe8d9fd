"""The seat calendar: award seats of one airline on a route, for each day of a month."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit import Effect, LiveCall, Marked, Part, Tier, tool
from mcp_server.toolkit.parameters import AirportOrCity, Cabin, Month, Passengers
from mcp_server.toolkit.wording import program_name
from mcp_server.views.award_search import (
    SeatSearch,
    build_asked,
    build_not_on_sale,
    find_best_offer,
    last_day_on_sale,
    require_cabins,
    resolve_routes,
)
from mcp_server.views.split_parties import describe_parts
from shared.domain.dates import find_month_bounds, format_weekday
from shared.domain.party_prices import PER, Per, describe_points
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid
from shared.providers.contract import SeatsQuestion
from shared.reference.airlines import Airline
from shared.reference.load import Reference
from shared.services.search import seat_calendar
from shared.services.search.provenance import Coverage, Freshness
from shared.services.search.seat_calendar import DaySeats, search_month


class DayCabin(Part):
    points: int
    seats: int | None
    program: str


class CalendarDay(Marked):
    """`unknown`: the day could not be read, or is not on sale yet, as `note` says."""

    date: date
    cabins: dict[str, DayCabin]
    state: Literal["available", "none", "unknown"]
    note: str | None


class CheapestDay(Marked):
    """`party_points` is null for one traveller."""

    cabin: str
    date: date
    points: int
    party_points: int | None
    program: str


class MonthlyAvailability(SeatSearch):
    """`per`: points are those of one person on every day."""

    per: Per
    days: list[CalendarDay]
    cheapest: list[CheapestDay]
    coverage: Coverage
    freshness: Freshness


@tool(
    "search",
    Tier.PAID,
    Effect.READS,
    "Search award seats over a month",
    live=True,
    open_world=True,
    meter="search",
    screen="month-of-seats",
    condenses=True,
)
async def search_monthly_availability(
    call: LiveCall,
    airline: Annotated[str, Field(max_length=60)],
    origin: AirportOrCity,
    destination: AirportOrCity,
    month: Month,
    cabin: Cabin | None = None,
    passengers: Passengers = 1,
) -> MonthlyAvailability:
    """Searches which days of a month one airline has award seats on a route: a calendar for flexible dates.

    For "Which days in May can I go with BA? I can do any day." Paid.
    """
    cabins = require_cabins(call, cabin)
    carrier = call.reference.airline(airline)
    routes = resolve_routes(call, origin, destination)
    first, last = _open_days(call, month)
    last_on_sale = last_day_on_sale(call, carrier.iata)
    if first > last_on_sale:
        raise build_not_on_sale(call, carrier, first)
    questions = [SeatsQuestion(*route, first, last, (carrier.iata,)) for route in routes]
    month_seats = await search_month(call.ask, questions, last_on_sale, cabins, passengers)
    generated_at = call.sandbox_timestamp(month_seats.freshness.fetched_at or call.now)
    days = [_to_day(carrier, day, last_on_sale, generated_at) for day in month_seats.days]
    cheapest = _find_cheapest(days, cabins, passengers, generated_at)
    return MonthlyAvailability(
        status="partial" if month_seats.coverage.failed else "ok",
        message=_describe_month(carrier, f"{origin} to {destination} in {first:%B %Y}", month_seats, days, last_on_sale)
        + _describe_cheapest(call.reference, cheapest, passengers)
        + "".join(f" {part}" for part in describe_parts(call.reference, month_seats.parts, passengers)),
        asked=build_asked(origin, destination, cabins, passengers, carrier.iata, month=month),
        per=PER,
        days=days,
        cheapest=cheapest,
        coverage=month_seats.coverage,
        freshness=month_seats.freshness,
    )


def _open_days(call: LiveCall, month: str) -> tuple[date, date]:
    """The days of the month from today. Raises Invalid if it is over."""
    first, last = find_month_bounds(month)
    if last < call.today:
        raise Invalid(Fault("month", "is over", f"{call.today:%Y-%m} or later"))
    return max(first, call.today), last


def _to_day(airline: Airline, day: DaySeats, until: date, generated_at: datetime | None) -> CalendarDay:
    prices = {cabin: find_best_offer(airline, seats) for cabin, seats in day.cabins.items()}
    early = day.state == "unknown" and day.date > until
    return CalendarDay(
        date=day.date,
        cabins={cabin: DayCabin.from_row(best) for cabin, best in prices.items() if best},
        state=day.state,
        note="not on sale yet" if early else None,
        generated_at=generated_at,
    )


def _find_cheapest(
    days: Sequence[CalendarDay], cabins: Sequence[str], passengers: int, generated_at: datetime | None
) -> list[CheapestDay]:
    """The cheapest day of each cabin with seats, the earliest of several."""
    cheapest = []
    for cabin in cabins:
        offered = [(day.cabins[cabin], day.date) for day in days if cabin in day.cabins]
        if offered:
            best, on = min(offered, key=lambda offer: (offer[0].points, offer[1]))
            cheapest.append(
                CheapestDay(
                    cabin=cabin,
                    date=on,
                    points=best.points,
                    party_points=best.points * passengers if passengers > 1 else None,
                    program=best.program,
                    generated_at=generated_at,
                )
            )
    return cheapest


def _describe_cheapest(facts: Reference, cheapest: Sequence[CheapestDay], passengers: int) -> str:
    prices = (
        f"{day.cabin.replace('_', ' ')} on {format_weekday(day.date)},"
        f" {describe_points(day.points, passengers, program_name(facts, day.program))}"
        for day in cheapest
    )
    return f" Cheapest: {'; '.join(prices)}." if cheapest else ""


def _describe_month(
    airline: Airline, where: str, month_seats: seat_calendar.Month, days: Sequence[CalendarDay], until: date
) -> str:
    open_days = sum(day.state == "available" for day in days)
    unknown = [day for day in days if day.state == "unknown"]
    sentences = [f"{airline.name}, {where}: award seats on {open_days} of {pluralize(len(days), 'day')}."]
    if month_seats.coverage.answered:
        sentences.append(f"Source: {', '.join(month_seats.coverage.answered)}.")
    if failed := [f"{f.name} ({f.reason})" for f in month_seats.coverage.failed]:
        sentences.append(f"No answer from {', '.join(failed)}. Unknown: {pluralize(len(unknown), 'day')}.")
    if any(day.note for day in days):
        sentences.append(
            f"{airline.name} has released seats until {format_weekday(until)}. Later days are not on sale yet."
        )
    return " ".join(sentences)
