"""Telling an account something: an event and its facts become an inbox row and delivery rows, in the caller's
transaction; sending is a matter of the workers."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from shared.db.accounts import Account
from shared.db.messages import Delivery, add_notification
from shared.db.profile import mails
from shared.outbox.messages import notice

# The mails a person can turn off, each with the setting that does.
_SETTING = {"route_monitor_match": "route_monitors"}


def _wanted(session: Session, account: Account, event: str) -> bool:
    return event not in _SETTING or mails(session, account.id)[_SETTING[event]]


def write_to(session: Session, account: Account, event: str, facts: dict[str, Any], *, dedupe_key: str) -> None:
    """One mail to the account's address, confirmed or not, and no notice: about the account itself."""
    session.add(
        Delivery(
            account_id=account.id,
            dedupe_key=dedupe_key,
            channel="email",
            recipient=account.email,
            event=event,
            facts=facts,
        )
    )


def tell(
    session: Session,
    account: Account,
    event: str,
    facts: dict[str, Any],
    *,
    dedupe_key: str,
    subject: tuple[str, int | str] | None = None,
    mail: bool = False,
) -> UUID | None:
    """Writes the notice and, when asked, one mail to the account's confirmed address. None when it was told before."""
    worded = notice(event, facts)
    told = add_notification(
        session,
        account.id,
        dedupe_key,
        kind=worded.kind,
        title=worded.title,
        body=worded.body,
        subject_type=subject[0] if subject else None,
        subject_id=str(subject[1]) if subject else None,
    )
    if told and mail and account.email and account.email_confirmed_at and _wanted(session, account, event):
        session.add(
            Delivery(
                account_id=account.id,
                notification_id=told,
                dedupe_key=dedupe_key,
                channel="email",
                recipient=account.email,
                event=event,
                facts=facts,
            )
        )
    return told
