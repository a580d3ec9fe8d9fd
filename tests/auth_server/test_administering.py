"""What administers is given after a second factor and a fresh sign-in: by a key's tick, never else."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import select

from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.oauth import ApiKey
from shared.db.sign_in_methods import AuthenticatorApp
from tests.auth_server.in_process_browser import Browser
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
    return answer.status_code == 303 and to.path == "/signin" and parse_qs(to.query)["fresh"] == ["1"]


def add_factor(age: timedelta) -> None:
    with transaction() as session:
        owner = session.scalars(select(Account.id)).one()
        app = {"secret_sealed": "unused", "last_time_step": 0}
        session.add(AuthenticatorApp(account_id=owner, created_at=clock.now() - age, **app))


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
