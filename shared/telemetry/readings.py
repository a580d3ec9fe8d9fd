"""Figures read for a scraper from a database or a queue: at most every few seconds, however many ask."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

log = logging.getLogger(__name__)
KEEP_SECONDS = 5.0
Series = Mapping[tuple[str, ...], float]  # values by labels


class Readings(Collector):
    """Gauges whose values `read` fetches together; if it fails, `up` is 0 and none of them is shown."""

    def __init__(
        self,
        up: str,
        gauges: Mapping[str, tuple[str, list[str]]],
        read: Callable[[], Mapping[str, Series]],
        failures: tuple[type[Exception], ...],
    ) -> None:
        """`gauges` are the help text and the labels by name; `read` returns the series by the same names."""
        self.up, self.gauges, self.read, self.failures = up, gauges, read, failures
        self._lock = threading.Lock()
        self._good_until = 0.0
        self._values: Mapping[str, Series] | None = None

    def collect(self) -> Iterable[Metric]:
        with self._lock:  # other callers wait for the same reading
            if time.monotonic() >= self._good_until:
                self._values = self._read()
                self._good_until = time.monotonic() + KEEP_SECONDS
            series = self._values
        yield GaugeMetricFamily(self.up, "Whether the figures next to it could be read.", 0 if series is None else 1)
        for name, (text, labels) in self.gauges.items() if series is not None else ():
            metric = GaugeMetricFamily(name, text, labels=labels)
            for key, value in (series or {}).get(name, {}).items():
                metric.add_metric(list(key), value)
            yield metric

    def _read(self) -> Mapping[str, Series] | None:
        try:
            return self.read()
        except self.failures as error:
            log.warning("metrics: figures of %s could not be read (%s)", self.up, type(error).__name__)
            return None
