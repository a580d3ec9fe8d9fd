"""The metrics of all programs of a home, at one address."""

import contextlib
from collections.abc import Iterator

from deploy.local.ports import choose_port
from deploy.local.stack import Stack


@contextlib.contextmanager
def showing_metrics(stack: Stack) -> Iterator[str]:
    """Yields the address; the port is METRICS_PORT, or a free one saved in the home."""
    from shared.db.metrics import collect_database
    from shared.services.operations.metrics import collect_queue
    from shared.settings import settings
    from shared.telemetry.metrics_address import PATH, BuildInfo, listening
    from shared.telemetry.shared_counts import SharedCounts

    port = choose_port(stack.home, "metrics", settings().metrics_port or 0)
    host = settings().metrics_host
    collectors = (SharedCounts(stack.home.metrics), BuildInfo("up"), collect_database(), collect_queue())
    with listening(host, port, *collectors):
        yield f"http://{host}:{port}{PATH}"
