"""The edge of the web host: discovery documents, hosts, cross-origin grants, health, and pages that are not there."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from auth_server.app import create_app
from auth_server.web import flows, health
from tests.auth_server.browser import BASE, BASIC, Browser

WELL_KNOWN = "/.well-known/oauth-authorization-server"


@pytest.mark.spec("s4.1.as_metadata")
def test_metadata_names_every_endpoint_and_claims_what_exists(host: TestClient) -> None:
    said = host.get(WELL_KNOWN).json()
    assert said["issuer"] == BASE
    for name in ("authorization", "token", "registration", "revocation", "introspection"):
        path = said[f"{name}_endpoint"].removeprefix(BASE)
        assert host.request("OPTIONS", path).status_code in (204, 405)
    assert said["code_challenge_methods_supported"] == ["S256"]
    assert said["response_types_supported"] == ["code"]
    assert said["grant_types_supported"] == ["authorization_code", "refresh_token"]
    assert set(said["token_endpoint_auth_methods_supported"]) == {"none", "client_secret_basic", "client_secret_post"}
    assert said["authorization_response_iss_parameter_supported"] is True
    assert "offline_access" not in said["scopes_supported"]
    assert said["scopes_supported"] == ["mcp:read", "openid", "email"]
    assert said["client_id_metadata_document_supported"] is True
    assert (said["subject_types_supported"], said["id_token_signing_alg_values_supported"]) == (["public"], ["RS256"])
    assert host.get(said["jwks_uri"].removeprefix(BASE)).status_code == 200
    assert host.get(said["userinfo_endpoint"].removeprefix(BASE)).status_code == 401


def test_both_well_known_paths_say_the_same(host: TestClient) -> None:
    assert host.get(WELL_KNOWN).content == host.get("/.well-known/openid-configuration").content


@pytest.mark.parametrize("name", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "127.0.0.1:8001"])
def test_both_names_of_this_machine_are_served_and_the_issuer_stays(host: TestClient, name: str) -> None:
    answer = host.get(WELL_KNOWN, headers={"host": name})
    assert (answer.status_code, answer.json()["issuer"]) == (200, BASE)


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1", "127.0.0.1:9", "localhost.evil.example:8000", "", "a b"])
def test_other_hosts_are_refused(host: TestClient, name: str) -> None:
    for path in ("/", WELL_KNOWN, "/signin", "/oauth/token", "/mcp"):
        answer = host.get(path, headers={"host": name})
        assert answer.status_code == 421
        assert "evil" not in answer.text


def test_health_is_told_to_anyone(host: TestClient) -> None:
    answer = host.get("/healthz", headers={"host": "10.0.0.7"})
    assert answer.json() == {"status": "Online", "version": "0.4.0", "data_mode": "sandbox"}
    ready = host.get("/readyz", headers={"host": "10.0.0.7"})
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")


def test_not_ready_without_database_or_with_another_schema(host: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlalchemy.exc import OperationalError

    def away() -> Any:
        raise OperationalError("select", {}, Exception("gone"))

    health._schema_is_current.cache_clear()
    monkeypatch.setattr(health, "versions", lambda url: ("0000", "0001"))
    answer = host.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "not ready")
    assert "award-travel migrate" in answer.json()["reason"]
    monkeypatch.setattr(health, "engine", away)
    assert "does not answer" in host.get("/readyz").json()["reason"]


CORS = [WELL_KNOWN, "/.well-known/openid-configuration", "/oauth/register", "/oauth/token", "/oauth/revoke"]
CORS += ["/oauth/userinfo", "/oauth/jwks"]
CLOSED = ["/oauth/introspect", "/oauth/authorize", "/oauth/consent", "/signin", "/signout", "/dashboard", "/"]


@pytest.mark.parametrize("path", CORS)
def test_browsers_elsewhere_may_use_what_takes_no_cookie(host: TestClient, path: str) -> None:
    asked = {"origin": "https://app.example", "access-control-request-method": "POST"}
    answer = host.options(path, headers=asked)
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers
    plain = host.request("GET" if "well-known" in path else "POST", path, headers={"origin": "https://app.example"})
    assert plain.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("path", CLOSED)
def test_browsers_elsewhere_may_not_use_what_takes_a_cookie(host: TestClient, path: str) -> None:
    for method in ("OPTIONS", "GET", "POST"):
        headers = {"origin": "https://app.example", "authorization": BASIC}
        assert "access-control-allow-origin" not in host.request(method, path, headers=headers).headers


@pytest.mark.spec("s9.2.server_version")
@pytest.mark.spec("s9.2.status_online")
def test_the_start_page_says_what_this_is_and_how_to_connect(host: TestClient) -> None:
    page = host.get("/").text
    for part in (
        "Online",
        "0.4.0",
        f"{BASE}/mcp",
        "http://127.0.0.1:8001/mcp",
        "Claude",
        "ChatGPT",
        "Cursor",
        "VS Code",
    ):
        assert part in page
    assert "invented data" in page
    style = host.get("/static/site.css")
    assert style.headers["content-type"].startswith("text/css")
    assert "prefers-color-scheme: dark" in style.text


@pytest.mark.spec("s8.premium_price")
def test_the_plans_page_shows_what_each_plan_allows(host: TestClient, configure: Any) -> None:
    page = host.get("/plans").text
    for part in ("Free", "Premium", "Pro", "Enterprise", "9.99 USD a month", "Searches a day", "unlimited"):
        assert part in page
    configure(OPERATOR_EMAIL="desk@example.test")
    assert "mailto:desk@example.test" in host.get("/plans").text


@pytest.mark.parametrize("path", ["/nowhere", "/signin/", "/static/../app.py", "/static/", "/.env", "/oauth/", "/%00"])
def test_nothing_else_is_served(host: TestClient, path: str) -> None:
    answer = host.get(path)
    assert answer.status_code == 404
    assert "location" not in answer.headers


def test_behind_https_origins_and_hosts_come_without_the_default_port(clean: None, configure: Any) -> None:
    configure(WEB_URL="https://travel.example", MCP_URL="https://tools.travel.example/mcp")
    flows.limiter.cache_clear()
    with TestClient(create_app(), base_url="https://travel.example") as host:
        for name in ("travel.example", "travel.example:443", "tools.travel.example", "Travel.Example"):
            assert host.get(WELL_KNOWN, headers={"host": name}).json()["issuer"] == "https://travel.example"
        assert host.get(WELL_KNOWN, headers={"host": "travel.example:8443"}).status_code == 421
        for origin, status in (("https://travel.example", 403), ("http://travel.example", 403)):
            answer = host.post("/signin", data={"csrf": "x"}, headers={"origin": origin})
            assert answer.status_code == status
            assert ("another site" in answer.text) == (origin == "http://travel.example")


def test_without_an_upstream_tool_paths_are_not_here(ann: Browser) -> None:
    assert ann.post("/mcp", {}).status_code == 404


def test_a_lost_database_is_503_with_retry_after_and_spends_nothing(
    ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy.exc import OperationalError

    client_id = ann.register()
    code = ann.code(client_id)

    def away(*_: Any) -> Any:
        raise OperationalError("update", {}, Exception("gone"))

    with monkeypatch.context() as broken:
        broken.setattr("auth_server.oauth.server.Server.save_token", away)
        answer = ann.redeem(client_id, code)
    assert answer.status_code == 503
    assert "retry-after" in answer.headers
    assert ann.redeem(client_id, code).status_code == 200
