"""One-time links sent by mail: to confirm an address, or to set a new password."""

import secrets
from datetime import timedelta

from sqlalchemy import delete, select

from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.one_time_links import OneTimeLink
from shared.limits import hit
from shared.outbox import links
from shared.outbox.enqueue import write_to
from shared.secrets import digest

LIFETIMES = {"confirm_email": timedelta(hours=24), "reset_password": timedelta(hours=1)}
MAILS_PER_HOUR = 5  # to one address


def can_mail(email: str) -> bool:
    """Limits the mails that somebody who types another person's address can cause."""
    return hit(f"mail:to:{digest(email)[:32]}", MAILS_PER_HOUR, 3600).allowed


def send(uow: UnitOfWork, account: Account, purpose: str, return_to: str) -> None:
    nonce = secrets.token_hex(16)
    facts = links.facts(purpose, account.public_id, nonce)
    uow.db.add(
        OneTimeLink(
            token_hash=digest(links.secret(facts)),
            account_id=account.id,
            purpose=purpose,
            nonce=nonce,
            return_to=return_to,
            expires_at=clock.now() + LIFETIMES[purpose],
        )
    )
    write_to(uow.db, account, purpose, facts, dedupe_key=f"{purpose}:{nonce}")


def find(uow: UnitOfWork, purpose: str, token: str | None) -> tuple[OneTimeLink, Account] | None:
    """The link and its account, locked, so that of two concurrent uses the second finds it used."""
    if not token:
        return None
    link = uow.db.scalar(select(OneTimeLink).where(OneTimeLink.token_hash == digest(token)).with_for_update())
    if link is None or link.purpose != purpose or link.expires_at <= clock.now():
        return None
    account = uow.db.get(Account, link.account_id)
    return (link, account) if account is not None and account.disabled_at is None else None


def delete_all(uow: UnitOfWork, account: Account) -> None:
    """Ends every link that was sent to the account."""
    uow.db.execute(delete(OneTimeLink).where(OneTimeLink.account_id == account.id))
