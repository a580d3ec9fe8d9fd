"""A second service with all that is set when a service starts: its servers, a collector, an enterprise and a model."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from joserfc.jwk import ECKey

from deploy.local.private_servers import Valkey
from tests.conftest import copied_database
from tests.jobs.model_server import ModelServer, model_server
from tests.support.service import Service, folder_for_homes, shared
from tests.support.trace_collector import Collector, collecting

ISSUER = "https://login.acme.example"
KEY = ECKey.generate_key("P-256", {"use": "sig"}, auto_kid=True)
_ENTERPRISE = {"jwks": {"keys": [KEY.as_dict(private=False)]}, "accounts": "email", "email_domains": ["example.test"]}


@pytest.fixture(scope="session")
def collector() -> Iterator[Collector]:
    with collecting() as running:
        yield running


@pytest.fixture(scope="session")
def model() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture(scope="session")
def equipped(pytestconfig: Any, collector: Collector, model: ModelServer) -> Iterator[Service]:
    with folder_for_homes() as folder, copied_database(pytestconfig) as database:
        valkey = Valkey(folder, durable=False).start()
        settings = {
            "DATABASE_URL": database,
            "REDIS_URL": valkey.url,
            "APP_ENV": "development",
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_EXPORTER_OTLP_HEADERS": "x-key=of a collector",
            "ENTERPRISE_ISSUERS": json.dumps({ISSUER: _ENTERPRISE}),
            "STANDING_ORDER_MODEL": "model-1",
            "STANDING_ORDER_MODEL_URL": model.address,
            "STANDING_ORDER_MODEL_KIND": "openai",
        }
        with shared("equipped", folder, **settings) as running:
            yield running
        valkey.stop()
