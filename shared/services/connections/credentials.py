"""Credentials of an account's own connections, renewed shortly before they expire.

One process at a time renews a token: it takes a short lease in the row, asks without holding a transaction, and writes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import httpx
from anyio.lowlevel import RunVar
from sqlalchemy import select
from sqlalchemy.orm import Session

from shared import clock, http
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.connections import Connection
from shared.outbox.enqueue import tell
from shared.providers.connectors import NAMES, Connector, Grant, connector
from shared.providers.contract import Unanswered
from shared.secrets import key_id, seal, unseal
from shared.settings import settings

T = TypeVar("T")
RENEW_BEFORE = timedelta(minutes=5)  # before its end, when a token is renewed
MIN_LIFETIME = timedelta(seconds=30)  # the least a token must last to be sent while someone else renews it
RENEWAL_SECONDS = 10.0
LEASE = timedelta(seconds=RENEWAL_SECONDS + 2)
WAIT_SECONDS = 8.0  # for another process that renews
REJECTION_WINDOW = timedelta(minutes=10)  # a token refused this soon after another would be refused for ever
RETRY_PAUSE = timedelta(seconds=30)  # after a provider did not answer, while the present token lasts
_threads: RunVar[anyio.CapacityLimiter] = RunVar("connection_threads")  # a limiter belongs to one event loop


@dataclass(frozen=True)
class TokenState:
    """The state of a row: a token, or the refresh token if this process has the lease."""

    token: str | None = None
    renew_with: str | None = None
    fallback: str | None = None  # the present token, while it lasts


class Credentials:
    """Credentials for one call: each connection is looked up once. None if the account has not connected it."""

    def __init__(self, account_id: int) -> None:
        self.account_id = account_id
        self._known: dict[str, str | Unanswered | None] = {}

    async def __call__(self, provider: str) -> str | None:
        if provider not in self._known:
            try:
                self._known[provider] = await get_credential(self.account_id, provider)
            except Unanswered as no:
                self._known[provider] = no
        credential = self._known[provider]
        if isinstance(credential, Unanswered):
            raise credential
        return credential

    async def report_rejection(self, provider: str, header: str) -> None:
        """Records that the provider refused it."""
        await run_in_thread(reject_token, self.account_id, provider, header.removeprefix("Bearer "))


async def get_credential(account_id: int, provider: str) -> str | None:
    """The credential of one connection. Raises Unanswered if it exists but cannot be used now."""
    if provider not in NAMES:
        return None
    card = connector(provider)
    if not card.configured():
        raise Unanswered("not_configured", "not_configured")
    with anyio.move_on_after(WAIT_SECONDS):
        while True:
            state = await run_in_thread(_read_token, account_id, provider)
            if state is None:
                return None
            if state.renew_with is not None:
                return _to_header(card, await _renew(account_id, provider, card, state))
            if state.token is not None:
                return _to_header(card, state.token)
            await anyio.sleep(0.1)
    raise Unanswered("down", "busy")


def _to_header(card: Connector, token: str) -> str:
    return f"Bearer {token}" if card.bearer else token


async def run_in_thread(work: Callable[..., T], *args: Any) -> T:
    limiter = _threads.get(None)
    if limiter is None:
        _threads.set(limiter := anyio.CapacityLimiter(4))
    return await anyio.to_thread.run_sync(work, *args, limiter=limiter)


def find_connection(session: Session, account_id: int, provider: str, *, lock: bool = False) -> Connection | None:
    """The account's row, connected or not. Also for sessions that see everyone, so it names the owner itself."""
    query = select(Connection).where(Connection.account_id == account_id, Connection.provider == provider)
    return session.scalars(query.with_for_update() if lock else query).one_or_none()


def unseal_token(sealed: str | None) -> str | None:
    return unseal(settings().encryption_keys, sealed) if sealed else None


def seal_token(value: str | None) -> str | None:
    return seal(settings().encryption_keys[0], value) if value is not None else None


def _has_old_key(value: str | None) -> bool:
    return value is not None and not value.startswith(key_id(settings().encryption_keys[0]) + ":")


def _read_token(account_id: int, provider: str) -> TokenState | None:
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider)
        if row is None or row.connected_at is None:
            return None
        if row.state == "broken":
            raise Unanswered("broken", "reconnect")
        fine = row.expires_at is None or row.refresh_sealed is None or row.expires_at > clock.now() + RENEW_BEFORE
        if fine and not (_has_old_key(row.access_sealed) or _has_old_key(row.refresh_sealed)):
            token = unseal_token(row.access_sealed)
            if token is not None:
                return TokenState(token)
    return _read_or_claim(account_id, provider)


def _read_or_claim(account_id: int, provider: str) -> TokenState | None:
    """The same under the row's lock: reseals what an earlier key sealed, and takes the lease if free."""
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider, lock=True)
        if row is None or row.connected_at is None:
            return None
        token, refresh = unseal_token(row.access_sealed), unseal_token(row.refresh_sealed)
        if token is None or (row.refresh_sealed and refresh is None):
            _mark_broken(session, row, "unreadable")
            unreadable = True
        else:
            unreadable = False
            if _has_old_key(row.access_sealed) or _has_old_key(row.refresh_sealed):
                row.access_sealed, row.refresh_sealed = seal_token(token), seal_token(refresh)
            state = _claim_renewal(row, token, refresh)
    if unreadable:
        raise Unanswered("broken", "reconnect")
    return state


def _claim_renewal(row: Connection, token: str, refresh: str | None) -> TokenState:
    now = clock.now()
    if row.expires_at is None or refresh is None or row.expires_at > now + RENEW_BEFORE:
        return TokenState(token)
    lasting = token if row.expires_at > now + MIN_LIFETIME else None
    if row.refreshing_until and row.refreshing_until > now:
        return TokenState(lasting)
    row.refreshing_until = now + LEASE
    return TokenState(renew_with=refresh, fallback=lasting)


async def _renew(account_id: int, provider: str, card: Connector, state: TokenState) -> str:
    assert state.renew_with is not None
    assert card.renew is not None
    with anyio.CancelScope(shield=True):  # the caller may be gone, but a new token must not be lost
        try:
            with anyio.fail_after(RENEWAL_SECONDS):
                grant = await card.renew(state.renew_with)
        except Exception as error:  # the edge to other people's data
            why = classify_error(error)
            await run_in_thread(_store_failure, account_id, provider, state.renew_with, why)
            if why.status != "broken" and state.fallback is not None:
                return state.fallback
            raise why from None
        await run_in_thread(_store_renewal, account_id, provider, state.renew_with, grant)
    return grant.access


def classify_error(error: Exception) -> Unanswered:
    """One word for what went wrong; the error's own text is dropped."""
    if isinstance(error, Unanswered):
        return error if error.status != "broken" else Unanswered("broken", "reconnect")
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return Unanswered("down", "timeout")
    if isinstance(error, httpx.HTTPStatusError):
        if error.response.status_code == 429:
            return Unanswered("quota_exhausted", "quota")
        return Unanswered(
            "not_permitted" if error.response.status_code in (401, 403) else "down",
            f"http_{error.response.status_code}",
        )
    if isinstance(error, http.Refused):
        return Unanswered("down", "refused")
    return Unanswered("down", "unreachable" if isinstance(error, httpx.TransportError | OSError) else "wrong_shape")


def _find_unchanged(session: Session, account_id: int, provider: str, used: str) -> Connection | None:
    """The row, unless it was disconnected or reconnected during the request."""
    row = find_connection(session, account_id, provider, lock=True)
    return row if row is not None and unseal_token(row.refresh_sealed) == used else None


def _store_renewal(account_id: int, provider: str, used: str, grant: Grant) -> None:
    with transaction(account_id) as session:
        row = _find_unchanged(session, account_id, provider, used)
        if row is not None:
            store_grant(row, grant, refresh=grant.refresh or used)


def _store_failure(account_id: int, provider: str, used: str, why: Unanswered) -> None:
    with transaction(account_id) as session:
        row = _find_unchanged(session, account_id, provider, used)
        if row is None:
            return
        row.refreshing_until, row.last_error = None, why.reason
        if why.status == "broken":
            _mark_broken(session, row, "revoked")
        else:
            outlasts_pause = row.expires_at is not None and row.expires_at > clock.now() + MIN_LIFETIME + RETRY_PAUSE
            row.refreshing_until = clock.now() + RETRY_PAUSE if outlasts_pause else None


def store_grant(row: Connection, grant: Grant, refresh: str | None) -> None:
    """Writes a provider's grant into the row."""
    row.access_sealed, row.refresh_sealed = seal_token(grant.access), seal_token(refresh)
    row.expires_at = (
        clock.now() + timedelta(seconds=min(grant.expires_in, 10 * 365 * 86_400)) if grant.expires_in else None
    )
    row.scope = grant.scope or row.scope
    row.refreshing_until, row.last_error = None, None


def reject_token(account_id: int, provider: str, token: str) -> None:
    """The provider refused this token before its end: next time a new one is asked for, or there is none."""
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider, lock=True)
        if row is None or row.state != "connected" or unseal_token(row.access_sealed) != token:
            return
        now = clock.now()
        again_soon = now.timestamp() - row.details.get("rejected_at", 0) < REJECTION_WINDOW.total_seconds()
        if row.refresh_sealed is None or again_soon:
            _mark_broken(session, row, "revoked")
        else:
            row.expires_at, row.details = now, row.details | {"rejected_at": now.timestamp()}


def _mark_broken(session: Session, row: Connection, reason: str) -> None:
    row.state, row.last_error, row.refreshing_until, row.syncing_until = "broken", reason, None, None
    account = session.get(Account, row.account_id)
    if account is not None and row.connected_at is not None:
        facts = {"provider": row.provider, "title": connector(row.provider).title}
        key = f"connection:{row.id}:broken:{row.connected_at.isoformat()}"
        tell(session, account, "connection_broken", facts, dedupe_key=key, subject=("integration", row.provider))
