"""A program of the service as others reach it: ready, and with an issuer; over TLS where a context is given."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class FakeProgram:
    """`hosts` are the Host headers that came."""

    address: str = ""
    issuer: str = ""
    status: int = 200
    hosts: list[str] = field(default_factory=list)


@contextmanager
def fake_program(context: ssl.SSLContext | None = None) -> Iterator[FakeProgram]:
    state = FakeProgram()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def do_GET(self) -> None:
            state.hosts.append(self.headers["Host"])
            body = json.dumps({"issuer": state.issuer}).encode()
            self.send_response(state.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_about: Any) -> None:
            return

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_about: Any) -> None:
            """A client that trusts no certificate of ours ends the connection."""

    server = Server(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    state.address = f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join(5)
        server.server_close()
