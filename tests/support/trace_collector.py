"""A stand-in for a collector of OpenTelemetry on loopback, which keeps the spans it is sent."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Span(NamedTuple):
    program: str
    name: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, str]


class Collector:
    def __init__(self, url: str) -> None:
        self.url, self.spans, self.headers = url, list[Span](), list[dict[str, str]]()

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    @property
    def text(self) -> str:
        return repr(self.spans)


def _read(body: bytes) -> Iterator[Span]:
    request: Any = ExportTraceServiceRequest.FromString(body)
    for group in request.resource_spans:
        facts = {a.key: a.value.string_value for a in group.resource.attributes}
        for scope in group.scope_spans:
            for s in scope.spans:
                labels = {a.key: a.value.string_value or str(a.value.int_value) for a in s.attributes}
                ids = (s.trace_id.hex(), s.span_id.hex(), s.parent_span_id.hex())
                yield Span(facts["service.name"], s.name, *ids, labels)


@contextmanager
def collecting() -> Iterator[Collector]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            plain = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            collector.headers.append({k.lower(): v for k, v in self.headers.items()} | {"path": self.path})
            collector.spans += list(_read(plain))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_words: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector = Collector(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
