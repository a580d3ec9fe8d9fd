"""Sign-ins that passed the first factor and still need the second."""

from datetime import timedelta

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.db.oauth import WebSession
from shared.db.sign_in_methods import PendingSignIn

LIFETIME = timedelta(minutes=10)


def begin(db: Session, session: WebSession, account: Account, return_to: str) -> None:
    """Starts one; a browser session has one, the last started."""
    end(db, session)
    row = {"session_hash": session.id_hash, "account_id": account.id, "return_to": return_to}
    db.add(PendingSignIn(**row, created_at=clock.now()))
    db.flush()


def find(db: Session, session: WebSession | None) -> tuple[PendingSignIn, Account] | None:
    """The sign-in this browser started, if recent enough and its account may sign in."""
    pending = db.get(PendingSignIn, session.id_hash) if session is not None else None
    if pending is None or clock.now() - pending.created_at > LIFETIME:
        return None
    account = db.get(Account, pending.account_id)
    return (pending, account) if account is not None and account.disabled_at is None else None


def end(db: Session, session: WebSession) -> None:
    db.execute(delete(PendingSignIn).where(PendingSignIn.session_hash == session.id_hash))
