"""Pages elsewhere than on a screen in English: with longer texts, read from the right, and on paper."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import json
from typing import Any

import pytest

from tests.browser.judges import audit
from tests.browser.test_pages import signed_in
from tests.browser.test_portfolio import fill_portfolio
from tests.browser.test_watch_pages import fill_watches, find_caller
from tests.mcp_server.rest.conftest import World, running, world  # noqa: F401 - fixtures
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser
PUBLIC = ("/", "/connect", "/plans", "/tools", "/signin", "/signup")
INSIDE = (
    "",
    "/search",
    "/trips",
    "/bookings",
    "/balances",
    "/cards",
    "/statuses",
    "/vouchers",
    "/deadlines",
    "/spending",
)
INSIDE += ("/watches", "/watches/route/{route}", "/notices", "/settings", "/account")
# Every text by four tenths longer, as languages with long words are; its own letters, so that it breaks as it does.
LENGTHEN = """(() => {
  const longer = (text) => text.trim() && text.trimEnd() + text.trim().slice(0, Math.ceil(text.trim().length * .4));
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let at = texts.nextNode(); at; at = texts.nextNode()) if (longer(at.data)) at.data = longer(at.data);
  for (const one of document.querySelectorAll("[placeholder]")) one.placeholder = longer(one.placeholder);
  return true;
})()"""
MIRROR = "document.documentElement.dir = 'rtl'; document.documentElement.lang = 'ar'; true"
# Where the first heading and the list of places stand: both in the half from which the page is read.
SIDES = """JSON.stringify([".rail", "h1"].map((name) => document.querySelector(name)).filter(Boolean).map((one) => {
  const box = document.createRange(); box.selectNodeContents(one); const found = box.getBoundingClientRect();
  return (found.left + found.right) / 2 > innerWidth / 2;
}))"""


def open_page(tab: Tab, address: str) -> None:
    tab.go(address)
    tab.wait(f"location.href === {json.dumps(address)} && document.title")


def list_overflows(tab: Tab, path: str) -> list[str]:
    return [f"{path} {fault}" for fault in audit(tab) if fault.startswith(("wider", "sticks out"))]


def test_longer_texts_fit_a_small_phone_and_a_page_read_from_the_right_mirrors(
    tab: Tab, world: World, use: Any
) -> None:
    faults = []

    def look_at(path: str) -> None:
        tab.look(320)
        open_page(tab, world.url + path)
        assert tab.run(LENGTHEN)
        faults.extend(list_overflows(tab, f"longer {path}"))
        open_page(tab, world.url + path)
        assert tab.run(MIRROR)
        faults.extend(list_overflows(tab, f"mirrored at 320 {path}"))
        tab.look(1280)
        if not all(json.loads(tab.run(SIDES))):
            faults.append(f"not mirrored {path}")
        if tab.run("document.documentElement.scrollWidth > innerWidth"):
            faults.append(f"mirrored and wider {path}")

    for path in PUBLIC:
        look_at(path)
    signed_in(tab, world.url, "premium")
    fill_portfolio(use)
    ids = fill_watches(use, find_caller())
    for path in INSIDE:
        look_at("/dashboard" + path.format(**ids))
    assert faults == [], "\n".join(faults)


def test_on_paper_nothing_is_cut_and_nothing_waits_to_be_pressed(tab: Tab, world: World, use: Any) -> None:
    """At the width of A4 within its margins, upright and on its side."""
    signed_in(tab, world.url, "premium")
    fill_portfolio(use)
    caller = find_caller()
    ids = fill_watches(use, caller)
    trip = use(caller, "create_trip", name="Tokyo", start_date="2027-03-10", end_date="2027-03-20")["trip"]["trip_id"]
    faults = []
    for path in ("", f"/trips/{trip}", f"/watches/route/{ids['route']}", "/deadlines"):
        for width in (718, 1047):
            tab.look(width)
            open_page(tab, f"{world.url}/dashboard{path}")
            tab.print_on_paper()
            faults += list_overflows(tab, f"{path} at {width}")
            if tab.run("[...document.querySelectorAll('button, .button, form')].some((one) => one.checkVisibility())"):
                faults.append(f"{path}: something to press")
    assert faults == []
