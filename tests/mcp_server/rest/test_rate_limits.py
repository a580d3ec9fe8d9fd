"""How much REST may be used: the month exactly, addresses and accounts by the minute, and what is told of it."""

import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from sqlalchemy import select

from mcp_server.calls.dispatch import dispatch
from mcp_server.calls.pace import PACE
from mcp_server.rest import routes
from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.transport import token_verifier
from shared import clock
from shared.db.base import transaction
from shared.db.usage import API_CALLS, SEARCHES, UsageCounter, count_used, take
from shared.domain.plans import LIMITS, Plan
from shared.secrets import mint
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.test_routes import expect_problem
from tests.support.people import People, account
from tests.support.settings_and_clock import StandingClock


def month(caller: Caller) -> int:
    with transaction() as session:
        return count_used(session, caller.account_id, API_CALLS, clock.today().replace(day=1))


def spend(caller: Caller, amount: int) -> None:
    with transaction() as session:
        take(session, caller.account_id, API_CALLS, clock.today().replace(day=1), None, amount)


@pytest.mark.spec("s8.api_tier_limit_free")
def test_of_sixty_calls_at_once_a_free_account_gets_exactly_fifty(world: World, people: People) -> None:
    key = world.key(people.bob)
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: world.call(key, "list_trips"), range(60)))
    assert sorted(a.status_code for a in answers) == [200] * 50 + [429] * 10
    assert sorted(int(a.headers["ratelimit-remaining"]) for a in answers) == [0] * 10 + list(range(50))
    told = expect_problem(next(a for a in answers if a.status_code == 429), 429, "limit_reached")
    assert (told["limit"], told["current"], told["cap"]) == ("api_tier_limit", 50, 50)
    assert told["upgrade_url"] == f"{world.url}/plans"
    assert datetime.fromisoformat(told["resets_at"]) == clock.next_month()
    assert month(people.bob) == 50


def test_a_refused_month_says_how_long_to_wait(world: World, people: People) -> None:
    spend(people.bob, 50)
    answer = world.call(world.key(people.bob), "list_trips")
    left = (clock.next_month() - clock.now()).total_seconds()
    assert abs(int(answer.headers["retry-after"]) - left) < 5
    assert abs(int(answer.headers["ratelimit-reset"]) - left) < 5


@pytest.mark.spec("s8.api_tier_limit_free", "s8.api_tier_limit_enterprise")
@pytest.mark.parametrize(
    ("plan", "cap"), [(Plan.FREE, 50), (Plan.PREMIUM, 150), (Plan.PRO, 150), (Plan.ENTERPRISE, 500)]
)
def test_each_plan_has_its_month(world: World, plan: Plan, cap: int) -> None:
    caller = account(plan.slug, plan)
    assert LIMITS[plan].api_calls_per_month == cap
    spend(caller, cap - 1)
    key = world.key(caller)
    last = world.call(key, "list_trips")
    assert (last.status_code, last.headers["ratelimit"]) == (200, f'"month";r=0;t={last.headers["ratelimit-reset"]}')
    assert last.headers["ratelimit-policy"] == f'"month";q={cap}'
    assert world.call(key, "list_trips").status_code == 429


@pytest.mark.spec("s8.api_tier_limit_negotiated")
@pytest.mark.parametrize("agreed", [0, 3, 2000])
def test_an_accounts_own_number_wins_over_the_plan(world: World, agreed: int) -> None:
    caller = account("agreed", Plan.ENTERPRISE, api_calls_per_month=agreed)
    spend(caller, max(0, agreed - 1))
    key = world.key(caller)
    answers = [world.call(key, "list_trips").status_code for _ in range(2)]
    assert answers == ([429, 429] if agreed == 0 else [200, 429])
    assert world.call(key, "get_usage").json()["api_calls"]["cap"] == agreed


@pytest.mark.parametrize(
    ("name", "arguments", "status"),
    [
        ("create_trip", {}, 422),
        ("no_such_tool", {}, 404),
        ("delete_trip", {"trip_id": 999}, 404),
        ("admin_list_users", {}, 403),
        ("get_usage", {}, 200),
    ],
)
def test_what_gave_nothing_is_not_counted(
    world: World, people: People, name: str, arguments: dict[str, Any], status: int
) -> None:
    key = world.key(people.bob)
    made = world.call(key, name, arguments)
    assert (made.status_code, month(people.bob)) == (status, 0)
    if status != 404 or name != "no_such_tool":
        assert made.headers["ratelimit-remaining"] == "50"


def test_a_refusal_does_not_need_a_call_of_the_month(world: World, people: People) -> None:
    spend(people.bob, 50)
    assert world.call(world.key(people.bob), "create_trip", {}).status_code == 422
    assert world.call(world.key(people.bob), "get_usage").status_code == 200


def test_next_month_begins_at_nothing(world: World, people: People, standing_clock: StandingClock) -> None:
    spend(people.bob, 50)
    key, then = world.key(people.bob), clock.next_month()
    assert world.call(key, "list_trips").status_code == 429
    standing_clock.set(then)
    assert world.call(key, "list_trips").headers["ratelimit-remaining"] == "49"


def test_a_search_uses_a_search_and_a_call_or_neither(world: World, people: People) -> None:
    key, day = world.key(people.bob), clock.midnight().date().isoformat()
    search = {"airline": "BA", "origin": "LHR", "destination": "JFK", "date": day}
    answers = [world.call(key, "search_availability", search) for _ in range(6)]
    assert [a.status_code for a in answers] == [200] * 5 + [429]
    told = expect_problem(answers[5], 429, "limit_reached")
    assert told["limit"] == "searches_per_day"
    assert answers[5].headers["ratelimit-remaining"] == "45"
    with transaction() as session:
        rows = dict(session.execute(select(UsageCounter.meter, UsageCounter.used)).all())
    assert {m: rows[m] for m in (API_CALLS, SEARCHES)} == {API_CALLS: 5, SEARCHES: 5}


def test_the_tool_endpoint_uses_no_calls_of_the_month(world: World, people: People) -> None:
    limiter.cache_clear()
    anyio.run(dispatch, "list_trips", {}, people.bob, "mcp")
    limiter.cache_clear()
    assert month(people.bob) == 0


def test_addresses_without_a_key_have_a_limit_by_the_hour(world: World, configure: Any) -> None:
    configure(ANONYMOUS_CALLS_PER_HOUR="3")
    answers = [world.call(None, "get_cancellation_fee", {"airline": "BA"}) for _ in range(4)]
    assert [a.status_code for a in answers] == [200, 200, 200, 429]
    assert [a.headers.get("ratelimit-remaining") for a in answers] == ["2", "1", "0", None]
    expect_problem(answers[3], 429, "too_many_requests")
    assert 0 < int(answers[3].headers["retry-after"]) <= 3600


def test_each_address_counts_for_itself_through_the_web_host(world: World, configure: Any) -> None:
    configure(ANONYMOUS_CALLS_PER_HOUR="1")
    fee = {"airline": "BA"}
    for far, status in (
        ("203.0.113.5", 200),
        ("203.0.113.5", 429),
        ("203.0.113.6", 200),
        ("2001:db8::1", 200),
        ("2001:db8::2", 429),
    ):
        answer = world.call(None, "get_cancellation_fee", fee, headers={"X-Forwarded-For": far})
        assert answer.status_code == status, far


@pytest.mark.parametrize("path", ["/api/v1/tools", "/api/v1/tools/list_trips", "/.well-known/openapi.yaml"])
def test_documents_have_a_limit_by_the_minute(world: World, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setattr(routes, "READS_PER_MINUTE", 2)
    assert [world.get(path).status_code for _ in range(3)] == [200, 200, 429]


def test_an_account_has_a_limit_by_the_minute_whatever_its_calls_become(
    world: World, people: People, configure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(TOOL_CALLS_PER_MINUTE="2")
    monkeypatch.setattr(PACE, "_minute", 0)
    keys = [world.key(people.alice), world.key(people.alice, "Another")]
    answers = [world.call(keys[i % 2], "create_trip", {}) for i in range(3)]
    assert [answer.status_code for answer in answers] == [422, 422, 429]
    assert 0 < int(answers[2].headers["retry-after"]) <= 60


def test_guessing_keys_has_a_limit(world: World, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_verifier, "REFUSALS_PER_MINUTE", 3)
    monkeypatch.setattr(token_verifier, "LOOKUPS_WHEN_CROWDED", 0)
    known, guessed = world.key(people.alice), [mint("awt_ak_") for _ in range(6)]
    assert world.call(known, "list_trips").status_code == 200
    far = {"X-Forwarded-For": "203.0.113.7"}
    answers = [world.call(key, "list_trips", headers=far) for key in guessed]
    assert [a.status_code for a in answers] == [401] * 4 + [429] * 2
    assert 0 < int(answers[5].headers["retry-after"]) <= 60
    assert world.call(known, "list_trips", headers=far).status_code == 200
    elsewhere = {"X-Forwarded-For": "203.0.113.9"}
    assert world.call(mint("awt_ak_"), "list_trips", headers=elsewhere).status_code == 401


def test_a_rest_call_whose_body_does_not_come_is_not_waited_for(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "MAX_BODY_SECONDS", 0.2)
    address = urlsplit(world.mcp_url)
    head = (
        f"POST /api/v1/tools/list_trips HTTP/1.1\r\nHost: {address.netloc}\r\nX-API-Key: {world.key(people.alice)}\r\n"
    )
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=90) as line:
        line.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode())
        assert line.recv(4096).startswith(b"HTTP/1.1 408 ")


def test_pages_of_other_sites_may_read_the_document_and_nothing_else(world: World, people: People) -> None:
    key, elsewhere = world.key(people.alice), {"Origin": "https://elsewhere.example"}
    assert world.get("/.well-known/openapi.yaml", headers=elsewhere).headers["access-control-allow-origin"] == "*"
    answers = [
        world.call(key, "list_trips", headers=elsewhere),
        world.get("/api/v1/tools", headers=elsewhere),
        world.http.options(f"{world.url}/api/v1/tools/list_trips", headers=elsewhere),
        world.http.options(f"{world.url}/api/v1/agent/register", headers=elsewhere),
    ]
    assert ["access-control-allow-origin" in a.headers for a in answers] == [False] * 4
