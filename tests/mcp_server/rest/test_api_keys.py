"""Keys between the two servers: never on /mcp, believed half a minute, dropped the moment they are revoked or move."""

from typing import Any

import pytest
from sqlalchemy import select

from auth_server.accounts import agents, api_keys
from auth_server.web import flows
from auth_server.web.middleware import INTERNAL_PATHS
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from mcp_server.transport import token_verifier
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.oauth import ApiKey
from shared.domain.plans import Plan
from shared.outbox.plan_change import change_admin
from shared.secrets import mint
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.test_routes import expect_problem
from tests.support.people import People, account
from tests.support.service import BY_EVENT_SECONDS, wait_for

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def flow(work: Any) -> Any:
    return flows.transact(lambda uow, _: work(uow), RequestData("POST", "/", ""))


def agent(world: World) -> dict[str, Any]:
    answer = world.http.post(f"{world.url}/api/v1/agent/register", json={"agent_name": "Planner"})
    assert answer.status_code == 201, answer.text
    given: dict[str, Any] = answer.json()
    return given


@pytest.mark.spec("s4.1.agent_register", "s4.1.agent_gets_key", "s5.1.bearer_only", "s5.1.key_header_beats_token")
def test_an_agents_key_opens_rest_and_never_the_tool_endpoint(world: World) -> None:
    given = agent(world)
    key = given["api_key"]
    assert world.call(key, "list_trips").json()["status"] == "ok"
    assert world.call(key, "get_usage").json()["plan"]["tier"] == "free"
    for url in (world.mcp_url, f"{world.url}/mcp"):
        for headers in (
            {"Authorization": f"Bearer {key}"},
            {"X-API-Key": key},
            {"X-API-Key": key, "Authorization": f"Bearer {mint('awt_at_')}"},
        ):
            answer = world.http.post(url, json=LIST, headers=headers)
            assert answer.status_code == 401
            assert "/.well-known/oauth-protected-resource/mcp" in answer.headers["www-authenticate"]


@pytest.mark.spec("s4.1.agent_free_tier")
def test_an_agent_is_held_to_the_free_plan(world: World) -> None:
    key = agent(world)["api_key"]
    assert world.call(key, "create_trip", {"name": "First"}).status_code == 200
    expect_problem(world.call(key, "create_trip", {"name": "Second"}), 402, "paywall")
    assert world.call(key, "list_trips").headers["ratelimit-limit"] == "50"


def test_a_revoked_key_is_refused_by_an_event(world: World, people: People) -> None:
    key = world.key(people.alice)
    assert world.call(key, "list_trips").status_code == 200
    with transaction() as session:
        row = session.scalars(select(ApiKey)).one()
    assert flow(lambda uow: api_keys.revoke(uow, row.account_id, row.id))
    wait_for("the refusal", lambda: world.call(key, "list_trips").status_code == 401, BY_EVENT_SECONDS)


def test_without_the_event_a_revoked_key_ends_with_its_half_minute(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_verifier, "ACCEPTED_SECONDS", 0.3)
    monkeypatch.setattr(flows, "publish", lambda **event: None)
    key = world.key(people.alice)
    assert world.call(key, "list_trips").status_code == 200
    with transaction() as session:
        row = session.scalars(select(ApiKey)).one()
    assert flow(lambda uow: api_keys.revoke(uow, row.account_id, row.id))
    wait_for("the refusal", lambda: world.call(key, "list_trips").status_code == 401, BY_EVENT_SECONDS)


def test_a_claimed_key_acts_for_the_person_with_their_plan(world: World) -> None:
    given = agent(world)
    world.call(given["api_key"], "create_trip", {"name": "The agent's"})
    dora = account("dora", Plan.PREMIUM)

    def claim(uow: UnitOfWork) -> None:
        whose = uow.db.get_one(Account, dora.account_id)
        agents.claim(uow, whose, given["claim_code"], keep_key=True)

    flow(claim)

    def plan() -> str:
        return str(world.call(given["api_key"], "get_usage").json().get("plan", {}).get("tier"))

    wait_for("the person's plan", lambda: plan() == "premium", BY_EVENT_SECONDS)
    assert [t["name"] for t in world.call(given["api_key"], "list_trips").json()["trips"]] == ["The agent's"]


def test_a_claimed_key_never_administers(world: World, people: People) -> None:
    given = agent(world)
    flow(
        lambda uow: agents.claim(
            uow, uow.db.get_one(Account, people.ada.account_id), given["claim_code"], keep_key=True
        )
    )
    wait_for(
        "the person's plan", lambda: world.call(given["api_key"], "list_trips").status_code == 200, BY_EVENT_SECONDS
    )
    refused = world.call(given["api_key"], "admin_list_users")
    assert (refused.status_code, "make another key" in refused.text) == (403, True)


def test_a_key_administers_as_long_as_its_owner_does(world: World, people: People) -> None:
    key = world.key(people.ada, administer=True)
    assert world.call(world.key(people.ada), "admin_list_users").status_code == 403
    expect_problem(world.call(world.key(people.alice, administer=True), "admin_list_users"), 403, "admin_only")
    assert world.call(key, "admin_list_users").status_code == 200
    with transaction() as session:
        change_admin(session, session.get_one(Account, people.ada.account_id), is_admin=False)
    wait_for("the refusal", lambda: world.call(key, "admin_list_users").status_code == 403, BY_EVENT_SECONDS)
    assert world.call(key, "list_trips").status_code == 200


def test_a_key_is_asked_about_once_in_half_a_minute(
    world: World, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    describe = api_keys.describe
    monkeypatch.setattr(api_keys, "describe", lambda db, key: asked.append(key) or describe(db, key))
    key = world.key(people.alice)
    assert {world.call(key, "list_trips").status_code for _ in range(5)} == {200}
    assert asked == [key]


def test_a_short_lived_run_token_may_read_and_nothing_else(world: World, people: People) -> None:
    login = ("award-travel-services", "test-service-secret-0123456789-01")
    wanted = {"account": people.alice.public_id, "run_id": "run-1"}
    token = world.http.post(f"{world.url}/internal/run-token", data=wanted, auth=login).json()["access_token"]

    def call(name: str, /, **arguments: Any) -> dict[str, Any]:
        body = LIST | {"method": "tools/call", "params": {"name": name, "arguments": arguments}}
        answer = world.http.post(world.mcp_url, json=body, headers={"Authorization": f"Bearer {token}"})
        result: dict[str, Any] = answer.json()["result"]["structuredContent"]
        return result

    assert call("list_trips")["status"] == "ok"
    refused = call("create_trip", name="No")
    assert (refused["status"], "may only read" in refused["message"]) == ("invalid", True)
    assert world.call(token, "list_trips").status_code == 401


def test_no_path_of_the_inside_is_passed_to_the_outside(world: World) -> None:
    for path in (*INTERNAL_PATHS, "/oauth/introspect"):
        assert world.http.post(world.url + path, data={"token": "x"}).status_code == 401
        assert world.http.post(world.mcp_url.removesuffix("/mcp") + path, data={"token": "x"}).status_code == 404


def test_both_hosts_show_the_challenge_of_a_plugin_portal(world: World, configure: Any) -> None:
    path = "/.well-known/openai-apps-challenge"
    hosts = (world.url, world.mcp_url.removesuffix("/mcp"))
    assert [world.http.get(host + path).status_code for host in hosts] == [404, 404]
    configure(OPENAI_APPS_CHALLENGE="portal-says-7")
    assert [world.http.get(host + path).text for host in hosts] == ["portal-says-7"] * 2
