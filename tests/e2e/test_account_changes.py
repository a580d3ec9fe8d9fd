"""What the operator or the person changes acts on a running connection at once, by the event channel."""

from typing import Any

import psycopg
import pytest

from tests.support.oauth_browser import post, tokens
from tests.support.service import BY_EVENT_SECONDS, PASSWORD, Service, command, wait_for


@pytest.fixture(scope="module")
def connection(service: Service) -> dict[str, Any]:
    return tokens(service.mcp_url, service.person("changing"), PASSWORD)


def _call(service: Service, got: dict[str, Any], name: str, **arguments: Any) -> str:
    params = {"name": name, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = post(service.mcp_url, json=body, headers={"Authorization": f"Bearer {got['access_token']}"})
    return str(answer.status_code if answer.is_error else answer.json()["result"]["structuredContent"]["status"])


def _paid(service: Service, got: dict[str, Any]) -> bool:
    return _call(service, got, "compare_transfer_options", target_program="avios", points_needed=1000) != "paywall"


@pytest.mark.spec("s5.9.tier_decides")
def test_a_plan_acts_by_an_event_up_and_down(service: Service, connection: dict[str, Any]) -> None:
    for plan, paid in (("premium", True), ("free", False), ("pro", True)):
        assert _paid(service, connection) is not paid  # and is remembered so, but for the event
        command(service.home, "user", "plan", "changing@example.test", plan)
        wait_for(f"the plan {plan}", lambda paid=paid: _paid(service, connection) is paid, BY_EVENT_SECONDS)


@pytest.mark.spec("s5.9.admin_decides")
def test_the_admin_flag_acts_by_an_event(service: Service) -> None:
    email = service.person("administering")
    command(service.home, "user", "admin", email, "on")
    connection = tokens(service.mcp_url, email, PASSWORD, client_name="Administration")
    with psycopg.connect(service.facts["database_url"].replace("+psycopg", "")) as database:
        allow = "update oauth_families set administer = true where client_id = %s"  # as after a second factor
        database.execute(allow, (connection["client"]["client_id"],))
    for flag, allowed in (("off", False), ("on", True)):
        assert (_call(service, connection, "admin_list_users") == "ok") is not allowed
        command(service.home, "user", "admin", email, flag)
        wait_for(
            f"administrator {flag}",
            lambda allowed=allowed: (_call(service, connection, "admin_list_users") == "ok") is allowed,
            BY_EVENT_SECONDS,
        )


@pytest.mark.spec("s4.1.revoke_either_kind")
def test_a_revoked_connection_ends_by_an_event(service: Service, connection: dict[str, Any]) -> None:
    client_id = connection["client"]["client_id"]
    assert _call(service, connection, "list_programs") == "ok"
    form = {"client_id": client_id, "token": connection["refresh_token"]}
    assert post(connection["server"]["revocation_endpoint"], data=form).status_code == 200
    wait_for("the end", lambda: _call(service, connection, "list_programs") == "401", BY_EVENT_SECONDS)
