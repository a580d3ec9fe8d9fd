"""What administers is given after a second factor and a fresh sign-in: by a key's tick or a consent's, never else."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select, update

from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.oauth import ApiKey, Consent, Family
from shared.db.sign_in_methods import AuthenticatorApp
from tests.auth_server.in_process_browser import CALLBACK, HOSTED, Browser, back, hidden
from tests.auth_server.test_agent_claim import ask as ask_about_agent
from tests.auth_server.test_agent_claim import confirm, register
from tests.auth_server.test_agents import key_is
from tests.auth_server.test_dashboard import send
from tests.auth_server.test_operate import make_operator

KEYS = "/dashboard/keys"
BOX = 'name="administer"'
JUST_TOO_LONG = timedelta(minutes=10, seconds=1)
Later = Callable[[timedelta], None]


def make_key(browser: Browser, **ticked: str) -> Any:
    return send(browser, KEYS, KEYS, name="console", **ticked)


def read_key(page: Any) -> str:
    key = re.search(r"awt_ak_\w+", page.text)
    assert key is not None, page.text
    return key[0]


def asks_to_sign_in(answer: Any) -> bool:
    to = urlsplit(answer.headers.get("location", ""))
    return answer.status_code in (302, 303) and to.path == "/signin" and parse_qs(to.query)["fresh"] == ["1"]


def add_factor(age: timedelta) -> None:
    with transaction() as session:
        owner = session.scalars(select(Account.id)).one()
        app = {"secret_sealed": "unused", "last_time_step": 0}
        session.add(AuthenticatorApp(account_id=owner, created_at=clock.now() - age, **app))


def administers(browser: Browser, client_id: str, answer: Any, uri: str = CALLBACK) -> bool:
    """Whether the token for the code in this answer administers, and so that of a refresh."""
    tokens = browser.redeem(client_id, back(answer)["code"], redirect_uri=uri).json()
    again = browser.refresh(client_id, tokens["refresh_token"]).json()
    first, second = (browser.introspect(t["access_token"]).get("administer", False) for t in (tokens, again))
    assert first is second
    return bool(first)


# --- keys


def test_the_key_of_a_claimed_agent_never_administers(ann: Browser) -> None:
    agent = register(ann)
    make_operator(ann)
    confirm(ann, ask_about_agent(ann, agent["claim_code"]), key="keep", administer="yes")
    claims = key_is(ann.host, agent["api_key"])
    assert (claims["sub"], claims["administer"]) == (ann.public_id, False)


@pytest.mark.parametrize(("ticked", "administers"), [({}, False), ({"administer": "yes"}, True)])
def test_a_key_administers_where_its_box_is_ticked(ann: Browser, ticked: dict[str, str], administers: bool) -> None:
    make_operator(ann)
    assert BOX in ann.get(KEYS).text
    page = make_key(ann, **ticked)
    assert key_is(ann.host, read_key(page))["administer"] is administers
    for path in (KEYS, "/dashboard/security"):
        assert ("It may also administer this service." in ann.get(path).text) is administers


def test_a_key_of_others_administers_never(ann: Browser) -> None:
    make_operator(ann, is_admin=False)
    assert BOX not in ann.get(KEYS).text
    page = make_key(ann, administer="yes")
    assert key_is(ann.host, read_key(page))["administer"] is False


def test_without_a_second_factor_no_key_administers(ann: Browser) -> None:
    make_operator(ann, has_factor=False)
    page = ann.get(KEYS).text
    assert (BOX in page, "authenticator app" in page) == (False, True)
    assert asks_to_sign_in(make_key(ann, administer="yes"))
    add_factor(timedelta(seconds=-1))  # after the sign-in, which has not shown it
    assert asks_to_sign_in(make_key(ann, administer="yes"))
    with transaction() as session:
        assert session.scalars(select(ApiKey)).all() == []


def test_an_old_sign_in_is_made_again_and_the_tick_is_still_there(ann: Browser, later: Later) -> None:
    make_operator(ann)
    later(JUST_TOO_LONG)
    asked = make_key(ann, administer="yes")
    assert asks_to_sign_in(asked)
    (form,) = parse_qs(urlsplit(asked.headers["location"]).query)["return_to"]
    assert 'name="administer" value="yes" checked' in ann.get(form).text
    assert 'name="administer" value="yes" checked' not in ann.get(KEYS).text


# --- applications


@pytest.fixture
def client_id(ann: Browser) -> str:
    return ann.register()


def test_an_administrator_with_a_fresh_second_factor_allows_to_administer(ann: Browser, client_id: str) -> None:
    make_operator(ann)
    page = ann.authorize(client_id)
    assert BOX in page.text
    assert administers(ann, client_id, ann.answer(page, administer="yes"))
    short = ann.authorize(client_id)
    assert hidden(short.text, "administer") == "yes"
    assert administers(ann, client_id, ann.answer(short, administer="yes"))


def test_without_a_second_factor_no_application_administers(ann: Browser, client_id: str) -> None:
    make_operator(ann, has_factor=False)
    page = ann.authorize(client_id)
    assert (BOX in page.text, "/dashboard/sign-in-methods" in page.text) == (False, True)
    assert asks_to_sign_in(ann.answer(page, administer="yes"))
    with transaction() as session:
        assert session.scalars(select(Family)).all() == []
    assert not administers(ann, client_id, ann.answer(page))


def test_a_factor_the_sign_in_has_not_shown_does_not_count(ann: Browser, client_id: str) -> None:
    make_operator(ann, has_factor=False)
    page = ann.authorize(client_id)
    add_factor(timedelta(seconds=-1))
    assert asks_to_sign_in(ann.authorize(client_id))
    for ticked in ({"administer": "yes"}, {}):
        assert asks_to_sign_in(ann.answer(page, **ticked))


def test_an_old_sign_in_is_made_again_with_the_request_kept(ann: Browser, client_id: str, later: Later) -> None:
    make_operator(ann)
    page = ann.authorize(client_id)
    later(JUST_TOO_LONG)
    forged = ann.answer(page, administer="yes")
    for asked in (forged, ann.authorize(client_id)):
        assert asks_to_sign_in(asked)
    (request,) = parse_qs(urlsplit(forged.headers["location"]).query)["return_to"]
    assert f'value="{request}"'.replace("&", "&amp;") in ann.get(forged.headers["location"]).text
    make_operator_again(ann)
    again = ann.get(request)
    assert BOX in again.text
    assert administers(ann, client_id, ann.answer(again, administer="yes"))


def make_operator_again(browser: Browser) -> None:
    """Signs in once more, with the factor that is there."""
    make_operator(browser, has_factor=False)


@pytest.mark.parametrize("uri", [CALLBACK, HOSTED])
def test_a_remembered_tick_counts_only_after_a_fresh_sign_in(ann: Browser, later: Later, uri: str) -> None:
    make_operator(ann)
    client_id = ann.register(uri)
    ann.answer(ann.authorize(client_id, redirect_uri=uri), administer="yes")
    page = ann.authorize(client_id, redirect_uri=uri, prompt="consent")
    later(JUST_TOO_LONG)
    silent = back(ann.authorize(client_id, redirect_uri=uri, prompt="none"))
    assert silent["error"] == "login_required"
    for asked in (ann.authorize(client_id, redirect_uri=uri), ann.answer(page, administer="yes"), ann.answer(page)):
        assert asks_to_sign_in(asked)
    make_operator_again(ann)
    again = ann.authorize(client_id, redirect_uri=uri)
    if again.status_code == 200:
        again = ann.answer(again, administer=hidden(again.text, "administer"))
    assert administers(ann, client_id, again, uri)
    narrowed = ann.answer(ann.authorize(client_id, redirect_uri=uri, prompt="consent"))
    assert not administers(ann, client_id, narrowed, uri)
    with transaction() as session:
        assert session.scalars(select(Consent.administer)).one() is False


def test_who_administers_no_more_is_let_in_as_others_are(ann: Browser, later: Later) -> None:
    make_operator(ann)
    client_id = ann.register(HOSTED)
    ann.answer(ann.authorize(client_id, redirect_uri=HOSTED), administer="yes")
    with transaction() as session:
        session.execute(update(Account).values(is_admin=False))
    assert not administers(ann, client_id, ann.authorize(client_id, redirect_uri=HOSTED), HOSTED)
