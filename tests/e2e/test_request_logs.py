"""What the logs of all programs hold of requests: one line with the route's template each, and no address at any level.

Each route of both tables is asked with a mark wherever a request can carry a secret: parameters of the path, the query,
a form, a JSON body, the bearer and the cookie.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.routing import Route

from auth_server.app import ROUTES
from mcp_server.app import build
from shared.domain.mcp_addresses import ADDRESSES
from shared.domain.tool_profiles import AREAS
from tests.support.oauth_browser import tokens
from tests.support.service import PASSWORD, Service, folder_for_homes, start, stop, wait_for

pytestmark = pytest.mark.slow  # starts the whole service
MARK = "s3cr3t-0f-0n3-p3rs0n"
QUERY = dict.fromkeys(("t", "token", "code", "state", "next", "user_code", "client_id", "request", "q"), MARK)
LINE = re.compile(
    r" INFO shared\.telemetry\.served_requests \[call=[0-9a-f]{16}[^]]*\] (\w+) (.+) (\d{3}) \d+ ms$", re.M
)
Asked = tuple[str, str, str]  # program, method, template


@pytest.fixture(scope="module", params=["INFO", "DEBUG"])
def talkative(request: pytest.FixtureRequest) -> Iterator[Service]:
    with folder_for_homes() as folder:
        service = start(folder, LOG_LEVEL=request.param, METRICS_PORT="0")
        yield service
        stop(service)


def _list_routes() -> set[Asked]:
    tables: dict[str, list[Any]] = {"auth_server": ROUTES, "mcp_server": build().pages.routes}  # type: ignore[attr-defined]
    asked = {
        (program, method, route.path)
        for program, routes in tables.items()
        for route in routes
        if isinstance(route, Route)
        for method in (route.methods or {"GET"}) - {"HEAD"}
    }
    return asked | {("mcp_server", "POST", path) for path in ADDRESSES}


def _ask_all(service: Service, asked: set[Asked]) -> None:
    bases = {"auth_server": service.web_url, "mcp_server": service.mcp_url.removesuffix("/mcp")}
    credentials = {"Authorization": f"Bearer {MARK}", "Cookie": f"session={MARK}", "X-Hook-Secret": MARK}
    with httpx.Client(timeout=90, trust_env=False, params=QUERY) as client:
        for program, method, path in asked:
            address = bases[program] + re.sub(r"\{[^}]*\}", MARK, path.replace("{areas}", next(iter(AREAS))))
            headers = credentials | {"Origin": bases[program]}
            client.request(method, address, headers=headers, data=QUERY if method == "POST" else None)
        for base in bases.values():
            client.get(f"{base}/{MARK}/{MARK}")
            client.post(f"{base}/mcp/x/{MARK}", json=QUERY)


def _read_logs(service: Service) -> dict[str, str]:
    logs = {file.stem: file.read_text(encoding="utf-8") for file in (service.home / "logs").glob("*.log")}
    return logs | {"up": service.words}


def test_each_request_is_one_line_by_its_route_and_no_log_holds_what_it_carried(talkative: Service) -> None:
    asked = _list_routes()
    assert len(asked) > 200
    _ask_all(talkative, asked)
    granted = tokens(talkative.mcp_url, talkative.person("writer"), PASSWORD)
    secrets = [MARK, PASSWORD, *(granted[name] for name in ("access_token", "refresh_token") if name in granted)]
    logs = _read_logs(talkative)
    assert {"auth_server", "mcp_server", "dispatcher", "worker", "inbox", "up"} <= logs.keys()
    told = {
        (name, line) for name, words in logs.items() for line in words.splitlines() if any(s in line for s in secrets)
    }
    assert told == set()
    lines = {(name, method, route) for name, words in logs.items() for method, route, _ in LINE.findall(words)}
    assert asked - lines == set()
    assert {("auth_server", "GET", "(no route)"), ("mcp_server", "GET", "(no route)")} <= lines
    for name in ("auth_server", "mcp_server"):
        assert len(LINE.findall(logs[name])) >= sum(program == name for program, _, _ in asked)


def test_a_line_of_a_request_passed_on_names_the_part_and_not_the_address(talkative: Service) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    for path in (f"/feeds/{MARK}", f"/shared/{MARK}", "/mcp"):
        httpx.request("POST", talkative.web_url + path, content=body, timeout=90, trust_env=False)

    def list_parts() -> set[str]:
        return {route for _, route, _ in LINE.findall(_read_logs(talkative)["auth_server"])}

    wait_for("their lines", lambda: {"/feeds/", "/shared/", "/mcp"} <= list_parts())
    assert "uvicorn.access" not in _read_logs(talkative)["auth_server"]


def test_port_0_for_metrics_is_a_free_one_that_the_home_keeps(talkative: Service) -> None:
    address = talkative.facts["metrics_url"]
    kept = json.loads((talkative.home / "ports.json").read_text(encoding="utf-8"))["metrics"]
    assert httpx.URL(address).port == kept
    token = {"Authorization": f"Bearer {talkative.facts['metrics_token']}"}
    assert "award_build_info" in httpx.get(address, headers=token, timeout=30, trust_env=False).text
