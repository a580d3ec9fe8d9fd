"""Linking an identity to the account of its address: never by itself, but by the account's password or its mail."""

from datetime import timedelta

from auth_server.accounts import email_links, password_guesses, signin
from auth_server.accounts.identity_providers import Identity
from auth_server.accounts.linked_identities import add_identity
from auth_server.accounts.provider_journeys import show_provider_problem
from auth_server.accounts.signup import DEAD_LINK, show_mail_sent
from auth_server.web import sessions
from auth_server.web.outcomes import FORM_EXPIRED, FlowResult, Page, Redirect
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.linked_identities import PendingLink
from shared.db.oauth import WebSession
from shared.errors import LimitReached
from shared.outbox.enqueue import write_to
from shared.settings import settings

PATH, MAIL_PATH = "/signin/link", "/link"
LIFETIME = timedelta(minutes=15)
LATE = show_provider_problem(
    "Please begin again",
    "This page is for the browser in which you signed in at the other provider, and for 15 minutes.",
    signin.HOME,
)


def begin(
    uow: UnitOfWork, session: WebSession, account: Account, identity: Identity, title: str, return_to: str
) -> Redirect:
    """Starts a link; a browser session has one, the last started. The session gets a new identifier, as at sign-in."""
    session, cookie = sessions.rotate(uow, session)
    row = {"issuer": identity.issuer, "subject": identity.subject, "provider": title, "address": identity.address}
    keys = {"session_hash": session.id_hash, "account_id": account.id, "return_to": return_to}
    uow.db.merge(PendingLink(**keys, **row, created_at=clock.now()))
    return Redirect(PATH, session_cookie=cookie)


def _find_pending(uow: UnitOfWork, session: WebSession | None) -> tuple[PendingLink, Account] | None:
    pending = uow.db.get(PendingLink, session.id_hash) if session is not None else None
    if pending is None or clock.now() - pending.created_at > LIFETIME:
        return None
    account = uow.db.get(Account, pending.account_id)
    return (pending, account) if account is not None and account.disabled_at is None else None


def _show(
    session: WebSession, pending: PendingLink, account: Account, fault: str | None = None, status: int = 200
) -> Page:
    context = {
        "csrf": sessions.make_csrf_token(session, "link"),
        "return_to": pending.return_to,
        "provider": pending.provider,
        "email": account.email,
        "asks_password": settings().password_sign_in and account.password_hash is not None,
        "fault": fault,
    }
    return Page("link_identity.html", context, status)


def show_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    session = sessions.load(uow.db, data.cookie)
    match = _find_pending(uow, session)
    return LATE if session is None or match is None else _show(session, *match)


def _load_form(uow: UnitOfWork, data: RequestData) -> tuple[WebSession, PendingLink, Account] | Page:
    session = sessions.load_for_form(uow.db, data, "link")
    if session is None:
        return FORM_EXPIRED
    match = _find_pending(uow, session)
    return LATE if match is None else (session, *match)


def submit_password(uow: UnitOfWork, data: RequestData) -> FlowResult:
    checked = _load_form(uow, data)
    if isinstance(checked, Page):
        return checked
    session, pending, account = checked
    if not settings().password_sign_in:
        return _show(session, pending, account, None, 403)
    attempts = signin.SignInAttempts(account.email or "", data.peer)
    if not attempts.begin():
        return signin.show_too_many_attempts()
    email, password = account.email or "", data.form_value("password")
    if not password_guesses.check_password(uow, account, email, password, data.user_agent):
        return _show(session, pending, account, "The password is wrong.", 401)
    attempts.take_back()
    return _link(uow, data, session, pending, account)


def send_mail(uow: UnitOfWork, data: RequestData) -> FlowResult:
    checked = _load_form(uow, data)
    if isinstance(checked, Page):
        return checked
    _, pending, account = checked
    if email_links.can_mail(account.email or ""):
        facts = email_links.add_link(uow, account, "link_identity", pending.return_to)
        words = {"provider": pending.provider, "address": pending.address}
        write_to(uow.db, account, "link_identity", facts | words, dedupe_key=f"link_identity:{facts['nonce']}")
    return show_mail_sent(account.email or "", None)


def show_mail_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """Opening the link changes nothing, and it works only in the browser that started it."""
    session = sessions.load(uow.db, data.cookie)
    match = _find_pending(uow, session)
    link = email_links.find(uow, "link_identity", data.query_value("token"))
    if link is None:
        return DEAD_LINK
    if session is None or match is None or match[1].id != link[1].id:
        return LATE
    pending, account = match
    context = {
        "csrf": sessions.make_csrf_token(session, "link"),
        "provider": pending.provider,
        "address": pending.address,
        "email": account.email,
        "token": data.query_value("token"),
    }
    return Page("link_by_mail.html", context)


def submit_mail(uow: UnitOfWork, data: RequestData) -> FlowResult:
    checked = _load_form(uow, data)
    if isinstance(checked, Page):
        return checked
    session, pending, account = checked
    link = email_links.find(uow, "link_identity", data.form_value("token"))
    if link is None or link[1].id != account.id:
        return DEAD_LINK
    uow.db.delete(link[0])
    return _link(uow, data, session, pending, account)


def _link(
    uow: UnitOfWork, data: RequestData, session: WebSession, pending: PendingLink, account: Account
) -> FlowResult:
    identity, return_to = Identity(pending.issuer, pending.subject, pending.address), pending.return_to
    title = pending.provider
    uow.db.delete(pending)
    try:
        is_own = add_identity(uow, account, identity, title, data.user_agent)
    except LimitReached as refusal:
        return show_provider_problem("There are too many linked sign-ins", refusal.message, return_to, 409)
    if not is_own:
        return LATE
    return signin.continue_sign_in(uow, data, session, account, return_to)
