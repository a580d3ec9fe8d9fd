"""Calendars of whole routes that are looked at before anyone asks: the top non-stop routes of an airport."""

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
KEPT_FOR = timedelta(hours=20)  # a sweep is a day old at most when the next one begins
TOGETHER = 10  # a source that takes lists of airports answers these by few calls


def choose_routes(
    reference: Reference, origins: Collection[str], most: int, ends: Collection[str] | None = None
) -> list[Route]:
    """The routes most airlines fly without a stop, the busiest airports first, to one of `ends` where they are given.

    Every airport of the origin counts, and none of them is an end.
    """
    counted = {
        (origin, end): len(airlines)
        for origin in origins
        for end, airlines in reference.nonstop_routes.get(origin, {}).items()
        if end not in origins and (ends is None or end in ends)
    }
    return sorted(counted, key=lambda route: (-counted[route], -reference.count_flights(route[1]), route))[:most]


def build_question(reference: Reference, route: Route, earliest: date, latest: date) -> SeatsQuestion:
    """All airlines that fly the route without a stop, and none besides."""
    origin, end = route
    return SeatsQuestion(origin, end, earliest, latest, reference.nonstop_routes.get(origin, {}).get(end, ()))


async def sweep(ask: Ask, reference: Reference, routes: Sequence[Route], earliest: date, latest: date) -> list[Route]:
    """Looks at the routes in turn; those that were answered. It ends where no one answers, and where a source
    keeps its calls for others."""
    answered: list[Route] = []
    for first in range(0, len(routes), TOGETHER):
        some = routes[first : first + TOGETHER]
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
    """What the next run looks at: routes of home airports, both ways, that no run of this day has looked at."""
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
