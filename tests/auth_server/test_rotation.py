"""Refreshes as requests: many at once, over lost connections, and against the limit of their address."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient

from auth_server.app import create_app
from shared.db.base import engine, transaction
from shared.db.oauth import AccessToken, RefreshToken
from shared.secrets import mint
from shared.settings import settings
from tests.auth_server.in_process_browser import BASE, RESOURCE, Browser


def rows() -> tuple[int, int, int]:
    """How many access tokens, refresh tokens and rotations there are."""
    with transaction() as session:
        access, refresh, ended = (
            session.scalar(select(func.count(column)))
            for column in (AccessToken.token_hash, RefreshToken.token_hash, RefreshToken.rotated_at)
        )
    return access or 0, refresh or 0, ended or 0


@pytest.mark.spec("s5.5.refresh_grant_form")
def test_a_refresh_gives_tokens_for_the_resource(ann: Browser) -> None:
    first = ann.tokens()
    second = ann.refresh(first["client_id"], first["refresh_token"], scope="mcp:read", resource=RESOURCE)
    assert second.status_code == 200
    assert second.headers["cache-control"] == "no-store"
    assert second.headers["pragma"] == "no-cache"
    assert ann.introspect(second.json()["access_token"])["aud"] == RESOURCE


def test_refreshes_of_many_lines_at_once_each_get_their_own(ann: Browser) -> None:
    lines = [ann.tokens() for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda line: ann.refresh(line["client_id"], line["refresh_token"]), lines))
    assert [a.status_code for a in answers] == [200] * 8
    ours = [ann.introspect(line["access_token"])["family"] for line in lines]
    assert [ann.introspect(a.json()["access_token"])["family"] for a in answers] == ours
    assert rows() == (16, 16, 8)


def test_a_connection_that_died_in_the_pool_costs_no_refresh(ann: Browser) -> None:
    first = ann.tokens()
    second = ann.refresh(first["client_id"], first["refresh_token"]).json()
    with transaction() as session:
        others = "pid <> pg_backend_pid() and datname = current_database()"
        session.execute(text(f"select pg_terminate_backend(pid) from pg_stat_activity where {others}"))
    assert ann.refresh(first["client_id"], second["refresh_token"]).status_code == 200
    engine().dispose()  # connections died within the time they are taken to be alive


def test_a_failed_statement_rotates_nothing_and_the_next_works(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ann.tokens()

    def fail(*_: Any, **__: Any) -> Any:
        raise OperationalError("update", {}, Exception("gone"))

    with monkeypatch.context() as broken:
        broken.setattr("auth_server.oauth.server.store_tokens", fail)
        answer = ann.refresh(first["client_id"], first["refresh_token"])
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert ann.refresh(first["client_id"], first["refresh_token"]).status_code == 200


def test_a_refresh_counts_once_against_the_limit_of_its_address(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auth_server.web.rate_limit.PER_MINUTE", 4)
    first, far = ann.tokens(), TestClient(create_app(), base_url=BASE, client=("203.0.113.9", 1))
    form = {"grant_type": "refresh_token", "client_id": first["client_id"], "refresh_token": first["refresh_token"]}
    unknown = form | {"refresh_token": mint("awt_rt_")}
    answers = [far.post("/oauth/token", data=data) for data in (form, unknown, form, unknown, form)]
    assert [a.status_code for a in answers] == [200, 400, 200, 400, 429]
    assert 0 < int(answers[4].headers["retry-after"]) <= 60


def test_the_services_own_name_opens_no_line(ann: Browser) -> None:
    first = ann.tokens()
    assert ann.refresh(settings().service_client_id, first["refresh_token"]).status_code == 401
