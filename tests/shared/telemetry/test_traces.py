"""Traces that are off: nothing is loaded, kept or sent; traces without their packages stop no program."""

import subprocess
import sys

import pytest

from shared.settings import settings
from shared.telemetry import traces

OFF = """
import sys
import mcp_server.app, auth_server.app, jobs.worker
from shared.telemetry.traces import start_tracing
start_tracing("mcp_server")
print([name for name in sys.modules if name.startswith(("opentelemetry.sdk.trace", "opentelemetry.exporter"))])
"""


@pytest.mark.slow  # starts a program
def test_without_a_collector_the_packages_are_not_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", OFF], check=True, timeout=120, capture_output=True, encoding="utf-8")
    assert done.stdout == "[]\n"


def test_without_a_collector_a_span_is_nothing_and_no_row_keeps_a_trace() -> None:
    assert traces.span("run") is traces.span("delivery", {"traceparent": "00-1-2-01"})
    with traces.span("run", kind="x"):
        assert traces.get_traceparent() is None
        assert traces.start_statement("select 1") is None
        assert traces.get_trace_headers() == {}
    assert traces.read_traceparent([(b"traceparent", b"00-1-2-01")]) == {}


def test_without_the_packages_a_program_says_so_and_works(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(settings().__dict__, "otel_exporter_otlp_endpoint", "http://127.0.0.1:4318")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    traces.start_tracing("mcp_server")
    assert not traces.is_tracing()
    assert "pip install 'award-travel[telemetry]'" in caplog.text


@pytest.mark.parametrize(
    ("path", "name"),
    [("/mcp", "POST /mcp"), ("/feeds/secret.ics", "POST /feeds"), ("/", "POST /"), ("/claim/awt_x", "POST /claim")],
)
def test_the_name_of_a_request_leaves_out_what_can_be_a_secret(path: str, name: str) -> None:
    assert traces.name_request("web", {"method": "POST", "path": path}) == f"web {name}"
