"""A call that is traced takes the way of every other, and its trace says what that of the SDK's own way says."""

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from mcp_server.transport import streamable_http
from shared.telemetry import traces
from tests.mcp_server.conftest import World
from tests.mcp_server.transport.test_streamable_http import REVISIONS, asked, call
from tests.support.people import People
from tests.support.service import wait_for

HANDSHAKE = REVISIONS[2]
TRACE = "5b8efff798038103d269b633813fc60c"
CONTINUED = {"_meta": {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}}
CALLS = {
    "answered": call("say_words", text="é"),
    "refused": call("find_nothing"),
    "crashed": call("break_down"),
    "not valid": {"name": "say_words", "arguments": 5},
    "going on from the client's trace": call("say_words", text="é") | CONTINUED,
    "with a trace that is none": call("say_words", text="é") | {"_meta": {"traceparent": "00-x"}},
    "with a number for a trace": call("say_words", text="é") | {"_meta": {"traceparent": 7}},
}


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Keeps the spans of the product and of the SDK."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("tests")
    monkeypatch.setattr(traces, "_tracer", tracer)
    monkeypatch.setattr("mcp.shared._otel._tracer", tracer)
    yield exporter
    provider.shutdown()


def _trace(world: World, people: People, spans: InMemorySpanExporter, params: dict[str, Any]) -> list[ReadableSpan]:
    """The spans of one call, the outermost last."""
    spans.clear()
    body, headers = asked("tools/call", HANDSHAKE, params)
    world.post(people.alice, body, **headers)

    def all_of_it() -> list[ReadableSpan] | None:
        ended = [span for span in spans.get_finished_spans() if not span.name.startswith("db ")]
        return ended if any(span.name == "mcp_server POST /mcp" for span in ended) else None

    return wait_for("the span of the request", all_of_it)


def _describe(made: list[ReadableSpan]) -> list[Any]:
    """Of each span all but its times, its ids, and the words of an exception."""
    names = {span.context.span_id: span.name for span in made}
    said = []
    for span in made:
        parent = names.get(span.parent.span_id, f"{span.parent.span_id:x}") if span.parent else ""
        labels = {n: v for n, v in (span.attributes or {}).items() if not n.startswith(("award.", "rpc.", "error."))}
        said.append((span.name, span.kind, parent, labels, span.status.status_code))
    return said


@pytest.mark.parametrize("params", CALLS.values(), ids=CALLS)
def test_a_traced_call_passes_nothing_of_the_sdk_but_its_check(
    world: World, people: People, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch, params: dict[str, Any]
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(streamable_http, "is_direct", lambda *_: False)
        of_the_sdk = _describe(_trace(world, people, spans, params))
    monkeypatch.setattr("mcp.server.runner.ServerRunner._on_request", None)
    made = _trace(world, people, spans, params)
    assert _describe(made) == of_the_sdk
    assert {"award.call", "award.account"} <= set(made[0].attributes or {})
