"""Synchronising one connection: the provider is read and written outside any transaction, our rows change in one.

One at a time per connection; a try without effect (`dry_run`) does the same and takes everything back.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import anyio

from shared import clock
from shared.db.base import transaction
from shared.db.connections import Connection
from shared.errors import BackendUnavailable, ConnectionRequired, LimitReached, Outage
from shared.limits import hit
from shared.providers.connectors import Connector, Pulled, Push, Written, connector
from shared.providers.contract import Unanswered
from shared.reference.load import reference
from shared.services.connections import sync_bookings, sync_export, sync_points
from shared.services.connections.credentials import credential, in_thread, reason_of, rejected, row_of
from shared.services.connections.sync_report import Report

SECONDS = 25.0
LEASE = timedelta(seconds=SECONDS + 20)
AN_HOUR, TIMES = 3600, 12  # how often one connection may be synchronised


@dataclass
class Done:
    report: Report
    synced_at: datetime


def require_configured(provider: str) -> Connector:
    card = connector(provider)
    if not card.configured():
        told = f"{card.title} is not set up by the operator of this service, so it cannot be connected."
        raise BackendUnavailable(told, [Outage(provider, "not_configured")])
    return card


async def sync(account_id: int, provider: str, *, dry_run: bool) -> Done:
    """Raises ConnectionRequired, LimitReached or BackendUnavailable; then nothing of ours has changed."""
    card = require_configured(provider)
    details = await in_thread(_begin, account_id, provider)
    try:
        pulled, written = await _outside(account_id, provider, card, details, dry_run=dry_run)
        done = await in_thread(_apply, account_id, provider, pulled, written, dry_run)
    finally:
        with anyio.CancelScope(shield=True):
            await in_thread(_end, account_id, provider)
    if written is not None and written.failed:
        told = f"{card.title} stopped answering midway. What arrived is remembered; the next time goes on from there."
        raise BackendUnavailable(told, [Outage(provider, "down")])
    return done


async def _outside(
    account_id: int, provider: str, card: Connector, details: dict[str, Any], *, dry_run: bool
) -> tuple[Pulled, Written | None]:
    """All that waits for the provider. Raises ConnectionRequired or BackendUnavailable."""
    try:
        with anyio.fail_after(SECONDS):
            return await _exchanged(account_id, provider, card, details, dry_run=dry_run)
    except ConnectionRequired:
        raise
    except Exception as error:  # the edge to other people's servers
        raise await _unavailable(account_id, provider, card, reason_of(error)) from error


async def _exchanged(
    account_id: int, provider: str, card: Connector, details: dict[str, Any], *, dry_run: bool
) -> tuple[Pulled, Written | None]:
    """Reads and writes there. A token that is not taken is renewed, and tried once more."""
    for last in (False, True):
        sent = await credential(account_id, provider)
        if sent is None:
            raise _unconnected(provider, card)
        try:
            pulled = await card.pull(sent, details) if card.pull else Pulled()
            written = None
            if card.push:
                ours = await in_thread(_rows, account_id)
                written = await card.push(Push(sent, details, ours, dry_run))
            return pulled, written
        except Unanswered as no:
            if no.status != "broken":
                raise
            await in_thread(rejected, account_id, provider, sent.removeprefix("Bearer "))
            if last:
                raise
    raise AssertionError("unreachable")


def _unconnected(provider: str, card: Connector) -> ConnectionRequired:
    return ConnectionRequired(f"{card.title} is not connected to this account.", provider=provider)


async def _unavailable(account_id: int, provider: str, card: Connector, why: Unanswered) -> BackendUnavailable:
    if why.status == "broken":
        told = f"{card.title} no longer accepts the connection; connect_integration {provider} makes it anew."
    else:
        told = f"{card.title} did not answer as it should; nothing was changed here."
        await in_thread(_note, account_id, provider, why.reason if why.status == "down" else why.status)
    return BackendUnavailable(told, [Outage(provider, why.status, retry_after_seconds=why.retry_after)])


def _begin(account_id: int, provider: str) -> dict[str, Any]:
    """Takes the lease of the connection."""
    now = clock.now()
    with transaction(account_id) as session:
        row = row_of(session, account_id, provider, lock=True)
        if row is None or row.connected_at is None:
            raise _unconnected(provider, connector(provider))
        if row.syncing_until and row.syncing_until > now:
            raise _limit("It is being synchronised right now.", 1, 1, row.syncing_until)
        verdict = hit(f"sync:{row.id}", TIMES, AN_HOUR)
        if not verdict.allowed:
            ends = now + timedelta(seconds=verdict.retry_after)
            raise _limit(f"It was synchronised {TIMES} times this hour.", TIMES, TIMES, ends)
        row.syncing_until = now + LEASE
        return dict(row.details)


def _limit(words: str, current: int, cap: int, ends: datetime) -> LimitReached:
    return LimitReached(words, limit="synchronisations", current=current, cap=cap, resets_at=ends)


def _end(account_id: int, provider: str) -> None:
    with transaction(account_id) as session:
        row = row_of(session, account_id, provider, lock=True)
        if row is not None:
            row.syncing_until = None


def _note(account_id: int, provider: str, reason: str) -> None:
    with transaction(account_id) as session:
        row = row_of(session, account_id, provider, lock=True)
        if row is not None:
            row.last_error = reason


def _rows(account_id: int) -> Any:
    with transaction(account_id) as session:
        return sync_export.rows(session, reference(), clock.now())


def _apply(account_id: int, provider: str, pulled: Pulled, written: Written | None, dry_run: bool) -> Done:
    with transaction(account_id) as session:
        row = row_of(session, account_id, provider, lock=True)
        if row is None or row.connected_at is None:
            raise _unconnected(provider, connector(provider))
        trial = session.begin_nested()
        report = _pulled(session, row, pulled)
        if pulled.unreadable:
            report.conflict("entry", pulled.unreadable, "unreadable")
        now = clock.now()
        if written is not None:
            _pushed(report, written)
        if dry_run:
            trial.rollback()
            return Done(report, now)
        trial.commit()
        if written is not None:
            row.details = {**row.details, **written.details}
        if written is None or not written.failed:
            row.last_sync_at, row.last_error = now, None
        return Done(report, now)


def _pulled(session: Any, row: Connection, pulled: Pulled) -> Report:
    if pulled.accounts:
        return sync_points.apply(session, reference(), row.account_id, row.provider, pulled.accounts)
    if row.provider == "tripit":
        whole = row.details.get("by") != "text"
        return sync_bookings.apply(session, reference(), pulled, row.last_sync_at, whole=whole)
    return Report()


def _pushed(report: Report, written: Written) -> None:
    for keys, before in ((written.added, None), (written.changed, {})):
        for key in keys:
            report.change("row", key, before, {})
    both = [*written.added, *written.changed]
    report.rows_pushed = len(both)
    report.bookings_pushed = sum(key.startswith(("flight:", "hotel:")) for key in both)
