"""Tool paths on the web host: what reaches the tool server, what comes back, and what happens when it is away."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from auth_server.app import create_app
from auth_server.web import flows
from tests.auth_server.in_process_browser import BASE


async def tell(request: Request) -> JSONResponse:
    """What this server was asked."""
    description = {
        "method": request.method,
        "target": request.scope["raw_path"].decode() + "?" + request.scope["query_string"].decode(),
        "headers": sorted([k.decode(), v.decode()] for k, v in request.scope["headers"]),
        "body": (await request.body()).decode(),
    }
    return JSONResponse(
        description, 418, headers={"www-authenticate": 'Bearer x="y"', "mcp-session-id": "s", "x-twice": "1"}
    )


async def slowly(request: Request) -> StreamingResponse:
    async def parts() -> AsyncIterator[bytes]:
        for n in range(3):
            yield f"data: {n}\n\n".encode()
            await asyncio.sleep(0.01)

    return StreamingResponse(parts(), media_type="text/event-stream")


METHODS = ["GET", "POST", "PUT", "DELETE", "OPTIONS"]
TOOL_SERVER = Starlette(routes=[Route("/mcp/slowly", slowly), Route("/{rest:path}", tell, methods=METHODS)])


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(TOOL_SERVER, log_level="error", lifespan="off", server_header=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
    listening.close()


def connect(configure: Any, url: str) -> TestClient:
    configure(MCP_UPSTREAM_URL=url)
    flows.limiter.cache_clear()
    return TestClient(create_app(), base_url=BASE, follow_redirects=False)


@pytest.fixture
def web(clean: None, configure: Any, upstream: str) -> Iterator[TestClient]:
    with connect(configure, upstream) as host:
        yield host


PASSED = [
    "/mcp",
    "/mcp/",
    "/api/v1/tools",
    "/api/v1/tools/list_programs",
    "/.well-known/openapi.yaml",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/integrations/seats_aero/callback",
    "/feeds/abc.ics",
    "/shared/abc.pdf",
    "/hooks/mail",
]


@pytest.mark.spec("s1.0.both_hosts_serve_mcp")
@pytest.mark.spec("s4.1.rest_reachable_on_web_host")
@pytest.mark.parametrize("path", PASSED)
def test_tool_paths_reach_the_tool_server(web: TestClient, path: str) -> None:
    answer = web.get(path)
    assert answer.status_code == 418
    assert answer.json()["target"] == path + "?"


@pytest.mark.parametrize("path", ["/mcpx", "/api/v1/toolsx", "/api/v1/agent", "/hooks/mailx", "/mc", "/internal/x"])
def test_other_paths_stay_here(web: TestClient, path: str) -> None:
    assert web.get(path).status_code == 404


def test_method_query_headers_and_body_pass_unchanged(web: TestClient) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    headers = {
        "authorization": "Bearer t",
        "content-type": "application/json",
        "host": "localhost:8000",
        "x-api-key": "k",
    }
    answer = web.post("/mcp/a%2Fb?areas=cards,search&x=%20", content=body, headers=headers)
    echo = answer.json()
    assert (echo["method"], echo["body"]) == ("POST", body)
    assert echo["target"] == "/mcp/a%2Fb?areas=cards,search&x=%20"
    for name, value in headers.items():
        assert [name, value] in echo["headers"]


def test_claims_about_the_caller_are_dropped_and_the_address_seen_is_told(web: TestClient) -> None:
    forged = {"x-forwarded-for": "1.2.3.4", "x-forwarded-proto": "https", "forwarded": "for=1.2.3.4"}
    hop = {"connection": "close, x-private", "x-private": "1", "te": "trailers", "upgrade": "h2c"}
    request = web.build_request("GET", "/mcp", headers={**forged, **hop})
    for name in ("accept", "accept-encoding", "user-agent"):
        del request.headers[name]
    headers = dict(web.send(request).json()["headers"])
    assert headers.keys() == {"host", "x-forwarded-for"}
    assert headers["x-forwarded-for"] == "testclient"


def test_status_and_headers_come_back_unchanged(web: TestClient) -> None:
    answer = web.get("/mcp")
    assert answer.headers["www-authenticate"] == 'Bearer x="y"'
    assert answer.headers["mcp-session-id"] == "s"
    assert "content-security-policy" not in answer.headers
    assert "x-content-type-options" not in answer.headers
    assert len(answer.headers.get_list("content-length")) == 1
    assert len(answer.headers.get_list("date")) <= 1


def test_streams_come_through(web: TestClient) -> None:
    with web.stream("GET", "/mcp/slowly") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "".join(answer.iter_text()) == "data: 0\n\ndata: 1\n\ndata: 2\n\n"


def test_preflights_belong_to_the_tool_server(web: TestClient) -> None:
    assert web.options("/mcp", headers={"origin": "https://app.example"}).status_code == 418


def test_an_absent_tool_server_is_503_with_retry_after(clean: None, configure: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with connect(configure, f"http://127.0.0.1:{port}") as host:
        answer = host.post("/mcp", json={})
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0
        assert str(port) not in answer.text
        assert host.get("/signin").status_code == 200


def test_other_hosts_are_refused_before_anything_is_passed(web: TestClient) -> None:
    assert web.post("/mcp", headers={"host": "evil.example"}).status_code == 421


def test_the_answer_has_one_set_of_length_headers_for_head(web: TestClient) -> None:
    assert web.head("/mcp/slowly").status_code in (200, 405)
