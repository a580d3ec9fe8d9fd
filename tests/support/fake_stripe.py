"""A fake Stripe on loopback: one customer's subscriptions, made calls, and answers that fail on demand."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass
class Stripe:
    """`failures` are statuses of the next answers, 0 ends the connection; then it answers as it should."""

    port: int = 0
    subscriptions: list[dict[str, Any]] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    calls: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, method: str, path: str) -> tuple[int, Any]:
        if self.failures:
            return self.failures.pop(0), {"error": {"type": "api_error", "message": "a secret sk_test_echo"}}
        if path == "/v1/subscriptions":
            return 200, {"data": self.subscriptions}
        if method == "DELETE":
            self.subscriptions = []
            return 200, {"id": "cus_1", "deleted": True}
        if path == "/v1/customers":
            return 200, {"id": "cus_1"}
        return 200, {"id": "x_1", "url": f"{self.address}/pay{path}"}


def subscription(price: str = "price_1", status: str = "active", **more: Any) -> dict[str, Any]:
    item = {"id": "si_1", "price": {"id": price}, "current_period_end": 1893456000}
    return {"id": "sub_1", "status": status, "items": {"data": [item]}} | more


@contextmanager
def stripe() -> Iterator[Stripe]:
    state = Stripe()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            parts = urlsplit(self.path)
            state.calls.append((self.command, parts.path, dict(parse_qsl(body or parts.query))))
            state.keys.append(self.headers.get("Idempotency-Key"))
            status, answer = state.answer(self.command, parts.path)
            if status == 0:
                self.close_connection = True
                return
            raw = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_GET = do_POST = do_DELETE = _answer

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
