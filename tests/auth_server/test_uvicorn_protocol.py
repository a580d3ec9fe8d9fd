"""Request heads that arrive slowly, never end, or arrive in pieces, on both servers, over real sockets."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from auth_server.web import uvicorn_protocol as auth_protocol
from mcp_server.transport import uvicorn_protocol as mcp_protocol
from shared import asgi
from tests.support.service import wait_for

MUCH = 60_000_000  # bytes, more than the system buffers
HEAD = b"POST / HTTP/1.1\r\nHost: x\r\n"


async def echo(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def serve_much(request: Request) -> Response:
    return PlainTextResponse("a" * MUCH)


@pytest.fixture(params=[auth_protocol.HttpProtocol, mcp_protocol.HttpProtocol])
def listening(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[uvicorn.Server]:
    """A server that waits half a second for a head, and for a reader."""
    for name in ("MAX_HEAD_SECONDS", "MAX_REST_SECONDS", "MAX_UNREAD_SECONDS"):
        monkeypatch.setattr(asgi, name, 0.5)
    monkeypatch.setattr(asgi, "_OUTPUT_CHECK_SECONDS", 0.1)
    app = Starlette(routes=[Route("/", echo, methods=["POST"]), Route("/much", serve_much)])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, http=request.param, log_level="error", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        wait_for("the server", lambda: server.started)
        yield server
        server.should_exit = True
        thread.join(10)


@pytest.fixture
def line(listening: uvicorn.Server) -> Iterator[socket.socket]:
    """A connection to that server."""
    with socket.create_connection(listening.servers[0].sockets[0].getsockname(), 10) as opened:
        yield opened


def read_until_closed(line: socket.socket) -> bytes:
    """All until the server closes the line."""
    response = b""
    while piece := line.recv(65536):
        response += piece
    return response


@pytest.mark.parametrize("begun", [b"", b"PO", HEAD, HEAD + b"X: " + b"a" * 60_000])
def test_a_head_that_does_not_end_closes_the_line_unanswered(line: socket.socket, begun: bytes) -> None:
    line.sendall(begun)
    assert read_until_closed(line) == b""


def test_a_head_without_end_is_not_kept(line: socket.socket) -> None:
    line.sendall(HEAD)
    sent_bytes = 0
    with suppress(OSError):
        while sent_bytes < 50_000_000:
            sent_bytes += line.send(b"X: " + b"a" * 10_000 + b"\r\n")
    assert sent_bytes < 20_000_000  # what the system's own buffers took


def test_the_second_request_of_a_line_has_the_same_limits(line: socket.socket) -> None:
    line.sendall(HEAD + b"Content-Length: 2\r\n\r\nok" + HEAD)
    assert read_until_closed(line).endswith(b"\r\n\r\n2")


def test_heads_in_pieces_and_bodies_of_any_size_and_pace_are_served(line: socket.socket) -> None:
    for piece in (HEAD, b"Content-Length: 300000\r\n", b"Connection: close\r\n\r\n", b"a" * 200_000):
        line.sendall(piece)
        asyncio.run(asyncio.sleep(0.2))
    line.sendall(b"a" * 100_000)
    assert read_until_closed(line).endswith(b"\r\n\r\n300000")


def test_a_head_that_is_too_large_is_told_so(line: socket.socket) -> None:
    line.sendall(HEAD)
    asyncio.run(asyncio.sleep(0.1))
    line.sendall(b"X: " + b"a" * 66_000)
    assert read_until_closed(line).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    "head",
    [
        b"POST / HTTP/1.1\r\nHost: x\r\nHost: y\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nhost: x\r\n",
        b"POST http://evil.example/ HTTP/1.1\r\nHost: x\r\n",
        b"POST http://x@evil.example/?a=b HTTP/1.1\r\nHost: x\r\n",
    ],
)
def test_a_head_that_names_two_hosts_is_refused(line: socket.socket, head: bytes) -> None:
    line.sendall(head + b"Content-Length: 0\r\n\r\n")
    assert read_until_closed(line).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("target", [b"/", b"http://x/", b"http://X/?next=http://evil.example/"])
def test_a_whole_address_that_names_the_same_host_is_served(line: socket.socket, target: bytes) -> None:
    line.sendall(b"POST " + target + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab")
    assert read_until_closed(line).endswith(b"\r\n\r\n2")


@pytest.mark.parametrize("rest", [b"a", b"\r\n"])
def test_after_an_answer_the_rest_of_a_body_gains_no_time(line: socket.socket, rest: bytes) -> None:
    line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
    assert line.recv(65536).startswith(b"HTTP/1.1 405 ")
    line.settimeout(5)
    with suppress(ConnectionError):
        line.sendall(rest)
        assert read_until_closed(line) == b""


def test_an_answer_that_nobody_reads_ends_the_connection(listening: uvicorn.Server, line: socket.socket) -> None:
    line.sendall(b"GET /much HTTP/1.1\r\nHost: x\r\n\r\n")
    wait_for("the connection", lambda: listening.server_state.connections)
    wait_for("its end", lambda: not listening.server_state.connections)
    with suppress(ConnectionError):
        assert len(read_until_closed(line)) < MUCH


def test_an_answer_that_is_read_slowly_arrives_whole(line: socket.socket) -> None:
    line.sendall(b"GET /much HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    received = 0
    while piece := line.recv(MUCH // 50):
        received += len(piece)
        asyncio.run(asyncio.sleep(0.02))
    assert received > MUCH


@pytest.mark.parametrize(("count", "status"), [(asgi.MAX_HEADERS - 3, b"200"), (asgi.MAX_HEADERS + 1, b"400")])
def test_a_head_of_too_many_fields_is_refused(line: socket.socket, count: int, status: bytes) -> None:
    line.sendall(HEAD + b"a:\r\n" * count + b"Connection: close\r\nContent-Length: 0\r\n\r\n")
    assert read_until_closed(line).split(b" ")[1] == status


def test_of_a_head_with_far_too_many_fields_the_rest_is_not_read(
    listening: uvicorn.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[bytes] = []
    read_field = asgi.HeadLimitProtocol.on_header

    def count_field(self: asgi.HeadLimitProtocol, name: bytes, value: bytes) -> None:
        names.append(name)
        read_field(self, name, value)

    monkeypatch.setattr(asgi.HeadLimitProtocol, "on_header", count_field)
    address = listening.servers[0].sockets[0].getsockname()
    # What was not read resets the line, at times before the 400 arrives.
    with socket.create_connection(address, 10) as line, suppress(ConnectionError):
        line.sendall(HEAD + b"a:\r\n" * 10_000 + b"\r\n")
        read_until_closed(line)
    assert len(names) == asgi.MAX_HEADERS + 1


@pytest.mark.parametrize(("length", "status"), [(asgi.MAX_TARGET_BYTES, b"200"), (asgi.MAX_TARGET_BYTES + 1, b"414")])
def test_a_target_that_is_too_long_is_refused(line: socket.socket, length: int, status: bytes) -> None:
    target = b"/?" + b"a" * (length - 2)
    line.sendall(b"POST " + target[:5000])
    asyncio.run(asyncio.sleep(0.05))
    line.sendall(target[5000:] + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    answer = read_until_closed(line)
    assert answer.split(b" ")[1] == status
    assert answer.count(b"HTTP/1.1") == 1
