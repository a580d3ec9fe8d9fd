"""A person uploads a statement with a phone's browser: the form and what comes of it fit and can be read."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

from pathlib import Path

import pytest
from sqlalchemy import select

from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.spending import SpendingStatement, SpendingTotal
from shared.domain.card_value import CATEGORIES
from shared.domain.dates import add_months
from tests.browser.judges import list_faults, look_everywhere
from tests.browser.test_pages import signed_in
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
    assert "groceries $17.25" in tab.text()
    assert look_everywhere(tab) == []
    tab.go(world.url + "/dashboard/spending")
    tab.wait("document.body.innerText.includes('Sat 14 Mar 2026 to Mon 16 Mar 2026')")
    assert list_faults(tab) == []


def test_a_year_of_spending_fits_and_can_be_read(tab: Tab, world: World) -> None:
    signed_in(tab, world.url, "premium")
    with transaction() as session:
        account = session.scalars(select(Account.id)).one()
        first = clock.today().replace(day=1)
        for currency, months in (("GBP", 12), ("EUR", 2)):
            facts = {"period_start": add_months(first, -months), "period_end": first, "transactions": 90}
            statement = SpendingStatement(account_id=account, fingerprint=currency, currency=currency, **facts)
            session.add(statement)
            session.flush()
            for month in range(months):
                for place, category in enumerate(CATEGORIES[:8]):
                    total = {"amount": 100 * (place + 1) + 37 * month, "refunds": month, "transactions": 9}
                    day = add_months(first, -month)
                    row = SpendingTotal(statement_id=statement.id, month=day, category=category, **total)
                    row.account_id = account
                    session.add(row)
    tab.go(world.url + "/dashboard/spending")
    tab.wait("document.querySelector('svg.chart')")
    assert look_everywhere(tab) == []
    tab.press("main a[href$='currency=EUR']")
    tab.wait("document.body.innerText.includes('What you spent in EUR')")
    tab.press("details summary")
    assert look_everywhere(tab) == []
