"""Plan and payment in a real browser: the page fits in each state, and its forms arrive at the payment service."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.billing import BillingCustomer
from tests.browser.test_pages import judged, signed_in
from tests.support.browser import Tab
from tests.support.fake_stripe import Stripe, stripe
from tests.support.settings_and_clock import Configure

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser
PAGE = "/dashboard/account/plan"


@pytest.fixture
def shop(places: tuple[str, str], configure: Configure) -> Iterator[Stripe]:
    with stripe() as fake:
        configure(
            WEB_URL=places[0],
            BILLING="stripe",
            STRIPE_SECRET_KEY="sk_test_private",
            STRIPE_WEBHOOK_SECRETS="whsec_1",
            STRIPE_PRICES="premium=price_1,pro=price_2,enterprise=price_3",
            STRIPE_BASE_URL=fake.address,
            BILLING_TRIAL_DAYS="14",
        )
        yield fake


def subscribe(**more: Any) -> None:
    with transaction() as session:
        account = session.scalars(select(Account)).one()
        account.plan = "premium"
        row = session.scalar(select(BillingCustomer)) or BillingCustomer(
            account_id=account.id, door="stripe", customer_id="cus_1"
        )
        session.add(row)
        state = {"subscription_id": "sub_1", "item_id": "si_1", "status": "active", "paid_plan": "premium"}
        moments = dict.fromkeys(["period_ends_at", "late_since", "trial_ends_at", "cancels_at"])
        for name, value in (state | moments | more).items():
            setattr(row, name, value)


def test_the_page_fits_and_can_be_read_in_each_state(tab: Tab, places: tuple[str, str], shop: Stripe) -> None:
    base, soon = places[0], clock.now() + timedelta(days=9)
    signed_in(tab, base)
    found = judged(tab, base + PAGE) + judged(tab, base + "/plans") + judged(tab, f"{base}{PAGE}?done=paid")
    states: list[tuple[dict[str, Any], str]] = [
        ({"period_ends_at": soon}, "The next payment is on"),
        ({"late_since": clock.now(), "period_ends_at": soon}, "A payment did not go through"),
        ({"trial_ends_at": soon}, "Your trial ends on"),
        ({"cancels_at": soon}, "It is cancelled and stays until"),
    ]
    for state, words in states:
        subscribe(**state)
        found += judged(tab, base + PAGE)
        assert words in tab.text()
    assert found == []


def test_the_forms_arrive_at_the_payment_service_on_another_host(
    tab: Tab, places: tuple[str, str], shop: Stripe
) -> None:
    """A browser holds each hop after a form to the page's form-action, also the one that leads away."""
    base, _ = places
    signed_in(tab, base)
    tab.go(base + PAGE)
    tab.wait("document.title.startsWith('Plan and payment')")
    tab.press(f"form[action='{PAGE}/choose'] button")
    tab.wait(f"location.href === '{shop.address}/pay/v1/checkout/sessions'")
    subscribe()
    tab.go(base + PAGE)
    tab.wait("document.title.startsWith('Plan and payment')")
    tab.press(f"form[action='{PAGE}/manage'] button")
    tab.wait(f"location.href === '{shop.address}/pay/v1/billing_portal/sessions'")
    assert {"/v1/checkout/sessions", "/v1/billing_portal/sessions"} <= {path for _, path, _ in shop.calls}


def test_a_payment_service_that_is_away_is_said_on_a_page(tab: Tab, places: tuple[str, str], shop: Stripe) -> None:
    base, _ = places
    signed_in(tab, base)
    subscribe()
    tab.go(base + PAGE)
    tab.wait("document.title.startsWith('Plan and payment')")
    shop.failures = [401]
    tab.press(f"form[action='{PAGE}/manage'] button")
    tab.wait("document.body.innerText.includes('Nothing was paid')")
    assert "secret" not in tab.text()
