"""What is kept and for how long: no secret in the database or the logs, and what has expired goes."""

import logging
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, func, select, text

from auth_server.sweep import sweep
from shared import clock
from shared.db import sweeping
from shared.db.accounts import Account
from shared.db.base import Base, engine, transaction
from shared.db.connections import Connection
from shared.db.oauth import AccessToken, AuthorizationCode, Client, Consent, Family, RefreshToken, WebSession
from tests.auth_server.in_process_browser import PASSWORD, VERIFIER, Browser, hidden


def whole_database() -> str:
    """Every column of every table, as one text."""
    rows = []
    with engine().connect() as connection:
        for table in Base.metadata.sorted_tables:
            rows += [str(tuple(row)) for row in connection.execute(select(table))]
    return "\n".join(rows)


def every_flow(ann: Browser) -> set[str]:
    """Goes through everything that mints a secret; the secrets."""
    client_id = ann.register()
    secrets = {PASSWORD, VERIFIER}
    page = ann.get("/signin")
    secrets |= {ann.cookie or "", hidden(page.text, "csrf")}
    ann.sign_in()
    code = ann.code(client_id)
    first = ann.redeem(client_id, code).json()
    second = ann.refresh(client_id, first["refresh_token"]).json()
    ann.refresh(client_id, first["refresh_token"])
    ann.redeem(client_id, code, code_verifier="w" * 64)
    ann.authorize(client_id, prompt="consent")
    ann.introspect(second["access_token"])
    ann.host.post("/oauth/revoke", data={"client_id": client_id, "token": second["refresh_token"]})
    tokens = {answer[kind] for answer in (first, second) for kind in ("access_token", "refresh_token")}
    return secrets | tokens | {code, ann.cookie or "", "w" * 64}


def test_no_secret_is_in_the_database(ann: Browser) -> None:
    secrets = every_flow(ann)
    stored = whole_database()
    assert len(secrets) >= 10
    assert "ann@example.test" in stored
    assert [s for s in secrets if s in stored] == []


def test_no_secret_is_in_the_logs(ann: Browser, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("sqlalchemy.engine").setLevel(logging.WARNING)
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # the test's own client
    secrets = every_flow(ann)
    messages = [r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "asyncio"))]
    assert [s for s in secrets if any(s in line for line in messages)] == []


@pytest.mark.usefixtures("real_hashing")
def test_passwords_are_stored_with_the_chosen_profile(ann: Browser) -> None:
    with transaction() as session:
        stored = session.scalars(select(Account.password_hash)).one()
    assert (stored or "").startswith("$argon2id$v=19$m=19456,t=2,p=1$")


def count(model: type[Base]) -> int:
    with transaction() as session:
        return session.scalar(select(func.count()).select_from(model)) or 0


def test_a_fresh_vault_loses_nothing(ann: Browser) -> None:
    ann.tokens()
    models = (WebSession, AccessToken, RefreshToken, AuthorizationCode, Family, Client, Consent)
    before = [count(m) for m in models]
    assert sum(sweep().values()) == 0
    assert [count(m) for m in models] == before


def test_what_has_expired_goes_and_what_lives_stays(ann: Browser, later: Any) -> None:
    first = ann.tokens()
    second = ann.refresh(first["client_id"], first["refresh_token"]).json()
    ann.register(client_name="Never allowed")
    later(timedelta(days=8))
    sweep()
    assert (count(AccessToken), count(AuthorizationCode), count(RefreshToken)) == (0, 0, 2)
    assert (count(Client), count(Family)) == (2, 1)
    later(timedelta(days=24))
    sweep()
    assert (count(WebSession), count(Client)) == (0, 1)
    later(timedelta(days=60))
    sweep()
    assert (count(RefreshToken), count(Family), count(Consent)) == (1, 1, 1)
    assert ann.refresh(first["client_id"], second["refresh_token"]).status_code == 200


def test_sealed_successors_are_cleared_after_the_window(ann: Browser, later: Any) -> None:
    first = ann.tokens()
    ann.refresh(first["client_id"], first["refresh_token"])
    later(timedelta(minutes=61))
    sweep()
    with transaction() as session:
        assert session.scalars(select(RefreshToken.successor_sealed)).all() == [None, None]


def test_unredeemed_and_long_revoked_authorizations_go(ann: Browser, later: Any) -> None:
    client_id = ann.register()
    ann.code(client_id)
    tokens = ann.tokens(client_id)
    ann.host.post("/oauth/revoke", data={"client_id": client_id, "token": tokens["refresh_token"]})
    later(timedelta(days=15))
    sweep()
    assert count(Family) == 1
    later(timedelta(days=91))
    sweep()
    assert (count(Family), count(RefreshToken)) == (0, 0)


def test_a_connection_nobody_came_back_to_is_closed_and_one_that_was_made_stays(ann: Browser) -> None:
    ann.sign_in()
    soon, over = clock.now() + timedelta(minutes=5), clock.now() - timedelta(minutes=5)
    with transaction() as session:
        account_id = session.scalars(select(Account.id)).first()
        for provider, state, until in (("a", "pending", over), ("b", "connected", over), ("c", "pending", soon)):
            link = {"provider": provider, "state": state, "state_hash": provider, "pending_until": until}
            session.add(Connection(account_id=account_id, pending_sealed="x", **link))
    sweep()
    with transaction() as session:
        rows = session.scalars(select(Connection).order_by(Connection.provider)).all()
        connections = [(row.state, row.state_hash, row.pending_sealed) for row in rows]
    assert connections == [("disconnected", None, None), ("connected", None, None), ("pending", "c", "x")]


def test_one_sweeper_at_a_time(ann: Browser) -> None:
    from auth_server.sweep import LOCK

    with engine().connect() as other:
        other.execute(text("select pg_advisory_lock(:n)"), {"n": LOCK})
        assert sweep() == {}
        other.execute(text("select pg_advisory_unlock(:n)"), {"n": LOCK})
    assert sweep() != {}


def _store_tokens(ann: Browser, number: int, ended: timedelta) -> None:
    """Access tokens that ended so long ago, each in a family of its own as old as it."""
    client_id = ann.register(client_name="Of many tokens")
    at = clock.now() - ended
    with transaction() as session:
        account_id = session.scalars(select(Account.id)).one()
        for name in map(str, range(number)):
            session.add(Family(id=name, account_id=account_id, client_id=client_id, created_at=at))
            session.flush()
            facts = {"client_id": client_id, "scope": "s", "resource": "r", "issued_at": at, "expires_at": at}
            session.add(AccessToken(token_hash=name, family_id=name, **facts))


def test_many_expired_tokens_go_in_portions_and_their_families_follow(
    ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann.tokens()
    living = count(AccessToken), count(Family)
    _store_tokens(ann, 11, timedelta(days=40))
    monkeypatch.setattr(sweeping, "PORTION", 3)
    commits: list[object] = []
    note = commits.append
    event.listen(engine(), "commit", note)
    try:
        removed = sweep()
    finally:
        event.remove(engine(), "commit", note)
    assert removed["oauth_access_tokens"] == 11
    assert len(commits) > 11 / 3
    removed_families = removed["oauth_families"] + sweep()["oauth_families"]
    assert (removed_families, count(AccessToken), count(Family)) == (11, *living)


def test_a_sweep_that_is_interrupted_has_removed_what_it_came_to(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    ann.sign_in()
    _store_tokens(ann, 9, timedelta(days=40))
    monkeypatch.setattr(sweeping, "PORTION", 2)
    moments = iter(range(1000))
    monkeypatch.setattr(sweeping, "monotonic", lambda: next(moments))
    monkeypatch.setattr("auth_server.sweep.monotonic", lambda: 0)
    assert sweep(2)["oauth_access_tokens"] == 4  # of two rounds
    assert count(AccessToken) == 5
    monkeypatch.undo()
    assert sweep()["oauth_access_tokens"] == 5


def test_a_deleted_account_takes_everything_along(ann: Browser) -> None:
    tokens = ann.tokens()
    with transaction() as session:
        session.delete(session.scalars(select(Account)).one())
    assert [count(m) for m in (WebSession, Consent, Family, AuthorizationCode, AccessToken, RefreshToken)] == [0] * 6
    assert not ann.alive(tokens["access_token"])
    assert ann.refresh(tokens["client_id"], tokens["refresh_token"]).json()["error"] == "invalid_grant"
