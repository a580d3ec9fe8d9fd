"""Housekeeping: what has expired leaves the token vault, signing keys take turns; one sweeper at a time, by a lock."""

import logging
from datetime import datetime, timedelta

import anyio
import anyio.to_thread
from sqlalchemy import ColumnElement, and_, case, delete, exists, func, or_, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from auth_server.oauth import signing_keys, tokens
from auth_server.web.flows import limiter
from auth_server.web.sessions import IDLE
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
FIRST_AFTER, EVERY = 60, 3600
ACCESS_KEPT = timedelta(days=1)
CODES_KEPT = timedelta(days=7)
ROTATED_KEPT = timedelta(days=90)  # older ones then fail without killing their family
UNUSED_CLIENTS_KEPT = timedelta(days=30)
UNUSED_AGENTS_KEPT = timedelta(days=30)  # accounts agents made and never used, which nobody has claimed
ENDED_LINKS_KEPT = timedelta(days=30)  # addresses of feeds and mailboxes that were replaced
UNCONFIRMED_KEPT = timedelta(days=7)  # sign-ups nobody confirmed


def _of_family(model: type[Base]) -> ColumnElement[bool]:
    return exists().where(model.__table__.c.family_id == Family.id)


def _expired(now: datetime) -> list[tuple[type[Base], ColumnElement[bool]]]:
    """In this order: rows first, then the families and clients nothing belongs to any more."""
    empty = ~or_(_of_family(AccessToken), _of_family(RefreshToken), _of_family(AuthorizationCode))
    alone = ~or_(
        exists().where(Consent.client_id == Client.client_id), exists().where(Family.client_id == Client.client_id)
    )
    unclaimed = exists().where(ApiKey.account_id == Account.id, ApiKey.claim_hash.is_not(None))
    never_used = and_(Account.last_seen_at.is_(None), Account.created_at < now - UNUSED_AGENTS_KEPT)
    linkless = and_(Account.email.is_not(None), ~exists().where(OneTimeLink.account_id == Account.id))
    return [
        (WebSession, or_(WebSession.expires_at < now, WebSession.last_used_at < now - IDLE)),
        (AccessToken, AccessToken.expires_at < now - ACCESS_KEPT),
        (AuthorizationCode, AuthorizationCode.expires_at < now - CODES_KEPT),
        (RefreshToken, RefreshToken.rotated_at < now - ROTATED_KEPT),
        (Family, or_(Family.revoked_at < now - ROTATED_KEPT, and_(empty, Family.created_at < now - CODES_KEPT))),
        (Client, and_(Client.kind.in_(("dcr", "cimd")), Client.created_at < now - UNUSED_CLIENTS_KEPT, alone)),
        (Account, and_(Account.email.is_(None), never_used, unclaimed)),
        (OneTimeLink, OneTimeLink.expires_at < now),
        (SecretLink, SecretLink.ended_at < now - ENDED_LINKS_KEPT),
        (InboundMail, InboundMail.keep_until < now),  # mail nobody could make anything of, or wanted
        (Account, and_(Account.email_confirmed_at.is_(None), Account.created_at < now - UNCONFIRMED_KEPT, linkless)),
    ]


def _sweep(session: Session) -> dict[str, int]:
    if not session.scalar(select(func.pg_try_advisory_xact_lock(LOCK))):
        return {}
    now = clock.now()
    swept: dict[str, int] = {}
    for model, gone in _expired(now):
        count = session.execute(delete(model).where(gone)).rowcount  # type: ignore[attr-defined]
        swept[model.__tablename__] = swept.get(model.__tablename__, 0) + count
    stale = (RefreshToken.rotated_at < now - tokens.RETRY_WINDOW, RefreshToken.successor_sealed.is_not(None))
    session.execute(update(RefreshToken).where(*stale).values(successor_sealed=None))
    _close_unfinished(session, now)
    signing_keys.renew(session)
    return swept


def _close_unfinished(session: Session, now: datetime) -> None:
    """Links to connect an account elsewhere that nobody came back from; one that was connected stays so."""
    state = case((Connection.state == "pending", "disconnected"), else_=Connection.state)
    nothing = {"state_hash": None, "pending_sealed": None, "pending_until": None}
    session.execute(update(Connection).where(Connection.pending_until < now).values(state=state, **nothing))


def sweep() -> dict[str, int]:
    """Rows removed by table; empty when another program is sweeping."""
    with transaction() as session:
        return _sweep(session)


async def keep_sweeping() -> None:
    await anyio.sleep(FIRST_AFTER)
    while True:
        try:
            await anyio.to_thread.run_sync(sweep, limiter=limiter())
        except SQLAlchemyError as error:
            log.warning("sweep: %s, again in an hour", type(error).__name__)
        await anyio.sleep(EVERY)
