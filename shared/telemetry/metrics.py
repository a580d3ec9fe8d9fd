"""The metrics of the service: what is counted and measured, under which name and with which labels.

Every metric has labels, and each label has few values, all words of this program: no metric grows with
accounts or with what people write. A metric without labels would open its file while this module is imported.
"""

from functools import lru_cache
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY = CollectorRegistry()  # of only this process; a scraper reads what all processes of a program have counted
_CALL_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25)
_WAIT_BUCKETS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60)

TOOL_CALLS = Counter("award_tool_calls", "Calls of tools that ended.", ["tool", "outcome"], registry=REGISTRY)
TOOL_SECONDS = Histogram(
    "award_tool_call_seconds", "How long calls took.", ["tool"], buckets=_CALL_BUCKETS, registry=REGISTRY
)
GATE_REFUSALS = Counter(
    "award_gate_refusals", "Requests refused before any tool, by status.", ["status"], registry=REGISTRY
)
BEARER_CHECKS = Counter(
    "award_bearer_checks",
    "Tokens and keys checked: remembered, looked up, refused.",
    ["kind", "result"],
    registry=REGISTRY,
)
HTTP_RESPONSES = Counter(
    "award_http_responses", "Answers of a server, by class of status.", ["program", "status"], registry=REGISTRY
)
PROVIDER_REQUESTS = Counter(
    "award_provider_requests",
    "Requests to providers, by their end.",
    ["provider", "outcome"],
    registry=REGISTRY,
)
PROVIDER_SECONDS = Histogram(
    "award_provider_request_seconds", "How long providers took.", ["provider"], buckets=_WAIT_BUCKETS, registry=REGISTRY
)
RUN_ATTEMPTS = Counter("award_runs", "Attempts at runs of jobs that ended.", ["kind", "outcome"], registry=REGISTRY)
RUN_SECONDS = Histogram("award_run_seconds", "How long they took.", ["kind"], buckets=_WAIT_BUCKETS, registry=REGISTRY)
DELIVERY_ATTEMPTS = Counter(
    "award_deliveries", "Attempts to deliver messages that ended.", ["channel", "outcome"], registry=REGISTRY
)
INBOUND_MAILS = Counter("award_inbound_mails", "Forwarded mails, by what was answered.", ["outcome"], registry=REGISTRY)
SWEPT_ROWS = Counter("award_swept_rows", "Rows removed by housekeeping.", ["table"], registry=REGISTRY)
WORKERS_REPLACED = Counter(
    "award_workers_replaced",
    "Workers of a server that died or hung.",
    ["program"],
    registry=REGISTRY,
)
POOL_IN_USE = Gauge(
    "award_database_connections_in_use",
    "Connections taken from a pool.",
    ["program", "pool"],
    registry=REGISTRY,
    multiprocess_mode="livesum",
)
POOL_SIZE = Gauge(
    "award_database_pool_size",
    "Connections that a pool may hold, of all processes.",
    ["program", "pool"],
    registry=REGISTRY,
    multiprocess_mode="livesum",
)


@lru_cache(maxsize=4096)
def get_series(metric: Any, *labels: str) -> Any:
    """The series of a metric with these labels; cached, as finding it would take longer than counting."""
    return metric.labels(*labels)


def count(metric: Counter, *labels: str, amount: int = 1) -> None:
    get_series(metric, *labels).inc(amount)


def observe(metric: Histogram, seconds: float, *labels: str) -> None:
    get_series(metric, *labels).observe(seconds)


def note_call(tool: str, outcome: str, seconds: float) -> None:
    """Counts one ended call. `tool` is a registered name, or `unknown`."""
    count(TOOL_CALLS, tool, outcome)
    observe(TOOL_SECONDS, seconds, tool)
