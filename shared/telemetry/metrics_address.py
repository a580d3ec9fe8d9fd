"""The address of a program's metrics for Prometheus."""

import contextlib
import logging
import platform
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from prometheus_client import CollectorRegistry, Metric, make_wsgi_app
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.registry import Collector

from shared.secrets import is_same_secret
from shared.settings import VERSION, settings
from shared.telemetry.shared_counts import SharedCounts, share_counts

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication

log = logging.getLogger(__name__)
PROGRAMS = ("auth_server", "mcp_server", "dispatcher", "worker", "inbox")  # in the order of their ports
PATH = "/metrics"
_MAX_READERS = 4  # at once; a scraper reads one by one
_TIMEOUT_SECONDS = 10


@contextlib.contextmanager
def serving_metrics(program: str, *collectors: Collector) -> Iterator[None]:
    """Surrounds a program's work: its processes count together, and one thread of this one serves the sum.

    Does nothing if neither METRICS_PORT nor METRICS_DIR is set. A port in use is an error in the log; the
    program still works.
    """
    port, folder = settings().metrics_port or None, settings().metrics_dir
    if port is None and folder is None:
        yield
        return
    with contextlib.ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="award-metrics-")))
        share_counts(place / program)
        if port is not None:
            address = (settings().metrics_host, port + PROGRAMS.index(program))
            try:
                stack.enter_context(listening(*address, SharedCounts(place / program), BuildInfo(program), *collectors))
            except OSError as error:
                log.error("metrics: %s:%d cannot be listened at (%s)", *address, type(error).__name__)
        yield


@contextlib.contextmanager
def listening(host: str, port: int, *collectors: Collector) -> Iterator[int]:
    """Answers `/metrics` there from the collectors. Raises OSError if the port is in use."""
    server = make_server(host, port, _build_application(collectors), _Server, _Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.5,), name="metrics", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


class BuildInfo(Collector):
    """The name and version of this program."""

    def __init__(self, program: str) -> None:
        self.program = program

    def collect(self) -> Iterable[Metric]:
        labels = {"program": self.program, "version": VERSION, "python": platform.python_version()}
        labels["mode"] = settings().data_mode
        metric = GaugeMetricFamily("award_build_info", "The program and its version; always 1.", labels=list(labels))
        metric.add_metric(list(labels.values()), 1)
        return [metric]


def _build_application(collectors: Iterable[Collector]) -> "WSGIApplication":
    """The library's application, at one path and, if a token is set, only with it."""
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    show: WSGIApplication = make_wsgi_app(registry)

    def answer(environ: dict[str, Any], start_response: "StartResponse") -> Iterable[bytes]:
        token = settings().metrics_token
        if environ["PATH_INFO"] != PATH:
            start_response("404 Not Found", [])
        elif token and not is_same_secret(environ.get("HTTP_AUTHORIZATION", ""), f"Bearer {token.get_secret_value()}"):
            start_response("401 Unauthorized", [("WWW-Authenticate", "Bearer")])
        else:
            return show(environ, start_response)
        return [b""]

    return answer


class _Server(ThreadingWSGIServer):
    """A bounded number of threads, no matter how many connect."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._free = threading.BoundedSemaphore(_MAX_READERS)
        super().__init__(*arguments, **options)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def server_bind(self) -> None:
        """Binds without the base class's look-up of the host name, which can take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])
        self.setup_environ()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - of the base class
        log.warning("metrics: a request failed", exc_info=True)


class _Handler(WSGIRequestHandler):
    timeout = _TIMEOUT_SECONDS

    def log_message(self, *_words: Any) -> None:
        """Logs nothing for requests."""
