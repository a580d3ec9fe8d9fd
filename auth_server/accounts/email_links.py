"""One-time links: an account and a purpose go in, a mail with a link goes out; the link comes back once."""

import secrets
from datetime import timedelta

from sqlalchemy import delete, select

from auth_server.oauth.server import Server
from shared import clock
from shared.db.accounts import Account
from shared.db.one_time_links import OneTimeLink
from shared.limits import hit
from shared.outbox import links
from shared.outbox.enqueue import write_to
from shared.secrets import digest

LIFE = {"confirm_email": timedelta(hours=24), "reset_password": timedelta(hours=1)}
MAILS_PER_HOUR = 5  # about accounts, to one address


def may_mail(email: str) -> bool:
    """Nobody's mailbox is filled by someone who types their address."""
    return hit(f"mail:to:{digest(email)[:32]}", MAILS_PER_HOUR, 3600).allowed


def send(server: Server, account: Account, purpose: str, return_to: str) -> None:
    nonce = secrets.token_hex(16)
    held = links.facts(purpose, account.public_id, nonce)
    server.db.add(
        OneTimeLink(
            token_hash=digest(links.secret(held)),
            account_id=account.id,
            purpose=purpose,
            nonce=nonce,
            return_to=return_to,
            expires_at=clock.now() + LIFE[purpose],
        )
    )
    write_to(server.db, account, purpose, held, dedupe_key=f"{purpose}:{nonce}")


def find(server: Server, purpose: str, token: str | None) -> tuple[OneTimeLink, Account] | None:
    """What a link stands for, locked, so that of two who come with it at once the second finds it used."""
    if not token:
        return None
    link = server.db.scalar(select(OneTimeLink).where(OneTimeLink.token_hash == digest(token)).with_for_update())
    if link is None or link.purpose != purpose or link.expires_at <= clock.now():
        return None
    account = server.db.get(Account, link.account_id)
    return (link, account) if account is not None and account.disabled_at is None else None


def use_up(server: Server, account: Account) -> None:
    """Every link the account was ever sent is dead."""
    server.db.execute(delete(OneTimeLink).where(OneTimeLink.account_id == account.id))
