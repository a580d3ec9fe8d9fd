"""Connections to a collector of traces, with the same trust as the service's others."""

from typing import Any

from requests import Session
from requests.adapters import HTTPAdapter

from shared.tls import build_context


class _Adapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, ssl_context=build_context("otlp"), **options)


def open_session() -> Session:
    """For the exporter of OpenTelemetry, which by itself knows only the authorities that come with requests."""
    session = Session()
    session.mount("https://", _Adapter())
    return session
