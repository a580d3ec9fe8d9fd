"""Telling an account something: an event and its facts become an inbox row and delivery rows, in the caller's
transaction; sending is a matter of the workers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from shared.db.accounts import Account
from shared.db.messages import Delivery, add_notification
from shared.db.profile import mails
from shared.outbox.messages import MAIL_KINDS, notice


@dataclass(frozen=True)
class Phone:
    """A number to be written to: sealed, with the digits that may be shown, and by which channel."""

    channel: str
    sealed: str
    ending: str


def reachable(session: Session, account: Account, event: str) -> bool:
    """Whether a mail about this would go out: the address is confirmed, and the person wants such mails."""
    wanted = mails(session, account.id).get(MAIL_KINDS.get(event, ""), True)
    return bool(account.email and account.email_confirmed_at and wanted)


def _phone_row(account: Account, told: UUID, event: str, facts: dict[str, Any], key: str, phone: Phone) -> Delivery:
    """The number itself stands sealed among the facts, which are cleared once the message is delivered."""
    return Delivery(
        account_id=account.id,
        notification_id=told,
        dedupe_key=key,
        channel=phone.channel,
        recipient=f"…{phone.ending}",
        event=event,
        facts=facts | {"phone_sealed": phone.sealed},
    )


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
    phones: Sequence[Phone] = (),
) -> UUID | None:
    """Writes the notice and, when asked, one mail to the account's confirmed address and one message to each phone.

    None when it was told before.
    """
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
    if told and mail and reachable(session, account, event):
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
    if told:
        session.add_all(
            _phone_row(account, told, event, facts, f"{dedupe_key}:{n}", phone) for n, phone in enumerate(phones)
        )
    return told
