"""Housekeeping: deletes what has expired and renews signing keys; one process at a time, by an advisory lock."""

import logging
from datetime import datetime, timedelta

import anyio
import anyio.to_thread
from sqlalchemy import ColumnElement, and_, case, delete, exists, func, or_, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from auth_server.oauth import signing_keys, tokens
from auth_server.web.flows import limiter
from auth_server.web.sessions import MAX_IDLE
from shared import clock
from shared.db.accounts import Account
from shared.db.base import Base, transaction
from shared.db.connections import Connection
from shared.db.inbound_mail import InboundMail
from shared.db.oauth import AccessToken, ApiKey, AuthorizationCode, Client, Consent, Family, RefreshToken, WebSession
from shared.db.one_time_links import OneTimeLink
from shared.db.secret_links import SecretLink

log = logging.getLogger(__name__)
LOCK = 7_203_115
FIRST_DELAY_SECONDS, INTERVAL_SECONDS = 60, 3600
KEEP_ACCESS = timedelta(days=1)
KEEP_CODES = timedelta(days=7)
KEEP_ROTATED = timedelta(days=90)  # a replay of an older one fails without revoking its family
KEEP_UNUSED_CLIENTS = timedelta(days=30)
KEEP_UNUSED_AGENTS = timedelta(days=30)  # accounts agents made and never used, which nobody has claimed
KEEP_ENDED_LINKS = timedelta(days=30)  # addresses of feeds and mailboxes that were replaced
KEEP_UNCONFIRMED = timedelta(days=7)  # sign-ups nobody confirmed


def _belongs_to_family(model: type[Base]) -> ColumnElement[bool]:
    return exists().where(model.__table__.c.family_id == Family.id)


def _list_expired(now: datetime) -> list[tuple[type[Base], ColumnElement[bool]]]:
    """In this order: rows first, then the families and clients nothing belongs to any more."""
    without_tokens = ~or_(
        _belongs_to_family(AccessToken), _belongs_to_family(RefreshToken), _belongs_to_family(AuthorizationCode)
    )
    unused = ~or_(
        exists().where(Consent.client_id == Client.client_id), exists().where(Family.client_id == Client.client_id)
    )
    unclaimed = exists().where(ApiKey.account_id == Account.id, ApiKey.claim_hash.is_not(None))
    never_used = and_(Account.last_seen_at.is_(None), Account.created_at < now - KEEP_UNUSED_AGENTS)
    without_link = and_(Account.email.is_not(None), ~exists().where(OneTimeLink.account_id == Account.id))
    return [
        (WebSession, or_(WebSession.expires_at < now, WebSession.last_used_at < now - MAX_IDLE)),
        (AccessToken, AccessToken.expires_at < now - KEEP_ACCESS),
        (AuthorizationCode, AuthorizationCode.expires_at < now - KEEP_CODES),
        (RefreshToken, RefreshToken.rotated_at < now - KEEP_ROTATED),
        (
            Family,
            or_(Family.revoked_at < now - KEEP_ROTATED, and_(without_tokens, Family.created_at < now - KEEP_CODES)),
        ),
        (Client, and_(Client.kind.in_(("dcr", "cimd")), Client.created_at < now - KEEP_UNUSED_CLIENTS, unused)),
        (Account, and_(Account.email.is_(None), never_used, unclaimed)),
        (OneTimeLink, OneTimeLink.expires_at < now),
        (SecretLink, SecretLink.ended_at < now - KEEP_ENDED_LINKS),
        (InboundMail, InboundMail.keep_until < now),  # mail that could not be parsed or was not needed
        (
            Account,
            and_(Account.email_confirmed_at.is_(None), Account.created_at < now - KEEP_UNCONFIRMED, without_link),
        ),
    ]


def _sweep(session: Session) -> dict[str, int]:
    if not session.scalar(select(func.pg_try_advisory_xact_lock(LOCK))):
        return {}
    now = clock.now()
    counts: dict[str, int] = {}
    for model, condition in _list_expired(now):
        count = session.execute(delete(model).where(condition)).rowcount  # type: ignore[attr-defined]
        counts[model.__tablename__] = counts.get(model.__tablename__, 0) + count
    stale = (RefreshToken.rotated_at < now - tokens.RETRY_WINDOW, RefreshToken.successor_sealed.is_not(None))
    session.execute(update(RefreshToken).where(*stale).values(successor_sealed=None))
    _close_unfinished(session, now)
    signing_keys.renew(session)
    return counts


def _close_unfinished(session: Session, now: datetime) -> None:
    """Ends attempts to connect a provider account that nobody finished; one that was connected before stays so."""
    state = case((Connection.state == "pending", "disconnected"), else_=Connection.state)
    cleared = {"state_hash": None, "pending_sealed": None, "pending_until": None}
    session.execute(update(Connection).where(Connection.pending_until < now).values(state=state, **cleared))


def sweep() -> dict[str, int]:
    """Rows removed by table; empty when another program is sweeping."""
    with transaction() as session:
        return _sweep(session)


async def keep_sweeping() -> None:
    await anyio.sleep(FIRST_DELAY_SECONDS)
    while True:
        try:
            await anyio.to_thread.run_sync(sweep, limiter=limiter())
        except SQLAlchemyError as error:
            log.warning("sweep: %s, again in an hour", type(error).__name__)
        await anyio.sleep(INTERVAL_SECONDS)
