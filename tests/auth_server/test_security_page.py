"""The security page: events of a year, and browsers, applications and keys, each with a button that ends it."""

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.oauth import ApiKey, Client, Consent, Family, RefreshToken, WebSession
from shared.db.security_events import SecurityEvent
from shared.domain.dates import format_moment, format_weekday
from tests.auth_server.in_process_browser import Browser
from tests.auth_server.keys import is_key_alive, make_key
from tests.auth_server.test_account import another, signed_in
from tests.auth_server.test_dashboard import send
from tests.auth_server.test_password_guesses import guess_wrongly

PATH = "/dashboard/security"
UNUSED = "Not used for a year."


def find_values(page: str, name: str) -> list[str]:
    return re.findall(rf'name="{name}" value="([^"]*)"', page)


# --- browsers


def test_the_list_names_each_browser_and_ends_one(ann: Browser) -> None:
    ann.sign_in()
    other = another(ann)
    page = ann.get(PATH).text
    assert "Firefox on Linux" in page
    assert page.count("this browser</span>") == 1
    today = format_weekday(clock.today())
    assert f"signed in on {today} · last used on {today}" in page
    (id,) = find_values(page, "session")
    assert send(ann, PATH, f"{PATH}/browser", session=id).headers["location"] == f"{PATH}?done=signed_out"
    assert (signed_in(ann), signed_in(other)) == (True, False)


def test_nobody_ends_another_persons_session(ann: Browser, bob: Browser) -> None:
    ann.sign_in()
    bob.sign_in()
    another(bob)
    with transaction() as session:
        theirs = select(WebSession.id_hash).join(Account, Account.id == WebSession.owner_id)
        id = session.scalars(theirs.where(Account.email == ann.email)).one()
    for prefix in (id, id[:20], id[:10], "", "0"):
        send(bob, PATH, f"{PATH}/browser", session=prefix)
    assert signed_in(ann)


# --- applications and keys


def test_applications_and_keys_are_listed_with_their_last_use_and_ended(ann: Browser) -> None:
    tokens, key = ann.tokens(), make_key(ann)
    page = ann.get(PATH).text
    assert "Test application" in page
    assert "Laptop" in page
    assert "never used" in page
    assert UNUSED not in page
    assert send(ann, PATH, f"{PATH}/application", application=find_values(page, "application")[0]).status_code == 303
    assert not ann.alive(tokens["access_token"])
    assert ann.refresh(tokens["client_id"], tokens["refresh_token"]).json()["error"] == "invalid_grant"
    assert is_key_alive(key)
    send(ann, PATH, f"{PATH}/key", key_id=find_values(page, "key_id")[0])
    assert not is_key_alive(key)
    page = ann.get(PATH).text
    assert "No application can use your account." in page
    assert "You have no key." in page


def test_what_was_not_used_for_a_year_is_shown_as_such_and_still_works(ann: Browser, later: Any) -> None:
    """Refresh tokens have no end: the person ends them."""
    tokens, key = ann.tokens(), make_key(ann)
    later(timedelta(days=366))
    ann.cookie = None
    ann.sign_in()
    assert ann.get(PATH).text.count(UNUSED) == 2
    assert ann.refresh(tokens["client_id"], tokens["refresh_token"]).status_code == 200
    assert is_key_alive(key)
    assert UNUSED not in ann.get(PATH).text


def test_each_sign_in_of_one_application_is_a_line_of_its_own(ann: Browser) -> None:
    """A thief may use the same application as the owner, at another time."""
    client_id = ann.register()
    first, second = ann.tokens(client_id), ann.tokens(client_id)
    family = ann.introspect(second["access_token"])["family"]
    assert len(find_values(ann.get(PATH).text, "application")) == 2
    send(ann, PATH, f"{PATH}/application", application=family)
    assert (ann.alive(first["access_token"]), ann.alive(second["access_token"])) == (True, False)


def test_nobody_ends_another_persons_applications_and_keys(ann: Browser, bob: Browser) -> None:
    tokens, key = ann.tokens(), make_key(ann)
    with transaction() as session:
        family, key_id = session.scalars(select(Family.id)).one(), session.scalars(select(ApiKey.id)).one()
    bob.tokens(bob.register(client_name="Of Bob"))
    make_key(bob, "Of Bob")
    for value in (family, "", "x"):
        assert send(bob, PATH, f"{PATH}/application", application=value).status_code == 303
    for value in (str(key_id), "", "x", "9" * 40):
        assert send(bob, PATH, f"{PATH}/key", key_id=value).status_code == 303
    page = bob.get(PATH).text
    assert (page.count("Of Bob"), "Test application" in page, "Laptop" in page) == (8, False, False)
    send(bob, PATH, f"{PATH}/everywhere", browsers="on", applications="on", keys="on")
    assert ann.alive(tokens["access_token"])
    assert is_key_alive(key)
    assert signed_in(ann)


@pytest.mark.parametrize(
    ("ticked", "alive"),
    [
        (["browsers"], {"here", "application", "key"}),
        (["browsers", "here"], {"application", "key"}),
        (["here"], {"other", "application", "key"}),
        (["applications"], {"here", "other", "key"}),
        (["keys"], {"here", "other", "application"}),
        (["browsers", "here", "applications", "keys"], set()),
        ([], {"here", "other", "application", "key"}),
    ],
)
def test_everywhere_ends_what_was_ticked(ann: Browser, ticked: list[str], alive: set[str]) -> None:
    tokens, key = ann.tokens(), make_key(ann)
    other = another(ann)
    send(ann, PATH, f"{PATH}/everywhere", **dict.fromkeys(ticked, "on"))
    left = {"application": ann.alive(tokens["access_token"]), "key": is_key_alive(key)}
    left |= {"here": signed_in(ann), "other": signed_in(other)}
    assert {name for name, is_alive in left.items() if is_alive} == alive


@pytest.mark.parametrize(
    ("ticked", "left"), [("new_applications", ["old"]), ("applications", []), ("keys", ["old", "new"])]
)
def test_applications_of_the_last_day_are_named_and_ended_alone(
    ann: Browser, later: Any, ticked: str, left: list[str]
) -> None:
    """A thief with the cookie of a browser cannot outlive it by an application that only just was let in."""
    for name, wait in (("old", timedelta(days=1, seconds=1)), ("new", timedelta(hours=23))):
        ann.sign_in()
        ann.tokens(ann.register(client_name=f"The {name} one"))
        later(wait)
    page = ann.get(PATH).text
    assert ("The new one</span></span></span></label>" in page, page.count("within the last day. If")) == (True, 1)
    send(ann, PATH, f"{PATH}/everywhere", **{ticked: "on"})
    with transaction() as session:
        rows = select(Client.name).join(Family, Family.client_id == Client.client_id).where(Family.revoked_at.is_(None))
        names = session.scalars(rows.order_by(Family.created_at)).all()
        remembered = session.scalars(select(Consent.client_id)).all()
    assert (names, len(remembered)) == ([f"The {name} one" for name in left], len(left))
    later(timedelta(hours=2))
    assert "new_applications" not in ann.get(PATH).text


# --- events


def test_events_of_a_year_are_listed_newest_first_with_day_and_weekday(ann: Browser, later: Any) -> None:
    ann.sign_in()
    later(timedelta(days=-400))
    make_event(ann, "data_exported")
    later(timedelta(days=300))
    make_event(ann, "key_created", "Old laptop")
    later(timedelta(days=100))
    make_event(ann, "application_allowed", "Claude")
    page = ann.get(PATH).text
    assert page.index("Claude may now use your account.") < page.index("The API key Old laptop was made.")
    assert f"{format_moment(clock.now())} · Firefox on Linux" in page
    assert "A copy of your data was made" not in page


def make_event(browser: Browser, kind: str, subject: str | None = None) -> None:
    with transaction() as session:
        account_id = session.scalars(select(Account.id).where(Account.email == browser.email)).one()
        row = {"kind": kind, "subject": subject, "browser": "Firefox on Linux", "at": clock.now()}
        session.add(SecurityEvent(account_id=account_id, **row))


def test_names_of_others_are_shown_as_text(ann: Browser) -> None:
    ann.sign_in()
    make_event(ann, "application_allowed", "<script>alert(1)</script>")
    assert "<script>" not in ann.get(PATH).text


def test_events_of_others_are_not_shown(ann: Browser, bob: Browser) -> None:
    make_event(ann, "key_created", "Annas laptop")
    bob.sign_in()
    assert "Annas laptop" not in bob.get(PATH).text


def test_a_locked_password_is_said_at_the_top(ann: Browser) -> None:
    ann.sign_in()
    assert "Your password is locked" not in ann.get(PATH).text
    guess_wrongly(ann, 100)
    assert "Your password is locked" in ann.get(PATH).text


def test_refresh_tokens_that_were_replaced_are_no_use(ann: Browser) -> None:
    """A rotated token tells when the application was used, but only the last one is live."""
    tokens = ann.tokens()
    ann.refresh(tokens["client_id"], tokens["refresh_token"])
    assert len(find_values(ann.get(PATH).text, "application")) == 1
    with transaction() as session:
        session.execute(update(RefreshToken).values(revoked_at=clock.now()))
    assert find_values(ann.get(PATH).text, "application") == []
