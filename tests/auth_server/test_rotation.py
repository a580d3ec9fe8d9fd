"""The one statement of ordinary refreshes: it rotates what is in order, leaves all else alone, and never waits."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, text, update
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient

from auth_server.app import create_app
from shared import clock
from shared.db.accounts import Account
from shared.db.base import engine, transaction
from shared.db.oauth import AccessToken, Client, Family, RefreshToken, Rotation, rotate
from shared.secrets import digest, mint
from shared.settings import settings
from tests.auth_server.in_process_browser import BASE, RESOURCE, Browser


def make_rotation(tokens: dict[str, Any], **changed: Any) -> Rotation:
    """A good rotation of a token answer's refresh token."""
    after = {"sealed": "sealed", "access": digest(mint("a")), "refresh": digest(mint("r"))}
    whole = Rotation(digest(tokens["refresh_token"]), tokens["client_id"], None, **after)
    return replace(whole, **changed)


def rotate_now(*rotations: Rotation) -> dict[str, str]:
    now = clock.now()
    return rotate(list(rotations), now, now + timedelta(hours=1))


def rows() -> tuple[int, int, int]:
    """How many access tokens, refresh tokens and rotations there are."""
    with transaction() as session:
        access, refresh, ended = (
            session.scalar(select(func.count(column)))
            for column in (AccessToken.token_hash, RefreshToken.token_hash, RefreshToken.rotated_at)
        )
    return access or 0, refresh or 0, ended or 0


def test_one_statement_rotates_several_lines(ann: Browser) -> None:
    lines = [make_rotation(ann.tokens()) for _ in range(3)]
    assert rotate_now(*lines) == {line.refresh: "mcp:read openid email" for line in lines}
    assert rows() == (6, 6, 3)


def test_the_same_token_twice_in_one_statement_has_one_successor(ann: Browser) -> None:
    first = ann.tokens()
    assert len(rotate_now(make_rotation(first), make_rotation(first))) == 1
    assert rows() == (2, 2, 1)


def _token_is_rotated() -> Any:
    return update(RefreshToken).values(rotated_at=RefreshToken.issued_at)


def _token_is_revoked() -> Any:
    return update(RefreshToken).values(revoked_at=RefreshToken.issued_at)


def _family_is_revoked() -> Any:
    return update(Family).values(revoked_at=Family.created_at)


def _account_is_disabled() -> Any:
    return update(Account).values(disabled_at=Account.created_at)


def _client_is_disabled() -> Any:
    return update(Client).values(disabled_at=Client.created_at)


def _client_has_a_secret() -> Any:
    return update(Client).values(auth_method="client_secret", secret_hash=digest("s"))


@pytest.mark.parametrize(
    "state",
    [
        _token_is_rotated,
        _token_is_revoked,
        _family_is_revoked,
        _account_is_disabled,
        _client_is_disabled,
        _client_has_a_secret,
    ],
)
def test_what_is_not_in_order_is_left_alone(ann: Browser, state: Any) -> None:
    first = ann.tokens()
    with transaction() as session:
        session.execute(state())
    before = rows()
    assert rotate_now(make_rotation(first)) == {}
    assert rows() == before


def test_a_line_of_another_client_resource_or_token_is_left_alone(ann: Browser) -> None:
    first = ann.tokens()
    wrong = [
        {"client_id": ann.register(client_name="Other")},
        {"resource": f"{RESOURCE}/x"},
        {"old": digest(first["access_token"])},
    ]
    assert rotate_now(*(make_rotation(first, **changed) for changed in wrong)) == {}
    assert rows() == (1, 1, 0)
    assert len(rotate_now(make_rotation(first, resource=RESOURCE))) == 1


def test_one_line_in_disorder_does_not_hold_up_the_others(ann: Browser) -> None:
    good, bad = make_rotation(ann.tokens()), make_rotation(ann.tokens(), client_id="nobody")
    assert rotate_now(bad, good).keys() == {good.refresh}


@pytest.mark.parametrize("lock", ["select 1 from oauth_refresh_tokens for update", "delete from oauth_families"])
def test_a_row_somebody_else_holds_is_not_waited_for(ann: Browser, lock: str) -> None:
    first = ann.tokens()
    with transaction() as session:
        session.execute(text(lock))
        assert rotate_now(make_rotation(first)) == {}
        session.rollback()
    assert len(rotate_now(make_rotation(first))) == 1


@pytest.mark.spec("s5.5.refresh_grant_form")
def test_an_ordinary_refresh_takes_the_one_statement_alone(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ann.tokens()

    async def never(*_: Any, **__: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr("auth_server.oauth.token_endpoint.run_counted", never)
    second = ann.refresh(first["client_id"], first["refresh_token"], scope="mcp:read", resource=RESOURCE)
    assert second.status_code == 200
    assert second.headers["cache-control"] == "no-store"
    assert second.headers["pragma"] == "no-cache"
    assert ann.introspect(second.json()["access_token"])["aud"] == RESOURCE


def test_both_ways_of_a_refresh_give_the_same_answer(ann: Browser) -> None:
    first = ann.tokens()
    plain = ann.refresh(first["client_id"], first["refresh_token"])
    careful = ann.refresh(first["client_id"], plain.json()["refresh_token"], something="unusual")
    for name in ("token_type", "expires_in", "scope"):
        assert plain.json()[name] == careful.json()[name]
    assert plain.json().keys() == careful.json().keys()
    assert {k: v for k, v in plain.headers.items() if k != "date"} == {
        k: v for k, v in careful.headers.items() if k != "date"
    }


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

    def away(*_: Any) -> Any:
        raise OperationalError("update", {}, Exception("gone"))

    with monkeypatch.context() as broken:
        broken.setattr("auth_server.oauth.refresh.rotate", away)
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
