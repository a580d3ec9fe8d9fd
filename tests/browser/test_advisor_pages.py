"""Integrations, clients and their documents in a real browser: each page, its faults and what it asks."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

from typing import Any

import pytest
from sqlalchemy import select, update

from auth_server.web.tool_server import Answer, ToolServer
from mcp_server.toolkit.context import Caller
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.domain.plans import Plan
from tests.browser.judges import look_everywhere
from tests.browser.test_pages import signed_in
from tests.mcp_server.rest.conftest import World, running, world  # noqa: F401 - fixtures
from tests.mcp_server.rest.test_connections_page import write_calendar
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser


def test_integrations_by_hand_fit_and_can_be_read(tab: Tab, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connected in the browser by the page of the tool server, synchronised, and ended."""
    signed_in(tab, world.url, "premium")
    tab.go(world.url + "/dashboard/integrations")
    tab.wait("document.title.startsWith('Integrations')")
    assert look_everywhere(tab) == []
    tab.press("form[action$='/connect'] button")
    tab.wait("document.querySelector('textarea')")
    tab.run(f"document.querySelector('textarea').value = {write_calendar()!r}")
    tab.press("form button[value=paste]")
    tab.wait("document.title.startsWith('TripIt is connected')")
    tab.press("main a.button")
    tab.wait("document.title.startsWith('Integrations')")
    assert look_everywhere(tab) == []
    send = ToolServer._send

    async def answer(server: ToolServer, call: Any) -> Answer:
        if call.tool != "sync_integration":
            return await send(server, call)
        row = {"kind": "hotel_booking", "id": "W" * 60}
        rows = {"changes": [row], "conflicts": [row | {"reason": "newer_here"}]}
        return Answer(status="ok", message="TripIt: 1 row changed.", **rows)

    monkeypatch.setattr(ToolServer, "_send", answer)
    tab.press("form[action$='/sync'] button")
    tab.wait("document.title.startsWith('In step')")
    assert look_everywhere(tab) == []
    tab.go(world.url + "/dashboard/integrations/end?provider=tripit")
    tab.wait("document.title.startsWith('End this connection')")
    assert look_everywhere(tab) == []
    tab.press("button.danger")
    tab.wait("document.body.innerText.includes('The connection is ended')")


def test_clients_by_hand_fit_and_can_be_read(tab: Tab, world: World, use: Any) -> None:
    """The sentence of other plans, a client with much in the file, a form with faults, and documents."""
    signed_in(tab, world.url, "pro")
    page = world.url + "/dashboard/clients"
    with transaction() as session:
        row = session.scalars(select(Account)).one()
        caller = Caller(row.id, row.public_id, Plan.PRO, False, "client-of-tests", "Tests")
    points = {"united-mileageplus": 62340, "ana-mileage-club": 31800, "W" * 100: 5}
    wishes = {"seat": "aisle", "hotels": "W" * 80, "W" * 60: ["one", {"two": 2}]}
    facts: dict[str, Any] = {"client_email": f"{'w' * 60}@{'w' * 60}.test", "phone": "+44 20 7946 0000"}
    facts |= {"notes": "One\n" + "W" * 90}
    client = use(
        caller, "create_client_portfolio", client_name="Zoë " + "W" * 90, **facts, balances=points, preferences=wishes
    )
    number = client["portfolio"]["portfolio_id"]
    for title in ("Ten days in Tokyo", "W" * 120):
        made = use(caller, "generate_branded_pdf", title=title, summary="Ten days", client_portfolio_id=number)["pdf"]
    pages = {
        "": "points in",
        f"/{number}": "+44 20",
        f"/{number}/change": "Save",
        f"/{number}/delete": "Keep them",
        "/documents": "Ten days in Tokyo",
        f"/documents/revoke?pdf_id={made['pdf_id']}": "Leave it open",
    }
    for path, words in pages.items():
        tab.go(page + path)
        tab.wait(f"document.body.innerText.includes({words!r})")
        assert look_everywhere(tab) == [], path
    tab.go(page + "/new")
    tab.wait("document.querySelector('form.form')")
    tab.run("document.querySelector('form.form').noValidate = true")
    for name, typed in {"client_name": "Lee", "client_email": "nobody", "phone": "x", "balances": "United"}.items():
        tab.run(f"document.querySelector('[name={name}]').value = {typed!r}")
    tab.press("form.form button.primary")
    tab.wait("document.querySelector('.fault')")
    assert look_everywhere(tab) == []
    with transaction() as session:
        session.execute(update(Account).values(plan="free"))
    tab.go(page)
    tab.wait("document.body.innerText.includes('On the Pro plan')")
    assert look_everywhere(tab) == []
