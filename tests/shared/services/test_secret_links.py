"""Secret links: made, looked up and ended; and what becomes of them when an account is taken over."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from auth_server.sweep import sweep
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import absorb
from shared.db.base import transaction
from shared.db.clients import BrandedPdf
from shared.db.migrations import __name__ as _all_models  # noqa: F401 - a takeover walks every table
from shared.db.secret_links import SecretLink
from shared.services.bookings.secret_links import find_holder, get_link, renew_link
from tests.support.people import account

pytestmark = pytest.mark.usefixtures("clean")


def link(who: Caller, purpose: str = "calendar") -> str:
    with transaction(who.account_id) as session:
        return get_link(session, who.account_id, purpose).secret


def owner(secret: str, purpose: str = "calendar") -> int | None:
    with transaction() as session:
        return find_holder(session, purpose, secret)


def test_a_link_stays_the_same_until_it_is_renewed() -> None:
    ann = account("ann")
    first = link(ann)
    assert link(ann) == first
    assert owner(first) == ann.account_id
    with transaction(ann.account_id) as session:
        second = renew_link(session, ann.account_id, "calendar").secret
    assert (owner(first), owner(second)) == (None, ann.account_id)


def test_links_of_two_purposes_and_two_accounts_are_apart() -> None:
    ann, bob = account("ann"), account("bob")
    secrets = {link(ann), link(ann, "inbox"), link(bob), link(bob, "inbox")}
    assert len(secrets) == 4
    assert owner(link(ann), "inbox") is None


@pytest.mark.parametrize("text", ["", "0" * 40, "0" * 39, "é" * 40, "\udcff" * 40])
def test_what_was_never_a_link_opens_nothing(text: str) -> None:
    assert owner(text) is None


def test_links_of_an_account_that_is_taken_over_end_and_those_of_the_other_stay() -> None:
    agent, ann = account("agent"), account("ann")
    given_out, hers = link(agent), link(ann)
    with transaction() as session:
        absorb(session, agent.account_id, ann.account_id)
        assert session.query(SecretLink).count() == 1
    assert (owner(given_out), owner(hers)) == (None, ann.account_id)
    assert link(ann) == hers


def test_documents_of_an_account_that_is_taken_over_end_with_it() -> None:
    agent, ann = account("agent"), account("ann")
    with transaction(agent.account_id) as session:
        session.add(BrandedPdf(title="Tokyo", content=b"x", pages=1, nonce="n", key="k", token_hash="h", views=0))
    with transaction() as session:
        absorb(session, agent.account_id, ann.account_id)
        assert session.query(BrandedPdf).count() == 0


def test_a_link_that_was_replaced_leaves_the_database_after_a_month() -> None:
    ann = account("ann")
    link(ann)
    with transaction(ann.account_id) as session:
        kept = renew_link(session, ann.account_id, "calendar").secret
    assert sweep()["secret_links"] == 0
    with transaction() as session:
        ended = update(SecretLink).where(SecretLink.ended_at.is_not(None))
        session.execute(ended.values(ended_at=clock.now() - timedelta(days=31)))
    assert sweep()["secret_links"] == 1
    assert link(ann) == kept
