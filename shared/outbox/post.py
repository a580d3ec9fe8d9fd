"""Telling an account something: an event and its facts become an inbox row and delivery rows, in the caller's
transaction; sending is a matter of the workers."""

from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from shared.db.accounts import Account
from shared.db.messages import Delivery, add_notification
from shared.outbox.messages import notice


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
    if told and mail and account.email and account.email_confirmed_at:
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
