"""The rows of a search for several questions: divided among them, and counted by route."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from shared.providers.contract import SeatsPart, SeatsQuestion, SeatsTogether, Unanswered
from shared.providers.seats_aero import parse

Row = dict[str, Any]
Route = tuple[str, str]
TOO_MANY_ROWS = Unanswered("not_covered", "too_many_rows")


def read_rows(
    rows: Sequence[Row],
    questions: Sequence[SeatsQuestion],
    brief: Collection[SeatsQuestion],
    *,
    is_whole: bool,
    is_filtered: bool,
) -> SeatsTogether:
    """What is not whole answers nothing, but tells how dear its routes are."""
    rates = {} if is_filtered else count_rows_a_day(rows, questions, is_whole=is_whole)
    if not is_whole:
        return SeatsTogether((), rates, TOO_MANY_ROWS)
    return SeatsTogether(split_rows(rows, questions, brief), rates)


def split_rows(
    rows: Iterable[Row], questions: Sequence[SeatsQuestion], brief: Collection[SeatsQuestion]
) -> tuple[SeatsPart, ...]:
    """Each question gets the rows of its route and days, and those that do not say where they belong.

    A brief one reads trips without their segments, as if it had been asked alone: by the segments another airline may
    lead, and a watch would take that for a new seat.
    """
    of_route: dict[Route | None, list[Row]] = defaultdict(list)
    for row in rows:
        of_route[_find_route(row)].append(row)
    stripped = {route: [_strip_segments(row) for row in its] for route, its in of_route.items()} if brief else {}
    return tuple(_build_part(stripped if q in brief else of_route, q) for q in questions)


def count_rows_a_day(
    rows: Iterable[Row], questions: Sequence[SeatsQuestion], *, is_whole: bool
) -> Mapping[Route, float]:
    """Of every route from one of their airports to another: the search read those too that no one asked about.

    Of a search that was not read to its end no route has fewer than they have on average: the unread rows are
    somewhere.
    """
    days = (max(q.latest for q in questions) - min(q.earliest for q in questions)).days + 1
    ends = product({q.origin for q in questions}, {q.destination for q in questions})
    routes = [(origin, destination) for origin, destination in ends if origin != destination]
    counts = Counter(_find_route(row) for row in rows)
    least = 0 if is_whole else counts.total() / max(1, len(routes))
    return {route: max(counts[route], least) / days for route in routes}


def _build_part(of_route: dict[Route | None, list[Row]], question: SeatsQuestion) -> SeatsPart:
    mine = [row for row in of_route.get((question.origin, question.destination), ()) if _is_within(row, question)]
    try:
        seats = parse.parse_seats([*mine, *of_route.get(None, ())], question)
    except Unanswered as failure:
        return SeatsPart(question, None, failure)
    return SeatsPart(question, seats)


def _find_route(row: Row) -> Route | None:
    route, day = row.get("Route"), row.get("Date")
    if not isinstance(route, dict) or not isinstance(day, str):
        return None
    ends = route.get("OriginAirport"), route.get("DestinationAirport")
    return (str(ends[0]), str(ends[1])) if all(ends) else None


def _is_within(row: Row, question: SeatsQuestion) -> bool:
    return question.earliest.isoformat() <= str(row["Date"])[:10] <= question.latest.isoformat()


def _strip_segments(row: Row) -> Row:
    trips = row.get("AvailabilityTrips")
    if not isinstance(trips, list):
        return row
    bare = [trip | {"AvailabilitySegments": None} if isinstance(trip, dict) else trip for trip in trips]
    return row | {"AvailabilityTrips": bare}
