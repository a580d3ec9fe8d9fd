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

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\n"


async def echo(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


@pytest.fixture(params=[auth_protocol.HttpProtocol, mcp_protocol.HttpProtocol])
def line(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A connection to a server that waits half a second for a head."""
    monkeypatch.setattr(asgi, "MAX_HEAD_SECONDS", 0.5)
    app = Starlette(routes=[Route("/", echo, methods=["POST"])])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, http=request.param, log_level="error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        with socket.create_connection(listening.getsockname(), 10) as opened:
            yield opened
        server.should_exit = True
        thread.join(10)


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
