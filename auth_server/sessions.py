"""Browser sessions: a cookie goes in, the session row and the person behind it come out; forms are bound to it."""

import secrets
from datetime import timedelta

from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import WebSession
from shared.secrets import digest, same, sign
from shared.settings import settings

IDLE, ABSOLUTE = timedelta(days=14), timedelta(days=30)
BEFORE_SIGN_IN = timedelta(hours=1)
_TOUCH = timedelta(hours=1)  # how stale last_used_at may be


def cookie_name() -> str:
    return "__Host-award" if settings().secure else "award"


def load(db: Session, cookie: str | None) -> WebSession | None:
    if not cookie or len(cookie) > 128:
        return None
    row, now = db.get(WebSession, digest(cookie)), clock.now()
    if row is None or row.expires_at <= now or row.last_used_at <= now - IDLE:
        return None
    if row.last_used_at < now - _TOUCH:
        row.last_used_at = now
    return row


def open_session(db: Session, owner_id: int | None) -> tuple[WebSession, str]:
    """A fresh row and the cookie for it. Without an owner it only protects the sign-in form."""
    cookie, now = secrets.token_urlsafe(32), clock.now()
    row = WebSession(
        id_hash=digest(cookie),
        owner_id=owner_id,
        csrf_key=secrets.token_hex(32),
        authenticated_at=now if owner_id is not None else None,
        last_used_at=now,
        expires_at=now + (ABSOLUTE if owner_id is not None else BEFORE_SIGN_IN),
    )
    db.add(row)
    return row, cookie


def person(db: Session, session: WebSession | None) -> Account | None:
    """The signed-in account; a disabled one counts as signed out."""
    if session is None or session.owner_id is None:
        return None
    account = db.get(Account, session.owner_id)
    return account if account is not None and account.disabled_at is None else None


def csrf(session: WebSession, purpose: str) -> str:
    return sign(session.csrf_key, purpose)


def csrf_holds(session: WebSession | None, purpose: str, given: str) -> bool:
    return session is not None and same(given, csrf(session, purpose))
