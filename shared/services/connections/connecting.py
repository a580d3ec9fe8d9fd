"""Connecting an account at a provider: a one-time link starts the consent, a one-time state ends it.

Only hashes of both are stored. Each is bound to one account, one provider and, the state, to one signed-in browser.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from urllib.parse import urlencode

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account, lock
from shared.db.base import transaction
from shared.db.connections import Connection
from shared.errors import Busy
from shared.providers.connectors import NAMES, Connector, Declined, Grant, Start, connector
from shared.providers.contract import Unanswered
from shared.secrets import digest, is_same_secret, mint
from shared.services.connections.credentials import (
    classify_error,
    find_connection,
    run_in_thread,
    seal_token,
    store_grant,
    unseal_token,
)
from shared.settings import settings

LINK_PREFIX, STATE_PREFIX = "awt_il_", "awt_is_"


class StopReason(Enum):
    """Why connecting stops."""

    USED = "used"  # unknown, expired, or used before
    STRANGER = "stranger"  # someone else is signed in here
    DECLINED = "declined"
    NOT_CONFIGURED = "not_configured"
    PASTED = "pasted"  # the pasted text is invalid
    AWAY = "away"


class ConnectStopped(Exception):
    def __init__(self, why: StopReason) -> None:
        super().__init__(why.value)
        self.why = why


@dataclass(frozen=True)
class ConsentLink:
    url: str
    expires_at: datetime
    already_connected: bool


@dataclass(frozen=True)
class SignedInBrowser:
    """The account signed in with this browser, and a digest of its session."""

    public_id: str
    session: str


@dataclass(frozen=True)
class Pending:
    """The state saved when the person left for the provider."""

    account_id: int
    saved: Mapping[str, str] = field(repr=False)
    consents: Sequence[str] = ()


def connect_url(provider: str) -> str:
    return f"{settings().web_url}/integrations/{provider}/connect"


def callback_url(provider: str) -> str:
    return f"{settings().web_url}/integrations/{provider}/callback"


def open_link(session: Session, account_id: int, provider: str) -> ConsentLink:
    """A link for the session's account. An unused earlier one ends; a connection stays until a new one is made."""
    lock(session, account_id)
    row = find_connection(session, account_id, provider, lock=True)
    if row is None:
        row = Connection(account_id=account_id, provider=provider, state="pending", details={})
        session.add(row)
    if row.state == "disconnected":
        row.state = "pending"
    secret = mint(LINK_PREFIX)
    row.state_hash, row.pending_sealed = digest(secret), None
    row.pending_until = clock.now() + connector(provider).life
    session.flush()
    url = f"{connect_url(provider)}?{urlencode({'link': secret})}"
    return ConsentLink(url, row.pending_until, row.state == "connected")


async def check_arrival(provider: str, link: str, who: SignedInBrowser) -> Connector:
    """Checks that this person may continue from this link, without using it up. Raises ConnectStopped."""
    card = _get_connector(provider)
    await run_in_thread(_check_link, provider, link, who)
    return card


async def start_consent(provider: str, link: str, who: SignedInBrowser, consents: Sequence[str]) -> str:
    """Uses the link up; returns the address of the provider's page. Raises ConnectStopped."""
    card = _get_connector(provider)
    if card.start is None or not card.by_page():
        raise ConnectStopped(StopReason.NOT_CONFIGURED)
    account_id = await run_in_thread(_use_link, provider, link, who)
    state = mint(STATE_PREFIX)
    try:
        start = await card.start(callback_url(provider), state)
    except Exception as error:  # the edge to other people's servers
        raise await _record_outage(account_id, provider, error) from None
    ticked = [name for name in card.consents if name in consents]
    await run_in_thread(_store_state, account_id, provider, state, start, who, ticked)
    return start.url


async def finish_consent(provider: str, query: Mapping[str, str], who: SignedInBrowser) -> Connector:
    """Uses the state up, whatever the result, and stores the provider's grant. Raises ConnectStopped."""
    card = _get_connector(provider)
    if card.finish is None:
        raise ConnectStopped(StopReason.NOT_CONFIGURED)
    pending = await run_in_thread(_use_state, provider, query.get("state", ""), who)
    try:
        grant = await card.finish(query, pending.saved, callback_url(provider))
    except Declined:
        await run_in_thread(_reset_pending, pending.account_id, provider, None)
        raise ConnectStopped(StopReason.DECLINED) from None
    except Exception as error:  # the edge to other people's servers
        raise await _record_outage(pending.account_id, provider, error) from None
    await run_in_thread(_store_connection, pending.account_id, provider, grant, dict.fromkeys(pending.consents, True))
    return card


async def connect_by_paste(provider: str, link: str, who: SignedInBrowser, text: str) -> Connector:
    """The person pastes an address or a text instead; the link stays valid if it is refused. Raises ConnectStopped."""
    card = _get_connector(provider)
    if card.paste is None:
        raise ConnectStopped(StopReason.NOT_CONFIGURED)
    account_id = await run_in_thread(_check_link, provider, link, who)
    try:
        grant = await card.paste(text)
    except Busy:
        raise
    except Unanswered as no:
        raise ConnectStopped(StopReason.PASTED if no.reason == "wrong_shape" else StopReason.AWAY) from None
    except Exception as error:  # the edge to other people's servers
        raise await _record_outage(account_id, provider, error) from None
    await run_in_thread(_use_link, provider, link, who)
    await run_in_thread(_store_connection, account_id, provider, grant, {})
    return card


def _get_connector(provider: str) -> Connector:
    if provider not in NAMES:
        raise ConnectStopped(StopReason.USED)
    card = connector(provider)
    if not card.configured():
        raise ConnectStopped(StopReason.NOT_CONFIGURED)
    return card


async def _record_outage(account_id: int, provider: str, error: Exception) -> ConnectStopped:
    await run_in_thread(_reset_pending, account_id, provider, classify_error(error).reason)
    return ConnectStopped(StopReason.AWAY)


def _find_pending(session: Session, provider: str, secret: str, who: SignedInBrowser) -> Connection:
    """The row a secret belongs to, locked. Raises ConnectStopped."""
    query = select(Connection).where(Connection.state_hash == digest(secret), Connection.provider == provider)
    row = session.scalars(query.with_for_update()).one_or_none()
    if row is None or row.pending_until is None or row.pending_until <= clock.now():
        raise ConnectStopped(StopReason.USED)
    if session.get_one(Account, row.account_id).public_id != who.public_id:
        raise ConnectStopped(StopReason.STRANGER)
    return row


def _check_link(provider: str, link: str, who: SignedInBrowser) -> int:
    if not link.startswith(LINK_PREFIX):
        raise ConnectStopped(StopReason.USED)
    with transaction() as session:
        return _find_pending(session, provider, link, who).account_id


def _use_link(provider: str, link: str, who: SignedInBrowser) -> int:
    if not link.startswith(LINK_PREFIX):
        raise ConnectStopped(StopReason.USED)
    with transaction() as session:
        row = _find_pending(session, provider, link, who)
        row.state_hash = None
        return row.account_id


def _store_state(
    account_id: int, provider: str, state: str, start: Start, who: SignedInBrowser, consents: list[str]
) -> None:
    pending = {"kept": dict(start.saved), "session": who.session, "consents": consents}
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider, lock=True)
        if row is None:
            raise ConnectStopped(StopReason.USED)
        row.state_hash, row.pending_sealed = digest(state), seal_token(json.dumps(pending))
        row.pending_until = clock.now() + connector(provider).life


def _use_state(provider: str, state: str, who: SignedInBrowser) -> Pending:
    if not state.startswith(STATE_PREFIX):
        raise ConnectStopped(StopReason.USED)
    with transaction() as session:
        row = _find_pending(session, provider, state, who)
        text = unseal_token(row.pending_sealed)
        row.state_hash, row.pending_sealed = None, None
        account_id = row.account_id
    pending = json.loads(text) if text else {}
    if not is_same_secret(str(pending.get("session", "")), who.session):
        raise ConnectStopped(StopReason.STRANGER)
    return Pending(account_id, pending["kept"], pending["consents"])


def _reset_pending(account_id: int, provider: str, reason: str | None) -> None:
    """Clears the pending state; an existing connection stays."""
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider, lock=True)
        if row is not None:
            row.state_hash, row.pending_sealed, row.pending_until = None, None, None
            row.last_error = reason
            if row.state == "pending":
                row.state = "disconnected"


def _store_connection(account_id: int, provider: str, grant: Grant, consents: Mapping[str, bool]) -> None:
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider, lock=True)
        if row is None:
            return
        store_grant(row, grant, refresh=grant.refresh)
        row.details = {**row.details, **dict.fromkeys(connector(provider).consents, False), **grant.details, **consents}
        row.state, row.connected_at = "connected", clock.now()
        row.state_hash, row.pending_sealed, row.pending_until, row.syncing_until = None, None, None, None
