"""One-time links sent by mail: to confirm an address, to set a new password, to say "this was not me"."""

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

LIFETIMES = {
    "confirm_email": timedelta(hours=24),
    "reset_password": timedelta(hours=1),
    "invitation": timedelta(days=7),
    "link_identity": timedelta(minutes=15),
    "new_address": timedelta(hours=24),
    "old_address": timedelta(hours=24),
    "forwarding_address": timedelta(hours=24),
    "not_me": timedelta(days=7),  # of each security mail
}
MAILS_PER_HOUR = 5  # to one address


def can_mail(email: str) -> bool:
    """Limits the mails that someone who types another person's address can cause."""
    return hit(f"mail:to:{digest(email)[:32]}", MAILS_PER_HOUR, 3600).allowed


def add_link(
    uow: UnitOfWork,
    account: Account,
    purpose: str,
    return_to: str,
    address: str | None = None,
    lifetime: timedelta | None = None,
) -> dict[str, str]:
    """Adds a link; returns the facts for its mail, which goes to `address` or else to the account's."""
    nonce = secrets.token_hex(16)
    facts = links.facts(purpose, account.public_id, nonce)
    uow.db.add(
        OneTimeLink(
            token_hash=digest(links.secret(facts)),
            account_id=account.id,
            purpose=purpose,
            nonce=nonce,
            return_to=return_to,
            address=address or account.email,
            expires_at=clock.now() + (lifetime or LIFETIMES[purpose]),
        )
    )
    return facts


def send(uow: UnitOfWork, account: Account, purpose: str, return_to: str) -> None:
    facts = add_link(uow, account, purpose, return_to)
    write_to(uow.db, account, purpose, facts, dedupe_key=f"{purpose}:{facts['nonce']}")


def find(uow: UnitOfWork, purpose: str, token: str | None) -> tuple[OneTimeLink, Account] | None:
    """The link and its account, locked, so that the second of two concurrent uses finds it used."""
    if not token:
        return None
    link = uow.db.scalar(select(OneTimeLink).where(OneTimeLink.token_hash == digest(token)).with_for_update())
    if link is None or link.purpose != purpose or link.expires_at <= clock.now():
        return None
    account = uow.db.get(Account, link.account_id)
    return (link, account) if account is not None and account.disabled_at is None else None


def delete_all(uow: UnitOfWork, account: Account) -> None:
    """Ends every link that lets someone in. Those that say "this was not me" stay: a thief must not end them."""
    lets_in = (OneTimeLink.account_id == account.id, OneTimeLink.purpose != "not_me")
    uow.db.execute(delete(OneTimeLink).where(*lets_in))
