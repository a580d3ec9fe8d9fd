"""Message channels of an account: a code is sent to it and entered by its owner; only then is it used."""

import secrets
from collections.abc import Mapping, Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from auth_server.accounts import proof_codes
from auth_server.accounts.proof_codes import ProofRefused
from auth_server.accounts.security_events import record_event
from auth_server.web.unit_of_work import UnitOfWork
from shared.db.accounts import Account, lock
from shared.db.message_channels import MessageChannel, hash_address, list_channels, seal_address
from shared.db.messages import find_last_status
from shared.domain.message_channels import find_receiver, name_channel
from shared.domain.watch_kinds import WATCH_KINDS
from shared.outbox.channels import webhook
from shared.outbox.channels.receivers import check_receiver, is_ready
from shared.outbox.enqueue import write_to_channel
from shared.outbox.phone_codes import make_facts
from shared.outbox.wording.briefs import CODE_EVENT

MAX_CHANNELS = 5
PER_CHANNEL_AND_HOUR, PER_ACCOUNT_AND_DAY = 3, 20
HOUR_SECONDS, DAY_SECONDS = 3600, 24 * 3600
# The kinds a new channel gets: those mailed by default.
FIRST_KINDS = [*dict.fromkeys(kind.mails for kind in WATCH_KINDS), "deadlines"]


def explain_bar(account: Account) -> str | None:
    """Why no channel can be added to this account, if none can."""
    if not is_ready():
        return "This service sends no such messages: its data is invented, and its operator has not allowed it."
    if not account.email or account.email_confirmed_at is None:
        return "Please confirm your email address first. Then you can add a channel."
    return None


def add(uow: UnitOfWork, account: Account, kind: str, address: Mapping[str, str]) -> None:
    """Sends a code to a new channel, or another one to a channel that is not proved.

    Raises ProofRefused, and shared.http.Refused for a receiver that may not be sent to.
    """
    if (bar := explain_bar(account)) is not None:
        raise ProofRefused(bar)
    _count_code(account.id, hash_address(kind, address)[0])
    if (receiver := find_receiver(address)) is not None:
        check_receiver(receiver)
    lock(uow.db, account.id)
    same = (MessageChannel.account_id == account.id, MessageChannel.address_hash.in_(hash_address(kind, address)))
    channel = uow.db.scalar(select(MessageChannel).where(*same).with_for_update())
    if channel is not None and channel.proved_at is not None:
        raise ProofRefused("This channel is proved already.")
    if channel is None:
        if len(list_channels(uow.db, account.id)) >= MAX_CHANNELS:
            raise ProofRefused(f"You have {MAX_CHANNELS} channels. Remove one first.")
        channel = _add_row(uow.db, account.id, kind, address)
    _write_code(uow, account, channel)


def send_another_code(uow: UnitOfWork, account: Account, channel: MessageChannel) -> None:
    """Raises ProofRefused."""
    if (bar := explain_bar(account)) is not None:
        raise ProofRefused(bar)
    if channel.proved_at is not None:
        raise ProofRefused("This channel is proved already.")
    _count_code(account.id, channel.address_hash)
    _write_code(uow, account, channel)


def _add_row(db: Session, account_id: int, kind: str, address: Mapping[str, str]) -> MessageChannel:
    key = {"secret": webhook.make_secret()} if kind == "webhook" else {}
    channel = MessageChannel(
        account_id=account_id,
        kind=kind,
        address_sealed=seal_address({**address, **key}),
        address_hash=hash_address(kind, address)[0],
        name=name_channel(kind, address),
        wanted_kinds=FIRST_KINDS,
    )
    db.add(channel)
    db.flush()
    return channel


def _count_code(account_id: int, address_hash: str) -> None:
    """Raises ProofRefused beyond a limit."""
    proof_codes.count_code(
        [
            (f"channel:to:{address_hash}", PER_CHANNEL_AND_HOUR, HOUR_SECONDS, "A channel gets {} codes an hour."),
            (f"channel:of:{account_id}", PER_ACCOUNT_AND_DAY, DAY_SECONDS, "An account gets at most {} codes a day."),
        ]
    )


def _write_code(uow: UnitOfWork, account: Account, channel: MessageChannel) -> None:
    facts = make_facts(account.public_id)
    proof_codes.note_code(channel, channel.address_hash, facts)
    key = f"{CODE_EVENT}:{channel.id}:{secrets.token_hex(8)}"
    write_to_channel(uow.db, account, channel, CODE_EVENT, facts, dedupe_key=key)


def is_undelivered(db: Session, channel: MessageChannel) -> bool:
    """Whether the last code definitely did not arrive."""
    return find_last_status(db, channel.account_id, f"{CODE_EVENT}:{channel.id}:") == "failed"


def prove(uow: UnitOfWork, account: Account, channel: MessageChannel, code: str, user_agent: str) -> None:
    """Makes a channel one that messages are sent to. Raises ProofRefused; a wrong code counts."""
    if proof_codes.check_code(channel, channel.address_hash, code):
        record_event(uow, account, "channel_added", subject=channel.name, user_agent=user_agent)


def choose(
    channel: MessageChannel, wanted_kinds: Sequence[str], quiet_from: int | None, quiet_until: int | None
) -> None:
    channel.wanted_kinds = list(wanted_kinds)
    channel.quiet_from, channel.quiet_until = quiet_from, quiet_until


def remove(uow: UnitOfWork, account: Account, channel: MessageChannel, user_agent: str) -> None:
    """Removes a channel; messages on their way to it are dropped."""
    if channel.proved_at is not None:
        record_event(uow, account, "channel_removed", subject=channel.name, user_agent=user_agent)
    uow.db.execute(delete(MessageChannel).where(MessageChannel.id == channel.id))
