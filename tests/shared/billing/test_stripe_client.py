"""The client of Stripe alone: what it sends, what it sends again, and what it believes of an answer."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

import anyio
import httpx
import pytest
import respx

from shared.billing.contract import Client, Order, PaymentAway, PaymentRefused, PlanChange
from shared.billing.stripe import client as stripe
from shared.domain.plans import Plan
from tests.support.fake_stripe import subscription
from tests.support.settings_and_clock import Configure

KEY, BASE = "sk_test_private", "https://api.stripe.com/v1"
ORDER = Order("cus_1", Plan.PREMIUM, 14, "a" * 32, "https://award.test/paid", "https://award.test/back")
PAGE = httpx.Response(200, json={"url": "https://checkout.stripe.com/c/1"})


@pytest.fixture(autouse=True)
def sells(configure: Configure, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stripe, "WAITS", (0.0, 0.0))
    configure(
        BILLING="stripe",
        STRIPE_SECRET_KEY=KEY,
        STRIPE_WEBHOOK_SECRETS="whsec_1",
        STRIPE_PRICES="premium=price_1,pro=price_2,premium=price_0",
    )


def ask(step: Callable[[Client], Awaitable[Any]]) -> Any:
    async def connected() -> Any:
        async with stripe.connect() as client:
            return await step(client)

    return anyio.run(connected)


def fields(route: respx.Route, number: int = -1) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(route.calls[number].request.content.decode()).items()}


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ConnectTimeout("slow"),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("gone"),
        *(httpx.Response(status, json={"error": {"type": "api_error"}}) for status in (409, 424, 429, 500, 503)),
    ],
    ids=str,
)
@respx.mock
def test_a_passing_failure_is_tried_again_with_the_same_key(failure: Any) -> None:
    route = respx.post(f"{BASE}/checkout/sessions").mock(side_effect=[failure, failure, PAGE])
    assert ask(lambda client: client.open_checkout(ORDER)) == "https://checkout.stripe.com/c/1"
    assert len({call.request.headers["idempotency-key"] for call in route.calls}) == 1
    assert [fields(route, number) for number in range(3)] == [fields(route)] * 3
    route.mock(side_effect=[failure] * 3)
    with pytest.raises(PaymentAway):
        ask(lambda client: client.open_checkout(ORDER))


@pytest.mark.parametrize("status", [301, 400, 401, 402, 403, 404])
@respx.mock
def test_a_refusal_is_not_tried_again_and_none_of_its_text_is_passed_on(status: int) -> None:
    error = {"type": "invalid_request_error", "message": f"Invalid API Key provided: {KEY}"}
    route = respx.post(f"{BASE}/customers").respond(status, json={"error": error})
    with pytest.raises(PaymentRefused) as refused:
        ask(lambda client: client.create_customer("acc_1", "ann@example.test"))
    assert (str(refused.value), route.call_count) == ("invalid_request_error", 1)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"[" * 100_000,
        b'{"url": "http://pay.example/"}',
        b'{"url": null}',
        b"x" * (2 << 20) + b"x",
    ],
    ids=["empty", "html", "list", "deep", "plain http", "none", "large"],
)
@respx.mock
def test_what_is_no_address_is_refused(body: bytes) -> None:
    respx.post(f"{BASE}/billing_portal/sessions").respond(200, content=body)
    with pytest.raises(PaymentRefused):
        ask(lambda client: client.open_portal("cus_1", "https://award.test"))


@respx.mock
def test_an_order_says_price_customer_trial_and_where_to_return() -> None:
    route = respx.post(f"{BASE}/checkout/sessions").mock(return_value=PAGE)
    ask(lambda client: client.open_checkout(ORDER))
    assert fields(route) == {
        "mode": "subscription",
        "customer": "cus_1",
        "line_items[0][price]": "price_1",
        "line_items[0][quantity]": "1",
        "success_url": "https://award.test/paid",
        "cancel_url": "https://award.test/back",
        "subscription_data[trial_period_days]": "14",
    }
    request = route.calls.last.request
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["stripe-version"] == stripe.API_VERSION


@respx.mock
def test_the_key_of_an_order_follows_from_its_form_and_its_content() -> None:
    route = respx.post(f"{BASE}/checkout/sessions").mock(return_value=PAGE)
    other_form = Order("cus_1", Plan.PREMIUM, 14, "b" * 32, ORDER.return_url, ORDER.cancel_url)
    other_plan = Order("cus_1", Plan.PRO, 14, "a" * 32, ORDER.return_url, ORDER.cancel_url)
    for order in (ORDER, ORDER, other_form, other_plan):
        ask(lambda client, order=order: client.open_checkout(order))
    first, again, *others = [call.request.headers["idempotency-key"] for call in route.calls]
    assert first == again
    assert len({first, *others}) == 3
    assert not any(word in first for word in ("cus_1", "price_1", ORDER.nonce))


@pytest.mark.parametrize(("plan", "kind"), [(Plan.PRO, "subscription_update_confirm"), (None, "subscription_cancel")])
@respx.mock
def test_a_change_is_confirmed_at_the_portal(plan: Plan | None, kind: str) -> None:
    route = respx.post(f"{BASE}/billing_portal/sessions").mock(return_value=PAGE)
    change = PlanChange("sub_1", "si_1", plan)
    ask(lambda client: client.open_portal("cus_1", "https://award.test", change))
    assert fields(route)["flow_data[type]"] == kind
    assert fields(route)[f"flow_data[{kind}][subscription]"] == "sub_1"
    assert (fields(route).get(f"flow_data[{kind}][items][0][price]") == "price_2") == (plan is Plan.PRO)


@respx.mock
def test_a_price_that_is_sold_no_more_is_recognised() -> None:
    respx.get(f"{BASE}/subscriptions").respond(200, json={"data": [subscription("price_0"), subscription("price_9")]})
    old, unknown = ask(lambda client: client.list_subscriptions("cus_1"))
    assert (old.plan, unknown.plan) == (Plan.PREMIUM, None)


@pytest.mark.parametrize("data", [None, [{}], [subscription() | {"items": {"data": []}}], "x"], ids=str)
@respx.mock
def test_what_is_no_list_of_subscriptions_is_refused(data: Any) -> None:
    respx.get(f"{BASE}/subscriptions").respond(200, json={"data": data})
    with pytest.raises(PaymentRefused, match="unreadable"):
        ask(lambda client: client.list_subscriptions("cus_1"))


@pytest.mark.parametrize("is_deleted", [True, False])
@respx.mock
def test_a_customer_nobody_knows_has_ended_only_when_it_is_said_to_be_deleted(is_deleted: bool) -> None:
    """A key of another installation knows no customer either: that takes no one's plan."""
    missing = httpx.Response(404, json={"error": {"code": "resource_missing", "type": "invalid_request_error"}})
    respx.get(f"{BASE}/subscriptions").mock(return_value=missing)
    respx.delete(f"{BASE}/customers/cus_1").mock(return_value=missing)
    gone = httpx.Response(200, json={"id": "cus_1", "deleted": True})
    respx.get(f"{BASE}/customers/cus_1").mock(return_value=gone if is_deleted else missing)
    for step in (lambda client: client.list_subscriptions("cus_1"), lambda client: client.end_customer("cus_1")):
        if is_deleted:
            assert not ask(step)
        else:
            with pytest.raises(PaymentRefused, match="resource_missing"):
                ask(step)


def test_an_id_that_is_none_reaches_no_address() -> None:
    with respx.mock(assert_all_called=False) as mocked, pytest.raises(PaymentRefused, match="unreadable"):
        ask(lambda client: client.end_customer("../v1/accounts"))
    assert not mocked.calls
