"""Live award search over every airline: a route and a day go in, the cheapest seats and who has none come out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date as Date
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit.context import LiveCall
from mcp_server.toolkit.parameters import Airport, Cabin, Day, Passengers, Points
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Part, Result
from mcp_server.toolkit.wording import airline_name, cities, program_name
from mcp_server.views.award_search import (
    build_not_on_sale,
    last_day_on_sale,
    list_searchable,
    require_cabins,
    resolve_route,
)
from shared.domain.plurals import some
from shared.errors import Fault, Invalid
from shared.providers.contract import SeatsQuestion
from shared.services.search.availability import Found, find
from shared.services.search.award_options import AwardOption
from shared.services.search.provenance import Coverage, Failed, Freshness

Outcome = Literal["available", "over_max_points", "none", "unknown", "not_on_sale"]


class OfAirline(Part):
    """`cheapest` is in points; that of seats over max_points is shown too."""

    airline: str
    outcome: Outcome
    cheapest: int | None


class AllAirlines(Result):
    options: list[AwardOption]
    by_airline: list[OfAirline]
    coverage: Coverage
    freshness: Freshness
    searches_left_today: int | None
    total: int


@dataclass(frozen=True)
class _Asked:
    """Airlines by code: those named by the caller, those asked about, and those with nothing on sale that far ahead."""

    named: list[str]
    airlines: list[str]
    too_early: list[str]


@tool(area="search", tier=Tier.FREE, effect=Effect.READS, live=True, open_world=True, meter="search")
async def search_all_airlines(
    call: LiveCall,
    origin: Airport,
    destination: Airport,
    date: Day,
    cabin: Cabin = "economy",
    passengers: Passengers = 1,
    flex_days: Annotated[int, Field(ge=0, le=3)] = 0,
    airlines: Annotated[list[str] | None, Field(max_length=40, description="Codes or slugs; absent means all.")] = None,
    max_points: Points | None = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 30,
) -> AllAirlines:
    """Finds award seats of every airline on a route and date in one search, cheapest first.

    Free accounts: 5 economy searches a day; other cabins need Premium. Free.
    """
    wanted = require_cabins(call, cabin)
    start, end = resolve_route(call, origin, destination)
    if date < call.today:
        raise Invalid(Fault("date", "is in the past", f"{call.today} or later"))
    question = SeatsQuestion(
        start, end, max(call.today, date - timedelta(days=flex_days)), date + timedelta(days=flex_days)
    )
    asked = _asked(call, airlines, question.earliest)
    codes = tuple(code for code in asked.named if code not in asked.too_early)
    found = await find(
        call.ask, SeatsQuestion(start, end, question.earliest, question.latest, codes), wanted, passengers
    )
    fitting = sorted(
        (o for o in found.options if max_points is None or o.points <= max_points),
        key=lambda o: (o.points, o.date, o.program, o.airline),
    )
    told = _coverage(found, asked)
    return AllAirlines(
        status="partial" if told.failed else "ok",
        message=_message(found, asked, fitting, limit, _where(question, max_points), _named(call, fitting))
        + cities(call.reference, origin, destination),
        options=fitting[:limit],
        by_airline=_by_airline(found, asked, fitting),
        coverage=told,
        freshness=found.freshness,
        searches_left_today=call.searches_left,
        total=len(fitting),
    )


def _asked(call: LiveCall, airlines: Sequence[str] | None, earliest: Date) -> _Asked:
    """Raises NoData when no airline that was named has released any of the days."""
    named = list(dict.fromkeys(call.reference.airline(text).iata for text in airlines or ()))
    every = named or list_searchable(call)
    too_early = [code for code in every if earliest > last_day_on_sale(call, code)]
    if len(too_early) == len(every):
        latest = max(too_early, key=lambda code: last_day_on_sale(call, code))
        raise build_not_on_sale(call, call.reference.airlines[latest], earliest)
    return _Asked(named, [code for code in every if code not in too_early], too_early)


def _unknown(found: Found, asked: _Asked) -> list[str]:
    """Airlines that were not seen while a source did not answer: that one may have had them."""
    seen = {o.airline for o in found.options}
    return [code for code in asked.airlines if code not in seen] if found.coverage.failed else []


def _coverage(found: Found, asked: _Asked) -> Coverage:
    """Sources by their names and airlines by their codes, in the same lists."""
    told, unknown = found.coverage, _unknown(found, asked)
    codes = asked.airlines + sorted({o.airline for o in found.options} - set(asked.airlines) - set(asked.too_early))
    why = told.failed[0].reason if told.failed else ""
    return Coverage(
        asked=(*told.asked, *codes),
        answered=(*told.answered, *(code for code in codes if code not in unknown)),
        failed=(*told.failed, *(Failed(code, why) for code in unknown)),
        skipped=(*told.skipped, *(Failed(code, "not_on_sale") for code in asked.too_early)),
    )


def _by_airline(found: Found, asked: _Asked, fitting: Sequence[AwardOption]) -> list[OfAirline]:
    """Every airline that was named or seen; without names, those that have nothing are told by the coverage alone."""
    lowest, best = _cheapest(found.options), _cheapest(fitting)
    unknown = set(_unknown(found, asked))
    codes = sorted({*asked.named, *lowest}, key=lambda c: (c not in best, lowest.get(c, 0), c))

    def outcome(code: str) -> Outcome:
        if code in lowest:
            return "available" if code in best else "over_max_points"
        if code in asked.too_early:
            return "not_on_sale"
        return "unknown" if code in unknown else "none"

    return [OfAirline(airline=c, outcome=outcome(c), cheapest=best.get(c, lowest.get(c))) for c in codes]


def _cheapest(options: Iterable[AwardOption]) -> dict[str, int]:
    best: dict[str, int] = {}
    for option in options:
        best[option.airline] = min(option.points, best.get(option.airline, option.points))
    return best


def _days(question: SeatsQuestion) -> str:
    first, last = question.earliest, question.latest
    return str(first) if first == last else f"{first} to {last}"


def _where(question: SeatsQuestion, max_points: int | None) -> str:
    """What was looked for: seats over the limit may be there, so that none were found is said with it."""
    most = f" at up to {some(max_points, 'point')}" if max_points else ""
    return f"{question.origin} to {question.destination}, {_days(question)}{most}"


def _named(call: LiveCall, fitting: Sequence[AwardOption]) -> str:
    """The cheapest in words."""
    if not fitting:
        return ""
    best, facts = fitting[0], call.reference
    whose = f"{program_name(facts, best.program)} with {airline_name(facts, best.airline)}"
    return f" Cheapest: {best.points:,} points of {whose}."


def _message(found: Found, asked: _Asked, fitting: Sequence[AwardOption], limit: int, where: str, cheapest: str) -> str:
    sources = ", ".join(found.coverage.answered)
    if not fitting:
        words = [f"No award seats {where}; asked: {sources}, about {some(len(asked.airlines), 'airline')}."]
    else:
        airlines = len({o.airline for o in fitting})
        words = [
            f"{some(len(fitting), 'award offer')} of {some(airlines, 'airline')}, {where}; asked: {sources}.{cheapest}"
        ]
    if len(fitting) > limit:
        words.append("The cheapest is listed." if limit == 1 else f"The {limit} cheapest are listed.")
    if failed := [f"{f.name} ({f.reason})" for f in found.coverage.failed]:
        words.append(f"Not answered by {', '.join(failed)}, so this may not be all.")
    if asked.too_early:
        words.append(f"Not on sale yet: {', '.join(asked.too_early)}.")
    return " ".join(words)
