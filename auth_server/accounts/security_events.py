"""Security events: each is recorded and mailed to the owner with a link "this was not me"."""

import secrets
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from auth_server.accounts import email_links
from auth_server.web.sessions import describe_browser
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account
from shared.db.security_events import SecurityEvent
from shared.limits import hit
from shared.outbox.enqueue import tell
from shared.outbox.wording.security_events import BY_OPERATOR

MAILS_PER_HOUR = 30  # to one account
ALWAYS_MAILED = BY_OPERATOR | {
    "password_changed",
    "password_reset",
    "password_locked",
    "address_asked",
    "address_changed",
    "everything_ended",
}


def record_event(
    uow: UnitOfWork,
    account: Account,
    kind: str,
    *,
    subject: str | None = None,
    user_agent: str = "",
    more: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """One row, one notice and one mail. `kind` is a key of `EVENT_WORDS`; `subject` names what it is about.

    `more` are facts that the mail of this kind is written from besides. Who makes and ends keys all day fills no one's
    mailbox: after 30 mails in an hour only rows and notices continue. A new password or address is mailed even then.
    """
    browser, now = describe_browser(user_agent) if user_agent else None, clock.now()
    uow.db.add(SecurityEvent(account_id=account.id, kind=kind, subject=subject, browser=browser, at=now))
    key = f"security:{secrets.token_hex(16)}"
    facts: dict[str, Any] = dict(more)
    if kind not in BY_OPERATOR:
        facts |= email_links.add_link(uow, account, "not_me", "/dashboard/security")
    facts |= {"kind": kind, "subject": subject or "", "browser": browser or "", "at": now.isoformat()}
    mail = kind in ALWAYS_MAILED or hit(f"security:mails:{account.id}", MAILS_PER_HOUR, 3600).allowed
    tell(uow.db, account, "security_event", facts, dedupe_key=key, mail=mail)
