"""A person uploads a statement with a phone's browser: the form and what comes of it fit and can be read."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

from pathlib import Path

import pytest

from tests.browser.test_pages import WINDOWS, faults, signed_in
from tests.mcp_server.rest.conftest import World, running, world  # noqa: F401 - fixtures
from tests.shared.domain.spending.issuers import SAMPLES
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser


def test_a_statement_is_imported_with_a_browsers_own_form(tab: Tab, world: World, tmp_path: Path) -> None:
    path = tmp_path / "statement.csv"
    path.write_text(SAMPLES["amex-us"].text, encoding="utf-16")
    signed_in(tab, world.url, "premium")
    tab.go(world.url + "/dashboard/spending")
    tab.wait("document.title.startsWith('Spending')")
    tab.upload("#file", path)
    tab.press("form[enctype] button")
    tab.wait("document.body.innerText.includes('Stored the totals of 2 purchases')")
    assert "groceries 17.25" in tab.text()
    for width, dark in WINDOWS:
        tab.look(width, dark=dark)
        assert faults(tab) == []
    tab.go(world.url + "/dashboard/spending")
    tab.wait("document.body.innerText.includes('2026-03-14 to 2026-03-16')")
    assert faults(tab) == []
