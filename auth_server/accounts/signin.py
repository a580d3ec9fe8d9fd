"""Sign-in with email address and password, its limits against guessing, and sign-out."""

import re
import secrets
from datetime import timedelta
from urllib.parse import urlsplit

from auth_server.accounts import access, accounts, passkeys, password_guesses, pending_sign_ins, reauthentication
from auth_server.accounts.security_events import record_event
from auth_server.web import sessions
from auth_server.web.outcomes import FORM_EXPIRED, FlowResult, Page, Redirect, show_problem
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db import known_browsers
from shared.db.accounts import Account
from shared.db.oauth import WebSession
from shared.db.sign_in_methods import has_second_factor
from shared.domain.plans import INTEGRATIONS
from shared.limits import address_key, hit, peek, take_back
from shared.secrets import digest

# Known browsers: the owner gets a mail about a sign-in with a browser that is new to the account.

MAX_BROWSERS = 50  # of one account


def recognize(uow: UnitOfWork, data: RequestData, session: WebSession, account: Account) -> str:
    """The cookie the browser gets at this sign-in. Its owner is told of a new one, unless it is the first ever.

    The cookie changes each time: a planted one does not make the planter's browser known to this account.
    """
    cookie, now = secrets.token_urlsafe(32), clock.now()
    id_hash = digest(cookie)
    if data.browser_cookie:
        known_browsers.rename_browser(uow.db, digest(data.browser_cookie), id_hash)
    since = now - timedelta(seconds=sessions.BROWSER_COOKIE_SECONDS)
    is_known = session.owner_id == account.id or known_browsers.is_known(uow.db, account.id, id_hash, since)
    if not is_known and _was_signed_in_before(uow, account):
        record_event(uow, account, "new_browser", user_agent=data.user_agent)
    known_browsers.remember_browser(uow.db, account.id, id_hash, now, MAX_BROWSERS)
    return cookie


def _was_signed_in_before(uow: UnitOfWork, account: Account) -> bool:
    return known_browsers.has_known_browsers(uow.db, account.id) or bool(sessions.list_active(uow.db, account.id))


HOME = "/dashboard"
RETURN_PATHS = frozenset(
    {
        "/oauth/authorize",
        *(f"/integrations/{name}/connect" for name in INTEGRATIONS),
    }
)
# A page of the dashboard, the wait for an assistant, or the link by which an agent is claimed.
_MEMBER_PAGE = re.compile(r"/dashboard(/[\w-]+)*|/connect/waiting|/claim/\w{1,100}", re.ASCII)
SECOND_FACTOR_PAGE = "/signin/second"
WINDOW_SECONDS = 15 * 60
PER_ACCOUNT_AND_ADDRESS, PER_ADDRESS, PER_ACCOUNT = 10, 100, 100
FORMS_PER_HOUR = 1000  # for one address without a cookie: each form stores a session row
KNOWN_DAYS = 30
_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]+")
WRONG_CREDENTIALS = "The email address or the password is wrong."
UNCONFIRMED = "Please confirm your email address first, with the link we sent. Signing up again sends a new one."
EXPIRED = "This form was open for too long. Please send it again."


def safe_return_path(value: str | None) -> str:
    """The path if it is one of our pages (no scheme, authority, backslash or unprintable); else the dashboard."""
    if not value or not _VISIBLE_ASCII.fullmatch(value) or "\\" in value or not value.startswith("/"):
        return HOME
    parts = urlsplit(value)
    is_ours = parts.path in RETURN_PATHS or _MEMBER_PAGE.fullmatch(parts.path)
    return value if not parts.netloc and is_ours else HOME


class SignInAttempts:
    """Failed attempts, counted per (account, address), per address and per account.

    Each is counted before its password is looked at, and taken back when it was right: of many sent at once, no more
    are looked at than of many sent one by one.

    An account that many addresses guess at stays open to addresses from which it was signed in to before, so that
    no one can lock its owner out.
    """

    def __init__(self, email: str, peer: str) -> None:
        address, name = address_key(peer), digest(email.strip().lower())[:32]
        # The address first: what is refused there makes no key for a name, of which a stranger sends any number.
        self.limits = {f"signin:from:{address}": PER_ADDRESS, f"signin:{name}:{address}": PER_ACCOUNT_AND_ADDRESS}
        self.account = f"signin:to:{name}"
        self.known = f"signin:known:{name}:{address}"

    def begin(self) -> bool:
        """Counts one more; False when there were too many. One refused here does not count against the account."""
        if not all(hit(key, limit, WINDOW_SECONDS).allowed for key, limit in self.limits.items()):
            return False
        return hit(self.account, PER_ACCOUNT, WINDOW_SECONDS).allowed or not self._is_new_address()

    def _is_new_address(self) -> bool:
        return peek(self.known, 1, KNOWN_DAYS * 86400).count == 0

    def take_back(self) -> None:
        """Takes back the counted attempt: the password was right."""
        for key in (*self.limits, self.account):
            take_back(key, WINDOW_SECONDS)

    def remember_address(self) -> None:
        hit(self.known, 1, KNOWN_DAYS * 86400)


def load_or_open_session(uow: UnitOfWork, data: RequestData) -> tuple[WebSession, str | None] | Page:
    """The session for a form, and its cookie if new.

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
    again = data.query_value("fresh") == "1"
    csrf, party = sessions.make_csrf_token(session, "signin"), passkeys.find_relying_party()
    context = {"csrf": csrf, "party": party, "return_to": return_to, "signed_in": email, "again": again}
    if email is not None and (again or _is_sign_in_too_old(session, return_to)):
        context |= {"signed_in": None, "email": email}
    return Page("signin.html", context, session_cookie=cookie)


def _is_sign_in_too_old(session: WebSession, return_to: str) -> bool:
    """True when the authorization request there asks for a sign-in later than this session's."""
    first_seen = reauthentication.first_seen_at(urlsplit(return_to).query)
    return first_seen is not None and session.authenticated_at is not None and session.authenticated_at < first_seen


def continue_sign_in(
    uow: UnitOfWork, data: RequestData, session: WebSession, account: Account, return_to: str | None
) -> Redirect:
    """What follows the first factor: the page of the second where the account has one, else the sign-in itself."""
    if not has_second_factor(uow.db, account.id):
        return sign_in(uow, data, session, account, return_to)
    session, cookie = sessions.rotate(uow, session)
    pending_sign_ins.begin(uow.db, session, account, safe_return_path(return_to))
    return Redirect(SECOND_FACTOR_PAGE, session_cookie=cookie)


def sign_in(
    uow: UnitOfWork, data: RequestData, session: WebSession, account: Account, return_to: str | None
) -> Redirect:
    """Opens a new session, so that an identifier planted before sign-in is worthless (session fixation).

    Only now, with every factor passed, are the address and the browser remembered for the account.
    """
    SignInAttempts(account.email or "", data.peer).remember_address()
    browser_cookie = recognize(uow, data, session, account)
    sessions.end(uow, session.id_hash)
    _, cookie = sessions.open_session(uow.db, account.id, data.user_agent)
    return Redirect(safe_return_path(return_to), session_cookie=cookie, browser_cookie=browser_cookie)


def show_too_many_attempts() -> Page:
    return show_problem("Too many attempts", "Please wait fifteen minutes and try again.", 429, WINDOW_SECONDS)


def show_form_again(uow: UnitOfWork, data: RequestData, message: str, status: int = 401) -> Page:
    """Shows the sign-in page with the fault, for someone who may also have lost the session."""
    opened = load_or_open_session(uow, data)
    if isinstance(opened, Page):
        return opened
    session, cookie = opened
    page = _show_again(data, sessions.make_csrf_token(session, "signin"), message, status)
    page.session_cookie = cookie
    return page


def _show_again(data: RequestData, csrf: str, message: str, status: int) -> Page:
    context = {
        "csrf": csrf,
        "party": passkeys.find_relying_party(),
        "return_to": safe_return_path(data.form_value("return_to")),
        "email": data.form_value("email"),
        "message": message,
        "unconfirmed": message == UNCONFIRMED,
        "signed_in": None,
        "again": data.form_value("fresh") == "1",
    }
    return Page("signin.html", context, status)


def _find_refusal(uow: UnitOfWork, data: RequestData, account: Account | None) -> str | None:
    """Why this person may not come in; None when they may."""
    email, password = data.form_value("email"), data.form_value("password")
    matches = password_guesses.check_password(uow, account, email, password, data.user_agent)
    if account is None or not matches:
        return WRONG_CREDENTIALS
    return None if account.email_confirmed_at else UNCONFIRMED


def submit(uow: UnitOfWork, data: RequestData) -> FlowResult:
    session = sessions.load_for_form(uow.db, data, "signin")
    if session is None:
        return show_form_again(uow, data, EXPIRED, 403)
    attempts = SignInAttempts(data.form_value("email"), data.peer)
    if not attempts.begin():
        return show_too_many_attempts()
    account = accounts.find_account(uow.db, data.form_value("email"))
    refusal = _find_refusal(uow, data, account)
    if refusal is None and account is not None and account.disabled_at is not None:
        return access.SUSPENDED  # said only to someone who knows the password
    if refusal is not None or account is None:
        return _show_again(data, sessions.make_csrf_token(session, "signin"), refusal or WRONG_CREDENTIALS, 401)
    attempts.take_back()
    return continue_sign_in(uow, data, session, account, data.form_value("return_to"))


def sign_out(uow: UnitOfWork, data: RequestData) -> FlowResult:
    session = sessions.load_for_form(uow.db, data, "signout")
    if session is None:
        return FORM_EXPIRED
    sessions.end(uow, session.id_hash)
    return Redirect("/", session_cookie="")
