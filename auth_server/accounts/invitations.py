"""Invitations: an account without a password waits for anyone who opens the link in the mail, until the link
expires.
"""

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from auth_server.accounts import accounts, email_links
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.one_time_links import OneTimeLink
from shared.errors import Fault, Invalid
from shared.outbox.enqueue import write_to

PURPOSE = "invitation"


def invite(uow: UnitOfWork, email: str, days: int) -> Account:
    """Mails a link to the account that waits, made if need be, and returns it; links of earlier invitations end.

    Raises Invalid for a malformed address, or one with an account.
    """
    address = accounts.normalize_email(email)
    account = accounts.find_account(uow.db, address)
    if account is not None and account.email_confirmed_at is not None:
        raise Invalid(Fault("email", "already has an account", "another address"))
    if account is None:
        account = accounts.add_account(uow.db, address, None)
    email_links.delete_all(uow, account)
    facts = email_links.add_link(uow, account, PURPOSE, "/dashboard", lifetime=timedelta(days=days))
    facts["until"] = (clock.now() + timedelta(days=days)).isoformat()
    write_to(uow.db, account, PURPOSE, facts, dedupe_key=f"{PURPOSE}:{facts['nonce']}")
    return account


def is_invited(db: Session, address: str) -> bool:
    """Whether an invitation of this address is open."""
    is_open = (OneTimeLink.purpose == PURPOSE, OneTimeLink.expires_at > clock.now())
    links = select(OneTimeLink.token_hash).join(Account, Account.id == OneTimeLink.account_id)
    return db.scalar(links.where(func.lower(Account.email) == address, *is_open).limit(1)) is not None


def list_open(db: Session) -> list[tuple[str, datetime, datetime]]:
    """Each address with when it was invited and when the link expires; the oldest first."""
    rows = select(Account.email, OneTimeLink.created_at, OneTimeLink.expires_at).join(
        Account, Account.id == OneTimeLink.account_id
    )
    is_open = (OneTimeLink.purpose == PURPOSE, OneTimeLink.expires_at > clock.now())
    return [
        (email or "", invited_at, until)
        for email, invited_at, until in db.execute(rows.where(*is_open).order_by(Account.id))
    ]
