"""The outermost middleware: hosts, cross-origin requests, forwarded paths, and pages that do not exist."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from auth_server.app import create_app
from auth_server.web import flows
from tests.auth_server.in_process_browser import BASE, BASIC, Browser

WELL_KNOWN = "/.well-known/oauth-authorization-server"
CORS = [WELL_KNOWN, "/.well-known/openid-configuration", "/oauth/register", "/oauth/token", "/oauth/revoke"]
CORS += ["/oauth/userinfo", "/oauth/jwks"]
CLOSED = ["/oauth/introspect", "/oauth/authorize", "/oauth/consent", "/signin", "/signout", "/dashboard", "/"]


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1", "127.0.0.1:9", "localhost.evil.example:8000", "", "a b"])
def test_other_hosts_are_refused(host: TestClient, name: str) -> None:
    for path in ("/", WELL_KNOWN, "/signin", "/oauth/token", "/mcp"):
        answer = host.get(path, headers={"host": name})
        assert answer.status_code == 421
        assert "evil" not in answer.text


@pytest.mark.parametrize("path", CORS)
def test_browsers_elsewhere_may_use_what_takes_no_cookie(host: TestClient, path: str) -> None:
    headers = {"origin": "https://app.example", "access-control-request-method": "POST"}
    answer = host.options(path, headers=headers)
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
    for part in ("Free", "Premium", "Pro", "Enterprise", "$9.99 a month", "Searches a day", "unlimited"):
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
