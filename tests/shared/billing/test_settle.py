"""Any history of events ends in the plan of the present subscription; and whose the rows of a customer are."""

import itertools
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update

from auth_server.accounts.accounts import add_account
from auth_server.pages.account import export_account
from shared import clock
from shared.billing import settle
from shared.db.accounts import Account, absorb
from shared.db.base import transaction
from shared.db.billing import (
    BillingCustomer,
    DueCustomer,
    add_customer,
    claim_due_customer,
    find_customer,
    make_due,
    take_event,
)
from shared.domain.billing import LOOK_EVERY, Subscription
from shared.domain.plans import Plan
from tests.support.settings_and_clock import StandingClock

DOOR, CUSTOMER, LEASE = "stripe", "cus_1", timedelta(minutes=2)
SOLD = st.sampled_from([Plan.PREMIUM, Plan.PRO])
LIVING = st.builds(
    Subscription,
    id=st.sampled_from(["sub_1", "sub_2"]),
    item_id=st.just("si_1"),
    price=st.just("price_1"),
    plan=SOLD,
    status=st.sampled_from(["active", "trialing", "past_due", "unpaid", "incomplete", "paused"]),
)
STATES = st.lists(LIVING, max_size=2)
GIVEN = st.sampled_from(["free", "premium", "pro", "enterprise"])


def open_customer(given_plan: str) -> int:
    with transaction() as session:
        for old in session.scalars(select(Account)):
            session.delete(old)
        session.flush()
        for row in session.scalars(select(BillingCustomer)):
            session.delete(row)
        session.flush()
        account = add_account(session, "ann@example.test", None)
        account.plan = given_plan
        add_customer(session, DOOR, account.id, CUSTOMER)
        return account.id


def find_plan(account_id: int) -> str:
    with transaction() as session:
        return session.get_one(Account, account_id).plan


def hear(event_id: str) -> bool:
    with transaction() as session:
        return take_event(session, DOOR, event_id, "customer.subscription.updated", CUSTOMER)


def claim() -> DueCustomer | None:
    with transaction() as session:
        return claim_due_customer(session, DOOR, LEASE)


def write(due: DueCustomer, answer: Sequence[Subscription]) -> bool:
    with transaction() as session:
        return settle.settle(session, due, answer, clock.now())


def expect_plan(given_plan: str, state: Sequence[Subscription]) -> str:
    """The rule said another way: what is paid, or is late within its days of grace; never less than was given."""
    paid = [one.plan for one in state if one.plan and one.status in ("active", "trialing")]
    late = [one.plan for one in state if one.plan and one.status == "past_due"]
    return max([Plan.of(given_plan), *(paid or late)]).slug


_numbers = itertools.count()


@pytest.mark.slow  # a hundred generated orders
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), given_plan=GIVEN, history=st.lists(STATES, min_size=1, max_size=5))
def test_any_order_and_repetition_of_events_ends_in_the_plan_of_the_last_state(
    clean: None, data: st.DataObject, given_plan: str, history: list[list[Subscription]]
) -> None:
    """Events come late, twice and in any order, and a job may write an answer long after it was given."""
    account_id, run = open_customer(given_plan), next(_numbers)
    happened, waiting, pending = 0, list[int](), list[tuple[DueCustomer, list[Subscription]]]()
    for _ in range(data.draw(st.integers(0, 15))):
        step = data.draw(st.sampled_from(["happen", "hear", "again", "ask", "write"]))
        if step == "happen" and happened < len(history):
            waiting.append(happened)
            happened += 1
        elif step in ("hear", "again") and waiting:
            number = data.draw(st.sampled_from(waiting))
            hear(f"evt_{run}_{number}")
            if step == "hear":
                waiting.remove(number)
        elif step == "ask" and (due := claim()) is not None:
            pending.append((due, history[happened - 1] if happened else []))
        elif step == "write" and pending:
            write(*pending.pop(data.draw(st.integers(0, len(pending) - 1))))
    waiting += range(happened, len(history))
    for number in data.draw(st.permutations(waiting)):
        hear(f"evt_{run}_{number}")
        hear(f"evt_{run}_{number}")
    while (due := claim()) is not None:
        assert write(due, history[-1])
    for due, answer in pending:  # of workers that stood still in the meantime
        write(due, answer)
    assert find_plan(account_id) == expect_plan(given_plan, history[-1])


def subscribe(account_id: int) -> None:
    with transaction() as session:
        make_due(session, BillingCustomer.account_id == account_id)
    due = claim()
    assert due is not None
    assert write(due, [Subscription("sub_1", "si_1", "price_1", Plan.PREMIUM, "active")])


@pytest.mark.parametrize("hours", [-12, 12])
def test_who_is_asked_about_when_depends_on_no_host(
    clean: None, standing_clock: StandingClock, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    """An event is taken by a machine with a right clock; the worker's is so many hours ahead."""
    open_customer("free")
    assert hear("evt_host")
    monkeypatch.setattr(clock, "now", lambda: standing_clock.now() + timedelta(hours=hours))
    due = claim()
    assert due is not None
    with transaction() as session:
        settle.postpone(session, due)
    assert claim() is None
    standing_clock.advance(timedelta(minutes=1))
    due = claim()
    assert due is not None
    assert write(due, [Subscription("sub_1", "si_1", "price_1", Plan.PREMIUM, "active")])
    assert claim() is None
    standing_clock.advance(LOOK_EVERY)
    assert claim() is not None


def test_the_export_holds_what_is_known_of_the_payment(clean: None) -> None:
    account_id = open_customer("free")
    subscribe(account_id)
    with transaction() as session:
        (row,) = export_account(session, account_id)["billing_customers"]
    assert (row["customer_id"], row["paid_plan"], row["status"]) == (CUSTOMER, "premium", "active")


def test_a_claimed_account_brings_its_customer(clean: None) -> None:
    agent_id = open_customer("free")
    subscribe(agent_id)
    with transaction() as session:
        person_id = add_account(session, "bob@example.test", None).id
        absorb(session, agent_id, person_id)
    with transaction() as session:
        row = find_customer(session, DOOR, person_id)
        assert row is not None
        assert row.customer_id == CUSTOMER


def test_of_two_customers_the_claimed_one_is_ended(clean: None) -> None:
    """A person pays once: the customer of the account that goes is left to no one, and so is the next to be ended."""
    agent_id = open_customer("free")
    with transaction() as session:
        person_id = add_account(session, "bob@example.test", None).id
        add_customer(session, DOOR, person_id, "cus_2")
        session.execute(update(BillingCustomer).values(check_at=None))
        absorb(session, agent_id, person_id)
    due = claim()
    assert due is not None
    assert (due.customer_id, due.has_account) == (CUSTOMER, False)
    with transaction() as session:
        settle.forget(session, due)
    with transaction() as session:
        assert session.scalars(select(BillingCustomer.customer_id)).all() == ["cus_2"]


def test_what_is_paid_gives_no_fewer_calls_than_the_plan_says_and_lifts_no_limit(clean: None) -> None:
    """Agreed on the free plan, then Premium is paid: what is left of the agreement."""
    left = {}
    for agreed in (20, 100, 150, 400):
        account_id = open_customer("free")
        with transaction() as session:
            session.get_one(Account, account_id).api_calls_per_month = agreed
        hear(f"evt_{agreed}")
        due = claim()
        assert due is not None
        write(due, [Subscription("sub_1", "si_1", "price_1", Plan.PREMIUM, "active")])
        with transaction() as session:
            left[agreed] = session.get_one(Account, account_id).api_calls_per_month
    assert left == {20: 20, 100: None, 150: 150, 400: 400}


@pytest.mark.parametrize("tell", [settle.forget, settle.postpone, settle.settle])
def test_an_event_that_comes_meanwhile_is_not_written_over(clean: None, tell: Callable[..., Any]) -> None:
    account_id = open_customer("free")
    hear("evt_1")
    due = claim()
    hear("evt_2")
    with transaction() as session:
        extra = {settle.forget: (), settle.postpone: (), settle.settle: ([], clock.now())}[tell]
        tell(session, due, *extra)
    again = claim()
    assert again is not None
    assert again.revision == 2
    assert find_plan(account_id) == "free"
