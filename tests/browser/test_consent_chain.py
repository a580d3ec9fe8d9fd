"""What only a real browser shows: its own forms are accepted, and no policy of ours stops the way to an application."""

from datetime import timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from sqlalchemy import update

from auth_server.accounts.accounts import create_account
from shared import clock
from shared.db.base import transaction
from shared.db.oauth import Client, Consent, WebSession
from shared.http import sync_client
from tests.auth_server.in_process_browser import PASSWORD, VERIFIER, query
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_sign_in_consent_and_return_work_in_a_browser(tab: Tab, places: tuple[str, str], name: str) -> None:
    base, application = places
    with transaction() as session:
        create_account(session, "ann@example.test", PASSWORD)
    uri = f"{application}/callback"
    with sync_client(base) as client:
        client_id = client.post("/oauth/register", json={"redirect_uris": [uri]}).json()["client_id"]
        request = f"/oauth/authorize?{urlencode(query(client_id, redirect_uri=uri))}"
        tab.go(base.replace("127.0.0.1", name) + request)
        tab.wait("document.title.startsWith('Sign in')")
        assert tab.run("getComputedStyle(document.body).margin") == "0px"  # the stylesheet is allowed and loaded
        assert "asks to use your account" in tab.text()
        tab.fill("email", "ann@example.test")
        tab.fill("password", PASSWORD)
        tab.press("button.primary")
        tab.wait("document.title.startsWith('Allow access')")
        assert "127.0.0.1" in tab.text()
        tab.press("button[value=allow]")
        tab.wait("document.title === 'application'")
        given = dict(parse_qsl(urlsplit(tab.run("location.href")).query))
        assert (given["state"], given["iss"]) == ("st&te= 1", base)
        fields = {"grant_type": "authorization_code", "code": given["code"], "redirect_uri": uri}
        answer = client.post("/oauth/token", data={**fields, "client_id": client_id, "code_verifier": VERIFIER})
        assert answer.status_code == 200
    tab.go(base.replace("127.0.0.1", name) + request)  # remembered, and yet any program could be this one
    tab.wait("document.body.innerText.includes('in again?')")
    assert tab.run("document.querySelectorAll('main button').length") == 1
    tab.press("button[value=allow]")
    tab.wait("document.title === 'application'")
    tab.go(base.replace("127.0.0.1", name) + "/dashboard/account")
    tab.wait("document.title.startsWith('Account')")
    tab.press("details:has(form[action='/dashboard/disconnect']) summary")
    tab.press("form[action='/dashboard/disconnect'] button")
    tab.wait("document.body.innerText.includes('No application is connected yet')")
    tab.press("footer form button")
    tab.wait("location.pathname === '/'")


def test_a_browser_left_signed_in_asks_for_a_sign_in_before_the_question(tab: Tab, places: tuple[str, str]) -> None:
    base, application = places
    with transaction() as session:
        create_account(session, "ann@example.test", PASSWORD)
    sign_in(tab, f"{base}/signin")
    tab.wait("location.pathname === '/dashboard'")
    with transaction() as session:
        session.execute(update(WebSession).values(authenticated_at=clock.now() - timedelta(minutes=11)))
    uri = f"{application}/callback"
    with sync_client(base) as client:
        client_id = client.post("/oauth/register", json={"redirect_uris": [uri]}).json()["client_id"]
    sign_in(tab, f"{base}/oauth/authorize?{urlencode(query(client_id, redirect_uri=uri))}")
    tab.wait("document.title.startsWith('Allow access')")
    tab.press("button[value=allow]")
    tab.wait("document.title === 'application'")
    assert "code=" in tab.run("location.href")


def sign_in(tab: Tab, address: str) -> None:
    """Opens an address that leads to the sign-in page, and fills that in."""
    tab.go(address)
    tab.wait("document.title.startsWith('Sign in')")
    tab.fill("email", "ann@example.test")
    tab.fill("password", PASSWORD)
    tab.press("button.primary")


def test_a_remembered_consent_leads_from_sign_in_straight_to_the_application(tab: Tab, places: tuple[str, str]) -> None:
    """Of an application that a secret identifies: at loopback addresses all others are asked about again."""
    base, application = places
    uri = f"{application}/callback"
    with transaction() as session:
        account = create_account(session, "ann@example.test", PASSWORD)
        row = {"kind": "manual", "name": "My site", "auth_method": "client_secret", "secret_hash": "x"}
        session.add(Client(client_id="app_1", owner_id=account.id, redirect_uris=[uri], **row))
        session.flush()
        session.add(Consent(account_id=account.id, client_id="app_1", redirect_host="127.0.0.1"))
    sign_in(tab, f"{base}/oauth/authorize?{urlencode(query('app_1', redirect_uri=uri))}")
    tab.wait("document.title === 'application'")
    assert "code=" in tab.run("location.href")
