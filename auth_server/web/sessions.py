"""Browser sessions: their cookie, their row, the account signed in with them, and the CSRF tokens of their forms."""

import secrets
from datetime import timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from auth_server.web.request_data import RequestData
from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import WebSession
from shared.secrets import digest, is_same_secret, sign

MAX_IDLE, MAX_AGE = timedelta(days=14), timedelta(days=30)
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
        last_used_at=now,
        expires_at=now + (MAX_AGE if owner_id is not None else MAX_AGE_BEFORE_SIGN_IN),
    )
    db.add(row)
    return row, cookie


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
    name = next((name for part, name in _BROWSERS.items() if part in user_agent), "A browser")
    system = next((name for part, name in _SYSTEMS.items() if part in user_agent), None)
    return f"{name} on {system}" if system else name


def list_active(db: Session, account_id: int) -> list[WebSession]:
    """The active sessions of an account, last used first."""
    now = clock.now()
    active = (WebSession.owner_id == account_id, WebSession.expires_at > now, WebSession.last_used_at > now - MAX_IDLE)
    return list(db.scalars(select(WebSession).where(*active).order_by(WebSession.last_used_at.desc())))


def end(db: Session, id_hash: str) -> None:
    db.execute(delete(WebSession).where(WebSession.id_hash == id_hash))


def end_all(db: Session, account_id: int) -> None:
    db.execute(delete(WebSession).where(WebSession.owner_id == account_id))


def find_account(db: Session, session: WebSession | None) -> Account | None:
    """The signed-in account; a disabled one counts as signed out."""
    if session is None or session.owner_id is None:
        return None
    account = db.get(Account, session.owner_id)
    return account if account is not None and account.disabled_at is None else None


def make_csrf_token(session: WebSession, purpose: str) -> str:
    return sign(session.csrf_key, purpose)


def is_csrf_token_valid(session: WebSession, purpose: str, token: str) -> bool:
    return is_same_secret(token, make_csrf_token(session, purpose))


def load_for_form(db: Session, data: RequestData, purpose: str) -> WebSession | None:
    """The session of a form that carries its CSRF token for this purpose; None for every other form."""
    session = load(db, data.cookie)
    valid = session is not None and is_csrf_token_valid(session, purpose, data.form_value("csrf"))
    return session if valid else None
