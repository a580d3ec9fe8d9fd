"""deploy/Caddyfile: it sends each path where it is served, and its log holds none of the secrets in addresses."""

import re
from pathlib import Path

import pytest
from starlette.routing import Route

from auth_server.app import ROUTES
from auth_server.pages import unsubscribe
from auth_server.web.middleware import INTERNAL_PATHS, RESOURCE_METADATA, find_forwarded
from mcp_server.app import build
from shared.settings import PASSED_PATHS
from tests.deploy.test_settings_file import LINES

DEPLOY = Path(__file__).parents[2] / "deploy"
# As Caddy reads it where no address is set in its environment.
FILE = re.sub(r"\{\$\w+:([^}]+)\}", r"\1", (DEPLOY / "Caddyfile").read_text(encoding="utf-8"))
SERVERS = re.findall(r"^\(servers\) \{\n(.*?)^\}", FILE, re.M | re.S)[0]
FILE = re.sub(r" \{\n\s+import servers\n\s+\}", "", FILE)
SITES = dict(re.findall(r"^([^\s(]\S*) \{\n(.*?)^\}", FILE, re.M | re.S))
WEB = SITES["travel.example.com"]
TOOLS = [path for line in re.findall(r"^\t\tpath (.+)$", WEB, re.M) for path in line.split()]
BOTH_ANSWER = {
    "/healthz",
    "/readyz",
    "/.well-known/oauth-authorization-server",
    "/.well-known/openai-apps-challenge",
}


def matches(pattern: str, path: str) -> bool:
    return path.startswith(pattern[:-1]) if pattern.endswith("/*") else path == pattern


def for_tools(path: str) -> bool:
    return any(matches(pattern, path) for pattern in TOOLS)


def test_the_tool_paths_are_those_the_web_host_passes_on() -> None:
    bare = {path.removesuffix("/*").rstrip("/") for path in TOOLS}
    assert bare == {path.rstrip("/") for path in (*PASSED_PATHS, RESOURCE_METADATA)}
    assert [path for path in TOOLS if not find_forwarded(path.replace("*", "x"))] == []


def test_what_the_tool_server_serves_reaches_it_on_both_hosts() -> None:
    served = {re.sub(r"\{\w+\}", "x", route.path) for route in build().pages.routes if isinstance(route, Route)}
    assert {"/feeds/x.ics", "/api/v1/tools/x"} <= served
    assert {path for path in served | {"/mcp", "/mcp/"} if not for_tools(path)} == BOTH_ANSWER
    assert re.findall(r"reverse_proxy (\S+)", SITES["mcp.travel.example.com"]) == ["127.0.0.1:8001"]


def test_what_the_web_host_serves_reaches_it_but_for_what_our_own_programs_ask() -> None:
    served = {route.path for route in ROUTES}
    assert [path for path in served if for_tools(path)] == []
    assert re.findall(r"handle (\S+) \{\n\t\t(\S+ \S+)", WEB) == [
        ("@tools", "reverse_proxy 127.0.0.1:8001"),
        ("/internal/*", "respond 404"),
    ]
    assert "\thandle {\n\t\treverse_proxy 127.0.0.1:8000\n" in WEB
    assert {path for path in served if matches("/internal/*", path)} == served & set(INTERNAL_PATHS)


def test_while_the_tool_server_is_away_the_web_host_answers() -> None:
    errors = WEB.partition("\thandle_errors {\n")[2]
    assert errors.split("\n\t}")[0].split("\n") == [
        "\t\t@status path /status",
        "\t\treverse_proxy @status 127.0.0.1:8000",
        "\t\t@people header Accept *text/html*",
        "\t\treverse_proxy @people 127.0.0.1:8000",
    ]


def test_a_restart_refuses_no_request_and_several_machines_have_lines_to_uncomment() -> None:
    assert "\tlb_try_duration 5s\n" in SERVERS
    assert "\t# health_uri /readyz\n" in SERVERS
    assert (DEPLOY / "Caddyfile").read_text(encoding="utf-8").count("import servers") == 3  # not on faults


def test_its_hosts_are_those_of_the_sample_settings() -> None:
    assert [f"https://{host}" for host in SITES] == [LINES["WEB_URL"], LINES["MCP_URL"].removesuffix("/mcp")]


@pytest.mark.parametrize(
    ("address", "logged"),
    [
        ("/feeds/s3cret.ics", "/feeds***"),
        ("/shared/s3cret.pdf", "/shared***"),
        ("/integrations/tripit?state=s3cret", "/integrations***"),
        (f"{unsubscribe.PATH}?token=s3cret", "/unsubscribe***"),
        ("/claim/s3cret", "/claim***"),
        ("/confirm?token=s3cret", "/confirm?***"),
        ("/oauth/authorize?state=s3cret", "/oauth/authorize?***"),
        ("/dashboard", "/dashboard"),
    ],
)
def test_secrets_in_addresses_stay_out_of_the_log(address: str, logged: str) -> None:
    found = re.search(r"request>uri regexp (\S+) \$1(\S+)$", FILE, re.M)
    assert found
    assert re.sub(found[1], rf"\g<1>{found[2]}", address) == logged
    assert "request>headers delete" in FILE
    assert "resp_headers delete" in FILE
