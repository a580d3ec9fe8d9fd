"""Traces by OpenTelemetry, sent to a collector (OTLP over HTTP) where OTEL_EXPORTER_OTLP_ENDPOINT is set.

Without that setting nothing of OpenTelemetry's SDK is loaded, and a span is a context manager that does nothing.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from opentelemetry import propagate, trace
from opentelemetry.context import get_current
from opentelemetry.trace import SpanKind, Status, StatusCode

from shared.settings import VERSION, settings
from shared.telemetry.call_context import get_context

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

log = logging.getLogger(__name__)
_EXPORT_SECONDS = 3.0  # for a collector to accept one batch; otherwise it is lost
_MAX_TEXT = 500  # characters of an attribute
_NOTHING: AbstractContextManager[None] = nullcontext()
_tracer: trace.Tracer | None = None
_provider: "TracerProvider | None" = None


def start_tracing(program: str) -> None:
    """Starts to make spans, if a collector is named. Without the packages logs that, and continues."""
    global _tracer, _provider
    endpoint = settings().otel_exporter_otlp_endpoint
    if endpoint is None or _tracer is not None:
        return
    try:
        _provider = _build_provider(program, endpoint)
    except ImportError:
        log.error("traces: OpenTelemetry is not installed, so there are none: pip install 'award-travel[telemetry]'")
        return
    trace.set_tracer_provider(_provider)
    _tracer = _provider.get_tracer("award_travel", VERSION)


def _build_provider(program: str, endpoint: str) -> "TracerProvider":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import SpanLimits, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    from shared.telemetry.collector_session import open_session  # its packages come with the same extra

    config = settings()
    facts = {"service.name": f"award-travel-{program}", "service.version": VERSION, "deployment.mode": config.data_mode}
    secret = config.otel_exporter_otlp_headers
    pairs = (pair.partition("=") for pair in (secret.get_secret_value() if secret else "").split(",") if "=" in pair)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    address = f"{endpoint.rstrip('/')}/v1/traces"
    exporter = OTLPSpanExporter(address, headers=headers, timeout=_EXPORT_SECONDS, session=open_session())
    share = TraceIdRatioBased(config.otel_traces_sampler_arg)
    provider = TracerProvider(
        resource=Resource.create(facts),
        sampler=ParentBased(share, remote_parent_sampled=share),  # a stranger's request must not decide for us
        span_limits=SpanLimits(max_span_attributes=32, max_attribute_length=_MAX_TEXT),
    )
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def preload() -> None:
    """Loads the packages, if a collector is named, before the fork, so that processes need not each load them."""
    if settings().otel_exporter_otlp_endpoint is not None:
        with suppress(ImportError):
            import opentelemetry.exporter.otlp.proto.http.trace_exporter
            import opentelemetry.sdk.trace.export  # noqa: F401


def is_tracing() -> bool:
    return _tracer is not None


def flush_spans() -> None:
    """Sends waiting spans before a one-job process ends."""
    if _provider is not None:
        _provider.force_flush(int(_EXPORT_SECONDS * 1000))


def span(name: str, parent: Mapping[str, str] | None = None, **attributes: str | int) -> AbstractContextManager[None]:
    """A span around a piece of work. `parent` has the headers or stored traceparent to continue from.

    An exception that leaves it is noted only by its type: what it says may quote a person.
    """
    return _NOTHING if _tracer is None else _open_span(_tracer, name, parent, attributes)


@contextmanager
def _open_span(
    tracer: trace.Tracer, name: str, parent: Mapping[str, str] | None, attributes: Mapping[str, str | int]
) -> Iterator[None]:
    context = propagate.extract(parent, get_current()) if parent else None  # if it names no trace, this one stays
    work = get_context()
    labels = {**attributes, **({"award.call": work.id, "award.account": work.account} if work else {})}
    with tracer.start_as_current_span(
        name,
        context,
        SpanKind.SERVER if parent is not None else SpanKind.INTERNAL,
        labels,
        record_exception=False,
        set_status_on_exception=False,
    ) as current:
        try:
            yield
        except Exception as error:
            current.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise


def mark_failed() -> None:
    """Marks the current span as failed where no exception says so."""
    if _tracer is not None:
        trace.get_current_span().set_status(StatusCode.ERROR)


def start_statement(statement: str) -> Any:
    """Starts a span for a database statement, without its values; None without tracing or outside any trace."""
    if _tracer is None or not trace.get_current_span().is_recording():
        return None
    labels = {"db.system.name": "postgresql", "db.query.text": statement.strip()[:_MAX_TEXT]}
    name = (statement.split(None, 1) or ["statement"])[0].upper()[:12]
    return _tracer.start_span(f"db {name}", kind=SpanKind.CLIENT, attributes=labels)


def end_statement(statement_span: Any, error: BaseException | None = None) -> None:
    if statement_span is not None:
        if error is not None:
            statement_span.set_status(Status(StatusCode.ERROR, type(error).__name__))
        statement_span.end()


def get_traceparent() -> str | None:
    """The current trace to store in a row (W3C Trace Context), so that later work continues it."""
    return get_trace_headers().get("traceparent")


def get_trace_headers() -> dict[str, str]:
    """Headers that pass the current trace to another program of ours."""
    headers: dict[str, str] = {}
    if _tracer is not None:
        propagate.inject(headers)
    return headers


def read_traceparent(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """The caller's trace from a request's headers."""
    if _tracer is None:
        return {}
    return {name.decode(): value.decode("latin-1") for name, value in headers if name == b"traceparent"}


def name_request(program: str, scope: Mapping[str, Any]) -> str:
    """Only the method and the first part of the path: the rest can be a secret."""
    return f"{program} {scope['method']} /{scope['path'].split('/', 2)[1][:40]}"


def continue_trace(traceparent: str | None) -> dict[str, str]:
    return {"traceparent": traceparent} if traceparent else {}
