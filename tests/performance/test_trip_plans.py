"""How long a trip plan takes when every answer is in the cache."""

# ruff: noqa: F811 - fixtures are taken from other parts' tests

from datetime import timedelta
from decimal import Decimal

import anyio

from mcp_server.calls.dispatch import Answer, dispatch
from mcp_server.toolkit.thread_limiter import limiter
from shared.reference.load import reference
from tests.mcp_server.tools.conftest import Use, people, use  # noqa: F401 - fixtures
from tests.mcp_server.tools.test_trip_plans import BANK, TOOL, holds, search_arguments, seats, travel_day
from tests.performance.stopwatch import cost_in_pages
from tests.support.fake_rates import fare, fares_of
from tests.support.fake_seats import WithSources, live, with_sources  # noqa: F401 - fixtures
from tests.support.people import People

BALANCES = ("chase_ultimate_rewards", "amex_membership_rewards", "capital_one_miles", "citi_thankyou_rewards")
MORE_BALANCES = ("bilt_rewards", "marriott_bonvoy", "flying_blue", "british_airways_club")


def test_plan_trip_from_the_cache_takes_little_time(people: People, use: Use, with_sources: WithSources) -> None:
    """Ten programmes on each day, both ways, eight balances; every answer is kept already."""
    programs = sorted(p.slug for p in reference().programs.values() if p.kind == "airline")[:10]
    rows = [
        {"day": travel_day() + timedelta(days=day), "program": program, "airline": airline}
        | {"points": 20_000 + 500 * day + 1_000 * n, "taxes": Decimal(80 + n), "ref": f"{day}{program}{airline}"[:57]}
        for day in range(23)
        for n, program in enumerate(programs)
        for airline in ("BA", "AF")
    ]
    with_sources(seats(*rows)[0], fares_of("shop", fare("512.40"), fare("700")), BANK)
    holds(use, people.alice, **dict.fromkeys(BALANCES, 73_210), **dict.fromkeys(MORE_BALANCES, 41_500))
    arguments = search_arguments() | {
        "latest_date": (travel_day() + timedelta(days=14)).isoformat(),
        "nights": 7,
        "passengers": 2,
    }

    async def ask() -> Answer:
        limiter.cache_clear()  # one belongs to its loop
        return await dispatch(TOOL, arguments, people.alice, "mcp")

    anyio.run(ask)
    answer = anyio.run(ask)
    assert answer.data["best"]
    assert answer.data["freshness"]["mode"] == "cached"
    assert cost_in_pages(lambda: anyio.run(ask)) < 50  # 22 measured: 70 ms
