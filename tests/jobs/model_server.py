"""A language model's endpoint on loopback, in both wire formats: it answers as the test says and records requests."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
Reply = Body | bytes | int  # an answer, raw bytes, or an error status
Calls = list[tuple[str, Any]]


@dataclass
class ModelServer:
    """Each question takes the next of `script`; the last one answers all that follow."""

    port: int = 0
    script: list[Reply | Callable[[Body], Reply]] = field(default_factory=list)
    asked: list[Body] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    error_headers: dict[str, str] = field(default_factory=dict)
    hanging: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def next(self, asked: Body) -> Reply:
        self.asked.append(asked)
        chosen = self.script[min(len(self.asked), len(self.script)) - 1]
        return chosen(asked) if callable(chosen) else chosen

    def hang(self, _asked: Body) -> Reply:
        """No answer until the test is over."""
        self.hanging.wait(30)
        return 500


def words(kind: str, text: str, end: str | None = None) -> Body:
    """An answer that says something and ends."""
    if kind == "anthropic":
        content = [{"type": "text", "text": text}]
        return {"type": "message", "content": content, "stop_reason": end or "end_turn", "usage": USED}
    message = {"role": "assistant", "content": text}
    return {"choices": [{"message": message, "finish_reason": end or "stop"}], "usage": {"total_tokens": 150}}


def calls(kind: str, *wanted: tuple[str, Any]) -> Body:
    """An answer that wants tools called; arguments that are text are sent as they stand."""
    if kind == "anthropic":
        uses = [{"type": "tool_use", "id": f"t{n}", "name": w[0], "input": w[1]} for n, w in enumerate(wanted)]
        content = [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, *uses]
        return {"type": "message", "content": content, "stop_reason": "tool_use", "usage": USED}
    made = [
        {
            "id": f"t{n}",
            "type": "function",
            "function": {"name": w[0], "arguments": w[1] if isinstance(w[1], str) else json.dumps(w[1])},
        }
        for n, w in enumerate(wanted)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": made}
    return {"choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {"total_tokens": 150}}


USED = {"input_tokens": 100, "output_tokens": 50}


def told(kind: str, asked: Body) -> list[str]:
    """What the tools answered, as the last question carried it to the model."""
    if kind == "anthropic":
        blocks = [b for m in asked["messages"] if isinstance(m["content"], list) for b in m["content"]]
        return [b["content"] for b in blocks if b["type"] == "tool_result"]
    return [m["content"] for m in asked["messages"] if m["role"] == "tool"]


def read_data(text: str) -> Any:
    """The data of a tool's answer: its last line, after the sentence."""
    return json.loads(text.rsplit("\n", 1)[-1])


def offered(kind: str, asked: Body) -> set[str]:
    return {t["name"] if kind == "anthropic" else t["function"]["name"] for t in asked["tools"]}


def system(kind: str, asked: Body) -> str:
    text: str = asked["system"] if kind == "anthropic" else asked["messages"][0]["content"]
    return text


@contextmanager
def model_server() -> Iterator[ModelServer]:
    state = ModelServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.paths.append(self.path)
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            reply = state.next(body)
            status = reply if isinstance(reply, int) else 200
            said = reply if isinstance(reply, bytes) else b"<b>No</b>" if isinstance(reply, int) else _json(reply)
            try:
                self.send_response(status)
                for name, value in state.error_headers.items() if status != 200 else ():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)
            except OSError:  # anyone who asked has gone
                self.close_connection = True

        def log_message(self, *_about: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield state
    finally:
        state.hanging.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _json(reply: Body) -> bytes:
    return json.dumps(reply).encode()
