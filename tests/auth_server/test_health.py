"""Health: liveness, readiness, and what a lost database does to requests."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from shared.db import health
from shared.db.schema_version import Schema
from tests.auth_server.in_process_browser import Browser


def test_health_is_told_to_anyone(host: TestClient) -> None:
    answer = host.get("/healthz", headers={"host": "10.0.0.7"})
    assert answer.json() == {"status": "Online", "version": "0.4.0", "data_mode": "sandbox"}
    ready = host.get("/readyz", headers={"host": "10.0.0.7"})
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")


def test_not_ready_without_database_or_with_another_schema(host: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlalchemy.exc import OperationalError

    def away() -> Any:
        raise OperationalError("select", {}, Exception("gone"))

    health._check_schema.cache_clear()
    monkeypatch.setattr("shared.db.health.read_schema", lambda url: Schema("0001", "0002", "0001"))
    answer = host.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "not ready")
    assert "award-travel migrate" in answer.json()["reason"]
    monkeypatch.setattr(health, "engine", away)
    assert "does not answer" in host.get("/readyz").json()["reason"]


def test_a_lost_database_is_503_with_retry_after_and_spends_nothing(
    ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy.exc import OperationalError

    client_id = ann.register()
    code = ann.code(client_id)

    def away(*_: Any) -> Any:
        raise OperationalError("update", {}, Exception("gone"))

    with monkeypatch.context() as broken:
        broken.setattr("auth_server.oauth.server.Server.save_token", away)
        answer = ann.redeem(client_id, code)
    assert answer.status_code == 503
    assert "retry-after" in answer.headers
    assert ann.redeem(client_id, code).status_code == 200
