"""Connecting an account elsewhere: a one-time link opens the way, a one-time state closes it; sealed tokens are stored.

Only hashes of the two are kept. Each is bound to one account, one provider and, the state, to one signed-in browser.
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
from shared.providers.connectors import NAMES, Connector, Declined, Grant, Start, connector
from shared.providers.contract import Unanswered
from shared.secrets import digest, is_same_secret, mint
from shared.services.connections.credentials import fill, in_thread, opened, reason_of, row_of, sealed
from shared.settings import settings

LINK, STATE = "awt_il_", "awt_is_"


class Why(Enum):
    """Why it does not go on."""

    USED = "used"  # unknown, expired, or used before
    STRANGER = "stranger"  # somebody else is signed in here
    DECLINED = "declined"
    NOT_CONFIGURED = "not_configured"
    PASTED = "pasted"  # what was pasted is not what it should be
    AWAY = "away"


class Stopped(Exception):
    def __init__(self, why: Why) -> None:
        super().__init__(why.value)
        self.why = why


@dataclass(frozen=True)
class Link:
    url: str
    expires_at: datetime
    already_connected: bool


@dataclass(frozen=True)
class Traveller:
    """Who is signed in with this browser, and by which session; the latter as a digest."""

    public_id: str
    session: str


@dataclass(frozen=True)
class Pending:
    """What was remembered when the person left for the provider."""

    account_id: int
    kept: Mapping[str, str] = field(repr=False)
    consents: Sequence[str] = ()


def page(provider: str) -> str:
    return f"{settings().web_url}/integrations/{provider}/connect"


def callback(provider: str) -> str:
    return f"{settings().web_url}/integrations/{provider}/callback"


def open_link(session: Session, account_id: int, provider: str) -> Link:
    """A link for the session's account. An earlier one dies unless used; a connection there is stays until then."""
    lock(session, account_id)
    row = row_of(session, account_id, provider, lock=True)
    if row is None:
        row = Connection(account_id=account_id, provider=provider, state="pending", details={})
        session.add(row)
    if row.state == "disconnected":
        row.state = "pending"
    secret = mint(LINK)
    row.state_hash, row.pending_sealed = digest(secret), None
    row.pending_until = clock.now() + connector(provider).life
    session.flush()
    url = f"{page(provider)}?{urlencode({'link': secret})}"
    return Link(url, row.pending_until, row.state == "connected")


async def arrive(provider: str, link: str, who: Traveller) -> Connector:
    """Whether this person may go on from this link; it is not used up yet. Raises Stopped."""
    card = _card(provider)
    await in_thread(_check, provider, link, who)
    return card


async def set_out(provider: str, link: str, who: Traveller, consents: Sequence[str]) -> str:
    """Uses the link up. The address of the provider's page, where the browser goes next. Raises Stopped."""
    card = _card(provider)
    if card.start is None or not card.by_page():
        raise Stopped(Why.NOT_CONFIGURED)
    account_id = await in_thread(_use_link, provider, link, who)
    state = mint(STATE)
    try:
        start = await card.start(callback(provider), state)
    except Exception as error:  # the edge to other people's servers
        raise await _away(account_id, provider, error) from None
    given = [name for name in card.consents if name in consents]
    await in_thread(_remember, account_id, provider, state, start, who, given)
    return start.url


async def come_back(provider: str, query: Mapping[str, str], who: Traveller) -> Connector:
    """Uses the state up, whatever comes of it, and stores what the provider gives. Raises Stopped."""
    card = _card(provider)
    if card.finish is None:
        raise Stopped(Why.NOT_CONFIGURED)
    pending = await in_thread(_use_state, provider, query.get("state", ""), who)
    try:
        grant = await card.finish(query, pending.kept, callback(provider))
    except Declined:
        await in_thread(_failed, pending.account_id, provider, None)
        raise Stopped(Why.DECLINED) from None
    except Exception as error:  # the edge to other people's servers
        raise await _away(pending.account_id, provider, error) from None
    await in_thread(_store, pending.account_id, provider, grant, dict.fromkeys(pending.consents, True))
    return card


async def paste(provider: str, link: str, who: Traveller, text: str) -> Connector:
    """The person pastes an address or a text instead; the link stays good when it is refused. Raises Stopped."""
    card = _card(provider)
    if card.paste is None:
        raise Stopped(Why.NOT_CONFIGURED)
    account_id = await in_thread(_check, provider, link, who)
    try:
        grant = await card.paste(text)
    except Unanswered as no:
        raise Stopped(Why.PASTED if no.reason == "wrong_shape" else Why.AWAY) from None
    except Exception as error:  # the edge to other people's servers
        raise await _away(account_id, provider, error) from None
    await in_thread(_use_link, provider, link, who)
    await in_thread(_store, account_id, provider, grant, {})
    return card


def _card(provider: str) -> Connector:
    if provider not in NAMES:
        raise Stopped(Why.USED)
    card = connector(provider)
    if not card.configured():
        raise Stopped(Why.NOT_CONFIGURED)
    return card


async def _away(account_id: int, provider: str, error: Exception) -> Stopped:
    await in_thread(_failed, account_id, provider, reason_of(error).reason)
    return Stopped(Why.AWAY)


def _found(session: Session, provider: str, secret: str, who: Traveller) -> Connection:
    """The row a secret belongs to, locked. Raises Stopped."""
    found = select(Connection).where(Connection.state_hash == digest(secret), Connection.provider == provider)
    row = session.scalars(found.with_for_update()).one_or_none()
    if row is None or row.pending_until is None or row.pending_until <= clock.now():
        raise Stopped(Why.USED)
    if session.get_one(Account, row.account_id).public_id != who.public_id:
        raise Stopped(Why.STRANGER)
    return row


def _check(provider: str, link: str, who: Traveller) -> int:
    if not link.startswith(LINK):
        raise Stopped(Why.USED)
    with transaction() as session:
        return _found(session, provider, link, who).account_id


def _use_link(provider: str, link: str, who: Traveller) -> int:
    if not link.startswith(LINK):
        raise Stopped(Why.USED)
    with transaction() as session:
        row = _found(session, provider, link, who)
        row.state_hash = None
        return row.account_id


def _remember(account_id: int, provider: str, state: str, start: Start, who: Traveller, consents: list[str]) -> None:
    kept = {"kept": dict(start.kept), "session": who.session, "consents": consents}
    with transaction(account_id) as session:
        row = row_of(session, account_id, provider, lock=True)
        if row is None:
            raise Stopped(Why.USED)
        row.state_hash, row.pending_sealed = digest(state), sealed(json.dumps(kept))
        row.pending_until = clock.now() + connector(provider).life


def _use_state(provider: str, state: str, who: Traveller) -> Pending:
    if not state.startswith(STATE):
        raise Stopped(Why.USED)
    with transaction() as session:
        row = _found(session, provider, state, who)
        told = opened(row.pending_sealed)
        row.state_hash, row.pending_sealed = None, None
        account_id = row.account_id
    kept = json.loads(told) if told else {}
    if not is_same_secret(str(kept.get("session", "")), who.session):
        raise Stopped(Why.STRANGER)
    return Pending(account_id, kept["kept"], kept["consents"])


def _failed(account_id: int, provider: str, reason: str | None) -> None:
    """What was connected before stays connected."""
    with transaction(account_id) as session:
        row = row_of(session, account_id, provider, lock=True)
        if row is not None:
            row.state_hash, row.pending_sealed, row.pending_until = None, None, None
            row.last_error = reason
            if row.state == "pending":
                row.state = "disconnected"


def _store(account_id: int, provider: str, grant: Grant, consents: Mapping[str, bool]) -> None:
    with transaction(account_id) as session:
        row = row_of(session, account_id, provider, lock=True)
        if row is None:
            return
        fill(row, grant, refresh=grant.refresh)
        row.details = {**row.details, **dict.fromkeys(connector(provider).consents, False), **grant.details, **consents}
        row.state, row.connected_at = "connected", clock.now()
        row.state_hash, row.pending_sealed, row.pending_until, row.syncing_until = None, None, None, None
