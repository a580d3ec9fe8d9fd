"""Pages of an installation that does not take everybody: an invitation is accepted, others are told kindly."""

from typing import Any

import pytest
from sqlalchemy import select, update

from auth_server.accounts import invitations
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from tests.auth_server.in_process_browser import PASSWORD
from tests.auth_server.mailbox import Mails, link
from tests.browser.test_pages import judged
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser
LONG = f"{'w' * 64}@{'w' * 63}.{'w' * 63}.test"


def test_an_invited_person_arrives_and_everybody_else_reads_why_not(
    tab: Tab, places: tuple[str, str], configure: Any, mails: Mails
) -> None:
    base, _ = places
    configure(SIGNUP="invite", WEB_URL=base)
    with transaction() as session:
        invitations.invite(UnitOfWork(session), LONG, 7)
    (mail,) = mails()
    assert [
        fault for path in ("/", "/plans", "/signin", "/signup", link(mail)) for fault in judged(tab, base + path)
    ] == []
    tab.fill("password", PASSWORD)
    tab.press("main form button")
    tab.wait("document.title.startsWith('Home')")
    with transaction() as session:
        assert session.scalars(select(Account.email)).all() == [LONG]
        session.execute(update(Account).values(disabled_at=clock.now()))
    assert judged(tab, base + "/dashboard") == []
    assert "This account is suspended" in tab.text()
