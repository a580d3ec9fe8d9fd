"""Plan and usage: the figures are exact, and asking for them uses nothing."""

from dataclasses import replace
from datetime import timedelta

import pytest

from mcp_server.calls.usage import USAGE_LOG
from shared import clock
from shared.db.base import transaction
from shared.db.usage import API_CALLS, SEARCHES, TOOL_CALLS, count_used, take
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.test_trips import file, monitor
from tests.support.people import People


@pytest.mark.spec("s8.free_five_searches", "s8.free_economy_only", "s8.api_tier_limit_free")
def test_get_usage_shows_what_a_free_account_may_do(people: People, use: Use) -> None:
    answer = use(people.bob, "get_usage")
    assert answer["plan"] == {"tier": "free", "name": "Free", "price_per_month": 0.0, "currency": "USD"}
    assert answer["searches"] == {
        "used_today": 0,
        "cap": 5,
        "resets_at": clock.midnight().isoformat().replace("+00:00", "Z"),
        "cabins": ["economy"],
    }
    assert answer["api_calls"] == {
        "used_this_month": 0,
        "cap": 50,
        "resets_on": clock.next_month().date().isoformat(),
    }
    assert answer["tool_calls"] == {"used_today": 0, "ceiling": 500}
    assert answer["counts"] == {
        "route_monitors": {"active": 0, "cap": 1},
        "flight_alerts": {"active": 0, "cap": 1},
        "active_trips": {"active": 0, "cap": 1},
    }
    assert answer["upgrade_url"].endswith("/plans")


@pytest.mark.spec("s8.premium_price", "s8.premium_unlimited")
def test_get_usage_gives_the_premium_price_and_null_for_prices_never_set(people: People, use: Use) -> None:
    answer = use(people.alice, "get_usage")
    prices = {p["tier"]: p["price_per_month"] for p in answer["plans"]}
    assert prices == {"free": 0.0, "premium": 9.99, "pro": None, "enterprise": None}
    assert answer["plan"]["price_per_month"] == 9.99
    assert (answer["searches"]["cap"], len(answer["searches"]["cabins"])) == (None, 4)
    assert answer["counts"]["active_trips"]["cap"] is None
    assert all(p["adds"] for p in answer["plans"])


@pytest.mark.spec("s8.api_tier_limit_negotiated")
def test_get_usage_shows_an_agreed_number_of_api_calls(people: People, use: Use) -> None:
    assert use(replace(people.alice, api_calls_per_month=9000), "get_usage")["api_calls"]["cap"] == 9000


def test_get_usage_reads_the_counters_of_this_account_and_period(people: People, use: Use) -> None:
    today = clock.today()
    with transaction() as session:
        for caller, number in ((people.bob, 3), (people.alice, 4)):
            take(session, caller.account_id, SEARCHES, today, None, number)
            take(session, caller.account_id, SEARCHES, today - timedelta(days=1), None, 9)
            take(session, caller.account_id, API_CALLS, today.replace(day=1), None, number * 10)
            take(session, caller.account_id, TOOL_CALLS, today, None, number * 100)
    answer = use(people.bob, "get_usage")
    assert (answer["searches"]["used_today"], answer["api_calls"]["used_this_month"]) == (3, 30)
    assert answer["tool_calls"]["used_today"] == 300


@pytest.mark.spec("s8.abuse_ceiling_daily")
def test_get_usage_counts_calls_not_yet_written_and_not_itself(people: People, use: Use) -> None:
    for _ in range(2):
        use(people.bob, "list_trips")
        assert use(people.bob, "get_usage")["status"] == "ok"
    assert use(people.bob, "get_usage")["tool_calls"]["used_today"] == 2
    USAGE_LOG.flush()
    use(people.bob, "list_trips")
    assert use(people.bob, "get_usage")["tool_calls"]["used_today"] == 3
    USAGE_LOG.flush()
    with transaction(people.bob.account_id) as session:
        assert count_used(session, people.bob.account_id, TOOL_CALLS, clock.today()) == 3


def test_get_usage_counts_what_is_active_and_nothing_else(people: People, use: Use) -> None:
    paused, cancelled = monitor(), monitor()
    paused.paused_at = cancelled.cancelled_at = clock.now()
    file(people.alice, monitor(), paused, cancelled)
    first = use(people.alice, "create_trip", name="A")["trip"]["trip_id"]
    use(people.alice, "create_trip", name="B")
    use(people.alice, "delete_trip", trip_id=first)
    counts = use(people.alice, "get_usage")["counts"]
    assert counts["route_monitors"] == {"active": 1, "cap": 20}
    assert counts["active_trips"] == {"active": 1, "cap": None}


def test_get_usage_takes_no_arguments(people: People, use: Use) -> None:
    answer = use(people.bob, "get_usage", day="today")
    assert answer["errors"] == [
        {"field": "day", "problem": "is not a parameter of this tool", "expected": "no arguments"}
    ]
