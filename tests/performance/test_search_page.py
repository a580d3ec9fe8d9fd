"""What the heat-map of a month costs from the kept answer: processor time, statements, weight, requests to tools."""

# ruff: noqa: F811 - fixtures are taken from other parts' tests

from typing import Any

import pytest

from auth_server.web.tool_server import Answer, ToolCall, ToolServer
from shared.domain.plans import CABINS
from tests.mcp_server.rest.conftest import World, running, world  # noqa: F401 - fixtures
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.tools.conftest import queries  # noqa: F401 - a fixture
from tests.performance.stopwatch import cost_in_pages

MONTH = "/dashboard/search?origin=LHR&destination=HND&airline=British+Airways&month=2027-01&passengers=9"


def build_full_month() -> dict[str, Any]:
    """A price of four characters in each of four cabins of 31 days."""
    price = {"seats": 9, "program": "british-airways-club"}
    days = [
        {
            "date": f"2027-01-{day:02}",
            "state": "available",
            "cabins": {
                cabin: price | {"points": 20_500 + 1000 * day + 9000 * place} for place, cabin in enumerate(CABINS)
            },
        }
        for day in range(1, 32)
    ]
    moment = "2026-11-23T12:00:00Z"
    return {
        "status": "ok",
        "message": "British Airways, LHR to HND: " + "words " * 80,
        "asked": {"origin": "LHR", "destination": "HND", "airline": "BA", "cabins": list(CABINS)},
        "days": days,
        "coverage": {"failed": [{"name": "a source of seats", "reason": "down"}]},
        "freshness": {"source": "sandbox", "fetched_at": moment, "provider_checked_at": moment},
    }


@pytest.fixture
def calls(world: World, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names = list[str]()

    async def answer(_: ToolServer, call: ToolCall) -> Answer:
        names.append(call.tool)
        return Answer(build_full_month())

    monkeypatch.setattr(ToolServer, "_send", answer)
    sign_up(world, "ann@example.test", "premium")
    return names


def test_a_full_month_from_the_kept_answer(world: World, calls: list[str], queries: list[str]) -> None:
    """The client of the test is a part of the process that is measured."""
    assert world.get(MONTH).status_code == 200
    queries.clear()
    page = world.get(MONTH)
    assert page.text.count('<a href="search/day?') == 31
    assert len(page.content) < 30_000
    assert calls == ["search_monthly_availability"]
    assert len(queries) <= 6, queries
    assert cost_in_pages(lambda: world.get(MONTH)) < 5  # 2 measured: 12 ms
