"""What real hosts were seen to send and to need, each as one request to the running service."""

import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from tests.support.oauth_browser import authorize, discover, get, pkce, post, redeem, register, tokens
from tests.support.service import PASSWORD, Service

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a host", "version": "1"},
    },
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
WELL_KNOWN = "/.well-known/oauth-protected-resource"


def _addresses(service: Service) -> list[str]:
    return [service.mcp_url, f"{service.web_url}/mcp"]


@pytest.mark.spec("s5.7.challenge")
def test_initialize_without_a_token_is_challenged_with_an_absolute_address(service: Service) -> None:
    for url in _addresses(service):
        refused = post(url, json=INITIALIZE)
        challenge = refused.headers["www-authenticate"]
        origin = url.removesuffix("/mcp")
        assert refused.status_code == 401
        assert challenge.startswith("Bearer ")
        assert f'resource_metadata="{origin}{WELL_KNOWN}/mcp"' in challenge
        assert 'scope="mcp:read"' in challenge


@pytest.mark.spec("s4.1.resource_metadata", "s4.1.resource_metadata_per_host")
def test_resource_metadata_answers_at_every_address_of_both_hosts(service: Service) -> None:
    for url in _addresses(service):
        origin = url.removesuffix("/mcp")
        for path in (f"{WELL_KNOWN}/mcp", f"{WELL_KNOWN}/mcp/readonly", f"{WELL_KNOWN}/mcp/x/keeper", WELL_KNOWN):
            told = get(origin + path)
            assert told.headers["content-type"].startswith("application/json")
            assert told.json()["resource"] == origin + path.removeprefix(WELL_KNOWN)
            assert told.json()["authorization_servers"] == [service.web_url]
            assert "offline_access" not in told.text


@pytest.mark.spec("s4.1.as_metadata", "s4.1.as_metadata_on_both_hosts", "s5.5.s256_only")
def test_server_metadata_has_the_issuer_byte_for_byte_wherever_hosts_look(service: Service) -> None:
    tool_host = service.mcp_url.removesuffix("/mcp")
    places = [
        f"{service.web_url}/.well-known/{name}" for name in ("oauth-authorization-server", "openid-configuration")
    ]
    for place in [*places, f"{tool_host}/.well-known/oauth-authorization-server"]:
        told = get(place).json()
        assert told["issuer"] == service.web_url
        assert told["code_challenge_methods_supported"] == ["S256"]
        assert "none" in told["token_endpoint_auth_methods_supported"]
        assert told["authorization_response_iss_parameter_supported"] is True
        assert {"authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"} <= set(told)


BODIES = {
    "claude": {
        "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"],
        "token_endpoint_auth_method": "client_secret_post",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "scope": "mcp:read",
    },
    "claude-code": {"redirect_uris": ["http://localhost:3118/callback"], "token_endpoint_auth_method": "none"},
    "cursor": {
        "redirect_uris": [
            "cursor://anysphere.cursor-mcp/oauth/callback",
            "https://www.cursor.com/agents/mcp/oauth/callback",
            "http://localhost:8787/callback",
        ]
    },
    "vs-code": {
        "redirect_uris": [
            "http://127.0.0.1/",
            "http://127.0.0.1:33418/",
            "https://vscode.dev/redirect",
            "https://insiders.vscode.dev/redirect",
        ]
    },
    "chatgpt": {"redirect_uris": ["https://chatgpt.com/connector_platform_oauth_redirect"]},
    "chatgpt-per-connector": {"redirect_uris": ["https://chatgpt.com/connector/oauth/abc123XYZ"]},
    "inspector": {"redirect_uris": ["http://localhost:6274/oauth/callback"]},
}


@pytest.mark.spec("s4.1.register_body", "s4.1.register_public_client")
@pytest.mark.parametrize("host", sorted(BODIES))
def test_registrations_as_hosts_send_them_give_a_public_client(service: Service, host: str) -> None:
    server = discover(service.mcp_url)
    made = post(server["registration_endpoint"], json={"client_name": host, **BODIES[host]})
    told = made.json()
    assert made.status_code == 201
    assert told["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in told
    assert told["redirect_uris"] == BODIES[host]["redirect_uris"]


def _granted(
    service: Service, client: dict[str, Any], server: dict[str, Any], **more: str
) -> tuple[dict[str, str], dict[str, Any]]:
    verifier, challenge = pkce()
    back = authorize(server, client, service.person("walker"), PASSWORD, challenge, **more)
    redirect = more.get("redirect_uri", client["redirect_uris"][0])
    answer = redeem(server, client | {"redirect_uris": [redirect]}, back["code"], verifier)
    assert answer.status_code == 200, answer.text
    return back, answer.json()


def test_a_loopback_redirect_may_come_from_any_port(service: Service) -> None:
    server = discover(service.mcp_url)
    client = register(server, *BODIES["vs-code"]["redirect_uris"])
    _, granted = _granted(
        service, client, server, redirect_uri=f"http://127.0.0.1:{20_000 + secrets.randbelow(9_999)}/"
    )
    assert granted["access_token"]


@pytest.mark.parametrize("host", ["chatgpt", "chatgpt-per-connector"])
def test_both_redirects_of_chatgpt_get_code_and_issuer(service: Service, host: str) -> None:
    server = discover(service.mcp_url)
    back, granted = _granted(service, register(server, *BODIES[host]["redirect_uris"]), server)
    assert back["iss"] == server["issuer"]
    assert "mcp:read" in granted["scope"].split()


@pytest.mark.spec("s5.2.scope_automatic", "s5.2.one_scope")
@pytest.mark.parametrize("scope", ["", " ", " offline_access", "offline_access mcp:read"])
def test_a_missing_empty_or_padded_scope_grants_the_one_scope(service: Service, scope: str) -> None:
    server = discover(service.mcp_url)
    _, granted = _granted(service, register(server), server, scope=scope)
    assert "mcp:read" in granted["scope"].split()
    assert "offline_access" not in granted["scope"].split()
    assert granted["refresh_token"]


@pytest.mark.parametrize("ending", ["/mcp/", "/", "", None])
def test_the_resource_may_end_in_a_slash_or_be_the_origin_or_be_absent(service: Service, ending: str | None) -> None:
    server = discover(service.mcp_url)
    origin = server["resource"].removesuffix("/mcp")
    _, granted = _granted(service, register(server), server, resource="" if ending is None else origin + ending)
    told = {"Authorization": f"Bearer {granted['access_token']}"}
    assert post(service.mcp_url, json=LIST, headers=told).status_code == 200


def test_a_resource_of_somebody_else_is_refused(service: Service) -> None:
    server = discover(service.mcp_url)
    _, challenge = pkce()
    back = authorize(
        server, register(server), service.person("walker"), PASSWORD, challenge, resource="https://else.test/mcp"
    )
    assert back["error"] == "invalid_target"


def test_two_refreshes_at_once_both_get_a_working_pair(service: Service) -> None:
    got = tokens(service.mcp_url, service.person("walker"), PASSWORD)
    form = {
        "grant_type": "refresh_token",
        "refresh_token": got["refresh_token"],
        "client_id": got["client"]["client_id"],
    }
    with ThreadPoolExecutor(2) as both:
        answers = list(both.map(lambda _: post(got["server"]["token_endpoint"], data=form), range(2)))
    assert [a.status_code for a in answers] == [200, 200]
    for answer in answers:
        told = {"Authorization": f"Bearer {answer.json()['access_token']}"}
        assert post(service.mcp_url, json=LIST, headers=told).status_code == 200


@pytest.mark.spec("s5.6.refresh_token_no_expiry")
def test_a_refresh_token_of_years_ago_still_works(service: Service) -> None:
    got = tokens(service.mcp_url, service.person("walker"), PASSWORD, client_name="Of years ago")
    client_id = got["client"]["client_id"]
    with psycopg.connect(service.facts["database_url"].replace("+psycopg", "")) as database:
        mine = (client_id,)
        database.execute("update oauth_refresh_tokens set issued_at = '2017-01-01' where client_id = %s", mine)
        database.execute("update oauth_families set created_at = '2017-01-01' where client_id = %s", mine)
    form = {"grant_type": "refresh_token", "refresh_token": got["refresh_token"], "client_id": client_id}
    assert post(got["server"]["token_endpoint"], data=form).status_code == 200


def test_a_deleted_client_is_told_to_register_again(service: Service) -> None:
    got = tokens(service.mcp_url, service.person("walker"), PASSWORD, client_name="To be deleted")
    client_id = got["client"]["client_id"]
    with psycopg.connect(service.facts["database_url"].replace("+psycopg", "")) as database:
        database.execute("delete from oauth_clients where client_id = %s", (client_id,))
    form = {"grant_type": "refresh_token", "refresh_token": got["refresh_token"], "client_id": client_id}
    refused = post(got["server"]["token_endpoint"], data=form)
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")


@pytest.mark.spec("s4.1.mcp_headers")
def test_a_trailing_slash_no_accept_and_any_accept_are_all_answered(service: Service, bearer: dict[str, str]) -> None:
    for url in _addresses(service):
        for address in (url, f"{url}/"):
            for accept in (None, "*/*", "application/json", "application/json, text/event-stream"):
                request = httpx.Request("POST", address, json=LIST, headers=bearer)
                if accept is not None:
                    request.headers["Accept"] = accept
                with httpx.Client() as client:
                    answer = client.send(request)
                assert answer.status_code == 200, (address, accept, answer.text)
                assert answer.json()["result"]["tools"]


def test_get_is_not_a_method_here_but_only_after_signing_in(service: Service, bearer: dict[str, str]) -> None:
    for url in _addresses(service):
        assert get(url).status_code == 401
        refused = get(url, headers=bearer)
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


@pytest.mark.spec("s5.1.key_header_beats_token", "s5.1.bearer_only")
def test_a_key_is_refused_however_it_is_sent(service: Service, bearer: dict[str, str]) -> None:
    token = bearer["Authorization"].removeprefix("Bearer ")
    for url in _addresses(service):
        for headers in (
            bearer | {"X-API-Key": "awt_key_x"},
            {"X-API-Key": "awt_key_x"},
            {"Authorization": f"ApiKey {token}"},
            {"Authorization": "Bearer awt_key_0123456789"},
        ):
            assert post(url, json=LIST, headers=headers).status_code == 401, headers


def test_a_host_that_is_not_ours_is_refused(service: Service, bearer: dict[str, str]) -> None:
    for url in _addresses(service):
        refused = post(url, json=LIST, headers=bearer | {"Host": "rebound.example"})
        assert refused.status_code in (400, 403, 421)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_both_loopback_names_are_served_with_their_own_resource(service: Service, name: str) -> None:
    for url in _addresses(service):
        netloc = f"{name}:{urlsplit(url).port}"
        told = get(f"http://127.0.0.1:{urlsplit(url).port}{WELL_KNOWN}/mcp", headers={"Host": netloc}).json()
        assert told["resource"] == f"http://{netloc}/mcp"
