"""A fake receiver of messages on loopback: it answers as it is told and keeps what was posted."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Receiver:
    """`cut` ends the connection when the message has been read, without an answer; `during` is called before it."""

    port: int = 0
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    during: Callable[[], object] = lambda: None
    paths: list[str] = field(default_factory=list)
    received: list[tuple[Message, bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def read_bodies(self) -> list[Any]:
        return [json.loads(body) for _, body in self.received]


@contextmanager
def receiver() -> Iterator[Receiver]:
    state = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.paths.append(self.path)
            state.received.append((self.headers, body))
            state.during()
            if state.cut:
                self.close_connection = True
                return
            self.send_response(state.status)
            for name, value in state.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

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
