"""Tool paths on the web host: what reaches the tool server, what comes back, and what happens when it is down."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from auth_server.app import create_app
from auth_server.web import flows
from auth_server.web.reverse_proxy import MAX_BYTES_OF_ONE_ADDRESS, TooManyBodies, WaitingBodies
from shared.asgi import BodyTooLarge
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


def connect(configure: Any, url: str | None) -> TestClient:
    configure(**({} if url is None else {"MCP_UPSTREAM_URL": url}))
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
    "/status",
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


UNFINISHED = (
    "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAuthorization: Bearer t\r\n"
    "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
)


@pytest.fixture
def served(clean: None, configure: Any, upstream: str) -> Iterator[tuple[str, int]]:
    """The web host on a real socket."""
    configure(MCP_UPSTREAM_URL=upstream)
    flows.limiter.cache_clear()
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    server = uvicorn.Server(uvicorn.Config(create_app(), log_level="error", server_header=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield listening.getsockname()
    server.should_exit = True
    thread.join(10)
    listening.close()


@pytest.mark.parametrize("path", ["/mcp", "/api/v1/tools/list_programs"])
def test_four_hundred_unfinished_bodies_change_nothing_for_others(served: tuple[str, int], path: str) -> None:
    with ExitStack() as open_sockets:
        for _ in range(400):
            waiting = open_sockets.enter_context(socket.create_connection(served))
            waiting.sendall(UNFINISHED.format(path=path).encode())
        headers = {"host": "127.0.0.1:8000", "authorization": "Bearer t"}
        with httpx.Client(base_url=f"http://{served[0]}:{served[1]}", timeout=90) as client:
            answers = [client.post(path, json={"n": n}, headers=headers).status_code for n in range(5)]
    assert answers == [418] * 5


@pytest.mark.parametrize("path", ["/mcp", "/mcp/readonly", "/mcp/x/cards,vouchers", "/hooks/mail"])
def test_a_call_without_credentials_is_answered_before_its_body_arrives(served: tuple[str, int], path: str) -> None:
    with socket.create_connection(served, timeout=90) as caller:
        caller.sendall(UNFINISHED.format(path=path).replace("Authorization: Bearer t\r\n", "").encode())
        assert caller.recv(4096).startswith(b"HTTP/1.1 418")


@pytest.mark.parametrize(("path", "length"), [("/mcp", 4 << 20), ("/hooks/mail", 10 << 20)])
def test_a_body_announced_as_too_large_is_refused_at_once(served: tuple[str, int], path: str, length: int) -> None:
    with socket.create_connection(served, timeout=90) as caller:
        unfinished = UNFINISHED.format(path=path).replace("1000", str(length + 1))
        caller.sendall(unfinished.replace("Host:", "X-Hook-Secret: s\r\nHost:").encode())
        assert caller.recv(4096).startswith(b"HTTP/1.1 413")


def test_unfinished_bodies_of_one_address_hold_memory_within_a_bound() -> None:
    async def receive_forever() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x" * (1 << 20), "more_body": True}

    bodies = WaitingBodies()
    bodies.held["127.0.0.1"] = MAX_BYTES_OF_ONE_ADDRESS - 1
    scope = {"type": "http", "path": "/mcp", "headers": [], "client": ("127.0.0.1", 1)}
    with pytest.raises(TooManyBodies):
        asyncio.run(bodies.read(scope, receive_forever))
    assert bodies.held["127.0.0.1"] == MAX_BYTES_OF_ONE_ADDRESS - 1
    with pytest.raises(BodyTooLarge):
        asyncio.run(bodies.read(scope | {"client": ("127.0.0.2", 1)}, receive_forever))
    assert "127.0.0.2" not in bodies.held


def test_a_body_that_does_not_arrive_in_time_is_answered_so(
    served: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auth_server.web.reverse_proxy.MAX_SECONDS", 0.2)
    with socket.create_connection(served, timeout=90) as caller:
        caller.sendall(UNFINISHED.format(path="/api/v1/tools/list_programs").encode())
        answer = caller.recv(4096)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"application/problem+json" in answer


def test_a_person_who_opens_an_address_of_an_absent_tool_server_reads_a_page(clean: None, configure: Any) -> None:
    accept = {"accept": "text/html,*/*;q=0.8"}
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with connect(configure, f"http://127.0.0.1:{port}") as host:
        answer = host.get("/shared/x", headers=accept)
        assert (answer.status_code, answer.headers["content-type"]) == (503, "text/html; charset=utf-8")
        assert "<h1>Back in a moment</h1>" in answer.text
        assert int(answer.headers["retry-after"]) > 0
        assert host.get("/api/v1/tools", headers=accept).headers["content-type"] == "application/problem+json"
        assert host.get("/shared/x").headers["content-type"] == "application/json"


def test_the_page_of_states_says_that_the_tool_server_is_away(clean: None, configure: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with connect(configure, f"http://127.0.0.1:{port}") as host:
        page, document = (host.get("/status", headers={"accept": kind}) for kind in ("text/html", "application/json"))
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert "<h1>The tool server is down</h1>" in page.text
        assert (document.status_code, document.headers["cache-control"]) == (200, "no-store")
        assert {part["name"]: part["state"] for part in document.json()["parts"]} == {
            "Web host": "works",
            "Tool server": "away",
        }
        problem = host.get("/tools", headers={"accept": "text/html"})
        assert (problem.status_code, '<a href="/status">' in problem.text) == (503, True)


def test_a_web_host_that_passes_nothing_on_answers_for_the_absent_tool_server(clean: None, configure: Any) -> None:
    with connect(configure, None) as host:
        page, document = (host.get("/status", headers={"accept": kind}) for kind in ("text/html", "application/json"))
        assert (page.status_code, document.json()["state"]) == (200, "away")
        assert "<h1>The tool server is down</h1>" in page.text
        assert page.headers["x-content-type-options"] == "nosniff"
        tools = host.get("/tools", headers={"accept": "text/html"})
        assert (tools.status_code, tools.headers["retry-after"]) == (503, "2")
        assert "<h1>Back in a moment</h1>" in tools.text
        assert [host.get(path).status_code for path in ("/tools", "/mcp", "/nothing")] == [404, 404, 404]


@pytest.mark.parametrize(
    ("method", "path", "seconds"),
    [
        ("GET", "/shared/x", 10),
        ("GET", "/api/v1/tools", 10),
        ("GET", "/mcp", 120),
        ("GET", "/mcp/lean", 120),
        ("POST", "/api/v1/tools/search_awards", 120),
    ],
)
def test_pages_wait_ten_seconds_and_tools_may_work_for_minutes(
    web: TestClient, monkeypatch: pytest.MonkeyPatch, method: str, path: str, seconds: int
) -> None:
    timeouts: list[Any] = []
    handle = httpx.AsyncHTTPTransport.handle_async_request

    async def record(self: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        timeouts.append(request.extensions["timeout"]["read"])
        return await handle(self, request)

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", record)
    web.request(method, path, headers={"authorization": "Bearer x"})
    assert timeouts == [seconds]
