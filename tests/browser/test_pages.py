"""Every page in a real browser, on a phone and on a desk, light and dark: it fits, can be read and be used."""

import json
import re
import socket
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from sqlalchemy import select, update
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from auth_server.accounts.accounts import create_account
from auth_server.web.rendering import TEMPLATES
from mcp_server.pages import fact_reports
from mcp_server.pages.connect_account import _offer
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.clients import BrandedPdf
from shared.http import sync_client
from shared.outbox.links import unsubscribe_url
from shared.providers.connectors import NAMES, connector
from shared.services.operations.fact_reports import FIELDS
from tests.auth_server.in_process_browser import PASSWORD, query
from tests.auth_server.mailbox import Mails, link
from tests.browser.conftest import serve
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser

WINDOWS = [(360, False), (360, True), (1280, False), (1280, True)]
PUBLIC = ["/", "/plans", "/privacy", "/terms", "/support", "/problems", "/signin", "/signup", "/recover", "/missing"]
INSIDE = [
    "/dashboard",
    "/dashboard/keys",
    "/dashboard/api-apps",
    "/dashboard/api-apps/new",
    "/dashboard/spending",
    "/dashboard/settings",
    "/dashboard/account",
    "/dashboard/account/delete",
]
# What a person could not see, name or reach: as words, so that a failure says where.
AUDIT = (Path(__file__).parent / "audit.js").read_text(encoding="utf-8")


def faults(tab: Tab) -> list[str]:
    found = tab.run(AUDIT)
    assert isinstance(found, str), "the audit did not run"
    return list(json.loads(found))


def judged(tab: Tab, address: str) -> list[str]:
    """Opens a page and looks at it in every window."""
    tab.go(address)
    tab.wait(f"location.href === {json.dumps(address)} && document.title.includes('Award Travel')")
    found = []
    for width, dark in WINDOWS:
        tab.look(width, dark=dark)
        found += [f"{address} at {width}{' dark' if dark else ''}: {fault}" for fault in faults(tab)]
    return found


def signed_in(tab: Tab, base: str, plan: str = "free", email: str = "ann@example.test") -> None:
    with transaction() as session:
        create_account(session, email, PASSWORD, plan=plan)
    tab.go(base + "/signin")
    tab.wait("document.title.startsWith('Sign in')")
    tab.fill("email", email)
    tab.fill("password", PASSWORD)
    tab.press("main form button")
    tab.wait("document.title.startsWith('Dashboard')")


def test_the_audit_finds_what_is_wrong(tab: Tab) -> None:
    bad = "<h1 style='color:silver;background:white'>Pale</h1><input name=x><div style='width:3000px'>Wide"
    tab.go(f"data:text/html,{bad}")
    tab.wait("document.querySelector('h1')")
    told = " ".join(faults(tab))
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
    paths = ["/dashboard/settings", f"{foot.path}?{foot.query}", "/unsubscribe?token=dead", "/privacy"]
    assert [fault for path in paths for fault in judged(tab, base + path)] == []
    tab.go(base + "/dashboard/settings")
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
    paths = [asked, f"/signin?{urlencode({'return_to': asked})}", "/dashboard", "/dashboard/account/delete"]
    assert [fault for path in paths for fault in judged(tab, base + path)] == []


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
    """The whole way of somebody who has no account yet, through the mail, to the application's own address."""
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
    (mail,) = mails(1)
    tab.go(base + link(mail))
    tab.wait("document.title.startsWith('Confirm')")
    assert [fault for width, dark in WINDOWS for fault in _looked(tab, width, dark)] == []
    tab.fill("password", PASSWORD)
    tab.press("main form button")
    tab.wait("document.title.startsWith('Allow')")
    tab.press("button[value=allow]")
    tab.wait("document.title === 'application'")
    assert re.search(r"[?&]code=awt_ac_", tab.run("location.href"))


def _looked(tab: Tab, width: int, dark: bool) -> list[str]:
    tab.look(width, dark=dark)
    return faults(tab)


def test_keys_applications_logo_and_deletion_work_with_a_browsers_own_forms(tab: Tab, places: tuple[str, str]) -> None:
    base, _ = places
    signed_in(tab, base, "pro")
    tab.go(base + "/dashboard/keys")
    tab.wait("document.title.startsWith('API keys')")
    tab.fill("name", "laptop")
    tab.press("button.primary")
    tab.wait("document.querySelector('.notice code')?.innerText.startsWith('awt_ak_')")
    tab.press(".apps button")
    tab.wait("document.body.innerText.includes('The key is revoked')")
    tab.go(base + "/dashboard/api-apps/new")
    tab.wait("document.title.startsWith('New application')")
    tab.fill("name", "My site")
    tab.fill("redirect_uris", "https://site.example/back\nurn:ietf:wg:oauth:2.0:oob")
    tab.press("button.primary")
    tab.wait("document.title.startsWith('Application made')")
    assert "awt_cs_" in tab.text()
    assert faults(tab) == []
    tab.go(base + "/dashboard/settings")
    tab.wait("document.title.startsWith('Settings')")
    tab.upload("#file", Path(__file__).parents[2] / "auth_server" / "templates" / "icon.png")
    tab.press("form[enctype] button")
    tab.wait("document.querySelector('img.logo')?.naturalWidth === 512")
    assert faults(tab) == []
    tab.go(base + "/dashboard/account/delete")
    tab.wait("document.title.startsWith('Delete')")
    tab.fill("password", PASSWORD)
    tab.press("button.danger")
    tab.wait("document.title.startsWith('Your account is deleted')")
    tab.go(base + "/dashboard")
    tab.wait("document.title.startsWith('Sign in')")
