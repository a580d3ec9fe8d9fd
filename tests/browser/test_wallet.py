"""Cards, statuses and vouchers in a real browser, with forms, faults and questions, on both hosts."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.messages import Delivery
from shared.domain.plans import Plan
from shared.outbox.wording.messages import message
from shared.reference.load import reference
from shared.services.watches.deadlines import tell_deadlines
from tests.browser.judges import look_everywhere
from tests.browser.test_pages import signed_in
from tests.mcp_server.rest.conftest import World, running, world  # noqa: F401 - fixtures
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser
LONG = "Unbreakabletext" * 7


def open_account(tab: Tab, world: World) -> Caller:
    signed_in(tab, world.url, "premium")
    with transaction() as session:
        row = session.scalars(select(Account)).one()
    return Caller(row.id, row.public_id, Plan.PREMIUM, False, "client-of-tests", "Tests")


def look_at(tab: Tab, address: str, words: str) -> list[str]:
    """Opens a page that says these words; what is wrong with it in any window."""
    tab.go(address)
    tab.wait(f"location.href === {address!r} && document.body.innerText.includes({words!r})")
    return [f"{address} {fault}" for fault in look_everywhere(tab)]


def send_wrongly(tab: Tab, field: str, value: str) -> list[str]:
    """Types into the form of the open page what its tool refuses; what is wrong with the page that says so."""
    tab.run("document.querySelector('form.form').noValidate = true")
    tab.fill(field, value)
    tab.press("form.form button.primary")
    tab.wait("document.querySelector('[role=alert]')")
    return look_everywhere(tab)


def test_vouchers_by_hand_fit_and_can_be_read(tab: Tab, world: World, use: Any) -> None:
    ann = open_account(tab, world)
    page, today = world.url + "/dashboard/vouchers", clock.today()
    assert look_at(tab, page, "No voucher is kept") == []
    kinds = use(ann, "list_voucher_types", booking_type="flight", per_page=100)["voucher_types"]
    for kind, days in zip(kinds[:3], (20, 80, 300), strict=True):
        day = str(today + timedelta(days=days))
        use(ann, "add_voucher", voucher_slug=kind["voucher_slug"], expires_on=day, reference=LONG, notes=LONG)
    number = use(ann, "list_my_vouchers")["vouchers"][0]["voucher_id"]
    one = f"?voucher={number}"
    assert look_at(tab, f"{page}/apply{one}", "No flight and no stay") == []
    flight = {"airline": "UA", "origin": "LAX", "destination": "DEN", "cabin_class": "economy", "cash_paid": 140}
    use(ann, "add_flight_booking", kind="cash", **flight, departure_date=str(today + timedelta(days=9)))
    pages = {"": "80 days left", "/edit": "Kind", f"/edit{one}": "Last day", f"/apply{one}": "Use it there"}
    for path, words in (pages | {f"/delete{one}": "Keep it"}).items():
        assert look_at(tab, page + path, words) == []
    tab.go(f"{page}/edit")
    tab.wait("document.querySelector('form.form')")
    assert send_wrongly(tab, "reference", "x" * 200) == []


def test_cards_by_hand_fit_and_can_be_read(tab: Tab, world: World, use: Any) -> None:
    ann = open_account(tab, world)
    page, today = world.url + "/dashboard/cards", clock.today()
    rows = use(ann, "search_card_catalog", query="American Express Platinum", country="US", per_page=20)["cards"]
    slug = max(rows, key=lambda row: len(row["credits"]))["slug"]
    opened = {"opened_on": str(today - timedelta(days=350))}
    spend = {"bonus_amount": 60000, "spend_requirement": 4000, "spend_deadline_on": str(today + timedelta(days=20))}
    number = use(ann, "add_card", card=slug, **opened, bonus_status="pending", **spend)["card"]["card_id"]
    use(ann, "add_card", card=LONG, custom=True, member="Ben", notes=LONG, nickname=LONG[:80])
    use(ann, "add_card", card="Shut", custom=True, **opened, closed_on=str(today))
    use(ann, "update_card", card_id=number, credit=list_credits(use, ann, slug)[0], credit_used=10)
    one = f"?card={number}"
    pages = {"": "Welcome bonus", "/add": "Find it in the catalogue", "/add?query=platinum": "a year"}
    pages |= {"/edit": "A card of your own", f"/edit{one}": "Last day to spend", f"/credits{one}": "Mark as used"}
    pages |= {f"/edit?slug={slug}": "The catalogue knows this offer", f"/delete{one}": "Keep it"}
    for path, words in pages.items():
        assert look_at(tab, page + path, words) == []
    tab.go(f"{page}/edit")
    tab.wait("document.querySelector('form.form')")
    assert send_wrongly(tab, "annual_fee", "much") == []


def list_credits(use: Any, caller: Caller, slug: str) -> list[str]:
    (card,) = use(caller, "search_card_catalog", slug=slug)["cards"]
    return [credit["credit"] for credit in card["credits"]]


def test_statuses_by_hand_fit_and_can_be_read(tab: Tab, world: World, use: Any) -> None:
    ann = open_account(tab, world)
    page, today = world.url + "/dashboard/statuses", clock.today()
    ends = {"valid_until": str(today + timedelta(days=40))}
    use(ann, "set_loyalty_status", program="hilton-honors", tier="Gold", progress=12, **ends, notes=LONG)
    use(ann, "set_loyalty_status", program="united-mileageplus", tier="Premier Silver", progress=3100, member="Ben")
    use(ann, "set_loyalty_status", program="marriott-bonvoy", tier="Gold", lifetime=True)
    one = "?program=hilton-honors"
    pages = {"": "to go", "/edit": "Programme", f"/edit{one}": "Hilton Honors", f"/delete{one}": "Keep it"}
    for path, words in pages.items():
        assert look_at(tab, page + path, words) == []
    tab.go(f"{page}/edit{one}")
    tab.wait("document.querySelector('form.form')")
    assert send_wrongly(tab, "tier", "Ruby") == []
    assert tab.run("document.querySelector('select[name=tier]').length") > 3


def test_the_profile_and_deadlines_fit_and_can_be_read(tab: Tab, world: World, use: Any) -> None:
    ann = open_account(tab, world)
    profile, deadlines = (f"{world.url}/dashboard/{name}" for name in ("profile", "deadlines"))
    assert look_at(tab, profile, "Everything kept here is yours") == []
    assert look_at(tab, deadlines, "Nothing ends within a year") == []
    ends = {"expires_on": str(clock.today() + timedelta(days=25))}
    use(ann, "update_points_balance", program="ana-mileage-club", balance=31800, member="Ben", **ends)
    use(ann, "add_card", card=LONG, custom=True, opened_on=str(clock.today() - timedelta(days=200)), annual_fee=95)
    assert look_at(tab, profile, "Ben") == []
    assert look_at(tab, deadlines, "Change the day") == []
    tab.go(profile)
    tab.wait("document.querySelector('form.form')")
    assert send_wrongly(tab, "timezone", "Mars/Base") == []


def test_from_the_mail_about_a_deadline_to_its_settling(tab: Tab, world: World, use: Any) -> None:
    """The mail's button, the page it leads to, the day that is corrected, and the portfolio without the deadline."""
    ann = open_account(tab, world)
    with transaction() as session:
        session.execute(update(Account).values(email_confirmed_at=clock.now()))
    ends = {"expires_on": str(clock.today() + timedelta(days=25))}
    use(ann, "update_points_balance", program="ana-mileage-club", balance=31800, member="Ben", **ends)
    tab.go(world.url + "/dashboard")
    tab.wait("document.querySelector('[aria-labelledby=do]')?.innerText.includes('31,800')")
    with transaction(ann.account_id) as session:
        tell_deadlines(session, reference(), ann.account_id, clock.now().replace(hour=12))
    with transaction() as session:
        (facts,) = session.scalars(select(Delivery.facts).where(Delivery.event == "deadlines")).all()
    mail = message("deadlines", facts, sandbox=True, account=ann.public_id)
    (button,) = re.findall(r'href="([^"]+)" class="btn"[^>]*>Change the day<', mail.html)
    assert f"Change the day: {html.unescape(button)}" in mail.text
    tab.go(html.unescape(button))
    tab.wait("document.title.startsWith('Change a balance') && document.body.innerText.includes('of Ben')")
    assert tab.run("document.querySelector('[name=expires_on]').value") == ends["expires_on"]
    tab.fill("expires_on", str(clock.today() + timedelta(days=500)))
    tab.press("form.form button.primary")
    tab.wait("document.body.innerText.includes('The balance is saved.')")
    tab.go(world.url + "/dashboard")
    tab.wait("document.title.startsWith('Home') && !document.querySelector('[aria-labelledby=do]')")
