"""The portfolio in a real browser, empty and with much on it, on both hosts."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.messages import Notification
from shared.domain.plans import Plan
from tests.browser.judges import look_everywhere
from tests.browser.test_pages import signed_in
from tests.mcp_server.rest.conftest import World, running, world  # noqa: F401 - fixtures
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser


def fill_portfolio(use: Any) -> None:
    """Balances of two members, a card with a bonus, two bookings, a watch, and a notice with a long title."""
    with transaction() as session:
        row = session.scalars(select(Account)).one()
        session.add(
            Notification(
                account_id=row.id, kind="inbox", title="W" * 90, body="x", dedupe_key="x", created_at=clock.now()
            )
        )
    caller = Caller(row.id, row.public_id, Plan.PREMIUM, False, "client-of-tests", "Tests")
    today = clock.today()
    day = {days: str(today + timedelta(days=days)) for days in (-40, 5, 8, 25, 50, 60)}
    ends = {"member": "Ben", "expires_on": day[25]}
    use(caller, "update_points_balance", program="chase-ultimate-rewards", balance=184500)
    use(caller, "update_points_balance", program="united-mileageplus", balance=62340)
    use(caller, "update_points_balance", program="ana-mileage-club", balance=31800, **ends)
    bonus = {"bonus_amount": 60000, "bonus_status": "pending", "spend_requirement": 4000, "spend_deadline_on": day[50]}
    use(caller, "add_card", card="Zorblatt Gold", custom=True, opened_on=day[-40], **bonus)
    flight = {"airline": "UA", "origin": "LAX", "destination": "DEN", "cabin_class": "economy", "cash_paid": 140}
    use(caller, "add_flight_booking", kind="cash", **flight, flight_number="UA1142", departure_date=day[8])
    stay = {"check_in_date": day[5], "check_out_date": day[8], "kind": "cash", "original_pay_rate_usd": 400}
    use(caller, "add_hotel_booking", hotel_id="Alder Lodge of the unbroken name", **stay)
    watch = {"earliest_date": day[50], "latest_date": day[60], "cabin": "business", "passengers": 2}
    use(caller, "create_route_monitor", origin="LAX", destination="NRT", **watch)


def test_the_portfolio_fits_and_can_be_read(tab: Tab, world: World, use: Any) -> None:
    signed_in(tab, world.url, "premium")
    assert "0 of 3 done" in tab.text()
    assert look_everywhere(tab) == []
    fill_portfolio(use)
    tab.go(world.url + "/dashboard")
    tab.wait("document.body.innerText.includes('Alder Lodge')")
    assert "2 of 3 done" in tab.text()
    assert "Zorblatt Gold" in tab.text()
    assert look_everywhere(tab) == []
    assert tab.run("document.scripts.length") == 0
    assert tab.run("performance.getEntriesByType('resource').every((r) => r.name.startsWith(location.origin))")


def test_balances_by_hand_fit_and_can_be_read(tab: Tab, world: World, use: Any) -> None:
    signed_in(tab, world.url, "premium")
    fill_portfolio(use)
    page, whose = world.url + "/dashboard/balances", "?program=ana-mileage-club&member=Ben"
    pages = {"": "31,800", "/edit": "Programme", f"/edit{whose}": "of Ben", f"/delete{whose}": "Keep it"}
    for path, words in pages.items():
        tab.go(page + path)
        tab.wait(f"document.body.innerText.includes({words!r})")
        assert look_everywhere(tab) == [], path
    tab.go(page + "/edit")
    tab.wait("document.querySelector('form.form')")
    tab.run("document.querySelector('form.form').noValidate = true")
    tab.fill("balance", "many")
    tab.press("form.form button.primary")
    tab.wait("document.querySelector('.fault')")
    assert look_everywhere(tab) == []
