"""How long a month of award seats takes when every answer is in the cache."""

# ruff: noqa: F811 - fixtures are taken from other parts' tests

import time

import anyio

from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.thread_limiter import limiter
from shared.domain.plans import CABINS
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import people  # noqa: F401 - a fixture
from tests.mcp_server.tools.test_seat_calendar import TOOL, days_of_month, search_arguments
from tests.support.fake_seats import WithSources, live, seat, selling, with_sources  # noqa: F401 - fixtures
from tests.support.people import People


def test_search_monthly_availability_from_the_cache_takes_less_than_sixty_milliseconds(
    people: People, with_sources: WithSources
) -> None:
    """Four cabins over ten programmes on each day; the best of ten, since other programs share the machine."""
    programs = sorted(p.slug for p in reference().programs.values() if p.kind == "airline")[:10]
    month = [
        seat(day, cabin=cabin, program=program, ref=f"{day}{cabin}{program}"[:57])
        for day in days_of_month()
        for cabin in CABINS
        for program in programs
    ]
    with_sources(selling("one", *month))

    async def measure_calls() -> list[float]:
        seconds = []
        for _ in range(11):
            start = time.perf_counter()
            answer = await dispatch(TOOL, search_arguments(), people.alice, "mcp")
            seconds.append(time.perf_counter() - start)
        assert answer.data["freshness"]["mode"] == "cached"
        return seconds[1:]

    limiter.cache_clear()
    assert min(anyio.run(measure_calls)) < 0.06
