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
_EXPORT_SECONDS = 3.0  # that a collector has for one batch; what it does not take is lost
_MAX_TEXT = 500  # characters of an attribute
_NOTHING: AbstractContextManager[None] = nullcontext()
_tracer: trace.Tracer | None = None
_provider: "TracerProvider | None" = None


def start_tracing(program: str) -> None:
    """From here on this process makes spans, if a collector is named. Without the packages it says so and works on."""
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

    from shared.telemetry.collector_session import open_session  # its packages come with the extra, as these do

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
        sampler=ParentBased(share, remote_parent_sampled=share),  # a stranger's request does not decide for us
        span_limits=SpanLimits(max_span_attributes=32, max_attribute_length=_MAX_TEXT),
    )
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def preload() -> None:
    """Loads the packages, if a collector is named, before processes are forked that would load them one by one."""
    if settings().otel_exporter_otlp_endpoint is not None:
        with suppress(ImportError):
            import opentelemetry.exporter.otlp.proto.http.trace_exporter
            import opentelemetry.sdk.trace.export  # noqa: F401


def is_tracing() -> bool:
    return _tracer is not None


def flush_spans() -> None:
    """Sends what waits, before a process ends that lives for one job."""
    if _provider is not None:
        _provider.force_flush(int(_EXPORT_SECONDS * 1000))


def span(name: str, parent: Mapping[str, str] | None = None, **attributes: str | int) -> AbstractContextManager[None]:
    """Around a piece of work. `parent` are the headers or the kept traceparent that it continues from.

    An exception that leaves it is noted by its type alone: what it says may quote a person.
    """
    return _NOTHING if _tracer is None else _open_span(_tracer, name, parent, attributes)


@contextmanager
def _open_span(
    tracer: trace.Tracer, name: str, parent: Mapping[str, str] | None, attributes: Mapping[str, str | int]
) -> Iterator[None]:
    context = propagate.extract(parent, get_current()) if parent else None  # what names no trace leaves it at this one
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
    """The span under way ended in a failure that no exception tells of."""
    if _tracer is not None:
        trace.get_current_span().set_status(StatusCode.ERROR)


def start_statement(statement: str) -> Any:
    """A span of a statement of the database, which holds no values; None without tracing or outside of any trace."""
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
    """What a row keeps of the trace under way (W3C Trace Context), so that later work continues with it."""
    return get_trace_headers().get("traceparent")


def get_trace_headers() -> dict[str, str]:
    """What a request to another program of ours carries of the trace under way."""
    headers: dict[str, str] = {}
    if _tracer is not None:
        propagate.inject(headers)
    return headers


def read_traceparent(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """What a request brought of the caller's trace."""
    if _tracer is None:
        return {}
    return {name.decode(): value.decode("latin-1") for name, value in headers if name == b"traceparent"}


def name_request(program: str, scope: Mapping[str, Any]) -> str:
    """Method and first part of the path alone: what follows can be a secret."""
    return f"{program} {scope['method']} /{scope['path'].split('/', 2)[1][:40]}"


def continue_trace(traceparent: str | None) -> dict[str, str]:
    return {"traceparent": traceparent} if traceparent else {}
