"""Refresh: one line of descent, however often a client retries, and what a thief's replay does to it."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.oauth import Family, RefreshToken
from tests.auth_server.in_process_browser import RESOURCE, Browser


def error_of(answer: Any) -> str:
    assert answer.status_code in (400, 401)
    assert "access_token" not in answer.text
    return str(answer.json()["error"])


@pytest.mark.spec("s5.5.refresh_grant_form")
def test_every_refresh_gives_a_new_pair_and_the_old_access_token_lives_on(ann: Browser) -> None:
    first = ann.tokens()
    second = ann.refresh(first["client_id"], first["refresh_token"]).json()
    assert second["refresh_token"] != first["refresh_token"]
    assert second["access_token"] != first["access_token"]
    assert ann.alive(first["access_token"])
    assert ann.alive(second["access_token"])


@pytest.mark.spec("s5.6.refresh_token_no_expiry")
def test_a_refresh_token_does_not_expire_with_time(ann: Browser, later: Any) -> None:
    first = ann.tokens()
    later(timedelta(days=3650))
    assert ann.refresh(first["client_id"], first["refresh_token"]).status_code == 200


def test_a_lost_answer_can_be_asked_for_again(ann: Browser) -> None:
    first = ann.tokens()
    once = ann.refresh(first["client_id"], first["refresh_token"]).json()
    again = ann.refresh(first["client_id"], first["refresh_token"]).json()
    assert again["refresh_token"] == once["refresh_token"]
    assert again["access_token"] != once["access_token"]
    assert ann.alive(again["access_token"])
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(RefreshToken)) == 2


def test_a_program_that_kept_a_retired_token_signs_nobody_out(ann: Browser, later: Any) -> None:
    first = ann.tokens()
    client_id = first["client_id"]
    second = ann.refresh(client_id, first["refresh_token"]).json()
    for minutes in (2, 30, 27):
        later(timedelta(minutes=minutes))
        late = ann.refresh(client_id, first["refresh_token"])
        assert error_of(late) == "invalid_grant"
        assert "was replaced" in late.json()["error_description"]
    assert ann.alive(second["access_token"])
    third = ann.refresh(client_id, second["refresh_token"])
    assert third.status_code == 200
    later(timedelta(seconds=61))
    assert error_of(ann.refresh(client_id, second["refresh_token"])) == "invalid_grant"
    assert ann.alive(third.json()["access_token"])
    assert error_of(ann.refresh(client_id, first["refresh_token"])) == "invalid_grant"  # its successor was used
    assert not ann.alive(third.json()["access_token"])


def test_what_a_thief_refreshed_first_ends_when_the_owner_lets_the_application_in_again(
    ann: Browser, bob: Browser, later: Any, published_events: list[dict[str, Any]]
) -> None:
    mine, other = ann.tokens(), ann.tokens()  # of one application, and of the same one elsewhere
    client_id = mine["client_id"]
    theirs = bob.tokens(client_id)
    stolen = ann.refresh(client_id, mine["refresh_token"]).json()
    family = ann.introspect(stolen["access_token"])["family"]
    later(timedelta(minutes=5))
    assert error_of(ann.refresh(client_id, mine["refresh_token"])) == "invalid_grant"
    assert ann.alive(stolen["access_token"])
    again = ann.tokens(client_id)
    assert published_events == [{"family": family}]
    assert not ann.alive(stolen["access_token"])
    assert error_of(ann.refresh(client_id, stolen["refresh_token"])) == "invalid_grant"
    assert [ann.alive(line["access_token"]) for line in (again, other, theirs)] == [True] * 3


def test_a_late_token_is_no_cause_for_suspicion_after_a_day(ann: Browser, later: Any) -> None:
    first = ann.tokens()
    client_id = first["client_id"]
    second = ann.refresh(client_id, first["refresh_token"]).json()
    later(timedelta(minutes=5))
    ann.refresh(client_id, first["refresh_token"])
    later(timedelta(days=1))
    ann.tokens(client_id)
    assert ann.refresh(client_id, second["refresh_token"]).status_code == 200


def test_a_replay_after_the_window_kills_the_family(
    ann: Browser, later: Any, published_events: list[dict[str, Any]]
) -> None:
    first = ann.tokens()
    second = ann.refresh(first["client_id"], first["refresh_token"]).json()
    later(timedelta(seconds=3601))
    second = ann.refresh(first["client_id"], second["refresh_token"]).json()
    family = ann.introspect(second["access_token"])["family"]
    assert error_of(ann.refresh(first["client_id"], first["refresh_token"])) == "invalid_grant"
    assert not ann.alive(second["access_token"])
    assert error_of(ann.refresh(first["client_id"], second["refresh_token"])) == "invalid_grant"
    assert published_events[0] == {"family": family}
    with transaction() as session:
        assert session.scalar(select(Family.reason)) == "refresh_replay"


def test_a_grandparents_replay_kills_the_family_after_the_window(ann: Browser, later: Any) -> None:
    first = ann.tokens()
    client_id = first["client_id"]
    second = ann.refresh(client_id, first["refresh_token"]).json()
    third = ann.refresh(client_id, second["refresh_token"]).json()
    assert error_of(ann.refresh(client_id, first["refresh_token"])) == "invalid_grant"
    assert ann.alive(third["access_token"])
    later(timedelta(seconds=61))
    assert error_of(ann.refresh(client_id, first["refresh_token"])) == "invalid_grant"
    assert error_of(ann.refresh(client_id, third["refresh_token"])) == "invalid_grant"


def test_too_many_retries_are_refused_and_the_family_lives(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auth_server.oauth.tokens.MAX_RETRIES", 2)
    first = ann.tokens()
    answers = [ann.refresh(first["client_id"], first["refresh_token"]) for _ in range(5)]
    assert [a.status_code for a in answers] == [200, 200, 200, 400, 400]
    assert ann.alive(answers[0].json()["access_token"])
    assert ann.refresh(first["client_id"], answers[0].json()["refresh_token"]).status_code == 200


def test_another_client_can_neither_use_nor_kill_a_line(ann: Browser, later: Any) -> None:
    first = ann.tokens()
    other = ann.register(client_name="Other")
    assert error_of(ann.refresh(other, first["refresh_token"])) == "invalid_grant"
    second = ann.refresh(first["client_id"], first["refresh_token"]).json()
    later(timedelta(minutes=5))
    assert error_of(ann.refresh(other, first["refresh_token"])) == "invalid_grant"
    assert ann.alive(second["access_token"])


def test_the_resource_stays_what_was_authorized(ann: Browser) -> None:
    first = ann.tokens()
    client_id, token = first["client_id"], first["refresh_token"]
    for foreign in ("http://127.0.0.1:8000/mcp", "https://evil.example/mcp"):
        assert error_of(ann.refresh(client_id, token, resource=foreign)) == "invalid_target"
    answer = ann.refresh(client_id, token, resource=RESOURCE + "/")
    assert answer.status_code == 200
    assert ann.introspect(answer.json()["access_token"])["aud"] == RESOURCE


@pytest.mark.parametrize("token", ["", "x", "awt_rt_" + "0" * 49, "x" * 4096])
def test_garbage_is_no_refresh_token(ann: Browser, token: str) -> None:
    assert error_of(ann.refresh(ann.register(), token)) == ("invalid_grant" if token else "invalid_request")


def test_a_disabled_person_gets_nothing_more(ann: Browser) -> None:
    first = ann.tokens()
    with transaction() as session:
        session.execute(update(Account).values(disabled_at=Account.created_at))
    assert not ann.alive(first["access_token"])
    assert error_of(ann.refresh(first["client_id"], first["refresh_token"])) == "invalid_grant"


def test_the_stored_successor_opens_with_the_old_token_alone(ann: Browser) -> None:
    from shared.secrets import unseal
    from shared.settings import settings

    first = ann.tokens()
    second = ann.refresh(first["client_id"], first["refresh_token"]).json()
    with transaction() as session:
        sealed = session.scalars(
            select(RefreshToken.successor_sealed).where(RefreshToken.rotated_at.is_not(None))
        ).one()
    assert sealed is not None
    assert unseal([first["refresh_token"]], sealed) == second["refresh_token"]
    assert unseal([*settings().encryption_keys, first["access_token"]], sealed) is None
