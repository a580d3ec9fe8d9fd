"""A month of award seats: an airline, a route and a month go in, each day with its seats per cabin comes out."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit.context import LiveCall
from mcp_server.toolkit.parameters import Airport, Cabin, Month, Passengers
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Marked, Part, Result
from mcp_server.toolkit.wording import cities
from mcp_server.views.award_search import (
    build_not_on_sale,
    find_best_offer,
    last_day_on_sale,
    require_cabins,
    resolve_route,
)
from shared.domain.dates import days_of
from shared.domain.plurals import some
from shared.errors import Fault, Invalid
from shared.providers.contract import SeatsQuestion
from shared.reference.rows import Airline
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
    cabin: str
    date: date
    points: int
    program: str


class MonthlyAvailability(Result):
    days: list[CalendarDay]
    cheapest: list[CheapestDay]
    coverage: Coverage
    freshness: Freshness


@tool(area="search", tier=Tier.PAID, effect=Effect.READS, live=True, open_world=True, meter="search")
async def search_monthly_availability(
    call: LiveCall,
    airline: Annotated[str, Field(max_length=60)],
    origin: Airport,
    destination: Airport,
    month: Month,
    cabin: Cabin | None = None,
    passengers: Passengers = 1,
) -> MonthlyAvailability:
    """Shows the award seats of one airline on a route for each day of a month, per cabin.

    Prices are the airline's own programme's where it has one, else the lowest. A day not read is unknown. Paid.
    """
    wanted = require_cabins(call, cabin)
    flown = call.reference.airline(airline)
    start, end = resolve_route(call, origin, destination)
    first, last = _span(call, month)
    until = last_day_on_sale(call, flown.iata)
    if first > until:
        raise build_not_on_sale(call, flown, first)
    question = SeatsQuestion(start, end, first, last, (flown.iata,))
    found = await search_month(call.ask, question, until, wanted, passengers)
    made = call.invented(found.freshness.fetched_at or call.now)
    days = [_shown(flown, day, until, made) for day in found.days]
    return MonthlyAvailability(
        status="partial" if found.coverage.failed else "ok",
        message=_message(flown, f"{start} to {end}, {month}", found, days, until)
        + cities(call.reference, origin, destination),
        days=days,
        cheapest=_cheapest(days, wanted, made),
        coverage=found.coverage,
        freshness=found.freshness,
    )


def _span(call: LiveCall, month: str) -> tuple[date, date]:
    """The days of the month from today on. Raises Invalid when it is over."""
    first, last = days_of(month)
    if last < call.today:
        raise Invalid(Fault("month", "is over", f"{call.today:%Y-%m} or later"))
    return max(first, call.today), last


def _shown(airline: Airline, day: DaySeats, until: date, made: datetime | None) -> CalendarDay:
    prices = {cabin: find_best_offer(airline, seats) for cabin, seats in day.cabins.items()}
    early = day.state == "unknown" and day.date > until
    return CalendarDay(
        date=day.date,
        cabins={
            cabin: DayCabin(points=best.points, seats=best.seats, program=best.program)
            for cabin, best in prices.items()
            if best
        },
        state=day.state,
        note="not on sale yet" if early else None,
        generated_at=made,
    )


def _cheapest(days: Sequence[CalendarDay], cabins: Sequence[str], made: datetime | None) -> list[CheapestDay]:
    """The first of the cheapest days of each cabin that has any."""
    out = []
    for cabin in cabins:
        offered = [(day.cabins[cabin], day.date) for day in days if cabin in day.cabins]
        if offered:
            best, on = min(offered, key=lambda offer: (offer[0].points, offer[1]))
            out.append(CheapestDay(cabin=cabin, date=on, points=best.points, program=best.program, generated_at=made))
    return out


def _message(airline: Airline, where: str, found: seat_calendar.Month, days: Sequence[CalendarDay], until: date) -> str:
    open_days = sum(day.state == "available" for day in days)
    unknown = [day for day in days if day.state == "unknown"]
    words = [f"{airline.name}, {where}: award seats on {open_days} of {len(days)} days"]
    words[0] += f"; asked: {', '.join(found.coverage.answered)}." if found.coverage.answered else "."
    if failed := [f"{f.name} ({f.reason})" for f in found.coverage.failed]:
        words.append(f"Not answered by {', '.join(failed)}, so unknown: {some(len(unknown), 'day')}.")
    if any(day.note for day in days):
        words.append(f"{airline.name} has released seats until {until}; later days are not on sale yet.")
    return " ".join(words)
