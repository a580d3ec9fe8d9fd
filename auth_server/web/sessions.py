"""Browser sessions: their cookie, their row, the account signed in with them, and the CSRF tokens of their forms."""

import secrets
from datetime import timedelta

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import Session

from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import WebSession
from shared.db.sign_in_methods import PendingSignIn
from shared.secrets import digest, is_same_secret, sign
from shared.telemetry.call_context import note_account

MAX_IDLE, MAX_AGE = timedelta(days=14), timedelta(days=30)
BROWSER_COOKIE_SECONDS = 365 * 86400
MAX_AGE_BEFORE_SIGN_IN = timedelta(hours=1)
_TOUCH_INTERVAL = timedelta(hours=1)  # how stale last_used_at may be


def load(db: Session, cookie: str | None) -> WebSession | None:
    if not cookie or len(cookie) > 128:
        return None
    row, now = db.get(WebSession, digest(cookie)), clock.now()
    if row is None or row.expires_at <= now or row.last_used_at <= now - MAX_IDLE:
        return None
    if row.last_used_at < now - _TOUCH_INTERVAL:
        row.last_used_at = now
    return row


def open_session(db: Session, owner_id: int | None, user_agent: str = "") -> tuple[WebSession, str]:
    """A fresh row and the cookie for it. Without an owner it only protects the sign-in form."""
    cookie, now = secrets.token_urlsafe(32), clock.now()
    row = WebSession(
        id_hash=digest(cookie),
        owner_id=owner_id,
        csrf_key=secrets.token_hex(32),
        authenticated_at=now if owner_id is not None else None,
        browser=describe_browser(user_agent) if owner_id is not None else None,
        created_at=now,
        last_used_at=now,
        expires_at=now + (MAX_AGE if owner_id is not None else MAX_AGE_BEFORE_SIGN_IN),
    )
    db.add(row)
    return row, cookie


_COMMAND_LINE = "award-travel"  # how the service's own command line calls itself
_BROWSERS = {"Edg": "Edge", "OPR/": "Opera", "Firefox": "Firefox", "Chrom": "Chrome", "Safari": "Safari"}
_SYSTEMS = {
    "iPhone": "an iPhone",
    "iPad": "an iPad",
    "Android": "Android",
    "Windows": "Windows",
    "Mac OS": "a Mac",
    "Linux": "Linux",
}


def describe_browser(user_agent: str) -> str:
    """A few words by which a person recognises the browser; the user agent itself is not stored."""
    if user_agent.startswith(_COMMAND_LINE):
        return f"{_COMMAND_LINE} on the command line"
    name = next((name for part, name in _BROWSERS.items() if part in user_agent), "A browser")
    system = next((name for part, name in _SYSTEMS.items() if part in user_agent), None)
    return f"{name} on {system}" if system else name


def name_token_family(id_hash: str) -> str:
    """The family of this session's page tokens: an event with it ends them at the tool servers."""
    return f"browser:{id_hash}"


def rotate(uow: UnitOfWork, session: WebSession) -> tuple[WebSession, str]:
    """Gives the session a new identifier and cookie, so that a planted one becomes worthless.

    A session that has ended in the meantime is followed by one that is signed out.
    """
    row = uow.db.get(WebSession, session.id_hash, populate_existing=True, with_for_update=True)
    if row is None:
        return open_session(uow.db, None)
    if row.owner_id is not None:
        uow.events.append({"family": name_token_family(row.id_hash)})
    cookie = secrets.token_urlsafe(32)
    row.id_hash, row.csrf_key = digest(cookie), secrets.token_hex(32)
    uow.db.flush()
    return row, cookie


def list_active(db: Session, account_id: int) -> list[WebSession]:
    """The active sessions of an account, last used first."""
    now = clock.now()
    active = (WebSession.owner_id == account_id, WebSession.expires_at > now, WebSession.last_used_at > now - MAX_IDLE)
    return list(db.scalars(select(WebSession).where(*active).order_by(WebSession.last_used_at.desc())))


def end(uow: UnitOfWork, id_hash: str) -> None:
    _delete(uow, WebSession.id_hash == id_hash)


def _delete(uow: UnitOfWork, *conditions: ColumnElement[bool]) -> None:
    """Deletes sessions, and ends the tokens they may have at the tool servers."""
    removal = delete(WebSession).where(*conditions).returning(WebSession.id_hash, WebSession.owner_id)
    rows = uow.db.execute(removal).all()
    uow.events += [{"family": name_token_family(row.id_hash)} for row in rows if row.owner_id is not None]


def end_all(uow: UnitOfWork, account_id: int) -> None:
    """Ends all sessions, and sign-ins that wait for a second factor: their password may be an old one."""
    _delete(uow, WebSession.owner_id == account_id)
    uow.db.execute(delete(PendingSignIn).where(PendingSignIn.account_id == account_id))


def end_others(uow: UnitOfWork, session: WebSession) -> None:
    """Ends the person's other sessions, and sign-ins that wait for a second factor."""
    uow.db.execute(delete(PendingSignIn).where(PendingSignIn.account_id == session.owner_id))
    _delete(uow, WebSession.owner_id == session.owner_id, WebSession.id_hash != session.id_hash)


def find_account(db: Session, session: WebSession | None) -> Account | None:
    """The signed-in account; a disabled one counts as signed out."""
    if session is None or session.owner_id is None:
        return None
    account = db.get(Account, session.owner_id)
    if account is None or account.disabled_at is not None or not account.has_person:
        return None
    note_account(account.public_id)
    return account


def make_csrf_token(session: WebSession, purpose: str) -> str:
    return sign(session.csrf_key, purpose)


def is_csrf_token_valid(session: WebSession, purpose: str, token: str) -> bool:
    return is_same_secret(token, make_csrf_token(session, purpose))


def load_for_form(db: Session, data: RequestData, purpose: str) -> WebSession | None:
    """The session of a form with a valid CSRF token for this purpose; None otherwise."""
    session = load(db, data.cookie)
    valid = session is not None and is_csrf_token_valid(session, purpose, data.form_value("csrf"))
    return session if valid else None
