"""Sign-in by another provider in a real browser: from an application's request to its token, and the pages."""

import json
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from sqlalchemy import select

from auth_server.accounts.accounts import create_account
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.linked_identities import LinkedIdentity
from shared.http import sync_client
from tests.auth_server.in_process_browser import PASSWORD, VERIFIER, query
from tests.browser.test_pages import judged
from tests.support.browser import Tab
from tests.support.fake_identity_providers import Outside

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser


def press_provider(tab: Tab, page: str) -> None:
    """The button on a page of ours, and the one of the provider."""
    tab.wait(f"document.title.startsWith({json.dumps(page)})")
    tab.press('form[action="/signin/with/acme"] button')
    tab.wait("document.title === 'Provider'")
    tab.press("#allow")


@pytest.mark.parametrize("page", ["Sign in", "Create an account"])
def test_an_application_gets_its_token_by_way_of_a_provider(
    tab: Tab, places: tuple[str, str], outside: Outside, page: str
) -> None:
    base, application = places
    uri = f"{application}/callback"
    with sync_client(base) as client:
        client_id = client.post("/oauth/register", json={"redirect_uris": [uri]}).json()["client_id"]
        tab.go(f"{base}/oauth/authorize?{urlencode(query(client_id, redirect_uri=uri))}")
        tab.wait("document.title.startsWith('Sign in')")
        if page != "Sign in":
            tab.press('a[href^="/signup"]')
        press_provider(tab, page)
        tab.wait("document.title.startsWith('Allow access')")
        tab.press("button[value=allow]")
        tab.wait("document.title === 'application'")
        answer = dict(parse_qsl(urlsplit(tab.run("location.href")).query))
        fields = {"grant_type": "authorization_code", "code": answer["code"], "redirect_uri": uri}
        token = client.post("/oauth/token", data={**fields, "client_id": client_id, "code_verifier": VERIFIER})
        assert token.status_code == 200, token.text
    with transaction() as session:
        assert session.scalars(select(Account.email)).all() == ["ann@example.test"]


def test_an_account_that_was_there_is_linked_and_the_link_removed(
    tab: Tab, places: tuple[str, str], outside: Outside
) -> None:
    base, _ = places
    with transaction() as session:
        create_account(session, "ann@example.test", PASSWORD)
    tab.go(f"{base}/signin")
    press_provider(tab, "Sign in")
    tab.wait("document.title.startsWith('You have an account already')")
    tab.fill("password", PASSWORD)
    tab.press("button.primary")
    tab.wait("document.title.startsWith('Home')")
    tab.go(f"{base}/dashboard/sign-in-methods")
    tab.wait("document.body.innerText.includes('Acme')")
    tab.press('form[action$="/identity/remove"] button')
    tab.wait("document.body.innerText.includes('It no longer signs you in')")
    tab.press('form[action$="/with/acme"] button')
    tab.wait("document.title === 'Provider'")
    tab.press("#allow")
    tab.wait("document.body.innerText.includes('It is linked and signs you in from now on')")
    with transaction() as session:
        assert session.scalars(select(LinkedIdentity.provider)).all() == ["Acme"]


def test_the_pages_on_the_way_fit_and_can_be_read(tab: Tab, places: tuple[str, str], outside: Outside) -> None:
    base, _ = places
    with transaction() as session:
        create_account(session, "ann@example.test", PASSWORD)
    assert [fault for path in ("/signin", "/signup") for fault in judged(tab, base + path)] == []
    tab.go(f"{base}/signin")
    press_provider(tab, "Sign in")
    tab.wait("document.title.startsWith('You have an account already')")
    assert judged(tab, f"{base}/signin/link") == []
    assert judged(tab, f"{base}/signin/callback/acme?state=none") == []
    tab.go(f"{base}/signin/link")
    tab.wait("document.title.startsWith('You have an account already')")
    tab.fill("password", PASSWORD)
    tab.press("button.primary")
    tab.wait("document.title.startsWith('Home')")
    assert judged(tab, f"{base}/dashboard/sign-in-methods") == []
