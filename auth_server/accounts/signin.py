"""Sign-in and sign-out: an address, a password and a guarded form go in; a new session comes out."""

import re
from urllib.parse import urlsplit

from auth_server.accounts import accounts, reauthentication
from auth_server.oauth.server import Server
from auth_server.web import sessions
from auth_server.web.outcomes import FlowResult, Page, Redirect, problem
from auth_server.web.request_data import RequestData
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
WINDOW = 15 * 60
PER_ACCOUNT_AND_ADDRESS, PER_ADDRESS, PER_ACCOUNT = 10, 100, 100
FORMS_PER_HOUR = 1000  # of one address without a cookie: each makes a row
KNOWN_DAYS = 30
_PLAIN = re.compile(r"[\x21-\x7e]+")
WRONG = "The email address or the password is wrong."
UNCONFIRMED = "Please confirm your email address first, with the link we sent. Signing up again sends a new one."


def safe_return(value: str | None) -> str:
    """One of our own pages: no scheme, no authority, no backslash, nothing unprintable; else the dashboard."""
    if not value or not _PLAIN.fullmatch(value) or "\\" in value or not value.startswith("/"):
        return HOME
    parts = urlsplit(value)
    return value if not parts.netloc and parts.path in RETURN_PATHS else HOME


class Guesses:
    """Failed attempts, counted per (account, address), per address and per account.

    An account many addresses guess at stays open to addresses from which it was signed in to before: nobody can
    lock its owner out.
    """

    def __init__(self, email: str, peer: str) -> None:
        address, name = address_key(peer), digest(email.strip().lower())[:32]
        self.limits = {f"signin:{name}:{address}": PER_ACCOUNT_AND_ADDRESS, f"signin:from:{address}": PER_ADDRESS}
        self.account = f"signin:to:{name}"
        self.known = f"signin:known:{name}:{address}"

    def exhausted(self) -> bool:
        if not all(peek(key, limit, WINDOW).allowed for key, limit in self.limits.items()):
            return True
        return not peek(self.account, PER_ACCOUNT, WINDOW).allowed and self._is_new_here()

    def _is_new_here(self) -> bool:
        return peek(self.known, 1, KNOWN_DAYS * 86400).count == 0

    def failed(self) -> None:
        for key, limit in {**self.limits, self.account: PER_ACCOUNT}.items():
            hit(key, limit, WINDOW)

    def succeeded(self) -> None:
        hit(self.known, 1, KNOWN_DAYS * 86400)


def visitor(server: Server, inc: RequestData) -> tuple[WebSession, str | None] | Page:
    """The session of whoever asks for a form, and the cookie for it when it is new.

    A session exists before sign-in, so that no form can be sent from elsewhere.
    """
    session = sessions.load(server.db, inc.cookie)
    if session is not None:
        return session, None
    if not hit(f"signin:forms:{address_key(inc.peer)}", FORMS_PER_HOUR, 3600).allowed:
        return problem("Too many requests", "Please wait a little and try again.", 429, 600)
    return sessions.open_session(server.db, None)


def form(server: Server, inc: RequestData) -> FlowResult:
    found = visitor(server, inc)
    if isinstance(found, Page):
        return found
    session, cookie = found
    account, return_to = sessions.person(server.db, session), safe_return(inc.query_value("return_to"))
    email = account.email if account is not None else None
    shown = {"csrf": sessions.csrf(session, "signin"), "return_to": return_to, "signed_in": email}
    if email is not None and _too_long_ago(session, return_to):
        shown |= {"signed_in": None, "email": email}
    return Page("signin.html", shown, session=cookie)


def _too_long_ago(session: WebSession, return_to: str) -> bool:
    """True when the application waiting there wants a sign-in later than this session's."""
    wanted = reauthentication.first_seen_at(urlsplit(return_to).query)
    return wanted is not None and session.authenticated_at is not None and session.authenticated_at < wanted


def enter(server: Server, inc: RequestData, session: WebSession, account: Account, return_to: str | None) -> Redirect:
    """Lets the person in with a fresh identifier: one that was planted before sign-in is dead."""
    sessions.end(server.db, session.id_hash)
    _, cookie = sessions.open_session(server.db, account.id, inc.agent)
    return Redirect(safe_return(return_to), session=cookie)


def too_many_guesses() -> Page:
    return problem("Too many attempts", "Please wait fifteen minutes and try again.", 429, WINDOW)


def _again(inc: RequestData, csrf: str, message: str, status: int) -> Page:
    shown = {
        "csrf": csrf,
        "return_to": safe_return(inc.form_value("return_to")),
        "email": inc.form_value("email"),
        "message": message,
        "signed_in": None,
    }
    return Page("signin.html", shown, status)


def _verdict(account: Account | None, password: str) -> str | None:
    """Why this person may not come in; None when they may."""
    good = accounts.check_password(account, password)
    if account is None or not good or account.disabled_at is not None:
        return WRONG
    return None if account.email_confirmed_at else UNCONFIRMED


def submit(server: Server, inc: RequestData) -> FlowResult:
    session = sessions.load(server.db, inc.cookie)
    if session is None or not sessions.csrf_holds(session, "signin", inc.form_value("csrf")):
        return problem("This form has expired", "Please go back and try again.", 403)
    guesses = Guesses(inc.form_value("email"), inc.peer)
    if guesses.exhausted():
        return too_many_guesses()
    account = accounts.find_account(server.db, inc.form_value("email"))
    why_not = _verdict(account, inc.form_value("password"))
    if why_not is not None or account is None:
        guesses.failed()
        return _again(inc, sessions.csrf(session, "signin"), why_not or WRONG, 401)
    guesses.succeeded()
    return enter(server, inc, session, account, inc.form_value("return_to"))


def leave(server: Server, inc: RequestData) -> FlowResult:
    session = sessions.load(server.db, inc.cookie)
    if session is None or not sessions.csrf_holds(session, "signout", inc.form_value("csrf")):
        return problem("This form has expired", "Please go back and try again.", 403)
    server.db.delete(session)
    return Redirect("/", session="")
