"""Every page in a real browser, on a phone and on a desk, light and dark: it fits, can be read and be used."""

import json
import re
import socket
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest
from sqlalchemy import select, update
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from auth_server.accounts.accounts import create_account
from auth_server.oauth.redirect_uris import OUT_OF_BAND
from auth_server.web.static_files import TEMPLATES
from mcp_server.pages import fact_reports
from mcp_server.pages.connect_account import _offer
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.clients import BrandedPdf
from shared.db.delay_alerts import DelayAlert
from shared.db.oauth import Client
from shared.http import sync_client
from shared.outbox.links import pause_url, unsubscribe_url
from shared.providers.connectors import NAMES, connector
from shared.services.operations.fact_reports import FIELDS
from shared.settings import settings
from tests.auth_server.in_process_browser import PASSWORD, query
from tests.auth_server.mailbox import Mails, link
from tests.browser.conftest import serve
from tests.browser.judges import list_faults, look_everywhere
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser

PUBLIC = [
    "/",
    "/connect",
    "/plans",
    "/privacy",
    "/terms",
    "/support",
    "/problems",
    "/signin",
    "/signup",
    "/recover",
    "/missing",
]
INSIDE = [
    "/connect/waiting?look=0",
    "/dashboard",
    "/dashboard/keys",
    "/dashboard/api-apps",
    "/dashboard/api-apps/new",
    "/dashboard/cards/add",
    "/dashboard/cards/edit",
    "/dashboard/statuses/edit",
    "/dashboard/vouchers/edit",
    "/dashboard/spending",
    "/dashboard/settings",
    "/dashboard/settings/addresses",
    "/dashboard/integrations",
    "/dashboard/clients",
    "/dashboard/clients/new",
    "/dashboard/clients/documents",
    "/dashboard/security",
    "/dashboard/account",
    "/dashboard/account/address",
    "/dashboard/account/delete",
    "/dashboard/sign-in-methods",
    "/dashboard/sign-in-methods/passkey",
    "/dashboard/sign-in-methods/app",
]
# A form, the button that sends it, and what is typed wrongly.
FORMS: list[tuple[str, str, dict[str, str]]] = [
    ("/dashboard/account", "form[action='/dashboard/claim'] button", {"claim_code": "none"}),
    ("/dashboard/keys", "button.primary", {"name": " "}),
    ("/dashboard/api-apps/new", "button.primary", {"name": " ", "redirect_uris": "http://elsewhere.example"}),
    ("/dashboard/settings", "form[enctype] button", {}),
    ("/dashboard/settings/addresses", "main .card button.primary", {"email": "nobody"}),
    ("/dashboard/account/address", "main .card button.primary", {"email": "nobody"}),
    ("/dashboard/account/delete", "button.danger", {"password": "wrong"}),
    ("/dashboard/account", "form[action$=password] button", {}),
    ("/dashboard/sign-in-methods/app", "button.primary", {"code": "1"}),
    ("/signin", "main form button.primary", {"email": "nobody", "password": "x"}),
    ("/signup", "main form button", {"email": "nobody", "password": "password1"}),
    ("/recover", "main form button", {"email": "nobody"}),
]


def judged(tab: Tab, address: str) -> list[str]:
    """Opens a page and looks at it in every window."""
    tab.go(address)
    tab.wait(f"location.href === {json.dumps(address)} && document.title")
    return look_everywhere(tab)


def signed_in(tab: Tab, base: str, plan: str = "free", email: str = "ann@example.test") -> None:
    with transaction() as session:
        create_account(session, email, PASSWORD, plan=plan)
    tab.go(base + "/signin")
    tab.wait("document.title.startsWith('Sign in')")
    tab.fill("email", email)
    tab.fill("password", PASSWORD)
    tab.press("main form button.primary")
    tab.wait("document.title.startsWith('Home')")


def test_the_audit_finds_what_is_wrong(tab: Tab) -> None:
    bad = "<h1 style='color:silver;background:white'>Pale</h1><input name=x><div style='width:3000px'>Wide"
    tab.go(f"data:text/html,{bad}")
    tab.wait("document.querySelector('h1')")
    told = " ".join(list_faults(tab))
    for word in ("wider", "contrast", "label", "main", "lang"):
        assert word in told


def test_public_pages_fit_and_can_be_read(tab: Tab, places: tuple[str, str]) -> None:
    base, _ = places
    assert [fault for path in PUBLIC for fault in judged(tab, base + path)] == []


def test_pages_of_the_dashboard_fit_and_can_be_read(tab: Tab, places: tuple[str, str]) -> None:
    base, _ = places
    signed_in(tab, base)
    assert [fault for path in INSIDE for fault in judged(tab, base + path)] == []
    with transaction() as session:
        session.execute(update(Account).values(plan="pro"))
    assert [fault for path in INSIDE for fault in judged(tab, base + path)] == []


def test_pages_with_much_on_them_fit_and_can_be_read(tab: Tab, places: tuple[str, str], configure: Any) -> None:
    """Open documents with long titles, the foot of a mail, and what is said of a model."""
    base, _ = places
    configure(WEB_URL=base, STANDING_ORDER_MODEL="a-model-with-a-name-as-long-as-they-come-2026-11-21")
    signed_in(tab, base, "pro")
    facts = {"content": b"x", "pages": 3, "nonce": "n", "key": "k", "expires_at": clock.now() + timedelta(days=9)}
    with transaction() as session:
        account = session.scalars(select(Account)).one()
        public_id = account.public_id
        for title in ("Tokyo", "Unbreakabletitle" * 12):
            session.add(BrandedPdf(account_id=account.id, title=title, token_hash=title, **facts))
    foot = urlsplit(unsubscribe_url(public_id, "delay_alerts"))
    alert = DelayAlert(account_id=account.id, airport="JFK", channels=["email"], min_delay_minutes=30, active=True)
    with transaction() as session:
        session.add(alert)
        session.flush()
        pause = urlsplit(pause_url(public_id, "delay_alert", alert.id))
    paths = ["/dashboard/settings", f"{foot.path}?{foot.query}", "/unsubscribe?token=dead", "/privacy"]
    paths += [f"{pause.path}?{pause.query}", "/pause?token=dead"]
    assert [fault for path in paths for fault in judged(tab, base + path)] == []
    with transaction() as session:
        session.execute(update(Account).values(plan="premium"))  # who is no advisor any longer
    assert judged(tab, base + "/dashboard/clients/documents") == []
    tab.wait("document.body.innerText.includes('Unbreakabletitle')")
    tab.go(f"{base}{paths[1]}")
    tab.wait("document.body.innerText.includes('Delay alerts')")


@pytest.mark.parametrize("provider", NAMES)
def test_the_page_of_each_connection_fits_and_can_be_read(tab: Tab, provider: str) -> None:
    """With the style sheet of the web host, which passes these pages on, and with a fault in what was pasted."""
    card, request = connector(provider), Request({"type": "http", "path_params": {"provider": provider}})
    shown = _offer(request, card, "link", "Something was wrong.")
    assert judged_alone(tab, shown) == []
    assert card.title in tab.text()


@pytest.mark.parametrize("report", [None, "R12"])
def test_the_page_that_takes_reports_fits_and_can_be_read(tab: Tab, report: str | None) -> None:
    """With a fault at each field, and once the report is stored."""
    typed = {name: "W" * min(most, 300) for name, most in FIELDS.items()}
    faults = dict.fromkeys(FIELDS, "It is not what it should be: something else.")
    shown = fact_reports._show(422, fields=typed, faults=faults, notice="Something was wrong.", report=report)
    assert judged_alone(tab, shown) == []
    assert ("Thank you" in tab.text()) == bool(report)


def judged_alone(tab: Tab, page: Response) -> list[str]:
    """One page of the tool server with the style sheet of the web host."""
    app = Starlette(routes=[Route("/", lambda _: page), Mount("/static", StaticFiles(directory=TEMPLATES))])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = serve(app, listening)
        found = judged(tab, f"http://127.0.0.1:{listening.getsockname()[1]}/")
        server.should_exit = True
    return found


@pytest.mark.parametrize("name", ["A program with a name as long as it can be " * 2, "W" * 100])
def test_the_consent_page_fits_and_can_be_read(tab: Tab, places: tuple[str, str], name: str) -> None:
    base, application = places
    signed_in(tab, base, email=f"{'w' * 64}@{'w' * 63}.{'w' * 63}.test")
    uri = f"{application}/callback"
    with sync_client(base) as client:
        body = {"redirect_uris": [uri], "client_name": name}
        client_id = client.post("/oauth/register", json=body).json()["client_id"]
    asked = f"/oauth/authorize?{urlencode(query(client_id, redirect_uri=uri))}"
    ways = [f"/{page}?{urlencode({'return_to': asked})}" for page in ("signin", "signup", "recover")]
    unlisted = asked.replace(client_id, "https%3A%2F%2Fagents.example%2Fclient.json")
    with transaction() as session:
        session.execute(update(Account).values(is_admin=True))  # who is asked one question more
    paths = [asked, f"{asked}&resource={quote(_readonly(), safe='')}", unlisted, *ways, "/dashboard/account"]
    assert [fault for path in paths for fault in judged(tab, base + path)] == []
    tab.go(base + asked)
    tab.wait("document.title.startsWith('Allow')")
    tab.press("button[value=allow]")
    tab.wait("document.title === 'application'")
    paths = [asked, "/dashboard/account", "/connect/waiting"]
    assert [fault for path in paths for fault in judged(tab, base + path)] == []
    tab.go(base + asked)
    tab.wait("document.body.innerText.includes('in again?')")


def _readonly() -> str:
    return settings().mcp_url + "/readonly"


@pytest.mark.parametrize("name", ["Planner", "W" * 100])
def test_the_claim_of_an_agent_fits_and_can_be_read(tab: Tab, places: tuple[str, str], name: str) -> None:
    base, _ = places
    signed_in(tab, base)
    with sync_client(base) as client:
        agent = client.post("/api/v1/agent/register", json={"agent_name": name}).json()
    tab.go(base + "/dashboard/account")
    tab.wait("document.title.startsWith('Account')")
    tab.fill("claim_code", agent["claim_code"])
    tab.press("form[action='/dashboard/claim'] button")
    tab.wait("document.title.startsWith('Claim an agent')")
    assert name in tab.text()
    assert look_everywhere(tab) == []
    assert tab.run("document.querySelector('input[value=end]').checked")
    tab.press("main form button")
    tab.wait("document.body.innerText.includes('its key has ended')")


def test_the_keyboard_alone_reaches_everything_visibly(tab: Tab, places: tuple[str, str]) -> None:
    base, _ = places
    tab.go(base + "/signup")
    tab.wait("document.title.startsWith('Create')")
    seen = []
    for _ in range(12):
        tab.key("Tab")
        seen.append(tab.run("document.activeElement.innerText || document.activeElement.name || ''"))
        outline = tab.run("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", f"{seen[-1]} does not show that it is chosen"
    assert seen[0] == "Skip to the content"
    order = [seen.index(name) for name in ("email", "password", "Create the account", "terms", "Privacy")]
    assert order == sorted(order)


def test_a_new_person_comes_from_an_application_signs_up_and_arrives_there(
    tab: Tab, places: tuple[str, str], mails: Mails
) -> None:
    """The whole way of someone who has no account yet, through the mail, to the application's own address."""
    base, application = places
    uri = f"{application}/callback"
    with sync_client(base) as client:
        client_id = client.post("/oauth/register", json={"redirect_uris": [uri]}).json()["client_id"]
    tab.look(360)
    tab.go(f"{base}/oauth/authorize?{urlencode(query(client_id, redirect_uri=uri))}")
    tab.wait("document.title.startsWith('Sign in')")
    tab.press("main p a[href^='/signup']")
    tab.wait("document.title.startsWith('Create')")
    tab.fill("email", "new@example.test")
    tab.fill("password", PASSWORD)
    tab.press("main form button")
    tab.wait("document.title.startsWith('Check')")
    assert look_everywhere(tab) == []
    (mail,) = mails(1)
    tab.go(base + link(mail))
    tab.wait("document.title.startsWith('Confirm')")
    assert look_everywhere(tab) == []
    tab.fill("password", PASSWORD)
    tab.press("main form button")
    tab.wait("document.title.startsWith('Allow')")
    tab.press("button[value=allow]")
    tab.wait("document.title === 'application'")
    assert re.search(r"[?&]code=awt_ac_", tab.run("location.href"))


def test_the_codes_an_application_shows_to_be_copied(tab: Tab, places: tuple[str, str]) -> None:
    """Granted and denied, where no address of the application can take them."""
    base, _ = places
    signed_in(tab, base)
    with transaction() as session:
        row = {"kind": "manual", "name": "Terminal", "auth_method": "client_secret", "secret_hash": "x"}
        session.add(Client(client_id="app_1", redirect_uris=[OUT_OF_BAND], **row))
    for action, title in (("deny", "Not allowed"), ("allow", "Code")):
        tab.go(f"{base}/oauth/authorize?{urlencode(query('app_1', redirect_uri=OUT_OF_BAND))}")
        tab.wait("document.title.startsWith('Allow')")
        tab.press(f"button[value={action}]")
        tab.wait("location.pathname === '/oauth/consent'")
        assert look_everywhere(tab) == [], title


def test_faults_at_fields_are_said_on_every_form(tab: Tab, places: tuple[str, str]) -> None:
    base, _ = places
    signed_in(tab, base, "pro")
    seen = []
    for path, selector, fields in FORMS:
        tab.go(base + path)
        tab.wait(f"document.querySelector({json.dumps(selector)})")
        tab.run("document.querySelectorAll('form').forEach((form) => { form.noValidate = true; })")
        for name, value in fields.items():
            tab.fill(name, value)
        tab.run("window.before = true")
        tab.press(selector)
        tab.wait("!window.before")
        seen += look_everywhere(tab)
    assert seen == []


def test_keys_applications_logo_and_deletion_work_with_a_browsers_own_forms(tab: Tab, places: tuple[str, str]) -> None:
    base, _ = places
    signed_in(tab, base, "pro")
    tab.go(base + "/dashboard/keys")
    tab.wait("document.title.startsWith('API keys')")
    tab.fill("name", "laptop")
    tab.press("button.primary")
    tab.wait("document.querySelector('.notice code')?.innerText.startsWith('awt_ak_')")
    key = "document.querySelectorAll('input[name=key_id]').length"
    tab.go(base + "/dashboard/keys")
    tab.wait("document.querySelector('.apps summary')")
    assert not tab.run("document.querySelector('.apps button').checkVisibility()")
    tab.press(".apps summary")
    tab.wait("document.querySelector('.apps button').checkVisibility()")
    assert list_faults(tab) == []
    tab.press(".apps button")
    tab.wait("document.body.innerText.includes('The key is revoked')")
    assert tab.run(key) == 0
    tab.go(base + "/dashboard/api-apps/new")
    tab.wait("document.title.startsWith('New application')")
    tab.fill("name", "My site")
    tab.fill("redirect_uris", "https://site.example/back\nurn:ietf:wg:oauth:2.0:oob")
    tab.press("button.primary")
    tab.wait("document.title.startsWith('Application made')")
    assert "awt_cs_" in tab.text()
    assert list_faults(tab) == []
    tab.go(base + "/dashboard/settings")
    tab.wait("document.title.startsWith('Settings')")
    tab.upload("#file", Path(__file__).parents[2] / "auth_server" / "templates" / "icon.png")
    tab.press("form[enctype] button")
    tab.wait("document.querySelector('img.logo')?.naturalWidth === 360")
    assert list_faults(tab) == []
    tab.go(base + "/dashboard/account/delete")
    tab.wait("document.title.startsWith('Delete')")
    tab.fill("password", PASSWORD)
    tab.press("button.danger")
    tab.wait("document.title.startsWith('Your account is deleted')")
    tab.go(base + "/dashboard")
    tab.wait("document.title.startsWith('Sign in')")
