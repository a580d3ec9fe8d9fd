"""The list of connected applications on the dashboard: what each may do, and which no one has used for a year."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from shared.db.accounts import Account
from shared.db.base import transaction
from tests.auth_server.in_process_browser import HOSTED, RESOURCE, Browser, back
from tests.auth_server.test_operate import make_operator


def connect(browser: Browser, client_id: str, resource: str | None = None, **choices: str) -> dict[str, Any]:
    """The tokens of an application that the person was asked about, with these boxes ticked."""
    if browser.get("/dashboard").status_code != 200:
        browser.sign_in()
    page = browser.authorize(client_id, redirect_uri=HOSTED, prompt="consent", resource=resource)
    code = back(browser.answer(page, **choices))["code"]
    tokens: dict[str, Any] = browser.redeem(client_id, code, redirect_uri=HOSTED).json()
    return tokens


def read_list(browser: Browser) -> str:
    page = " ".join(browser.get("/dashboard/account").text.split())
    return page.split("Connected applications")[1].split("</section>")[0]


READS, CHANGES = "Reading only: it changes nothing.", "It may read and change what you keep here."


@pytest.mark.parametrize(
    ("resource", "choices", "words"),
    [(None, {}, CHANGES), (None, {"read_only": "yes"}, READS), (f"{RESOURCE}/readonly", {}, READS)],
)
def test_each_application_says_how_far_it_goes(
    ann: Browser, resource: str | None, choices: dict[str, str], words: str
) -> None:
    connect(ann, ann.register(HOSTED), resource, **choices)
    listed = read_list(ann)
    assert words in listed
    assert ({READS, CHANGES} - {words}).pop() not in listed
    assert "administer" not in listed


def test_reading_only_is_said_when_no_device_of_the_application_can_change_anything(ann: Browser) -> None:
    client_id = ann.register(HOSTED)
    wide = connect(ann, client_id)
    connect(ann, client_id, read_only="yes")
    assert CHANGES in read_list(ann)
    ann.host.post("/oauth/revoke", data={"client_id": client_id, "token": wide["refresh_token"]})
    assert READS in read_list(ann)


def test_the_security_page_says_it_of_each_sign_in_of_the_application(ann: Browser) -> None:
    client_id = ann.register(HOSTED)
    connect(ann, client_id)
    connect(ann, client_id, read_only="yes")
    page = ann.get("/dashboard/security").text
    assert (page.count("/dashboard/security/application"), page.count(READS)) == (2, 1)


def test_administering_is_said_to_administrators(ann: Browser) -> None:
    make_operator(ann)
    connect(ann, ann.register(HOSTED), administer="yes")
    assert "It may also administer this service." in read_list(ann)
    with transaction() as session:
        session.execute(update(Account).values(is_admin=False))
    assert "administer" not in read_list(ann)


def test_an_application_unused_for_a_year_is_shown_as_such_until_it_is_used(ann: Browser, later: Any) -> None:
    client_id = ann.register(HOSTED)
    tokens = connect(ann, client_id)
    assert "Not used for a year" not in read_list(ann)
    later(timedelta(days=366))
    ann.sign_in()
    assert "Not used for a year" in read_list(ann)
    assert ann.refresh(client_id, tokens["refresh_token"]).status_code == 200  # refresh tokens have no end
    assert "Not used for a year" not in read_list(ann)


def test_a_name_in_another_alphabet_is_said(ann: Browser) -> None:
    connect(ann, ann.register(HOSTED, client_name="\u041f\u043b\u0430\u043d"))
    assert "The name has Cyrillic letters." in read_list(ann)
