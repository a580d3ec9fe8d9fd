"""Sign-in with email address and password, its limits against guessing, and sign-out."""

import re
from urllib.parse import urlsplit

from auth_server.accounts import accounts, reauthentication
from auth_server.web import sessions
from auth_server.web.outcomes import FORM_EXPIRED, FlowResult, Page, Redirect, show_problem
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared.db.accounts import Account
from shared.db.oauth import WebSession
from shared.domain.plans import INTEGRATIONS
from shared.limits import address_key, hit, peek
from shared.secrets import digest

HOME = "/dashboard"
RETURN_PATHS = frozenset(
    {
        "/oauth/authorize",
        "/dashboard",
        "/dashboard/keys",
        "/dashboard/api-apps",
        "/dashboard/api-apps/new",
        "/dashboard/spending",
        "/dashboard/settings",
        "/dashboard/account",
        "/dashboard/account/delete",
        *(f"/integrations/{name}/connect" for name in INTEGRATIONS),
    }
)
WINDOW_SECONDS = 15 * 60
PER_ACCOUNT_AND_ADDRESS, PER_ADDRESS, PER_ACCOUNT = 10, 100, 100
FORMS_PER_HOUR = 1000  # for one address without a cookie: each form stores a session row
KNOWN_DAYS = 30
_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]+")
WRONG_CREDENTIALS = "The email address or the password is wrong."
UNCONFIRMED = "Please confirm your email address first, with the link we sent. Signing up again sends a new one."


def safe_return_path(value: str | None) -> str:
    """One of our own pages: no scheme, no authority, no backslash, nothing unprintable; else the dashboard."""
    if not value or not _VISIBLE_ASCII.fullmatch(value) or "\\" in value or not value.startswith("/"):
        return HOME
    parts = urlsplit(value)
    return value if not parts.netloc and parts.path in RETURN_PATHS else HOME


class SignInAttempts:
    """Failed attempts, counted per (account, address), per address and per account.

    An account that many addresses guess at stays open to addresses from which it was signed in to before, so that
    nobody can lock its owner out.
    """

    def __init__(self, email: str, peer: str) -> None:
        address, name = address_key(peer), digest(email.strip().lower())[:32]
        self.limits = {f"signin:{name}:{address}": PER_ACCOUNT_AND_ADDRESS, f"signin:from:{address}": PER_ADDRESS}
        self.account = f"signin:to:{name}"
        self.known = f"signin:known:{name}:{address}"

    def is_blocked(self) -> bool:
        if not all(peek(key, limit, WINDOW_SECONDS).allowed for key, limit in self.limits.items()):
            return True
        return not peek(self.account, PER_ACCOUNT, WINDOW_SECONDS).allowed and self._is_new_address()

    def _is_new_address(self) -> bool:
        return peek(self.known, 1, KNOWN_DAYS * 86400).count == 0

    def record_failure(self) -> None:
        for key, limit in {**self.limits, self.account: PER_ACCOUNT}.items():
            hit(key, limit, WINDOW_SECONDS)

    def record_success(self) -> None:
        hit(self.known, 1, KNOWN_DAYS * 86400)


def load_or_open_session(uow: UnitOfWork, data: RequestData) -> tuple[WebSession, str | None] | Page:
    """The session a form is shown in, and its cookie when it is new.

    A session exists before sign-in, so that the sign-in form has a CSRF token too.
    """
    session = sessions.load(uow.db, data.cookie)
    if session is not None:
        return session, None
    if not hit(f"signin:forms:{address_key(data.peer)}", FORMS_PER_HOUR, 3600).allowed:
        return show_problem("Too many requests", "Please wait a little and try again.", 429, 600)
    return sessions.open_session(uow.db, None)


def show_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    opened = load_or_open_session(uow, data)
    if isinstance(opened, Page):
        return opened
    session, cookie = opened
    account, return_to = sessions.find_account(uow.db, session), safe_return_path(data.query_value("return_to"))
    email = account.email if account is not None else None
    context = {"csrf": sessions.make_csrf_token(session, "signin"), "return_to": return_to, "signed_in": email}
    if email is not None and _is_sign_in_too_old(session, return_to):
        context |= {"signed_in": None, "email": email}
    return Page("signin.html", context, session_cookie=cookie)


def _is_sign_in_too_old(session: WebSession, return_to: str) -> bool:
    """True when the authorization request there asks for a sign-in later than this session's."""
    first_seen = reauthentication.first_seen_at(urlsplit(return_to).query)
    return first_seen is not None and session.authenticated_at is not None and session.authenticated_at < first_seen


def sign_in(
    uow: UnitOfWork, data: RequestData, session: WebSession, account: Account, return_to: str | None
) -> Redirect:
    """Opens a new session, so that an identifier planted before sign-in is worthless (session fixation)."""
    sessions.end(uow.db, session.id_hash)
    _, cookie = sessions.open_session(uow.db, account.id, data.user_agent)
    return Redirect(safe_return_path(return_to), session_cookie=cookie)


def show_too_many_attempts() -> Page:
    return show_problem("Too many attempts", "Please wait fifteen minutes and try again.", 429, WINDOW_SECONDS)


def _show_again(data: RequestData, csrf: str, message: str, status: int) -> Page:
    context = {
        "csrf": csrf,
        "return_to": safe_return_path(data.form_value("return_to")),
        "email": data.form_value("email"),
        "message": message,
        "signed_in": None,
    }
    return Page("signin.html", context, status)


def _find_refusal(account: Account | None, password: str) -> str | None:
    """Why this person may not come in; None when they may."""
    matches = accounts.check_password(account, password)
    if account is None or not matches or account.disabled_at is not None:
        return WRONG_CREDENTIALS
    return None if account.email_confirmed_at else UNCONFIRMED


def submit(uow: UnitOfWork, data: RequestData) -> FlowResult:
    session = sessions.load_for_form(uow.db, data, "signin")
    if session is None:
        return FORM_EXPIRED
    attempts = SignInAttempts(data.form_value("email"), data.peer)
    if attempts.is_blocked():
        return show_too_many_attempts()
    account = accounts.find_account(uow.db, data.form_value("email"))
    refusal = _find_refusal(account, data.form_value("password"))
    if refusal is not None or account is None:
        attempts.record_failure()
        return _show_again(data, sessions.make_csrf_token(session, "signin"), refusal or WRONG_CREDENTIALS, 401)
    attempts.record_success()
    return sign_in(uow, data, session, account, data.form_value("return_to"))


def sign_out(uow: UnitOfWork, data: RequestData) -> FlowResult:
    session = sessions.load_for_form(uow.db, data, "signout")
    if session is None:
        return FORM_EXPIRED
    uow.db.delete(session)
    return Redirect("/", session_cookie="")
