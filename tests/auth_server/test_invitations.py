"""Who may make an account: everybody, invited people, addresses of some domains, or no one; agents and applications."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from auth_server.accounts import invitations
from auth_server.accounts.signup import signup_allows
from auth_server.sweep import sweep
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.domain.dates import format_moment
from shared.errors import Invalid
from shared.settings import Settings, settings
from tests.auth_server.in_process_browser import PASSWORD, Browser, hidden
from tests.auth_server.mailbox import Mails, link, text
from tests.auth_server.test_signup import account, sign_up, signed_in

NEW = "new@example.test"


@pytest.fixture(autouse=True)
def by_invitation(mails: Mails, configure: Any) -> None:
    configure(SIGNUP="invite")


def _invite(address: str = NEW, days: int = 7) -> None:
    with transaction() as session:
        invitations.invite(UnitOfWork(session), address, days)


def _accept(browser: Browser, path: str, password: str = PASSWORD) -> Any:
    page = browser.get(path)
    if page.status_code != 200:
        return page
    fields = {"csrf": hidden(page.text, "csrf"), "token": hidden(page.text, "token"), "password": password}
    return browser.post("/invitation", fields)


def _allows(address: str) -> bool:
    with transaction() as session:
        return signup_allows(session, address)


def test_an_invited_person_chooses_a_password_and_is_in(stranger: Browser, mails: Mails) -> None:
    _invite("New@Example.test")
    (mail,) = mails()
    assert (mail["To"], mail["Subject"]) == (NEW, "You are invited to Award Travel")
    with transaction() as session:
        ((email, _, expires_at),) = invitations.list_open(session)
    assert (email, expires_at) == (NEW, clock.now() + timedelta(days=7))
    assert stranger.get(link(mail)).status_code == 200
    weak = _accept(stranger, link(mail), "short")
    assert (weak.status_code, 'id="password-fault"' in weak.text) == (422, True)
    assert _accept(stranger, link(mail)).status_code == 303
    assert signed_in(stranger)
    assert _accept(stranger, link(mail)).status_code == 410
    with transaction() as session:
        assert invitations.list_open(session) == []


def test_a_second_invitation_ends_the_first_and_members_are_not_invited(
    ann: Browser, stranger: Browser, mails: Mails
) -> None:
    _invite()
    _invite()
    first, second = mails()
    assert _accept(stranger, link(first)).status_code == 410
    assert _accept(stranger, link(second)).status_code == 303
    with pytest.raises(Invalid):
        _invite(ann.email)


def test_an_expired_invitation_opens_nothing_by_any_way_and_goes(stranger: Browser, mails: Mails, later: Any) -> None:
    _invite(days=8)
    (mail,) = mails()
    later(timedelta(days=8, seconds=1))
    assert _accept(stranger, link(mail)).status_code == 410
    assert not _allows(NEW)
    page = stranger.get("/recover").text
    stranger.post("/recover", {"csrf": hidden(page, "csrf"), "return_to": "", "email": NEW})
    assert len(mails()) == 1
    sweep()
    assert account() is None


@pytest.mark.parametrize("rule", ["invite", "closed"])
def test_the_sign_up_page_says_the_same_to_everybody(
    ann: Browser, stranger: Browser, mails: Mails, configure: Any, rule: str
) -> None:
    _invite()
    mails()
    csrf = hidden(stranger.get("/signin").text, "csrf")
    configure(SIGNUP=rule)
    pages = [stranger.get("/signup")]
    for address in (NEW, ann.email, "nobody@example.test"):
        fields = {"csrf": csrf, "return_to": "", "email": address, "password": PASSWORD}
        pages.append(stranger.post("/signup", fields))
    assert {page.status_code for page in pages} == {403}
    assert len({page.text for page in pages}) == 1
    assert "<form" not in pages[0].text
    assert len(mails()) == 1


def test_closed_means_that_open_invitations_wait_too(stranger: Browser, mails: Mails, configure: Any) -> None:
    _invite()
    (mail,) = mails()
    configure(SIGNUP="closed")
    assert not _allows(NEW)
    assert _accept(stranger, link(mail)).status_code == 410
    configure(SIGNUP="invite")
    assert _accept(stranger, link(mail)).status_code == 303


def test_addresses_of_allowed_domains_sign_up_and_others_are_told_at_the_field(
    ann: Browser, stranger: Browser, mails: Mails, configure: Any
) -> None:
    configure(SIGNUP="domains", SIGNUP_DOMAINS="Work.test, school.test")
    answers = {a: sign_up(stranger, a) for a in ("a@work.test", "a@not-work.test", "a@work.test.evil.test", ann.email)}
    assert [answer.status_code for answer in answers.values()] == [200, 422, 422, 422]
    sentence = "an address that ends in @school.test or @work.test"
    assert all(sentence in answers[a].text for a in ("a@not-work.test", ann.email))
    assert [mail["To"] for mail in mails()] == ["a@work.test"]
    _invite()
    assert [_allows(a) for a in ("b@work.test", "b@example.test", NEW)] == [True, False, True]


@pytest.mark.parametrize(
    ("web_url", "rule"),
    [
        ("http://127.0.0.1:8000", "open"),
        ("http://localhost:8000", "open"),
        ("https://travel.example", "invite"),
        ("http://127.0.0.1.evil.example", "invite"),
    ],
)
def test_only_a_loopback_address_is_open_by_itself(
    configure: Any, monkeypatch: pytest.MonkeyPatch, web_url: str, rule: str
) -> None:
    monkeypatch.delenv("SIGNUP")
    configure(WEB_URL=web_url)
    assert (settings().signup_rule, settings().agents_may_register) == (rule, rule == "open")


def test_domains_without_a_name_are_a_mistake_of_the_settings() -> None:
    with pytest.raises(ValueError, match="SIGNUP_DOMAINS"):
        Settings(signup="domains")


@pytest.mark.parametrize(("setting", "allowed"), [("false", False), ("true", True), (None, False)])
def test_agents_register_when_the_operator_says_so_or_sign_up_is_open(
    stranger: Browser, configure: Any, setting: str | None, allowed: bool
) -> None:
    if setting:
        configure(AGENT_REGISTRATION=setting)
    answer = stranger.host.post("/api/v1/agent/register", json={"agent_name": "Robot"})
    assert answer.status_code == (201 if allowed else 403)
    with transaction() as session:
        agents = session.scalars(select(Account).where(Account.email.is_(None))).all()
    assert len(agents) == allowed
    if not allowed:
        assert answer.json()["type"].endswith("#registration_closed")


def test_applications_register_themselves_unless_that_is_switched_off(stranger: Browser, configure: Any) -> None:
    body = {"client_name": "Editor", "redirect_uris": ["http://127.0.0.1/callback"]}
    where = "/.well-known/oauth-authorization-server"
    assert stranger.host.post("/oauth/register", json=body).status_code == 201
    assert "registration_endpoint" in stranger.host.get(where).json()
    configure(DCR="false")
    refused = stranger.host.post("/oauth/register", json=body)
    assert (refused.status_code, refused.json()["error"]) == (403, "access_denied")
    assert "registration_endpoint" not in stranger.host.get(where).json()


def test_the_mail_says_until_when_the_link_works(mails: Mails) -> None:
    _invite(days=3)
    assert f"until {format_moment(clock.now() + timedelta(days=3))}" in text(mails()[0])


WORDS = {
    "open": None,
    "invite": "New accounts are made by invitation here.",
    "closed": "This installation takes no new accounts.",
    "domains": "New accounts are for addresses that end in @school.test or @work.test.",
}


@pytest.mark.parametrize("rule", WORDS)
@pytest.mark.parametrize("path", ["/", "/plans", "/signin"])
def test_pages_offer_sign_up_where_anybody_may_and_else_say_who(
    stranger: Browser, configure: Any, path: str, rule: str
) -> None:
    configure(SIGNUP=rule, SIGNUP_DOMAINS="work.test,school.test")
    page = " ".join(stranger.get(path).text.split())
    assert ('href="/signup' in page) == (rule in ("open", "domains"))
    assert [words in page for words in WORDS.values() if words] == [
        words == WORDS[rule] for words in WORDS.values() if words
    ]
    assert ("agent can get an account" in page) == (rule == "open" and path == "/")


def test_the_sign_up_page_names_the_domains_first(stranger: Browser, configure: Any) -> None:
    configure(SIGNUP="domains", SIGNUP_DOMAINS="work.test,school.test")
    assert str(WORDS["domains"]) in " ".join(stranger.get("/signup").text.split())
