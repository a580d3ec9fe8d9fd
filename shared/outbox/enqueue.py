"""Messages to an account: an event and its facts become an inbox row and delivery rows, in the caller's
transaction; the workers send them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from shared.db.accounts import Account
from shared.db.message_channels import MessageChannel
from shared.db.messages import add_deliveries, add_notifications
from shared.db.profile import Addressee, find_addressee
from shared.outbox.links import find_event_path
from shared.outbox.wording.messages import MAIL_KINDS, notice


@dataclass(frozen=True)
class Phone:
    """A number to be written to: sealed, with the digits that may be shown, and by which channel."""

    channel: str
    sealed: str
    ending: str


def reachable(session: Session, account: Account | Addressee, event: str) -> bool:
    """Whether a mail about this would go out: the address is confirmed, and the person wants such mails."""
    addressee = account if isinstance(account, Addressee) else find_addressee(session, account.id)
    return bool(
        addressee.email
        and addressee.email_confirmed_at
        and addressee.mail_switches.get(MAIL_KINDS.get(event, ""), True)
    )


def is_wanted_by_channel(addressee: Addressee, event: str) -> bool:
    """Whether a message about this would go out by a channel besides mail and phones."""
    return addressee.wants_by_channel(MAIL_KINDS.get(event, ""))


def _build_row(
    account: Account | Addressee, notification_id: UUID | None, event: str, facts: dict[str, Any], key: str
) -> dict[str, Any]:
    """One delivery to the account's own address."""
    row = {
        "account_id": account.id,
        "notification_id": notification_id,
        "dedupe_key": key,
        "event": event,
        "facts": facts,
    }
    return row | {"channel": "email", "recipient": account.email}


def _to_phone(row: dict[str, Any], phone: Phone, number: int) -> dict[str, Any]:
    """The number is sealed among the facts, which are cleared once the message is delivered."""
    return row | {
        "dedupe_key": f"{row['dedupe_key']}:{number}",
        "channel": phone.channel,
        "recipient": f"…{phone.ending}",
        "facts": row["facts"] | {"phone_sealed": phone.sealed},
    }


def _list_channel_rows(row: dict[str, Any], addressee: Addressee) -> list[dict[str, Any]]:
    """One delivery to each channel that wants such messages; only the channel has its address."""
    channels = [c for c in addressee.channels if MAIL_KINDS.get(row["event"]) in c.wanted_kinds]
    return [_to_channel(row, channel.id, channel.kind, channel.name) for channel in channels]


def _to_channel(row: dict[str, Any], channel_id: int, kind: str, name: str) -> dict[str, Any]:
    return row | {
        "dedupe_key": f"{row['dedupe_key']}:channel:{channel_id}",
        "channel": kind,
        "recipient": name,
        "facts": row["facts"] | {"channel_id": channel_id},
    }


def write_to(
    session: Session, account: Account | Addressee, event: str, facts: dict[str, Any], *, dedupe_key: str
) -> None:
    """One mail to the account's address, confirmed or not, and no notice: about the account itself."""
    add_deliveries(session, [_build_row(account, None, event, facts, dedupe_key)])


def write_to_phone(
    session: Session, account: Account, phone: Phone, event: str, facts: dict[str, Any], *, dedupe_key: str
) -> None:
    """One message to one number and no notice: about the number itself."""
    row = _build_row(account, None, event, facts, dedupe_key)
    add_deliveries(session, [_to_phone(row, phone, 0)])


def write_to_channel(
    session: Session, account: Account, channel: MessageChannel, event: str, facts: dict[str, Any], *, dedupe_key: str
) -> None:
    """One message to one channel and no notice: about the channel itself."""
    row = _build_row(account, None, event, facts, dedupe_key)
    add_deliveries(session, [_to_channel(row, channel.id, channel.kind, channel.name)])


def tell(
    session: Session,
    account: Account | Addressee,
    event: str,
    facts: dict[str, Any],
    *,
    dedupe_key: str,
    subject: tuple[str, int | str] | None = None,
    mail: bool = False,
    phones: Sequence[Phone] = (),
    by_channels: bool | None = None,
) -> UUID | None:
    """Writes the notice and, on request, one mail to the account's confirmed address and one message to each phone.

    The other channels of the person that want such messages get one each: whenever a mail is asked for, unless
    `by_channels` says otherwise. None if it was told before.
    """
    content = notice(event, facts)
    row = {
        "account_id": account.id,
        "dedupe_key": dedupe_key,
        "kind": content.kind,
        "title": content.title,
        "body": content.body,
        "link": None if subject else find_event_path(event),
        "subject_type": subject[0] if subject else None,
        "subject_id": str(subject[1]) if subject else None,
    }
    notification_id = add_notifications(session, [row]).get(dedupe_key)
    if notification_id is None:
        return None
    delivery = _build_row(account, notification_id, event, facts, dedupe_key)
    deliveries = [_to_phone(delivery, phone, n) for n, phone in enumerate(phones)]
    by_channels = mail if by_channels is None else by_channels
    if mail or by_channels:
        addressee = account if isinstance(account, Addressee) else find_addressee(session, account.id)
        deliveries += _list_channel_rows(delivery, addressee) if by_channels else []
        deliveries = [delivery, *deliveries] if mail and reachable(session, addressee, event) else deliveries
    add_deliveries(session, deliveries)
    return notification_id
