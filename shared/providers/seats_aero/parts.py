"""The rows of a search for several questions, divided among them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from shared.providers.contract import SeatsPart, SeatsQuestion, Unanswered
from shared.providers.seats_aero import parse

Row = dict[str, Any]
Route = tuple[str, str]


def split_rows(
    rows: Iterable[Row], questions: Sequence[SeatsQuestion], brief: Collection[SeatsQuestion], unfiltered: bool
) -> tuple[SeatsPart, ...]:
    """Each question gets the rows of its route and days, and those that do not say where they belong.

    A brief one reads trips without their segments, as if it had been asked alone: by the segments another airline may
    lead, and a watch would take that for a new seat.
    """
    of_route: dict[Route | None, list[Row]] = defaultdict(list)
    for row in rows:
        of_route[_find_route(row)].append(row)
    stripped = {route: [_strip_segments(row) for row in its] for route, its in of_route.items()} if brief else {}
    return tuple(_build_part(stripped if q in brief else of_route, q, unfiltered) for q in questions)


def _build_part(of_route: dict[Route | None, list[Row]], question: SeatsQuestion, unfiltered: bool) -> SeatsPart:
    mine = [row for row in of_route.get((question.origin, question.destination), ()) if _is_within(row, question)]
    days = (question.latest - question.earliest).days + 1
    try:
        seats = parse.parse_seats([*mine, *of_route.get(None, ())], question)
    except Unanswered as failure:
        return SeatsPart(question, None, failure)
    return SeatsPart(question, seats, rows_a_day=len(mine) / days if unfiltered else None)


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
