"""Searches of people that ask a source much: few calls, and what checks saw needs none."""

from datetime import date, timedelta

import anyio
import pytest

from shared import clock
from shared.db.base import transaction
from shared.db.observations import AwardObservation as Row
from shared.db.sightings import lowest_prices, newest_cells
from shared.domain.trip_plans import Leg
from shared.providers.ask import Ask
from shared.providers.contract import SeatsQuestion
from shared.reference.load import reference
from shared.services.search.seat_calendar import Month, search_month
from shared.services.search.trip_plan_search import TripSeats, TripWish, find_place, search_seats
from tests.support.fake_seats import WithSources
from tests.support.paging_source import PagingSource
from tests.support.spare_questions import Spare

DAY = date(2027, 3, 1)


@pytest.fixture
def source(with_sources: WithSources) -> PagingSource:
    paging = PagingSource()
    with_sources(paging.card)
    return paging


def test_a_trip_between_cities_of_several_airports_asks_twice_and_not_once_a_pair(source: PagingSource) -> None:
    facts = reference()
    start, end = (find_place(facts, code, None) for code in ("NYC", "LON"))
    legs = (Leg(start, end), Leg(end, start, 7))
    wish = TripWish(legs, "LON", DAY, DAY + timedelta(days=3), 7, "business", 1, frozenset(), None)

    async def go() -> TripSeats:
        return await search_seats(Ask(1), facts, wish)

    seats = anyio.run(go)
    assert len(seats.pairs) > 4
    assert all(reading.has_answer for side in seats.sides for reading in side)
    assert source.calls <= 2


def test_a_whole_month_is_one_search(source: PagingSource) -> None:
    month = SeatsQuestion("JFK", "LHR", DAY, DAY + timedelta(days=30), ("BA",))

    async def go() -> Month:
        return await search_month(Ask(1), [month], month.latest, ["business"], 1)

    assert len(anyio.run(go).days) == 31
    assert source.calls == 1


def test_destinations_are_explored_in_what_others_asked_along_and_nobody_is_asked(source: PagingSource) -> None:
    """The answers of one check, with those for further watches."""
    ends = ["LHR", "CDG", "FRA"]
    questions = [SeatsQuestion("JFK", end, DAY, DAY + timedelta(days=9)) for end in ends]

    async def go() -> None:
        await Ask(1, background=True, can_wait=True, others=Spare(questions[1:])).all("award_seats", questions[:1])

    anyio.run(go)
    assert source.calls == 1
    with transaction() as session:
        cells = newest_cells(2, clock.now() - timedelta(hours=1), DAY, Row.origin == "JFK", Row.cabin == "business")
        prices = session.execute(lowest_prices(cells)).all()
    assert {row.destination for row in prices} == set(ends)
    assert source.calls == 1
