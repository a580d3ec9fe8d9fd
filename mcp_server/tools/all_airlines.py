"""Live award search of one route over every airline, cheapest first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date as Date
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.toolkit import Effect, LiveCall, Part, Tier, tool
from mcp_server.toolkit.parameters import AirportOrCity, Cabin, Day, Passengers, Points
from mcp_server.toolkit.wording import (
    airline_name,
    list_airline_names,
    list_offer_names,
    program_name,
)
from mcp_server.views.award_search import (
    SeatsAsked,
    SeatSearch,
    build_asked,
    build_not_on_sale,
    last_day_on_sale,
    list_searchable,
    require_cabins,
    resolve_routes,
)
from mcp_server.views.split_parties import describe_parts
from shared.domain.dates import format_weekday
from shared.domain.party_prices import describe_price, price_party
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid
from shared.providers.contract import SeatsQuestion
from shared.reference.booking_links import list_booking_links
from shared.reference.load import Reference
from shared.reference.phantom_seats import warn_of_phantoms
from shared.services.search.availability import Found, find
from shared.services.search.award_options import AwardOption
from shared.services.search.provenance import Coverage, Failed, Freshness

Outcome = Literal["available", "over_max_points", "none", "unknown", "not_on_sale"]


class OfAirline(Part):
    """`cheapest` is in points; that of seats over max_points is shown too."""

    airline: str
    outcome: Outcome
    cheapest: int | None


class AllAirlines(SeatSearch):
    """`names` of the airlines by code, and of the options' programmes by slug."""

    options: list[AwardOption]
    names: dict[str, str]
    booking_pages: dict[str, str]
    warnings: list[str]
    by_airline: list[OfAirline]
    coverage: Coverage
    freshness: Freshness
    searches_left_today: int | None
    total: int


@dataclass(frozen=True)
class _Selection:
    """Codes of the airlines the caller named, those to search, and those whose seats are not on sale that far ahead."""

    named: list[str]
    airlines: list[str]
    too_early: list[str]


@tool(
    "search",
    Tier.FREE,
    Effect.READS,
    "Search award seats of all airlines",
    live=True,
    open_world=True,
    meter="search",
    screen="award-results",
    condenses=True,
)
async def search_all_airlines(
    call: LiveCall,
    origin: AirportOrCity,
    destination: AirportOrCity,
    date: Day,
    cabin: Cabin = "economy",
    passengers: Passengers = 1,
    flex_days: Annotated[int, Field(ge=0, le=3)] = 0,
    airlines: Annotated[list[str] | None, Field(max_length=40)] = None,
    max_points: Points | None = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
) -> AllAirlines:
    """Searches who has award seats on a route and date: any airline, business, first or economy, in one search.

    For "Can I get to Tokyo on points on 3 May? Who flies there?" The first choice when no airline is named; cheapest in
    miles first, nonstop or not, per person. Free accounts: economy, 5 a day. Free.
    """
    cabins = require_cabins(call, cabin)
    routes = resolve_routes(call, origin, destination)
    if date < call.today:
        raise Invalid(Fault("date", "is in the past", f"{call.today} or later"))
    question = SeatsQuestion(
        origin, destination, max(call.today, date - timedelta(days=flex_days)), date + timedelta(days=flex_days)
    )
    selection = _select_airlines(call, airlines, question.earliest)
    codes = tuple(code for code in selection.named if code not in selection.too_early)
    questions = [SeatsQuestion(*route, question.earliest, question.latest, codes) for route in routes]
    result = await find(call.ask, questions, cabins, passengers)
    result = replace(result, options=call.taste.choose(result.options))
    matches = sorted(
        (o for o in result.options if max_points is None or o.points <= max_points),
        key=lambda o: (o.points, o.airline not in call.taste.preferred, o.date, o.program, o.airline),
    )
    where, cheapest = _describe_query(question, max_points), _describe_cheapest(call, matches, passengers)
    coverage, by_airline = _build_coverage(result, selection), _list_by_airline(result, selection, matches)
    return AllAirlines(
        status="partial" if coverage.failed else "ok",
        message=" ".join(
            [
                _describe_result(result, selection, matches, limit, where, cheapest),
                *describe_parts(call.reference, result.parts, passengers),
            ]
        ),
        asked=_describe_request(question, selection, date, flex_days, cabins, passengers),
        options=matches[:limit],
        names=_list_names(call.reference, matches[:limit], by_airline),
        booking_pages=list_booking_links(call.reference, matches[:limit], passengers),
        warnings=warn_of_phantoms(call.reference, matches[:limit]),
        by_airline=by_airline,
        coverage=coverage,
        freshness=result.freshness,
        searches_left_today=call.searches_left,
        total=len(matches),
    )


def _describe_request(
    question: SeatsQuestion, selection: _Selection, day: Date, flex_days: int, cabins: Sequence[str], passengers: int
) -> SeatsAsked:
    airline = selection.named[0] if len(selection.named) == 1 else None
    return build_asked(question.origin, question.destination, cabins, passengers, airline, day=day, flex_days=flex_days)


def _select_airlines(call: LiveCall, airlines: Sequence[str] | None, earliest: Date) -> _Selection:
    """Raises NoData if no named airline has released any of the days."""
    codes = list(dict.fromkeys(call.reference.airline(text).iata for text in airlines or ()))
    airlines_to_ask = codes or list_searchable(call)
    too_early = [code for code in airlines_to_ask if earliest > last_day_on_sale(call, code)]
    if len(too_early) == len(airlines_to_ask):
        latest = max(too_early, key=lambda code: last_day_on_sale(call, code))
        raise build_not_on_sale(call, call.reference.airlines[latest], earliest)
    return _Selection(codes, [code for code in airlines_to_ask if code not in too_early], too_early)


def _find_unknown(result: Found, selection: _Selection) -> list[str]:
    """Airlines without an offer while a source failed: that source might have had some."""
    seen_airlines = {o.airline for o in result.options}
    return [code for code in selection.airlines if code not in seen_airlines] if result.coverage.failed else []


def _build_coverage(result: Found, selection: _Selection) -> Coverage:
    """Sources by their names and airlines by their codes, in the same lists."""
    coverage, unknown = result.coverage, _find_unknown(result, selection)
    codes = selection.airlines + sorted(
        {o.airline for o in result.options} - set(selection.airlines) - set(selection.too_early)
    )
    reason = coverage.failed[0].reason if coverage.failed else ""
    return Coverage(
        asked=(*coverage.asked, *codes),
        answered=(*coverage.answered, *(code for code in codes if code not in unknown)),
        failed=(*coverage.failed, *(Failed(code, reason) for code in unknown)),
        skipped=(*coverage.skipped, *(Failed(code, "not_on_sale") for code in selection.too_early)),
    )


def _list_by_airline(result: Found, selection: _Selection, matches: Sequence[AwardOption]) -> list[OfAirline]:
    """Every airline that was requested or has an offer; others without seats are only in the coverage."""
    lowest, best = _find_cheapest(result.options), _find_cheapest(matches)
    unknown = set(_find_unknown(result, selection))
    codes = sorted({*selection.named, *lowest}, key=lambda c: (c not in best, lowest.get(c, 0), c))

    def outcome(code: str) -> Outcome:
        if code in lowest:
            return "available" if code in best else "over_max_points"
        if code in selection.too_early:
            return "not_on_sale"
        return "unknown" if code in unknown else "none"

    return [OfAirline(airline=c, outcome=outcome(c), cheapest=best.get(c, lowest.get(c))) for c in codes]


def _list_names(facts: Reference, options: Sequence[AwardOption], by_airline: Sequence[OfAirline]) -> dict[str, str]:
    return list_offer_names(facts, options) | list_airline_names(facts, (row.airline for row in by_airline))


def _find_cheapest(options: Iterable[AwardOption]) -> dict[str, int]:
    best: dict[str, int] = {}
    for option in options:
        best[option.airline] = min(option.points, best.get(option.airline, option.points))
    return best


def _describe_days(question: SeatsQuestion) -> str:
    first, last = question.earliest, question.latest
    if first == last:
        return f"on {format_weekday(first)}"
    return f"from {format_weekday(first)} to {format_weekday(last)}"


def _describe_query(question: SeatsQuestion, max_points: int | None) -> str:
    """The query in words, with max_points: dearer seats may exist, so the limit is part of the answer."""
    most = f" at up to {pluralize(max_points, 'point')}" if max_points else ""
    return f"{question.origin} to {question.destination} {_describe_days(question)}{most}"


def _describe_cheapest(call: LiveCall, matches: Sequence[AwardOption], passengers: int) -> str:
    """A sentence about the cheapest offer; empty when there is none."""
    if not matches:
        return ""
    best, facts = matches[0], call.reference
    price = describe_price(price_party(best, passengers), program_name(facts, best.program))
    sentence = f"Cheapest: {price}, with {airline_name(facts, best.airline)} on {format_weekday(best.date)}."
    return " ".join([sentence, *warn_of_phantoms(facts, matches[:1])])


def _describe_result(
    result: Found, selection: _Selection, matches: Sequence[AwardOption], limit: int, where: str, cheapest: str
) -> str:
    sources = ", ".join(result.coverage.answered)
    searched = f" Searched with {sources} for {pluralize(len(selection.airlines), 'airline')}." if sources else ""
    if not matches:
        none = "Whether there are award seats is not known" if result.coverage.failed else "No award seats are open"
        sentences = [f"{none}, {where}.{searched}"]
    else:
        airlines = pluralize(len({o.airline for o in matches}), "airline")
        sentences = [f"{cheapest} {pluralize(len(matches), 'award offer')} of {airlines}, {where}.{searched}"]
    if len(matches) > limit:
        sentences.append("The cheapest is listed." if limit == 1 else f"The {limit} cheapest are listed.")
    if failed := [f"{f.name} ({f.reason})" for f in result.coverage.failed]:
        sentences.append(f"Not answered by {', '.join(failed)}, so this may not be all.")
    if selection.too_early:
        sentences.append(f"Not on sale yet: {', '.join(selection.too_early)}.")
    return " ".join(sentences)
