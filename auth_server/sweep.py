"""Housekeeping: deletes what has expired and renews signing keys; one process at a time, by an advisory lock."""

import logging
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import anyio
import anyio.to_thread
from sqlalchemy import ColumnElement, and_, case, exists, func, or_, select, update
from sqlalchemy.exc import SQLAlchemyError

from auth_server.oauth import signing_keys, tokens
from auth_server.web.flows import limiter
from auth_server.web.sessions import BROWSER_COOKIE_SECONDS, MAX_IDLE
from shared import clock
from shared.db import sweeping
from shared.db.accounts import Account
from shared.db.address_changes import AddressChange
from shared.db.base import Base, transaction
from shared.db.connections import Connection
from shared.db.forwarding_addresses import ForwardingAddress
from shared.db.inbound_mail import InboundMail
from shared.db.known_browsers import KnownBrowser
from shared.db.linked_identities import UsedAssertion
from shared.db.message_channels import MessageChannel
from shared.db.oauth import (
    ENDED_BY_PERSON,
    AccessToken,
    ApiKey,
    AuthorizationCode,
    Client,
    Consent,
    Family,
    RefreshToken,
    WebSession,
)
from shared.db.one_time_links import OneTimeLink
from shared.db.password_guesses import PasswordGuesses
from shared.db.phones import PhoneNumber
from shared.db.secret_links import SecretLink
from shared.db.sweeping import Portions, remove_along_keys, remove_first, take_turns
from shared.telemetry.metrics import SWEPT_ROWS, count

log = logging.getLogger(__name__)
LOCK = 7_203_115
FIRST_DELAY_SECONDS, INTERVAL_SECONDS = 60, 3600
ACCOUNTS = 250  # of one batch: 5,000 take 5 seconds, because of the rows that go with each
MAX_SECONDS = 120.0  # for one sweep of a server; the rest is for the next
KEEP_ACCESS = timedelta(days=1)
KEEP_CODES = timedelta(days=7)
KEEP_ROTATED = timedelta(days=90)  # a replay of an older one fails without revoking its family
KEEP_UNUSED_CLIENTS = timedelta(days=30)
KEEP_IDLE_AGENTS = timedelta(days=30)  # accounts of agents that no one has claimed, since they were last used
KEEP_ENDED_LINKS = timedelta(days=30)  # addresses of feeds and mailboxes that were replaced
KEEP_GUESSES = timedelta(days=1)  # at addresses without an account
KEEP_UNPROVED = timedelta(days=1)  # phone numbers whose code no one entered
KEEP_UNCONFIRMED = timedelta(days=7)  # sign-ups no one confirmed


def _belongs_to_family(model: type[Base]) -> ColumnElement[bool]:
    return exists().where(model.__table__.c.family_id == Family.id)


@dataclass(frozen=True)
class Expired:
    """Rows of one table to delete. `order` is a column whose index finds them; without it all rows are scanned."""

    model: type[Base]
    condition: ColumnElement[bool]
    order: Any = None
    portion: int | None = None  # fewer where many other rows go with each

    def begin(self) -> Portions:
        if self.order is not None:
            return remove_first(self.model, self.condition, self.order, lock=LOCK)
        return remove_along_keys(self.model, self.condition, size=self.portion, lock=LOCK)


def _list_expired(now: datetime) -> list[Expired]:
    """Lists what to delete; families and clients only once empty, which after many tokens is the next sweep."""
    without_tokens = and_(*(~_belongs_to_family(model) for model in (AccessToken, RefreshToken, AuthorizationCode)))
    # An enterprise's application that a person disconnected stays so until they allow it again.
    may_go = or_(Family.issuer.is_(None), Family.reason.is_(None), Family.reason.not_in(ENDED_BY_PERSON))
    unused = and_(
        ~exists().where(Consent.client_id == Client.client_id), ~exists().where(Family.client_id == Client.client_id)
    )
    registered = and_(Client.kind.in_(("dcr", "cimd")), Client.created_at < now - KEEP_UNUSED_CLIENTS)
    unproved = now - KEEP_UNPROVED
    unclaimed = exists().where(ApiKey.account_id == Account.id, ApiKey.claim_hash.is_not(None))
    idle = func.coalesce(Account.last_seen_at, Account.created_at) < now - KEEP_IDLE_AGENTS
    unconfirmed = and_(Account.email_confirmed_at.is_(None), Account.created_at < now - KEEP_UNCONFIRMED)
    without_link = ~exists().where(OneTimeLink.account_id == Account.id)
    return [
        Expired(WebSession, or_(WebSession.expires_at < now, WebSession.last_used_at < now - MAX_IDLE)),
        Expired(AccessToken, AccessToken.expires_at < now - KEEP_ACCESS, AccessToken.expires_at),
        Expired(AuthorizationCode, AuthorizationCode.expires_at < now - KEEP_CODES, AuthorizationCode.expires_at),
        Expired(RefreshToken, RefreshToken.rotated_at < now - KEEP_ROTATED, RefreshToken.rotated_at),
        Expired(Family, and_(Family.revoked_at < now - KEEP_ROTATED, may_go)),
        Expired(Family, and_(Family.created_at < now - KEEP_CODES, without_tokens, may_go)),
        Expired(Client, and_(registered, unused)),
        Expired(OneTimeLink, OneTimeLink.expires_at < now, OneTimeLink.expires_at),
        Expired(AddressChange, AddressChange.expires_at < now),
        Expired(
            ForwardingAddress,
            and_(ForwardingAddress.confirmed_at.is_(None), ForwardingAddress.created_at < now - KEEP_UNCONFIRMED),
        ),
        Expired(KnownBrowser, KnownBrowser.last_used_at < now - timedelta(seconds=BROWSER_COOKIE_SECONDS)),
        Expired(
            PasswordGuesses, and_(PasswordGuesses.owner_id.is_(None), PasswordGuesses.last_at < now - KEEP_GUESSES)
        ),
        Expired(PhoneNumber, and_(PhoneNumber.proved_at.is_(None), PhoneNumber.code_sent_at < unproved)),
        Expired(MessageChannel, and_(MessageChannel.proved_at.is_(None), MessageChannel.code_sent_at < unproved)),
        Expired(UsedAssertion, UsedAssertion.expires_at < now),
        Expired(SecretLink, SecretLink.ended_at < now - KEEP_ENDED_LINKS),
        # Mail that could not be parsed or was not needed.
        Expired(InboundMail, InboundMail.keep_until < now, InboundMail.keep_until),
        # Of agents: unclaimed and long unused. Of people: with an address that was never confirmed.
        Expired(Account, and_(Account.email.is_(None), idle, unclaimed), portion=ACCOUNTS),
        Expired(Account, and_(Account.email.is_not(None), unconfirmed, without_link), portion=ACCOUNTS),
    ]


def _forget_successors(now: datetime) -> Portions:
    """Clears sealed successors no longer compared with late tokens, the newest first: older ones are
    cleared already.
    """
    before, looks_in_vain = now - tokens.LATE_WINDOW, 0
    rotated_at = RefreshToken.rotated_at
    while looks_in_vain < sweeping.LOOKS_IN_VAIN:
        with sweeping.transact_alone(LOCK) as session:
            portion = select(rotated_at).where(rotated_at < before).order_by(rotated_at.desc())
            first = session.scalar(portion.offset(sweeping.PORTION - 1).limit(1))
            span = [rotated_at < before, *([] if first is None else [rotated_at >= first])]
            sealed = update(RefreshToken).where(*span, RefreshToken.successor_sealed.is_not(None))
            number = session.execute(sealed.values(successor_sealed=None)).rowcount  # type: ignore[attr-defined]
        yield number
        if first is None:
            return
        before, looks_in_vain = first, 0 if number else looks_in_vain + 1


def sweep(max_seconds: float = math.inf) -> dict[str, int]:
    """Deletes in batches, table by table in turn; returns rows by table, empty if another program is sweeping."""
    now = clock.now()
    sweeps = [(expired.model.__tablename__, expired.begin()) for expired in _list_expired(now)]
    removed = take_turns([*sweeps, ("sealed successors", _forget_successors(now))], monotonic() + max_seconds)
    removed.pop("sealed successors", None)
    if not removed:
        return {}
    with transaction() as session:
        if session.scalar(select(func.pg_try_advisory_xact_lock(LOCK))):
            # Ends unfinished attempts to connect a provider account; one that was connected before stays connected.
            state = case((Connection.state == "pending", "disconnected"), else_=Connection.state)
            cleared = {"state_hash": None, "pending_sealed": None, "pending_until": None}
            session.execute(update(Connection).where(Connection.pending_until < now).values(state=state, **cleared))
            signing_keys.renew(session)
        sweeping.note_sweep(session, "credentials")
    for table, number in removed.items():
        count(SWEPT_ROWS, table, amount=number)
    return removed


async def keep_sweeping() -> None:
    await anyio.sleep(FIRST_DELAY_SECONDS)
    while True:
        try:
            await anyio.to_thread.run_sync(sweep, MAX_SECONDS, limiter=limiter())
        except SQLAlchemyError as error:
            log.warning("sweep: %s, again in an hour", type(error).__name__)
        await anyio.sleep(INTERVAL_SECONDS)
