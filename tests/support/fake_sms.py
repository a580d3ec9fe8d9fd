"""A fake message service on loopback with Twilio's API: it answers as it is told and keeps what was posted."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

TAKEN = {"sid": "SM00000000000000000000000000000001", "status": "queued", "error_code": None, "price": None}


@dataclass
class Carrier:
    """`cut` ends the connection when the message has been read, without an answer."""

    port: int = 0
    status: int = 201
    said: Any = field(default_factory=lambda: dict(TAKEN))
    cut: bool = False
    paths: list[str] = field(default_factory=list)
    signed_in: list[str] = field(default_factory=list)
    posted: list[dict[str, str]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/2010-04-01"

    def refuse(self, status: int, code: int | None = None, words: str = "<b>No</b>") -> None:
        self.status, self.said = status, {"code": code, "message": words, "status": status}


@contextmanager
def carrier() -> Iterator[Carrier]:
    state = Carrier()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            state.paths.append(self.path)
            state.signed_in.append(self.headers["Authorization"])
            state.posted.append(dict(parse_qsl(body, strict_parsing=True)))
            if state.cut:
                self.close_connection = True
                return
            said = state.said if isinstance(state.said, bytes) else json.dumps(state.said).encode()
            self.send_response(state.status)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_about: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
