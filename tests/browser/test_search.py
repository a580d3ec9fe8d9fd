"""Search in a real browser: a month, a day, a watch of it, and a page that waits for a search that takes long."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import threading
from typing import Any

import anyio.to_thread
import pytest
from sqlalchemy import select

from auth_server.pages import search, tool_calls
from auth_server.web.tool_server import Answer, ToolCall, ToolServer
from mcp_server.toolkit.context import Caller
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.domain.plans import Plan
from tests.browser.judges import look_everywhere
from tests.browser.test_pages import signed_in
from tests.mcp_server.rest.conftest import World, running, world  # noqa: F401 - fixtures
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture
from tests.support.browser import Tab

pytestmark = [pytest.mark.axe, pytest.mark.slow]  # starts a browser
MONTH = f"{search.PATH}?origin=LHR&destination=JFK&airline=BA&month=2027-01&passengers=2"


def keep_balances(use: Any) -> None:
    with transaction() as session:
        row = session.scalars(select(Account)).one()
        caller = Caller(row.id, row.public_id, Plan.PREMIUM, False, "client-of-tests", "Tests")
    use(caller, "update_points_balance", program="chase-ultimate-rewards", balance=184500)


def test_from_a_month_to_a_day_to_a_watch(tab: Tab, world: World, use: Any) -> None:
    signed_in(tab, world.url, "premium")
    keep_balances(use)
    tab.go(world.url + search.PATH)
    tab.wait("document.querySelector('form.card')")
    for name, text in (("origin", "LHR"), ("destination", "JFK"), ("airline", "British Airways")):
        tab.fill(name, text)
    tab.run("document.querySelector('#month').value = '2027-01'")
    tab.run("document.querySelector('#passengers').value = '2'")
    tab.press("form.card button.primary")
    tab.wait("document.querySelectorAll('.cal td[class]').length === 31")
    assert look_everywhere(tab) == []
    tab.press(".cal a[href*='day=2027-01-15']")  # business
    tab.wait("document.querySelector('table.offers')")
    assert "100,000" in tab.text()
    assert look_everywhere(tab) == []
    tab.press("table.offers tr a.button")
    tab.wait("document.querySelector('#max_points')")
    assert tab.run("document.querySelector('#max_points').value") == "42000"
    tab.press("form.form button.primary")
    tab.wait("location.pathname.startsWith('/dashboard/watches/route/') && !location.pathname.endsWith('new')")
    tab.go(world.url + "/dashboard/watches")
    tab.wait("document.body.innerText.includes('LHR to JFK')")
    assert tab.run("document.scripts.length") == 0


def test_what_was_seen_fits_and_can_be_read(tab: Tab, world: World, use: Any) -> None:
    signed_in(tab, world.url, "free")
    tab.go(f"{world.url}{search.PATH}/day?origin=LHR&destination=JFK&airline=BA&day=2027-01-05")
    tab.wait("document.querySelector('table.offers')")
    assert look_everywhere(tab) == []
    tab.go(world.url + MONTH)
    tab.wait("document.querySelectorAll('.cal td[class]').length === 31")
    assert "part of the Premium plan" in tab.text()
    assert look_everywhere(tab) == []
    tab.go(world.url + MONTH.replace("BA", "British+Airways"))
    tab.wait("document.querySelectorAll('.cal td[class]').length === 31")
    assert look_everywhere(tab) == []


def test_a_search_that_takes_long_is_waited_for_without_a_script(
    tab: Tab, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, send = threading.Event(), ToolServer._send

    async def hold(server: ToolServer, call: ToolCall) -> Answer:
        if call.owner:
            await anyio.to_thread.run_sync(gate.wait)
        return await send(server, call)

    monkeypatch.setattr(ToolServer, "_send", hold)
    monkeypatch.setattr(tool_calls, "SEARCH_SECONDS", 0.05)
    signed_in(tab, world.url, "premium")
    tab.go(f"{world.url}{MONTH}&look=0")
    tab.wait("document.body.innerText.includes('Looking at each day')")
    assert look_everywhere(tab) == []
    tab.press("a.button.primary")
    tab.wait("document.body.innerText.includes('looks again every 2 seconds')")
    assert look_everywhere(tab) == []
    gate.set()
    tab.wait("document.querySelectorAll('.cal td[class]').length === 31")
