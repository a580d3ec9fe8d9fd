"""Sign-up: the same answer for everybody, a mail to confirm, and nothing for anyone who types another person's
address.
"""

import html
import logging
import re
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import func, select, update
from starlette.testclient import TestClient

from auth_server.accounts import email_links, signup
from auth_server.sweep import sweep
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.messages import Delivery
from shared.db.one_time_links import OneTimeLink
from tests.auth_server.in_process_browser import BASE, PASSWORD, Browser, hidden
from tests.auth_server.mailbox import Mails, link, text
from tests.auth_server.test_sweep import whole_database

pytestmark = pytest.mark.usefixtures("mails")
NEW = "new@example.test"


def sign_up(browser: Browser, email: str = NEW, password: str = PASSWORD, **changed: str) -> Any:
    page = browser.get("/signup").text
    fields = {"csrf": hidden(page, "csrf"), "return_to": "", "email": email, "password": password}
    return browser.post("/signup", fields | changed)


def confirm(browser: Browser, path: str, password: str = PASSWORD, **changed: str) -> Any:
    page = browser.get(path)
    if page.status_code != 200:
        return page
    fields = {"csrf": hidden(page.text, "csrf"), "token": hidden(page.text, "token"), "password": password}
    return browser.post("/confirm", fields | changed)


def signed_in(browser: Browser) -> bool:
    return bool(browser.get("/dashboard").status_code == 200)


def account(email: str = NEW) -> Account | None:
    with transaction() as session:
        return session.scalar(select(Account).where(Account.email == email))


def test_sign_up_mail_and_password_open_an_account(stranger: Browser, mails: Mails) -> None:
    answer = sign_up(stranger)
    assert (answer.status_code, signed_in(stranger)) == (200, False)
    row = account()
    assert row is not None
    assert (row.plan, row.is_admin, row.email_confirmed_at) == ("free", False, None)
    (mail,) = mails()
    assert (mail["To"], mail["Subject"]) == (NEW, "Confirm your email address")
    entered = confirm(stranger, link(mail))
    assert (entered.status_code, entered.headers["location"]) == (303, "/dashboard")
    assert signed_in(stranger)
    assert NEW in stranger.get("/dashboard").text


def test_the_answer_is_the_same_whoever_has_an_account(ann: Browser, stranger: Browser, mails: Mails) -> None:
    new, taken = sign_up(stranger), sign_up(stranger, ann.email)
    assert new.status_code == taken.status_code == 200
    assert new.text.replace(NEW, "") == taken.text.replace(ann.email, "")
    subjects = {mail["To"]: mail["Subject"] for mail in mails()}
    assert subjects == {NEW: "Confirm your email address", ann.email: "You already have an account"}
    assert ann.sign_in().status_code == 303  # with the password of before


def test_the_look_up_happens_after_the_answer(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that how long the page takes tells no one who has an account."""
    order: list[str] = []
    real = signup._start_signup
    monkeypatch.setattr(signup, "_start_signup", lambda *given: (order.append("looked up"), real(*given))[1])

    async def watch_app(scope: Any, receive: Any, send: Any) -> None:
        async def note_response(message: Any) -> None:
            if message["type"] == "http.response.body" and scope["method"] == "POST":
                order.append("answered")
            await send(message)

        await app(scope, receive, note_response)

    app = ann.host.app
    sign_up(Browser(TestClient(watch_app, base_url=BASE)), ann.email)
    assert order == ["answered", "looked up"]


def test_opening_the_link_changes_nothing_and_it_works_once(stranger: Browser, mails: Mails) -> None:
    sign_up(stranger)
    path = link(mails()[0])
    assert [stranger.get(path).status_code for _ in range(3)] == [200] * 3
    assert (account() or Account()).email_confirmed_at is None
    assert confirm(stranger, path).status_code == 303
    again = confirm(stranger, path)
    assert again.status_code == 410
    assert "does not work any longer" in again.text


def test_the_click_of_the_addresss_owner_gives_nothing_to_who_typed_it(stranger: Browser, mails: Mails) -> None:
    sign_up(stranger, password="chosen by a stranger")
    owner = Browser(stranger.host)
    answer = confirm(owner, link(mails()[0]), password="what the owner would type")
    assert answer.status_code == 401
    assert (account() or Account()).email_confirmed_at is None
    assert "confirm your email" in stranger.sign_in(email=NEW, password="chosen by a stranger").text


def test_the_latest_sign_up_sets_the_password_until_one_is_confirmed(stranger: Browser, mails: Mails) -> None:
    sign_up(stranger, password="the first password")
    sign_up(stranger, password="the second password")
    first, second = mails()
    assert confirm(stranger, link(first), password="the first password").status_code == 401
    assert confirm(stranger, link(second), password="the second password").status_code == 303
    assert confirm(stranger, link(first), password="the second password").status_code == 410
    sign_up(stranger, password="the third password")
    fresh = Browser(stranger.host, NEW)
    assert fresh.sign_in("the third password").status_code == 401
    assert fresh.sign_in("the second password").status_code == 303


def test_whoever_signs_up_for_an_application_goes_on_to_it(stranger: Browser, mails: Mails) -> None:
    entrance = stranger.authorize(stranger.register()).headers["location"]
    page = stranger.get(entrance).text
    onward = hidden(page, "return_to")
    to_sign_up = re.search(r'href="(/signup[^"]*)"', page)
    assert to_sign_up is not None
    assert hidden(stranger.get(html.unescape(to_sign_up[1])).text, "return_to") == onward
    sign_up(stranger, return_to=onward)
    entered = confirm(stranger, link(mails()[0]))
    assert entered.headers["location"] == onward
    assert "Test application" in stranger.get(onward).text


def test_nobody_is_sent_elsewhere_after_signing_up(stranger: Browser, mails: Mails) -> None:
    sign_up(stranger, return_to="//evil.example")
    assert confirm(stranger, link(mails()[0])).headers["location"] == "/dashboard"


@pytest.mark.parametrize(
    ("email", "password", "problem"),
    [
        ("no address", PASSWORD, "not an email address"),
        ("", PASSWORD, "not an email address"),
        (NEW, "short", "too short"),
        (NEW, "", "too short"),
        (NEW, "x" * 300, "too long"),
    ],
)
def test_mistakes_are_said_beside_their_field(
    stranger: Browser, mails: Mails, email: str, password: str, problem: str
) -> None:
    answer = sign_up(stranger, email, password)
    assert answer.status_code == 422
    assert problem in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert not password or f'value="{password}"' not in answer.text
    assert mails() == []


@pytest.mark.parametrize("csrf", ["", "x", "\u00e9\u4e16", "0" * 64])
@pytest.mark.parametrize("path", ["/signup", "/confirm", "/recover", "/reset"])
def test_every_form_needs_its_own_token(stranger: Browser, path: str, csrf: str) -> None:
    stranger.get("/signup")
    fields = {"csrf": csrf, "email": NEW, "password": PASSWORD, "token": "x"}
    assert stranger.post(path, fields).status_code == 403
    stranger.cookie = None
    assert stranger.post(path, fields).status_code == 403


@pytest.mark.parametrize("token", ["", "x", "0" * 64, "\u00e9", "' or 1=1 --"])
@pytest.mark.parametrize("path", ["/confirm", "/reset"])
def test_a_link_that_was_never_sent_opens_nothing(stranger: Browser, path: str, token: str) -> None:
    assert stranger.get(f"{path}?token={quote(token)}").status_code in (400, 410)
    assert stranger.get(path).status_code == 410


def test_links_end_after_a_day_and_sign_ups_after_a_week(stranger: Browser, mails: Mails, later: Any) -> None:
    sign_up(stranger)
    path = link(mails()[0])
    later(timedelta(hours=25))
    assert confirm(stranger, path).status_code == 410
    sweep()
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(OneTimeLink)) == 0
    assert account() is not None
    later(timedelta(days=7))
    sweep()
    assert account() is None


def test_sweeping_leaves_confirmed_people_and_agents_alone(ann: Browser, stranger: Browser, later: Any) -> None:
    key = stranger.host.post("/api/v1/agent/register", json={"agent_name": "Planner"}).json()
    later(timedelta(days=8))
    sweep()
    with transaction() as session:
        remaining = set(session.scalars(select(Account.public_id)))
    assert remaining == {ann.public_id, key["account_id"]}


def test_nobodys_mailbox_is_filled(ann: Browser, stranger: Browser, mails: Mails, later: Any) -> None:
    for _ in range(email_links.MAILS_PER_HOUR + 3):
        assert sign_up(stranger, ann.email).status_code == 200
        later(timedelta(seconds=1))
    assert len(mails()) == email_links.MAILS_PER_HOUR


def test_one_address_asks_for_so_many_only(stranger: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signup, "PER_HOUR", 2)
    answers = [sign_up(stranger, f"p{n}@example.test") for n in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[2].headers["retry-after"]) > 0


def test_guessing_at_the_confirmation_is_limited_like_sign_in(stranger: Browser, mails: Mails) -> None:
    sign_up(stranger)
    path = link(mails()[0])
    answers = [confirm(stranger, path, password=f"guess {n} of many").status_code for n in range(11)]
    assert answers == [401] * 10 + [429]


def test_a_disabled_account_gets_no_mail_and_no_way_in(ann: Browser, stranger: Browser, mails: Mails) -> None:
    with transaction() as session:
        session.execute(update(Account).values(disabled_at=clock.now()))
    assert sign_up(stranger, ann.email).status_code == 200
    assert mails() == []


def test_no_link_and_no_password_lie_in_the_database(stranger: Browser, mails: Mails) -> None:
    sign_up(stranger)
    waiting = whole_database()
    path = link(mails()[0])
    token = path.partition("token=")[2]
    assert len(token) == 64
    assert [secret for secret in (token, PASSWORD) if secret in waiting + whole_database()] == []
    with transaction() as session:
        facts = session.scalars(select(Delivery.facts)).one()
    assert facts == {}  # cleared once delivered


def test_two_sign_ups_at_once_make_one_account(stranger: Browser, mails: Mails) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from auth_server.web.flows import transact
    from auth_server.web.request_data import RequestData

    form = [("email", NEW), ("password", PASSWORD), ("return_to", "/dashboard")]
    with ThreadPoolExecutor(4) as pool:
        futures = [
            pool.submit(transact, signup._start_signup, RequestData("POST", "/signup", "1.2.3.4", form=form))
            for _ in range(4)
        ]
        assert [one.result() for one in futures] == [None] * 4
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(Account)) == 1


def test_the_mail_is_plain_and_pretty_and_says_what_to_do_when_it_was_not_you(stranger: Browser, mails: Mails) -> None:
    sign_up(stranger)
    (mail,) = mails()
    pretty = mail.get_body(("html",))
    assert pretty is not None
    assert link(mail) in html.unescape(str(pretty.get_content()))
    assert "If it was not you, do nothing" in text(mail)
    assert "SANDBOX" not in text(mail) + mail["Subject"]  # the account is real


def test_no_password_link_or_cookie_is_in_the_logs(
    stranger: Browser, mails: Mails, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("sqlalchemy.engine").setLevel(logging.WARNING)
    sign_up(stranger)
    path = link(mails()[0])
    confirm(stranger, path, password="a wrong password")
    confirm(stranger, path)
    secrets = [PASSWORD, "a wrong password", path.partition("token=")[2], stranger.cookie or ""]
    messages = [r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "asyncio"))]
    assert [secret for secret in secrets if any(secret in line for line in messages)] == []


@pytest.mark.parametrize("email", ["a@b", "nonsense@x"])
def test_no_mail_is_written_to_an_address_without_a_dot(stranger: Browser, mails: Mails, email: str) -> None:
    answer = sign_up(stranger, email)
    assert answer.status_code == 422
    assert "This has no dot after the @: something like you@example.com." in html.unescape(answer.text)
    assert f'value="{email}" aria-invalid="true"' in answer.text
    assert mails() == []
    assert account(email) is None


def test_a_used_link_leads_on(stranger: Browser, mails: Mails) -> None:
    """Of the address that is confirmed already the person wants to sign in; of another, a new link."""
    sign_up(stranger)
    path = link(mails()[0])
    confirm(stranger, path)
    page = Browser(stranger.host).get(path)
    assert page.status_code == 410
    assert '<a class="button primary" href="/signin">Sign in</a>' in page.text
    assert '<a class="button" href="/signup">Ask for a new link</a>' in page.text
    assert '<a class="button" href="/recover">Ask for a new link</a>' in stranger.get("/reset?token=none").text


def test_an_unconfirmed_sign_in_has_the_link_to_a_new_mail(stranger: Browser) -> None:
    sign_up(stranger)
    page = stranger.sign_in(email=NEW).text
    assert re.search(r'id="fault">Please confirm[^<]*<a href="/signup\?return_to=[^"]*">Ask for a new link</a>', page)
    assert "Ask for a new link" not in stranger.sign_in(email=NEW, password="wrong").text


@pytest.mark.parametrize(("path", "status"), [("/signup", 403), ("/recover", 403), ("/signin", 403)])
def test_a_form_that_was_open_too_long_keeps_what_was_typed(stranger: Browser, path: str, status: int) -> None:
    """The form with its new token works; nothing was done by the old one."""
    fields = {"csrf": "of another session", "return_to": "", "email": NEW, "password": PASSWORD}
    answer = stranger.post(path, fields)
    assert answer.status_code == status
    assert "This form was open for too long. Please send it again." in answer.text
    assert f'value="{NEW}"' in answer.text
    assert account() is None
    again = stranger.post(path, fields | {"csrf": hidden(answer.text, "csrf")})
    assert again.status_code == (401 if path == "/signin" else 200)
