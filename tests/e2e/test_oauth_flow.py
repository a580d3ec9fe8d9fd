"""From nothing but the tool address to answers: the bare call, signing in, calling, refreshing, revoking."""

import http.client
import json
import shutil
import subprocess
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.oauth_browser import authorize, discover, pkce, post, redeem, register, tokens
from tests.support.service import BY_EVENT_SECONDS, PASSWORD, Service, wait_for

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def _curl(url: str, token: str, body: str) -> tuple[int, Any]:
    told = ["-H", f"Authorization: Bearer {token}", "-H", "Content-Type: application/json"]
    line = ["curl", "-sS", "-X", "POST", url, *told, "-d", body, "-w", "\n%{http_code}"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=90, check=True)
    answer, _, status = done.stdout.rpartition("\n")
    return int(status), json.loads(answer)


def _plain(url: str, token: str, body: str) -> tuple[int, Any]:
    """The same request without even the Accept header that curl adds."""
    there = http.client.HTTPConnection(urlsplit(url).netloc, timeout=90)
    there.request("POST", "/mcp", body, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    answer = there.getresponse()
    read = answer.status, json.loads(answer.read())
    there.close()
    return read


SENDERS = [_plain, *([_curl] if shutil.which("curl") else [])]


@pytest.mark.spec("s1.0.both_hosts_serve_mcp", "s1.1.one_tool_endpoint", "s4.1.mcp_headers", "s4.1.mcp_body")
@pytest.mark.spec("s4.2.list_without_params", "s4.2.list_sorted", "s1.3.call_by_tools_call", "s4.3.call_params")
@pytest.mark.parametrize("send", SENDERS)
def test_a_bearer_and_a_content_type_are_enough_on_both_addresses(
    service: Service, traveller: dict[str, Any], send: Callable[[str, str, str], tuple[int, Any]]
) -> None:
    asked = {"name": "get_award_release_window", "arguments": {"airline": "BA"}}
    ask = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": asked})
    for url in (service.mcp_url, f"{service.web_url}/mcp"):
        status, listed = send(url, traveller["access_token"], json.dumps(LIST))
        names = [t["name"] for t in listed["result"]["tools"]]
        assert (status, listed["jsonrpc"], listed["id"], names) == (200, "2.0", 1, sorted(names))
        assert "add_card" in names
        status, answered = send(url, traveller["access_token"], ask)
        assert (status, answered["id"], answered["result"]["isError"]) == (200, 7, False)
        assert answered["result"]["structuredContent"]["status"] == "ok"
        assert answered["result"]["content"][0]["type"] == "text"


@pytest.mark.spec(
    "s9.1.transport", "s5.5.sign_in_first", "s5.5.code_grant_form", "s5.2.one_scope", "s5.6.access_token_1h"
)
@pytest.mark.spec("s4.1.register_body", "s4.1.register_public_client", "s4.1.authorize_flow", "s4.1.as_metadata")
def test_a_stranger_signs_in_from_the_tool_address_alone_and_calls_a_tool(service: Service) -> None:
    server = discover(service.mcp_url)
    client = register(server)
    assert "client_secret" not in client
    verifier, challenge = pkce()
    back = authorize(server, client, service.person("walker"), PASSWORD, challenge)
    assert (back["state"], back["iss"]) == ("s-1", server["issuer"])
    answer = redeem(server, client, back["code"], verifier)
    granted = answer.json()
    assert answer.headers["cache-control"] == "no-store"
    assert (granted["token_type"], granted["expires_in"]) == ("Bearer", 3600)
    assert "mcp:read" in granted["scope"].split()
    told = {"Authorization": f"Bearer {granted['access_token']}"}
    assert post(service.mcp_url, json=LIST, headers=told).json()["result"]["tools"]


@pytest.mark.spec("s5.5.refresh_grant_form", "s4.1.revoke_either_kind")
def test_refreshing_gives_a_new_pair_and_revoking_ends_it_by_an_event(service: Service) -> None:
    got = tokens(service.mcp_url, service.person("walker"), PASSWORD)
    server, client_id = got["server"], got["client"]["client_id"]
    form = {"grant_type": "refresh_token", "refresh_token": got["refresh_token"], "client_id": client_id}
    renewed = post(server["token_endpoint"], data=form).json()
    assert renewed["access_token"] != got["access_token"]
    assert renewed["refresh_token"] != got["refresh_token"]
    told = {"Authorization": f"Bearer {renewed['access_token']}"}
    assert post(service.mcp_url, json=LIST, headers=told).status_code == 200
    gone = post(server["revocation_endpoint"], data={"token": renewed["refresh_token"], "client_id": client_id})
    assert gone.status_code == 200
    wait_for("the refusal", lambda: post(service.mcp_url, json=LIST, headers=told).status_code == 401, BY_EVENT_SECONDS)
    again = post(server["token_endpoint"], data=form | {"refresh_token": renewed["refresh_token"]})
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")


@pytest.mark.spec("s5.5.pkce_mandatory")
def test_a_code_without_its_verifier_buys_nothing(service: Service) -> None:
    server = discover(service.mcp_url)
    client = register(server)
    _, challenge = pkce()
    back = authorize(server, client, service.person("walker"), PASSWORD, challenge)
    refused = redeem(server, client, back["code"], "")
    assert refused.status_code == 400
    assert "access_token" not in refused.json()


@pytest.mark.spec("s5.5.sign_in_first")
def test_denying_consent_sends_the_browser_back_with_a_refusal(service: Service) -> None:
    server = discover(service.mcp_url)
    client = register(server, client_name="Never allowed before")
    _, challenge = pkce()
    back = authorize(server, client, service.person("walker"), PASSWORD, challenge, answer="deny")
    assert (back["error"], back["state"], back["iss"]) == ("access_denied", "s-1", server["issuer"])


def test_a_token_for_one_address_is_good_at_the_other(service: Service) -> None:
    got = tokens(f"{service.web_url}/mcp", service.person("walker"), PASSWORD)
    assert got["server"]["resource"] == f"{service.web_url}/mcp"
    told = {"Authorization": f"Bearer {got['access_token']}"}
    assert post(service.mcp_url, json=LIST, headers=told).status_code == 200
