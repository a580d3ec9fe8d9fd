"""An account's own connections: a provider's name goes in; a credential to ask it with comes out, renewed when due.

One process at a time renews a token: it takes a short lease in the row, asks without holding a transaction, and writes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
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
EARLY = timedelta(minutes=5)  # a token is renewed so long before it ends
STILL_GOOD = timedelta(seconds=30)  # the least a token must last to be sent while somebody else renews it
RENEWAL_SECONDS = 10.0
LEASE = timedelta(seconds=RENEWAL_SECONDS + 2)
WAITING_SECONDS = 8.0  # for another process that renews
YOUNG = timedelta(minutes=10)  # a token refused so soon after another one would be refused for ever
PAUSE = timedelta(seconds=30)  # after a provider did not answer, while the present token lasts
_threads: RunVar[anyio.CapacityLimiter] = RunVar("connection_threads")  # a limiter belongs to one event loop


@dataclass(frozen=True)
class Held:
    """What a row says: a token, or the one to renew it with when this process has taken the lease."""

    token: str | None = None
    renew_with: str | None = None
    fallback: str | None = None  # the present token, while it lasts


class Credentials:
    """For one call: each connection is looked up once. None when the account has not connected that provider."""

    def __init__(self, account_id: int) -> None:
        self.account_id = account_id
        self._known: dict[str, str | Unanswered | None] = {}

    async def __call__(self, provider: str) -> str | None:
        if provider not in self._known:
            try:
                self._known[provider] = await credential(self.account_id, provider)
            except Unanswered as no:
                self._known[provider] = no
        found = self._known[provider]
        if isinstance(found, Unanswered):
            raise found
        return found

    async def rejected(self, provider: str, sent: str) -> None:
        """The provider did not take it."""
        await in_thread(rejected, self.account_id, provider, sent.removeprefix("Bearer "))


async def credential(account_id: int, provider: str) -> str | None:
    """The credential of one connection. Raises Unanswered when there is one that cannot be used now."""
    if provider not in NAMES:
        return None
    card = connector(provider)
    if not card.configured():
        raise Unanswered("not_configured", "not_configured")
    with anyio.move_on_after(WAITING_SECONDS):
        while True:
            held = await in_thread(_look, account_id, provider)
            if held is None:
                return None
            if held.renew_with is not None:
                return _as_sent(card, await _renewed(account_id, provider, card, held))
            if held.token is not None:
                return _as_sent(card, held.token)
            await anyio.sleep(0.1)
    raise Unanswered("down", "busy")


def _as_sent(card: Connector, token: str) -> str:
    return f"Bearer {token}" if card.bearer else token


async def in_thread(work: Callable[..., T], *args: Any) -> T:
    limiter = _threads.get(None)
    if limiter is None:
        _threads.set(limiter := anyio.CapacityLimiter(4))
    return await anyio.to_thread.run_sync(work, *args, limiter=limiter)


def row_of(session: Session, account_id: int, provider: str, *, lock: bool = False) -> Connection | None:
    """The account's row, connected or not. For sessions of everyone too, so it names the owner itself."""
    found = select(Connection).where(Connection.account_id == account_id, Connection.provider == provider)
    return session.scalars(found.with_for_update() if lock else found).one_or_none()


def opened(sealed: str | None) -> str | None:
    return unseal(settings().encryption_keys, sealed) if sealed else None


def sealed(value: str | None) -> str | None:
    return seal(settings().encryption_keys[0], value) if value is not None else None


def _old_key(value: str | None) -> bool:
    return value is not None and not value.startswith(key_id(settings().encryption_keys[0]) + ":")


def _look(account_id: int, provider: str) -> Held | None:
    with transaction(account_id) as session:
        row = row_of(session, account_id, provider)
        if row is None or row.connected_at is None:
            return None
        if row.state == "broken":
            raise Unanswered("broken", "reconnect")
        fine = row.expires_at is None or row.refresh_sealed is None or row.expires_at > clock.now() + EARLY
        if fine and not (_old_key(row.access_sealed) or _old_key(row.refresh_sealed)):
            token = opened(row.access_sealed)
            if token is not None:
                return Held(token)
    return _take(account_id, provider)


def _take(account_id: int, provider: str) -> Held | None:
    """The same under the row's lock: seals afresh what an earlier key sealed, and takes the lease when it is free."""
    with transaction(account_id) as session:
        row = row_of(session, account_id, provider, lock=True)
        if row is None or row.connected_at is None:
            return None
        token, refresh = opened(row.access_sealed), opened(row.refresh_sealed)
        if token is None or (row.refresh_sealed and refresh is None):
            _break(session, row, "unreadable")
            unreadable = True
        else:
            unreadable = False
            if _old_key(row.access_sealed) or _old_key(row.refresh_sealed):
                row.access_sealed, row.refresh_sealed = sealed(token), sealed(refresh)
            held = _settled(row, token, refresh)
    if unreadable:
        raise Unanswered("broken", "reconnect")
    return held


def _settled(row: Connection, token: str, refresh: str | None) -> Held:
    now = clock.now()
    if row.expires_at is None or refresh is None or row.expires_at > now + EARLY:
        return Held(token)
    lasting = token if row.expires_at > now + STILL_GOOD else None
    if row.refreshing_until and row.refreshing_until > now:
        return Held(lasting)
    row.refreshing_until = now + LEASE
    return Held(renew_with=refresh, fallback=lasting)


async def _renewed(account_id: int, provider: str, card: Connector, held: Held) -> str:
    assert held.renew_with is not None
    assert card.renew is not None
    with anyio.CancelScope(shield=True):  # whoever asked may be gone: a token given out must not be lost
        try:
            with anyio.fail_after(RENEWAL_SECONDS):
                grant = await card.renew(held.renew_with)
        except Exception as error:  # the edge to other people's data
            why = reason_of(error)
            await in_thread(_not_renewed, account_id, provider, held.renew_with, why)
            if why.status != "broken" and held.fallback is not None:
                return held.fallback
            raise why from None
        await in_thread(_write, account_id, provider, held.renew_with, grant)
    return grant.access


def reason_of(error: Exception) -> Unanswered:
    """One word for what went wrong; the error's own text goes nowhere."""
    if isinstance(error, Unanswered):
        return error if error.status != "broken" else Unanswered("broken", "reconnect")
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return Unanswered("down", "timeout")
    if isinstance(error, httpx.HTTPStatusError):
        return _refused(error.response.status_code)
    if isinstance(error, http.Refused):
        return Unanswered("down", "refused")
    return Unanswered("down", "unreachable" if isinstance(error, httpx.TransportError | OSError) else "wrong_shape")


def _refused(status: int) -> Unanswered:
    if status == 429:
        return Unanswered("quota_exhausted", "quota")
    return Unanswered("not_permitted" if status in (401, 403) else "down", f"http_{status}")


def _mine(session: Session, account_id: int, provider: str, used: str) -> Connection | None:
    """The row, unless it was disconnected or connected anew while the provider was asked."""
    row = row_of(session, account_id, provider, lock=True)
    return row if row is not None and opened(row.refresh_sealed) == used else None


def _write(account_id: int, provider: str, used: str, grant: Grant) -> None:
    with transaction(account_id) as session:
        row = _mine(session, account_id, provider, used)
        if row is not None:
            fill(row, grant, refresh=grant.refresh or used)


def _not_renewed(account_id: int, provider: str, used: str, why: Unanswered) -> None:
    with transaction(account_id) as session:
        row = _mine(session, account_id, provider, used)
        if row is None:
            return
        row.refreshing_until, row.last_error = None, why.reason
        if why.status == "broken":
            _break(session, row, "revoked")
        else:
            row.refreshing_until = clock.now() + PAUSE if _lasts(row) else None


def _lasts(row: Connection) -> bool:
    return row.expires_at is not None and row.expires_at > clock.now() + STILL_GOOD + PAUSE


def fill(row: Connection, grant: Grant, refresh: str | None) -> None:
    """Writes what a provider gave into the row."""
    row.access_sealed, row.refresh_sealed = sealed(grant.access), sealed(refresh)
    row.expires_at = ends_at(grant, clock.now())
    row.scope = grant.scope or row.scope
    row.refreshing_until, row.last_error = None, None


def ends_at(grant: Grant, now: datetime) -> datetime | None:
    return now + timedelta(seconds=min(grant.expires_in, 10 * 365 * 86_400)) if grant.expires_in else None


def rejected(account_id: int, provider: str, token: str) -> None:
    """The provider does not take this token before its end: a new one is asked for next time, or there is none."""
    with transaction(account_id) as session:
        row = row_of(session, account_id, provider, lock=True)
        if row is None or row.state != "connected" or opened(row.access_sealed) != token:
            return
        now = clock.now()
        again = now.timestamp() - row.details.get("rejected_at", 0) < YOUNG.total_seconds()
        if row.refresh_sealed is None or again:
            _break(session, row, "revoked")
        else:
            row.expires_at, row.details = now, row.details | {"rejected_at": now.timestamp()}


def _break(session: Session, row: Connection, reason: str) -> None:
    row.state, row.last_error, row.refreshing_until, row.syncing_until = "broken", reason, None, None
    account = session.get(Account, row.account_id)
    if account is not None and row.connected_at is not None:
        facts = {"provider": row.provider, "title": connector(row.provider).title}
        key = f"connection:{row.id}:broken:{row.connected_at.isoformat()}"
        tell(session, account, "connection_broken", facts, dedupe_key=key, subject=("integration", row.provider))
