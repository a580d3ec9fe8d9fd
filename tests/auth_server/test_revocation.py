"""Taking access back: by the application, by the person on the dashboard, and who is told of it."""

from typing import Any

import pytest
from sqlalchemy import select

from shared.db.base import transaction
from shared.db.oauth import Consent
from shared.secrets import digest, mint
from tests.auth_server.in_process_browser import Browser, hidden
from tests.auth_server.test_token import basic, confidential


def revoke(browser: Browser, client_id: str | None, token: str | None, **more: Any) -> Any:
    headers = more.pop("headers", {})
    fields = {"client_id": client_id, "token": token, **more}
    return browser.host.post("/oauth/revoke", data={k: v for k, v in fields.items() if v is not None}, headers=headers)


@pytest.mark.spec("s4.1.revoke_either_kind")
def test_a_revoked_access_token_dies_alone(ann: Browser, published_events: list[dict[str, Any]]) -> None:
    tokens = ann.tokens()
    answer = revoke(ann, tokens["client_id"], tokens["access_token"])
    assert (answer.status_code, answer.content) == (200, b"")
    assert not ann.alive(tokens["access_token"])
    assert ann.refresh(tokens["client_id"], tokens["refresh_token"]).status_code == 200
    assert published_events == [{"token": digest(tokens["access_token"])}]


@pytest.mark.spec("s4.1.revoke_either_kind")
def test_a_revoked_refresh_token_takes_every_token_along(ann: Browser, published_events: list[dict[str, Any]]) -> None:
    tokens = ann.tokens()
    family = ann.introspect(tokens["access_token"])["family"]
    second = ann.refresh(tokens["client_id"], tokens["refresh_token"]).json()
    assert revoke(ann, tokens["client_id"], second["refresh_token"]).status_code == 200
    assert not ann.alive(tokens["access_token"])
    assert not ann.alive(second["access_token"])
    assert published_events == [{"family": family}]


def test_a_rotated_refresh_token_revokes_too(ann: Browser) -> None:
    tokens = ann.tokens()
    second = ann.refresh(tokens["client_id"], tokens["refresh_token"]).json()
    assert revoke(ann, tokens["client_id"], tokens["refresh_token"]).status_code == 200
    assert not ann.alive(second["access_token"])


@pytest.mark.parametrize("hint", ["access_token", "refresh_token", "id_token", "\"'", None])
def test_the_hint_makes_no_difference(ann: Browser, hint: str | None) -> None:
    tokens = ann.tokens()
    assert revoke(ann, tokens["client_id"], tokens["access_token"], token_type_hint=hint).status_code == 200
    assert not ann.alive(tokens["access_token"])


def test_unknown_tokens_are_no_error(ann: Browser, published_events: list[dict[str, Any]]) -> None:
    client_id = ann.register()
    for token in ("x", mint("awt_at_"), mint("awt_rt_"), "x" * 4000):
        assert revoke(ann, client_id, token).status_code == 200
    assert published_events == []
    assert revoke(ann, client_id, None).json()["error"] == "invalid_request"
    assert revoke(ann, None, "x").status_code == 401


def test_another_clients_token_stays(ann: Browser) -> None:
    tokens = ann.tokens()
    other = ann.register(client_name="Other")
    assert revoke(ann, other, tokens["access_token"]).json()["error"] == "invalid_grant"
    assert revoke(ann, other, tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert ann.alive(tokens["access_token"])


def test_a_confidential_applications_token_needs_its_secret(ann: Browser) -> None:
    client_id, secret = confidential(ann)
    tokens = ann.redeem(client_id, ann.code(client_id), client_secret=secret).json()
    assert revoke(ann, client_id, tokens["access_token"]).status_code == 401
    assert ann.alive(tokens["access_token"])
    assert revoke(ann, None, tokens["access_token"], headers=basic(client_id, secret)).status_code == 200
    assert not ann.alive(tokens["access_token"])


@pytest.mark.spec("s5.6.revoke_on_page")
def test_disconnecting_on_the_dashboard_ends_everything(ann: Browser, published_events: list[dict[str, Any]]) -> None:
    tokens = ann.tokens()
    other = ann.tokens(ann.register(client_name="Kept"))
    page = ann.get("/dashboard/account").text
    assert "Test application" in page
    answer = ann.post("/dashboard/disconnect", {"csrf": _csrf(page), "client_id": tokens["client_id"]})
    assert (answer.status_code, answer.headers["location"]) == (303, "/dashboard/account?done=disconnected")
    assert not ann.alive(tokens["access_token"])
    assert ann.refresh(tokens["client_id"], tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert ann.alive(other["access_token"])
    assert len(published_events) == 1
    assert "Test application" not in ann.get("/dashboard/account").text
    assert ann.authorize(tokens["client_id"]).status_code == 200


def test_an_application_that_signed_out_on_one_device_is_still_shown_while_another_has_access(ann: Browser) -> None:
    """Hosts that publish a metadata document are one client on every device."""
    one = ann.tokens()
    other = ann.tokens(one["client_id"])
    ann.host.post("/oauth/revoke", data={"token": one["refresh_token"], "client_id": one["client_id"]})
    assert ann.alive(other["access_token"])
    page = ann.get("/dashboard/account").text
    assert page.count("Test application") == 3  # the name, the button and its question
    ann.post("/dashboard/disconnect", {"csrf": _csrf(page), "client_id": one["client_id"]})
    assert not ann.alive(other["access_token"])
    assert ann.refresh(one["client_id"], other["refresh_token"]).status_code == 400
    assert "No application is connected yet" in ann.get("/dashboard/account").text


def _csrf(page: str) -> str:
    return hidden(page[page.index("/dashboard/disconnect") :], "csrf")


def test_nobody_disconnects_another_persons_application(ann: Browser, bob: Browser) -> None:
    tokens = ann.tokens()
    bob.tokens(ann.register(client_name="Bob's"))
    page = bob.get("/dashboard/account").text
    assert "Test application" not in page
    bob.post("/dashboard/disconnect", {"csrf": _csrf(page), "client_id": tokens["client_id"]})
    assert ann.alive(tokens["access_token"])
    with transaction() as session:
        assert len(session.scalars(select(Consent)).all()) == 2


@pytest.mark.parametrize("csrf", ["", "x", "\u00e9"])
def test_disconnecting_needs_the_forms_token(ann: Browser, csrf: str) -> None:
    tokens = ann.tokens()
    assert ann.post("/dashboard/disconnect", {"csrf": csrf, "client_id": tokens["client_id"]}).status_code == 403
    assert ann.alive(tokens["access_token"])


def test_an_event_reaches_redis_after_commit_and_names_no_token(ann: Browser) -> None:
    import json

    from shared.redis import EVENTS, connect

    tokens = ann.tokens()
    listener = connect().pubsub(ignore_subscribe_messages=True)
    listener.subscribe(EVENTS)
    listener.get_message(timeout=2)
    revoke(ann, tokens["client_id"], tokens["access_token"])
    message = listener.get_message(timeout=2)
    listener.close()
    assert message is not None
    assert json.loads(message["data"]) == {"token": digest(tokens["access_token"])}
    assert tokens["access_token"] not in str(message)


def test_a_revocation_holds_while_redis_is_away(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    from redis.exceptions import ConnectionError as RedisAway

    import shared.redis

    class Away:
        def publish(self, *_: Any) -> None:
            raise RedisAway

    tokens = ann.tokens()
    monkeypatch.setattr(shared.redis, "connect", Away)
    monkeypatch.setattr(shared.redis, "_away_until", 0.0)
    assert revoke(ann, tokens["client_id"], tokens["refresh_token"]).status_code == 200
    assert not ann.alive(tokens["access_token"])
