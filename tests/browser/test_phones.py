"""The page of phone numbers in a real browser: a number is typed, its code entered, and every state can be read."""

import re
from pathlib import Path

import pytest
from sqlalchemy import select, update

from jobs import deliver
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.delay_alerts import DelayAlert
from shared.db.messages import Delivery
from shared.db.phones import PhoneNumber
from shared.secrets import seal
from shared.settings import settings
from tests.browser.judges import WIDTHS, look_everywhere
from tests.browser.test_pages import signed_in
from tests.shared.outbox.conftest import phones  # noqa: F401 - a fixture
from tests.support.browser import Tab
from tests.support.fake_sms import Carrier
from tests.support.settings_and_clock import Configure

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser

NUMBER, OTHER = "+14155550123", "+447700900456"


def look(tab: Tab, folder: Path, state: str) -> list[str]:
    """What is wrong with the page in this state; a picture of each width stays in the folder."""
    for width in WIDTHS:
        tab.look(width)
        tab.picture(folder / f"phones-{state}-{width}.png")
    return [f"{state}: {fault}" for fault in look_everywhere(tab)]


def read_code(carrier: Carrier) -> str:
    with transaction() as session:
        (id,) = session.scalars(select(Delivery.id).where(Delivery.channel == "sms", Delivery.status == "pending"))
    deliver.wake(str(id))
    code = re.match(r"\d{6}", carrier.posted[-1]["Body"])
    assert code is not None, carrier.posted
    return code[0]


def add_alert() -> None:
    with transaction() as session:
        account_id = session.scalars(select(Account.id)).one()
    with transaction(account_id) as session:
        sealed = {"phone_sealed": seal(settings().encryption_keys[0], OTHER), "phone_ending": OTHER[-3:]}
        session.add(DelayAlert(airport="JFK", channels=["sms"], min_delay_minutes=30, active=True, **sealed))


def test_a_number_is_proved_by_hand(
    tab: Tab,
    places: tuple[str, str],
    phones: Carrier,  # noqa: F811
    configure: Configure,
    tmp_path: Path,
) -> None:
    base, _ = places
    configure(TWILIO_WHATSAPP_CODE_CONTENT_SID="HX2")
    signed_in(tab, base, "premium")
    add_alert()
    tab.go(f"{base}/dashboard/settings")
    tab.wait("document.querySelector('a[href=\"/dashboard/settings/phones\"]')")
    tab.press('a[href="/dashboard/settings/phones"]')
    tab.wait("document.title.startsWith('Phones')")
    wrong = look(tab, tmp_path, "new")
    tab.fill("number", "0207 946 0123")
    tab.press("section[aria-labelledby=add] button")
    tab.wait("document.querySelector('#number-fault')")
    assert tab.run("document.querySelector('#number').value") == "0207 946 0123"
    wrong += look(tab, tmp_path, "fault")
    tab.fill("number", "+1 (415) 555-0123")
    tab.press("section[aria-labelledby=add] button")
    tab.wait("document.querySelector('[name=code]')")
    code = read_code(phones)
    tab.fill("code", f"{(int(code) + 1) % 10**6:06}")
    tab.press("form[action$=prove] button")
    tab.wait("document.body.innerText.includes('You have 4 tries left')")
    wrong += look(tab, tmp_path, "code")
    tab.fill("code", code)
    tab.press("form[action$=prove] button")
    tab.wait("document.body.innerText.includes('Number ending in 123')")
    wrong += look(tab, tmp_path, "proved")
    assert wrong == []
    with transaction() as session:
        (row,) = session.scalars(select(PhoneNumber))
    assert row.proved_at
    assert clock.now() >= row.proved_at


@pytest.mark.parametrize("plan", ["free", "premium"])
def test_where_no_code_is_sent_the_page_says_why(
    tab: Tab,
    places: tuple[str, str],
    phones: Carrier,  # noqa: F811
    configure: Configure,
    tmp_path: Path,
    plan: str,
) -> None:
    signed_in(tab, places[0], "premium")
    add_alert()
    with transaction() as session:
        session.execute(update(Account).values(plan=plan))
    if plan == "premium":
        configure(TWILIO_AUTH_TOKEN="")
    tab.go(f"{places[0]}/dashboard/settings/phones")
    sentence = "part of the Premium plan" if plan == "free" else "This service sends no text messages"
    tab.wait(f"document.body.innerText.includes('{sentence}')")
    assert look(tab, tmp_path, plan) == []
    assert tab.run("document.querySelectorAll('[name=number], [name=alert_id]').length") == 0
    assert phones.posted == []
