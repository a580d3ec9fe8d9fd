"""Channels besides mail for messages to a person, each proved by a code before anything else is sent to it."""

import json
from collections.abc import Mapping
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db.base import AccountOwned, Numbered, stamp
from shared.domain.message_channels import identify
from shared.secrets import seal, sign, unseal
from shared.settings import settings


class MessageChannel(AccountOwned, Numbered):
    """One receiver of one account; the hours are of the person's day, both None without quiet hours."""

    __tablename__ = "message_channels"
    __table_args__ = (sa.UniqueConstraint("account_id", "address_hash"),)

    kind: Mapped[str]
    address_sealed: Mapped[str]  # JSON of what the kind needs: addresses, tokens, the key that signs
    address_hash: Mapped[str]  # keyed, because topics can be guessed
    name: Mapped[str]  # to show: host and the end of a name, nothing that lets anyone write there
    wanted_kinds: Mapped[list[str]] = mapped_column(server_default=sa.text("'{}'"))  # of messages, as mails have them
    quiet_from: Mapped[int | None]
    quiet_until: Mapped[int | None]
    code_hash: Mapped[str | None]  # keyed, because all codes can be tried
    code_sent_at: Mapped[datetime | None]
    code_tries: Mapped[int] = mapped_column(server_default="0")  # wrong attempts since it was sent
    proved_at: Mapped[datetime | None]
    created_at: Mapped[stamp]


def hash_address(kind: str, address: Mapping[str, str]) -> list[str]:
    """The hashes of an address, under each key of the settings, the newest first."""
    return [sign(key, f"message channel\0{identify(kind, address)}") for key in settings().encryption_keys]


def seal_address(address: Mapping[str, str]) -> str:
    return seal(settings().encryption_keys[0], json.dumps(address))


def open_address(channel: MessageChannel) -> dict[str, str] | None:
    """Unseals it; None if its key is gone."""
    text = unseal(settings().encryption_keys, channel.address_sealed)
    return None if text is None else json.loads(text)


def find_channel(session: Session, account_id: int, channel_id: int, *, lock: bool = False) -> MessageChannel | None:
    """One of the account's channels. `lock` makes concurrent changes wait for each other."""
    own = (MessageChannel.account_id == account_id, MessageChannel.id == channel_id)
    query = sa.select(MessageChannel).where(*own)
    return session.scalar(query.with_for_update() if lock else query)


def list_channels(session: Session, account_id: int) -> list[MessageChannel]:
    own = MessageChannel.account_id == account_id
    return list(session.scalars(sa.select(MessageChannel).where(own).order_by(MessageChannel.id)))


def count_proved(session: Session, account_id: int) -> int:
    proved = (MessageChannel.account_id == account_id, MessageChannel.proved_at.is_not(None))
    return session.scalar(sa.select(sa.func.count()).select_from(MessageChannel).where(*proved)) or 0


def stop_channel(session: Session, account_id: int, channel_id: int) -> None:
    """Stops it until it is proved again."""
    own = (MessageChannel.account_id == account_id, MessageChannel.id == channel_id)
    unproved = {"proved_at": None, "code_hash": None, "code_sent_at": sa.func.now()}  # unproved ones go some days later
    session.execute(sa.update(MessageChannel).where(*own).values(**unproved))
