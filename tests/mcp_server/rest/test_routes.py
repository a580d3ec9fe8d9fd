"""Calls over REST: the same tools, gate and answers; keys, statuses, problems and the data's label."""

import gzip
import http.client
import json
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy.exc import OperationalError

from mcp_server.toolkit.registry import TOOLS
from shared import clock
from shared.db import outages
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.domain.plans import Plan
from shared.outbox.plan_change import change_plan
from shared.secrets import mint
from tests.mcp_server.rest.conftest import World
from tests.support.noted_calls import list_notes
from tests.support.people import People, account
from tests.support.service import BY_EVENT_SECONDS, wait_for

PROBLEM = "application/problem+json"


def expect_problem(answer: Any, status: int, outcome: str) -> dict[str, Any]:
    assert (answer.status_code, answer.headers["content-type"]) == (status, PROBLEM), answer.text
    told: dict[str, Any] = answer.json()
    assert (told["status"], told["outcome"]) == (status, outcome)
    assert told["type"].endswith(f"/problems#{outcome}")
    assert told["title"]
    assert told["detail"]
    return told


@pytest.mark.spec("s4.1.rest_reachable_on_web_host")
def test_a_call_gives_the_tools_own_answer_on_the_web_host(world: World, people: People) -> None:
    answer = world.call(world.key(people.alice), "create_trip", {"name": "Japan"})
    assert answer.status_code == 200, answer.text
    made = answer.json()
    assert list(made)[:3] == ["data_mode", "notice", "status"]
    assert (made["status"], made["trip"]["name"]) == ("ok", "Japan")
    assert answer.headers["x-data-mode"] == "sandbox"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_either_header_carries_the_key(world: World, people: People) -> None:
    key = world.key(people.alice)
    for headers in (
        {"X-API-Key": key},
        {"Authorization": f"bearer {key}"},
        {"X-API-Key": key, "Authorization": f"Bearer {key}"},
    ):
        assert world.call(None, "list_trips", headers=headers).status_code == 200, headers


def test_without_a_good_key_a_call_is_refused_with_a_challenge(world: World, people: People) -> None:
    good = world.key(people.alice)
    tries: list[dict[str, str]] = [
        {},
        {"Authorization": "Bearer nonsense"},
        {"Authorization": f"Bearer {mint('awt_ak_')}"},
        {"Authorization": f"Bearer {mint('awt_at_')}"},
        {"Authorization": f"Basic {good}"},
        {"Authorization": f"Bearer {good}", "X-API-Key": mint("awt_ak_")},
        {"X-API-Key": ""},
    ]
    for headers in tries:
        answer = world.call(None, "list_trips", headers=headers)
        expect_problem(answer, 401, "unauthorized")
        assert answer.headers["www-authenticate"].startswith('Bearer realm="award-travel"')


def test_one_account_never_sees_the_others_rows(world: World, people: People) -> None:
    made = world.call(world.key(people.alice), "create_trip", {"name": "Mine"}).json()["trip"]
    charlie = world.key(people.charlie)
    assert world.call(charlie, "list_trips").json()["trips"] == []
    told = expect_problem(world.call(charlie, "delete_trip", {"trip_id": made["trip_id"]}), 404, "not_found")
    assert (told["what"], told["id"]) == ("trip", made["trip_id"])


@pytest.mark.parametrize("path", ["list_trip", "no_such_tool", "tools%2Flist", "a" * 3000])
def test_an_unknown_tool_is_404_and_near_names_are_told(world: World, people: People, path: str) -> None:
    answer = world.call(world.key(people.alice), path)
    told = answer.json()
    assert (answer.status_code, told["status"]) == (404, 404)
    assert path != "list_trip" or "list_trips" in told["nearest"]


def test_invalid_arguments_are_422_and_name_each_fault(world: World, people: People) -> None:
    told = expect_problem(world.call(world.key(people.alice), "create_trip", {"nam": "x"}), 422, "invalid")
    assert {fault["field"] for fault in told["errors"]} == {"name", "nam"}
    assert told["notice"].startswith("SANDBOX")


def test_a_tool_above_the_plan_is_402_and_says_where_to_upgrade(world: World, people: People) -> None:
    arguments = {"airline": "BA", "origin": "LHR", "destination": "JFK", "date": "2099-01-02", "cabin": "business"}
    told = expect_problem(world.call(world.key(people.bob), "search_availability", arguments), 402, "paywall")
    assert (told["required_tier"], told["upgrade_url"]) == ("premium", f"{world.url}/plans")


def test_an_admins_tool_is_403_to_others(world: World, people: People) -> None:
    expect_problem(world.call(world.key(people.alice), "admin_list_users"), 403, "admin_only")
    assert world.call(world.key(people.ada, administer=True), "admin_list_users").status_code == 200


def test_a_plans_cap_is_409_and_has_no_retry_after(world: World, people: People) -> None:
    key, day = world.key(people.bob), clock.midnight().date().isoformat()
    terms = {"origin": "LHR", "destination": "JFK", "earliest_date": day, "latest_date": day}
    answers = [world.call(key, "create_route_monitor", terms) for _ in range(2)]
    told = expect_problem(answers[1], 409, "limit_reached")
    assert (told["current"], told["cap"], told["active_count"]) == (1, 1, 1)
    assert "retry-after" not in answers[1].headers


BAD_BODIES: list[tuple[bytes, dict[str, str], int, str]] = [
    (b"{", {}, 400, "unreadable"),
    (b"[]", {}, 400, "unreadable"),
    (b'"x"', {}, 400, "unreadable"),
    (b"\xff\xfe", {}, 400, "unreadable"),
    (b'{"name": NaN}', {}, 400, "unreadable"),
    (b'{"name": "\\ud800"}', {}, 400, "unreadable"),
    (b"[" * 100_000, {}, 400, "unreadable"),
    (b"{}", {"content-type": "text/plain"}, 415, "unsupported_media_type"),
    (b"name=x", {"content-type": "application/x-www-form-urlencoded"}, 415, "unsupported_media_type"),
    (gzip.compress(b"{}", mtime=0), {"content-encoding": "gzip"}, 415, "unsupported_media_type"),
    (b" " * (4 * 1024 * 1024 + 1), {}, 413, "too_large"),
]


@pytest.mark.parametrize(("body", "headers", "status", "outcome"), BAD_BODIES)
def test_what_is_no_json_object_is_refused(
    world: World, people: People, body: bytes, headers: dict[str, str], status: int, outcome: str
) -> None:
    sent = {"X-API-Key": world.key(people.alice), "content-type": "application/json"} | headers
    address = f"{world.url}/api/v1/tools/create_trip"
    expect_problem(world.http.post(address, content=body, headers=sent), status, outcome)


def test_a_body_that_is_too_large_is_refused_without_being_announced(world: World, people: People) -> None:
    headers = {"X-API-Key": world.key(people.alice), "content-type": "application/json"}
    address = f"{world.url}/api/v1/tools/create_trip"
    chunks = (b" " * 65536 for _ in range(80))
    expect_problem(world.http.post(address, content=chunks, headers=headers), 413, "too_large")


def test_no_body_means_no_arguments(world: World, people: People) -> None:
    answer = world.http.post(f"{world.url}/api/v1/tools/list_trips", headers={"X-API-Key": world.key(people.alice)})
    assert answer.status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_other_methods_are_405(world: World, method: str) -> None:
    for path in ("/api/v1/tools", "/api/v1/tools/list_trips"):
        answer = world.http.request(method, world.url + path)
        expect_problem(answer, 405, "method_not_allowed")
        assert "GET" in answer.headers["allow"]


def test_addresses_nobody_knows_are_problems_too(world: World) -> None:
    expect_problem(world.get("/api/v1/tools/list_trips/more"), 404, "no_such_page")


@pytest.mark.spec("s4.4.get_cancellation_fee.open")
def test_tools_that_need_no_account_are_served_without_a_key(world: World) -> None:
    for name in sorted(TOOLS):
        status = world.call(None, name).status_code
        assert (status != 401) == TOOLS[name].anonymous, name
    free = {"affordable_destinations", "get_award_chart_faq", "get_buy_points_pricing", "get_cancellation_fee"}
    assert {name for name, tool in TOOLS.items() if tool.anonymous} == free & TOOLS.keys()
    answer = world.call(None, "get_cancellation_fee", {"airline": "BA"})
    assert answer.json()["status"] == "ok"
    assert answer.headers["ratelimit-policy"].startswith('"anonymous";q=60')


def test_a_bad_key_is_not_taken_for_no_key(world: World) -> None:
    expect_problem(world.call(mint("awt_ak_"), "get_cancellation_fee", {"airline": "BA"}), 401, "unauthorized")


def test_a_bug_is_answered_with_a_call_id_and_nothing_else(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(call: Any) -> None:
        raise RuntimeError("a secret of the inside")

    tool = TOOLS["list_trips"]
    monkeypatch.setitem(TOOLS, "list_trips", replace(tool, function=broken))
    answer = world.call(world.key(people.alice), "list_trips")
    told = expect_problem(answer, 500, "internal_error")
    assert len(told["call_id"]) == 16
    assert "secret" not in answer.text


def test_a_call_that_the_database_did_not_answer_is_a_503_with_retry_after(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(call: Any, **_: Any) -> None:
        raise OperationalError("select", {}, Exception("gone"))

    monkeypatch.setattr(outages, "PATIENCE_SECONDS", 0)
    monkeypatch.setitem(TOOLS, "list_trips", replace(TOOLS["list_trips"], function=away))
    answer = world.call(world.key(people.alice), "list_trips")
    document = expect_problem(answer, 503, "temporarily_unavailable")
    assert (document["retry_after"], document["saved"], answer.headers["retry-after"]) == (2, False, "2")


def test_calls_are_noted_as_rest_with_the_keys_name(world: World, people: People) -> None:
    world.call(world.key(people.alice, "Trip planner"), "list_trips")
    (note,) = list_notes()
    assert (note.via, note.tool, note.client, note.outcome) == ("rest", "list_trips", "Trip planner", "ok")


def test_a_cities_name_in_any_language_comes_back_as_it_was(world: World, people: People) -> None:
    made = world.call(world.key(people.alice), "create_trip", {"name": "東京 – été"})
    assert json.loads(made.content)["trip"]["name"] == "東京 – été"


def test_a_plan_change_acts_on_the_next_call(world: World) -> None:
    dora = account("dora")
    key = world.key(dora)
    assert world.call(key, "get_usage").json()["plan"]["tier"] == "free"
    with transaction() as session:
        change_plan(session, session.get_one(Account, dora.account_id), Plan.PREMIUM)

    def is_premium() -> bool:
        answer = world.call(key, "get_usage")
        assert answer.status_code == 200, answer.text
        return bool(answer.json()["plan"]["tier"] == "premium")

    wait_for("the new plan", is_premium, BY_EVENT_SECONDS)
    assert world.call(key, "get_usage").json()["api_calls"]["cap"] == 150


def raw(world: World, key: str) -> int:
    """The status of a call whose key is sent as it is, which no good client would do."""
    address = urlsplit(world.url)
    line = http.client.HTTPConnection(address.hostname or "", address.port, timeout=90)
    line.putrequest("POST", "/api/v1/tools/list_trips")
    line._buffer.append(b"X-API-Key:" + key.encode("latin-1"))  # type: ignore[attr-defined]
    line.endheaders()
    status = line.getresponse().status
    line.close()
    return status


def test_blanks_around_a_key_do_no_harm(world: World, people: People) -> None:
    assert raw(world, f"  {world.key(people.alice)}\t ") == 200
    assert raw(world, "  ") == 401


@pytest.mark.parametrize("character", [*map(chr, range(1, 32)), "\x7f", "\x80", "\xff"])
def test_no_character_in_a_header_is_the_services_fault(world: World, character: str) -> None:
    assert raw(world, f"a{character}b") in (400, 401)


def test_arguments_of_too_many_values_are_refused_before_they_are_parsed(world: World, people: People) -> None:
    refused = world.call(world.key(people.alice), "get_usage", {"a": [[]] * 30_000})
    assert (refused.status_code, refused.json()["detail"]) == (413, "The arguments hold more than 20,000 values.")
