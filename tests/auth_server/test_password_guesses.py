"""Guesses at passwords: counted before they are checked, and after 100 wrong ones in a row the password is locked."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from auth_server.accounts import password_guesses, signin
from auth_server.sweep import sweep
from auth_server.web.flows import transact
from auth_server.web.outcomes import Page
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.password_guesses import PasswordGuesses, count_guesses
from shared.db.security_events import SecurityEvent
from tests.auth_server.in_process_browser import PASSWORD, Browser, hidden
from tests.auth_server.mailbox import Mails, link, text
from tests.auth_server.test_password_reset import BETTER, recover, reset
from tests.auth_server.test_signin import _at

pytestmark = pytest.mark.usefixtures("mails")


@pytest.fixture
def addresses() -> Iterator[str]:
    """One more address on each call of next(): so many that no limit of addresses is reached."""
    return (f"198.51.{n // 250}.{n % 250 + 1}" for n in range(10_000))


def guess(browser: Browser, peer: str, password: str) -> Any:
    return Browser(_at(browser, peer), browser.email).sign_in(password)


def guess_wrongly(browser: Browser, times: int) -> None:
    """Below the web: the limits of a quarter of an hour are not what is looked at."""
    for n in range(times):
        with transaction() as session:
            account = session.scalars(select(Account).where(Account.email == browser.email)).one()
            uow = UnitOfWork(session)
            assert not password_guesses.check_password(uow, account, browser.email, f"wrong {n}")


def test_sixty_guesses_at_once_are_ten_that_are_looked_at(ann: Browser) -> None:
    csrf = hidden(ann.get("/signin").text, "csrf")

    def send(n: int) -> int:
        form = [("csrf", csrf), ("email", ann.email), ("password", f"wrong {n} password")]
        page = transact(signin.submit, RequestData("POST", "/signin", "192.0.2.9", form=form, cookie=ann.cookie))
        assert isinstance(page, Page)
        return page.status

    with ThreadPoolExecutor(8) as pool:
        assert Counter(pool.map(send, range(60))) == {401: 10, 429: 50}


def test_right_passwords_use_up_no_guess(ann: Browser) -> None:
    assert [Browser(ann.host, ann.email).sign_in().status_code for _ in range(12)] == [303] * 12


def test_a_hundred_wrong_ones_lock_the_password_and_tell_the_owner_once(
    ann: Browser, addresses: Iterator[str], mails: Mails
) -> None:
    guess_wrongly(ann, 99)
    assert mails() == []
    assert guess(ann, next(addresses), "wrong again").status_code == 401
    guess_wrongly(ann, 20)
    (mail,) = mails()
    assert (mail["To"], mail["Subject"]) == (ann.email, "Your password is locked")
    assert "100 times in a row" in text(mail)
    assert "/recover" in text(mail)
    with transaction() as session:
        assert session.scalars(select(SecurityEvent.kind)).all() == ["password_locked"]


def test_to_a_stranger_a_locked_password_looks_like_a_wrong_one(ann: Browser, addresses: Iterator[str]) -> None:
    guess_wrongly(ann, 100)
    right, wrong = guess(ann, next(addresses), PASSWORD), guess(ann, next(addresses), "not this one")
    assert right.status_code == wrong.status_code == 401
    assert right.text.replace(hidden(right.text, "csrf"), "") == wrong.text.replace(hidden(wrong.text, "csrf"), "")


def test_browsers_signed_in_stay_so_and_a_mail_opens_the_account_again(
    ann: Browser, stranger: Browser, addresses: Iterator[str], mails: Mails
) -> None:
    ann.sign_in()
    guess_wrongly(ann, 100)
    assert ann.get("/dashboard").status_code == 200
    recover(stranger, ann.email)
    assert reset(stranger, link(mails()[-1])).status_code == 303
    assert guess(ann, next(addresses), BETTER).status_code == 303


def test_a_right_password_begins_the_count_again(ann: Browser, addresses: Iterator[str]) -> None:
    guess_wrongly(ann, 99)
    assert guess(ann, next(addresses), PASSWORD).status_code == 303
    guess_wrongly(ann, 99)
    assert guess(ann, next(addresses), PASSWORD).status_code == 303


def test_every_form_that_takes_the_password_counts(ann: Browser, addresses: Iterator[str]) -> None:
    ann.sign_in()
    page = ann.get("/dashboard/account/delete").text
    csrf = hidden(page[page.index('action="/dashboard/account/delete"') :], "csrf")
    ann.post("/dashboard/account/delete", {"csrf": csrf, "password": "not this one"})
    with transaction() as session:
        account = session.scalars(select(Account).where(Account.email == ann.email)).one()
        assert count_guesses(session, account.id) == 1


def test_addresses_without_an_account_are_counted_too_and_forgotten_after_a_day(
    ann: Browser, stranger: Browser, later: Any
) -> None:
    """The same statements for both: a guess takes as long whether or not the address has an account."""
    ann.sign_in(password="not this one")
    stranger.sign_in(email="nobody@example.test")
    with transaction() as session:
        rows = session.scalars(select(PasswordGuesses)).all()
        assert sorted((row.owner_id is None, row.count) for row in rows) == [(False, 1), (True, 1)]
        assert "nobody" not in str([row.name_hash for row in rows])
    later(timedelta(days=2))
    sweep()
    with transaction() as session:
        owners = session.scalars(select(PasswordGuesses.owner_id)).all()
        assert owners == session.scalars(select(Account.id).where(Account.email == ann.email)).all()
        assert session.scalar(select(func.count()).select_from(PasswordGuesses)) == 1
