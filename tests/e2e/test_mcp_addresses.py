"""The address for reading and the choice of reading only, through both hosts of the running service."""

from typing import Any

import pytest

from tests.support.oauth_browser import post, tokens
from tests.support.service import PASSWORD, Service


def _call(url: str, connection: dict[str, Any], name: str, /, **arguments: Any) -> dict[str, Any] | int:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    answer = post(url, json=body, headers={"Authorization": f"Bearer {connection['access_token']}"})
    if answer.status_code != 200:
        return int(answer.status_code)
    content: dict[str, Any] = answer.json()["result"]["structuredContent"]
    return content


def _status(result: dict[str, Any] | int) -> str | int:
    return result if isinstance(result, int) else str(result["status"])


@pytest.mark.parametrize("place", ["web", "tools"])
def test_tokens_for_reading_read_on_both_hosts_and_are_refused_at_the_whole_address(
    service: Service, place: str
) -> None:
    wholes = [service.mcp_url, f"{service.web_url}/mcp"]
    asked = wholes[place == "web"] + "/readonly"
    connection = tokens(asked, service.person("reading"), PASSWORD, client_name=f"Reading on {place}")
    assert connection["server"]["resource"] == asked
    for whole in wholes:
        assert _status(_call(f"{whole}/readonly", connection, "list_trips")) == "ok"
        refused = _call(f"{whole}/readonly", connection, "create_trip", name="Kyoto")
        assert isinstance(refused, dict)
        assert (refused["status"], "may only read" in refused["message"]) == ("invalid", True)
        assert _call(whole, connection, "list_trips") == 401


@pytest.mark.parametrize("place", ["web", "tools"])
def test_tokens_for_areas_run_these_on_both_hosts_and_nothing_elsewhere(service: Service, place: str) -> None:
    wholes = [service.mcp_url, f"{service.web_url}/mcp"]
    asked = wholes[place == "web"] + "/x/cards,account"  # in another order than the normal one
    connection = tokens(asked, service.person("parts"), PASSWORD, client_name=f"Cards on {place}")
    assert connection["server"]["resource"] == asked
    for whole in wholes:
        for path in ("/x/cards,account", "/x/account,cards"):
            assert _status(_call(whole + path, connection, "update_profile", home_airport="LHR")) == "ok"
            assert _status(_call(whole + path, connection, "list_my_vouchers")) == "invalid"
        assert [_call(whole + path, connection, "get_profile") for path in ("", "/readonly", "/x/account")] == [401] * 3


@pytest.mark.parametrize("place", ["web", "tools"])
def test_tokens_for_the_lean_address_run_every_tool_there_and_none_elsewhere(service: Service, place: str) -> None:
    wholes = [service.mcp_url, f"{service.web_url}/mcp"]
    asked = wholes[place == "web"] + "/lean"
    connection = tokens(asked, service.person("lean"), PASSWORD, client_name=f"Lean on {place}")
    assert connection["server"]["resource"] == asked
    for whole in wholes:
        arguments = {"name": "update_profile", "arguments": {"home_airport": "LHR"}}
        assert _status(_call(f"{whole}/lean", connection, "call_write_tool", **arguments)) == "ok"
        assert _status(_call(f"{whole}/lean", connection, "find_tools", query="lounge visits")) == "ok"
        assert [_call(whole + path, connection, "get_profile") for path in ("", "/readonly", "/x/account")] == [401] * 3


def test_who_ticks_reading_only_gives_tokens_that_change_nothing(service: Service) -> None:
    connection = tokens(service.mcp_url, service.person("reading"), PASSWORD, ("read_only",), client_name="A looker")
    assert _status(_call(service.mcp_url, connection, "list_trips")) == "ok"
    assert _status(_call(service.mcp_url, connection, "create_trip", name="Kyoto")) == "invalid"
    form = {"grant_type": "refresh_token", "refresh_token": connection["refresh_token"]}
    form["client_id"] = connection["client"]["client_id"]
    renewed = post(connection["server"]["token_endpoint"], data=form).json()
    assert renewed["scope"] == connection["scope"]
    assert _status(_call(service.mcp_url, renewed, "create_trip", name="Kyoto")) == "invalid"
    whole = tokens(service.mcp_url, service.person("reading"), PASSWORD, client_name="A writer")
    assert _status(_call(service.mcp_url, whole, "create_trip", name="Kyoto")) == "ok"
    assert _status(_call(f"{service.mcp_url}/readonly", whole, "create_trip", name="Kyoto")) == "invalid"
