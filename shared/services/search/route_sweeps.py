"""Calendars of whole routes, searched before anyone asks: the top non-stop routes of an airport."""

from collections.abc import Collection, Iterator, Sequence
from datetime import date, timedelta

from sqlalchemy.orm import Session

from shared import clock
from shared.db.swept_routes import Route, list_home_airports, list_swept
from shared.providers.ask import Ask
from shared.providers.contract import SeatsQuestion
from shared.providers.request import PUT_OFF
from shared.reference.load import Reference
from shared.services.search.availability import VERB

MOST_HOMES, ROUTES_OF_HOME = 50, 15
MOST_ROUTES = 40  # of one run of the sweep
DAYS_AHEAD = 90
KEPT_FOR = timedelta(hours=20)  # a sweep is a day old at most when the next one starts
TOGETHER = 10  # a source that takes lists of airports answers these in few calls


def choose_routes(
    reference: Reference, origins: Collection[str], most: int, ends: Collection[str] | None = None
) -> list[Route]:
    """Routes that most airlines fly non-stop, the busiest airports first, to one of `ends` if given.

    Every airport of the origin counts, but not as a destination.
    """
    counted = {
        (origin, end): len(airlines)
        for origin in origins
        for end, airlines in reference.nonstop_routes.get(origin, {}).items()
        if end not in origins and (ends is None or end in ends)
    }
    return sorted(counted, key=lambda route: (-counted[route], -reference.count_flights(route[1]), route))[:most]


def build_question(reference: Reference, route: Route, earliest: date, latest: date) -> SeatsQuestion:
    """A question about exactly the airlines that fly the route non-stop."""
    origin, end = route
    return SeatsQuestion(origin, end, earliest, latest, reference.nonstop_routes.get(origin, {}).get(end, ()))


async def sweep(
    ask: Ask,
    reference: Reference,
    routes: Sequence[Route],
    earliest: date,
    latest: date,
    *,
    together: int | None = None,
) -> list[Route]:
    """Looks at the routes, a few at a time, and returns those answered. It ends where no one answers, and where a
    source keeps its calls for others."""
    answered: list[Route] = []
    number = together or TOGETHER
    for first in range(0, len(routes), number):
        some = routes[first : first + number]
        questions = [build_question(reference, route, earliest, latest) for route in some]
        readings = await ask.all(VERB, questions)
        sources = len(readings) // len(some)
        for at, route in enumerate(some):
            its = readings[at * sources : (at + 1) * sources]
            if any(reading.has_answer for reading in its):
                answered.append(route)
        if not any(r.has_answer for r in readings) or any(r.reason == PUT_OFF for r in readings):
            break
    return answered


def plan_sweep(session: Session, reference: Reference) -> tuple[list[Route], date, date]:
    """The routes for the next run: of home airports, both ways, not yet searched today."""
    earliest, latest = clock.today(), clock.today() + timedelta(days=DAYS_AHEAD)
    routes = list(_list_routes(reference, list_home_airports(session, MOST_HOMES)))
    origins = {origin for origin, _ in routes}
    done = list_swept(session, origins, clock.now() - KEPT_FOR, earliest, latest - timedelta(days=1))
    return [route for route in routes if route not in done][:MOST_ROUTES], earliest, latest


def _list_routes(reference: Reference, homes: Sequence[str]) -> Iterator[Route]:
    """The best route of each home first, so that each has some; each way back after its way there."""
    of_homes = [choose_routes(reference, (home,), ROUTES_OF_HOME) for home in homes]
    for rank in range(ROUTES_OF_HOME):
        for routes in of_homes:
            if rank < len(routes):
                yield routes[rank]
                yield routes[rank][::-1]
