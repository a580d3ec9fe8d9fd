"""What operators do from the command line acts at once, is told to the owner and stands in the trail."""

import getpass
from types import SimpleNamespace

import pytest
from sqlalchemy import select

from auth_server.accounts import api_keys
from auth_server.accounts.accounts import find_account
from auth_server.web import sessions
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.messages import Delivery
from shared.db.oauth import Client, Family, RefreshToken
from shared.db.operator_actions import OperatorAction
from shared.db.security_events import SecurityEvent
from tests.deploy.test_commands import Say, _add, _ann, say

__all__ = ["say"]
EMAIL = "ann@example.test"
WHY = ("--reason", "asked for by letter")


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    events: list[dict[str, str]] = []
    monkeypatch.setattr("deploy.operators.operator_actions.publish", lambda **event: events.append(event))
    return events


def _give_access() -> tuple[str, str]:
    """A signed-in browser, an application and a key of Ann; the key and the cookie."""
    with transaction() as session:
        account = find_account(session, EMAIL)
        assert account is not None
        _, cookie = sessions.open_session(session, account.id, "Firefox/140.0 Linux")
        _, key = api_keys.issue(session, account.id, "Laptop")
        uris = ["http://127.0.0.1/"]
        session.add(Client(client_id="c1", kind="dcr", name="Editor", auth_method="none", redirect_uris=uris))
        session.flush()
        session.add(Family(id="f1", account_id=account.id, client_id="c1"))
        session.flush()
        token = {"client_id": "c1", "scope": "mcp:read", "resource": "http://127.0.0.1/mcp"}
        session.add(RefreshToken(token_hash="x", family_id="f1", **token))
    return key, cookie


def _is_key_active(key: str) -> bool:
    with transaction() as session:
        return bool(api_keys.describe(session, key)["active"])


def _trail() -> list[tuple[str, str | None]]:
    with transaction() as session:
        rows = session.scalars(select(OperatorAction).order_by(OperatorAction.id)).all()
        assert {row.actor for row in rows} <= {f"cli:{getpass.getuser()}"}
        return [(row.action, row.reason) for row in rows]


def test_a_suspended_account_opens_with_nothing_until_it_is_restored(say: Say, published: list[dict[str, str]]) -> None:
    _add(say)
    key, cookie = _give_access()
    status, text, _ = say("user", "suspend", EMAIL, *WHY)
    assert (status, text) == (0, f"{EMAIL} is suspended: nothing is deleted, and nothing opens the account.\n")
    assert published == [{"account": _ann().public_id}]
    assert not _is_key_active(key)
    with transaction() as session:
        assert sessions.find_account(session, sessions.load(session, cookie)) is None
    assert "suspended" in say("user", "list")[1]
    assert say("user", "suspend", EMAIL, *WHY)[0] == 1
    assert say("user", "restore", EMAIL, *WHY)[0] == 0
    assert _is_key_active(key)
    assert published == [{"account": _ann().public_id}] * 2
    assert _trail() == [("add", None), ("suspend", WHY[1]), ("restore", WHY[1])]


def test_the_owner_is_told_by_mail_without_the_reason_and_without_a_link_that_is_dead(say: Say) -> None:
    from shared.outbox.wording.messages import message

    _add(say)
    say("user", "suspend", EMAIL, *WHY)
    with transaction() as session:
        mail = session.scalars(select(Delivery)).one()
        assert session.scalars(select(SecurityEvent.kind)).all() == ["account_suspended"]
    letter = message(mail.event, mail.facts, sandbox=False)
    assert letter.subject == "Your account was suspended"
    assert "/support" in letter.text
    assert "/support" in letter.html
    for text in (letter.text, letter.html):
        assert "not-me" not in text
        assert "not me" not in text
        assert WHY[1] not in text


@pytest.mark.parametrize("kind", ["session", "application", "key"])
def test_one_of_three_ways_in_is_ended_and_the_others_stay(
    say: Say, published: list[dict[str, str]], kind: str
) -> None:
    _add(say)
    _give_access()
    before = [line.split()[0] for line in say("user", "access", EMAIL)[1].splitlines()]
    assert [item.split(":")[0] for item in before] == ["session", "application", "key"]
    (item,) = [item for item in before if item.startswith(kind)]
    assert say("user", "end-access", EMAIL, item, *WHY)[0] == 0
    after = [line.split()[0] for line in say("user", "access", EMAIL)[1].splitlines()]
    assert after == [other for other in before if other != item]
    assert len(published) == 1  # a session too may have tokens at the tool servers, those of its pages
    assert _trail()[-1] == ("end-access", WHY[1])
    assert say("user", "end-access", EMAIL, item, *WHY)[0] == 1


def test_every_access_is_ended_at_once(say: Say, published: list[dict[str, str]]) -> None:
    _add(say)
    key, _ = _give_access()
    assert say("user", "end-access", EMAIL, *WHY)[1] == f"{EMAIL}: every session, application and key ended.\n"
    assert say("user", "access", EMAIL)[1] == "No browser is signed in, and no application or key is active.\n"
    assert {name for event in published for name in event} == {"family", "token"}
    assert not _is_key_active(key)


def test_a_deleted_account_leaves_a_trail_without_its_address(say: Say, published: list[dict[str, str]]) -> None:
    _add(say)
    say("user", "plan", EMAIL, "pro", "--reason", "paid by invoice")
    public_id = _ann().public_id
    assert "Nothing was deleted" in say("user", "delete", EMAIL, *WHY, given="no\n")[2]
    assert public_id in say("user", "delete", EMAIL, *WHY, "--yes")[1]
    assert {"account": public_id} in published
    with transaction() as session:
        assert session.scalars(select(Account)).all() == []
        rows = session.scalars(select(OperatorAction)).all()
        assert all(EMAIL not in str(vars(row)) for row in rows)
    assert _trail() == [("add", None), ("plan", "paid by invoice"), ("delete", WHY[1])]
    text = say("trail", public_id)[1]
    assert f"delete  {public_id}\n    {WHY[1]}" in text
    assert f"plan  {public_id} (free -> pro)" in text


def test_an_application_is_suspended_and_restored(say: Say, published: list[dict[str, str]]) -> None:
    from auth_server.oauth.clients import find_client

    _add(say)
    _give_access()
    assert "(c1)" in say("user", "access", EMAIL)[1]
    for action, is_open in (("suspend", False), ("restore", True)):
        assert say("client", action, "c1", *WHY)[0] == 0
        assert say("client", action, "c1", *WHY)[0] == 1
        with transaction() as session:
            assert (find_client(session, "c1") is not None) == is_open
    assert published == [{"client": "c1"}] * 2
    assert _trail()[1:] == [("client suspend", WHY[1]), ("client restore", WHY[1])]
    assert "No application c2" in say("client", "suspend", "c2", *WHY)[2]


def test_the_trail_is_filtered_by_account(say: Say) -> None:
    _add(say)
    _add(say, "bob@example.test")
    say("user", "suspend", EMAIL, *WHY)
    lines = say("trail", EMAIL)[1].splitlines()
    assert [line.split("  ")[2:] for line in lines[::2]] == [["suspend", EMAIL], ["add", f"{EMAIL} (free)"]]
    assert lines[1] == f"    {WHY[1]}"
    assert "bob@example.test" in say("trail")[1]


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501])
def test_without_a_reason_nothing_happens(say: Say, reason: str) -> None:
    _add(say)
    assert "--reason is 1 to 500 characters" in say("user", "suspend", EMAIL, "--reason", reason)[2]
    assert _ann().disabled_at is None
    with pytest.raises(SystemExit):
        say("user", "delete", EMAIL, "--yes")
    assert _trail() == [("add", None)]


def test_people_are_invited_and_open_invitations_are_listed(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No invitation is open" in say("invites")[1]
    assert say("invite", "New@Example.test", "--days", "3", "--reason", "a colleague")[0] == 0
    assert say("invites")[1].startswith("new@example.test ")
    assert _trail() == [("invite", "a colleague")]
    _add(say)
    assert "already has an account" in say("invite", EMAIL)[2]
    assert "1 to 90 days" in say("invite", "b@example.test", "--days", "91")[2]
    monkeypatch.setattr("deploy.operators.invitations.settings", lambda: SimpleNamespace(signup_rule="closed"))
    assert "SIGNUP=closed" in say("invite", "b@example.test")[2]
