"""Plans paid at Stripe, from the page over signed events to the account, with a fake Stripe that fails and repeats."""

import hmac
import itertools
import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from jobs.handlers import billing as handler
from shared import clock
from shared.billing import settle
from shared.billing.stripe import client
from shared.billing.stripe.client import parse_subscription
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.billing import BillingCustomer, BillingEvent, add_customer, claim_due_customer
from shared.db.messages import Notification
from shared.db.operator_actions import OperatorAction
from shared.db.runs import Claim
from shared.domain.plans import Plan
from shared.outbox.plan_change import change_plan
from tests.auth_server.in_process_browser import PASSWORD, Browser, hidden
from tests.auth_server.test_dashboard import send
from tests.support.fake_stripe import Stripe, stripe, subscription
from tests.support.settings_and_clock import Configure, StandingClock

PAGE, KEY = "/dashboard/account/plan", "sk_test_private"
CLAIM = Claim(1, "billing", 0, 1)


@pytest.fixture
def shop(configure: Configure, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stripe]:
    monkeypatch.setattr(client, "WAITS", (0.0, 0.0))
    with stripe() as fake:
        configure(
            BILLING="stripe",
            STRIPE_SECRET_KEY=KEY,
            STRIPE_WEBHOOK_SECRETS="whsec_new,whsec_old",
            STRIPE_PRICES="premium=price_1,pro=price_2,premium=price_0",
            STRIPE_BASE_URL=fake.address,
        )
        yield fake


def notify(browser: Browser, event_id: str, secret: str = "whsec_old", age: int = 0, customer: str = "cus_1") -> Any:
    thing = {"object": "subscription", "customer": customer}
    event = {"id": event_id, "type": "customer.subscription.updated", "data": {"object": thing}}
    body, moment = json.dumps(event).encode(), str(int(clock.now().timestamp()) - age)
    signature = hmac.digest(secret.encode(), moment.encode() + b"." + body, "sha256").hex()
    headers = {"stripe-signature": f"t={moment},v1=00,v1={signature}"}
    return browser.send("POST", "/hooks/billing", content=body, headers=headers)


def begin(plan: str = "free") -> None:
    with transaction() as session:
        account = session.scalars(select(Account)).one()
        change_plan(session, account, Plan.of(plan))
        add_customer(session, "stripe", account.id, "cus_1")


def work() -> None:
    with transaction() as session:
        handler.check(CLAIM)(session)


def plan() -> str:
    with transaction() as session:
        return session.scalars(select(Account.plan)).one()


def count(model: Any, *which: Any) -> int:
    with transaction() as session:
        return session.scalar(select(func.count()).select_from(model).where(*which)) or 0


def test_nothing_is_sold_without_a_door(ann: Browser) -> None:
    ann.sign_in()
    assert notify(ann, "evt_1").status_code == 404
    assert "Nothing is paid on this site" in ann.get(PAGE).text
    assert "Manage payment" not in ann.get("/dashboard/account").text + ann.get("/plans").text


def test_a_plan_is_ordered_and_comes_with_the_event(ann: Browser, shop: Stripe) -> None:
    ann.sign_in()
    assert f'href="{PAGE}"' in ann.get("/plans").text
    answer = send(ann, PAGE, f"{PAGE}/choose", plan="premium", once=hidden(ann.get(PAGE).text, "once"))
    assert answer.headers["location"] == f"{shop.address}/pay/v1/checkout/sessions"
    order = shop.calls[-1][2]
    assert (order["customer"], order["line_items[0][price]"], order["mode"]) == ("cus_1", "price_1", "subscription")
    assert all(shop.keys)
    assert plan() == "free"
    shop.subscriptions = [subscription()]
    assert notify(ann, "evt_1").json() == {"received": True, "new": True}
    work()
    assert plan() == "premium"
    assert count(OperatorAction, OperatorAction.actor == "billing:stripe") == 1
    send(ann, PAGE, f"{PAGE}/choose", plan="pro")
    assert shop.calls[-1][2]["flow_data[subscription_update_confirm][items][0][price]"] == "price_2"
    send(ann, PAGE, f"{PAGE}/manage")
    assert shop.calls[-1][1] == "/v1/billing_portal/sessions"


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_any_order_and_repetition_of_events_ends_in_the_same_plan(
    ann: Browser, shop: Stripe, order: tuple[int, ...]
) -> None:
    """An event arrives at any time after what it is about, so that Stripe may have continued in the meantime."""
    begin()
    history = [[subscription()], [subscription("price_2")], [subscription("price_0")]]
    for step, number in enumerate(order):
        shop.subscriptions = history[max(order[: step + 1])]
        assert [notify(ann, f"evt_{number}").json()["new"] for _ in range(2)] == [True, False]
        work()
        notify(ann, f"evt_{order[0]}")
    assert plan() == "premium"
    assert count(BillingEvent) == 3
    shop.subscriptions = []
    notify(ann, "evt_end")
    work()
    assert plan() == "free"


def test_an_answer_older_than_an_event_is_not_written(ann: Browser, shop: Stripe) -> None:
    begin()
    notify(ann, "evt_1")
    with transaction() as session:
        due = claim_due_customer(session, "stripe", handler.LEASE)
    assert due is not None
    notify(ann, "evt_2")
    with transaction() as session:
        old = parse_subscription(subscription("price_2"))
        assert not settle.settle(session, due, [old], clock.now())
    shop.subscriptions = [subscription()]
    work()
    assert plan() == "premium"


@pytest.mark.parametrize(
    ("secret", "age"), [("whsec_other", 0), ("whsec_new", 301), ("whsec_new", -301)], ids=["other", "old", "early"]
)
def test_what_is_not_signed_now_is_refused(ann: Browser, shop: Stripe, secret: str, age: int) -> None:
    begin()
    assert notify(ann, "evt_1", secret, age).status_code == 400
    assert count(BillingEvent) == 0
    assert notify(ann, "evt_1", "whsec_new", 299).status_code == 200


def test_a_body_is_bounded(ann: Browser, shop: Stripe) -> None:
    assert ann.send("POST", "/hooks/billing", content=b"x" * (256 * 1024 + 1)).status_code == 413


@pytest.mark.parametrize("failure", [0, 409, 429, 500])
def test_a_stripe_that_is_away_is_asked_again(
    ann: Browser, shop: Stripe, standing_clock: StandingClock, failure: int, caplog: pytest.LogCaptureFixture
) -> None:
    begin()
    shop.subscriptions, shop.failures = [subscription()], [failure] * 3
    notify(ann, "evt_1")
    work()
    assert plan() == "free"
    standing_clock.advance(timedelta(minutes=2))
    shop.failures = [failure]
    work()
    assert plan() == "premium"
    assert KEY not in caplog.text
    assert "sk_test_echo" not in caplog.text


def test_a_late_payment_keeps_the_plan_for_days_and_is_told_once(
    ann: Browser, shop: Stripe, standing_clock: StandingClock
) -> None:
    begin()
    shop.subscriptions = [subscription()]
    notify(ann, "evt_1")
    work()
    since = int(clock.now().timestamp())
    shop.subscriptions = [subscription(status="past_due", latest_invoice={"created": since})]
    for number in (2, 3):
        notify(ann, f"evt_{number}")
        work()
    assert plan() == "premium"
    assert count(Notification, Notification.title == "A payment did not go through") == 1
    standing_clock.advance(timedelta(days=7))
    work()
    assert plan() == "free"
    shop.subscriptions = [subscription()]
    notify(ann, "evt_4")
    work()
    assert plan() == "premium"


def test_a_cancelled_plan_stays_to_the_end_of_the_period(ann: Browser, shop: Stripe) -> None:
    begin()
    end = int((clock.now() + timedelta(days=9)).timestamp())
    shop.subscriptions = [subscription(cancel_at=end)]
    notify(ann, "evt_1")
    work()
    assert plan() == "premium"
    ann.sign_in()
    assert "It is cancelled and stays until" in ann.get(PAGE).text
    assert count(Notification, Notification.title.startswith("Your plan ends on")) == 1


def test_what_the_operator_gave_stays_when_payment_ends(ann: Browser, shop: Stripe) -> None:
    begin("enterprise")
    for number, state in enumerate(([subscription()], [])):
        shop.subscriptions = state
        notify(ann, f"evt_{number}")
        work()
        assert plan() == "enterprise"


def test_an_unknown_price_and_a_strange_customer_change_nothing(ann: Browser, shop: Stripe) -> None:
    begin("premium")
    shop.subscriptions = [subscription("price_9")]
    notify(ann, "evt_1")
    assert notify(ann, "evt_2", customer="cus_strange").status_code == 200
    work()
    assert plan() == "premium"


def test_a_deleted_account_ends_its_subscription(ann: Browser, shop: Stripe) -> None:
    begin()
    shop.subscriptions = [subscription()]
    ann.sign_in()
    send(ann, "/dashboard/account/delete", "/dashboard/account/delete", password=PASSWORD)
    assert count(Account) == 0
    shop.failures = [500] * 3
    work()
    assert count(BillingCustomer) == 1
    with transaction() as session:
        session.scalars(select(BillingCustomer)).one().check_at = clock.now()
    work()
    assert ("DELETE", "/v1/customers/cus_1", {}) in shop.calls
    assert (shop.subscriptions, count(BillingCustomer)) == ([], 0)
