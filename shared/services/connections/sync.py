"""Synchronising a connection: the provider is read and written first, then our rows change in one transaction.

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
from shared.services.connections.credentials import (
    classify_error,
    find_connection,
    get_credential,
    reject_token,
    run_in_thread,
)
from shared.services.connections.sync_report import Report

EXCHANGE_SECONDS = 25.0
LEASE = timedelta(seconds=EXCHANGE_SECONDS + 20)
HOUR_SECONDS, MAX_SYNCS_PER_HOUR = 3600, 12  # how often one connection may be synchronised


@dataclass
class SyncResult:
    report: Report
    synced_at: datetime


def require_configured(provider: str) -> Connector:
    card = connector(provider)
    if not card.configured():
        message = f"{card.title} is not set up by the operator of this service, so it cannot be connected."
        raise BackendUnavailable(message, [Outage(provider, "not_configured")])
    return card


async def sync(account_id: int, provider: str, *, dry_run: bool) -> SyncResult:
    """Raises ConnectionRequired, LimitReached or BackendUnavailable; then nothing of ours has changed."""
    card = require_configured(provider)
    details = await run_in_thread(_take_lease, account_id, provider)
    try:
        pulled, written = await _exchange_in_time(account_id, provider, card, details, dry_run=dry_run)
        done = await run_in_thread(_apply, account_id, provider, pulled, written, dry_run)
    finally:
        with anyio.CancelScope(shield=True):
            await run_in_thread(_end_lease, account_id, provider)
    if written is not None and written.failed:
        message = (
            f"{card.title} stopped answering midway. What arrived is remembered; the next time continues from there."
        )
        raise BackendUnavailable(message, [Outage(provider, "down")])
    return done


async def _exchange_in_time(
    account_id: int, provider: str, card: Connector, details: dict[str, Any], *, dry_run: bool
) -> tuple[Pulled, Written | None]:
    """All that waits for the provider. Raises ConnectionRequired or BackendUnavailable."""
    try:
        with anyio.fail_after(EXCHANGE_SECONDS):
            return await _exchange(account_id, provider, card, details, dry_run=dry_run)
    except ConnectionRequired:
        raise
    except Exception as error:  # the edge to other people's servers
        raise await _unavailable(account_id, provider, card, classify_error(error)) from error


async def _exchange(
    account_id: int, provider: str, card: Connector, details: dict[str, Any], *, dry_run: bool
) -> tuple[Pulled, Written | None]:
    """Reads and writes there. A token that is not taken is renewed, and tried once more."""
    for last in (False, True):
        credential = await get_credential(account_id, provider)
        if credential is None:
            raise _not_connected(provider, card)
        try:
            pulled = await card.pull(credential, details) if card.pull else Pulled()
            written = None
            if card.push:
                ours = await run_in_thread(_read_rows, account_id)
                written = await card.push(Push(credential, details, ours, dry_run))
            return pulled, written
        except Unanswered as no:
            if no.status != "broken":
                raise
            await run_in_thread(reject_token, account_id, provider, credential.removeprefix("Bearer "))
            if last:
                raise
    raise AssertionError("unreachable")


def _not_connected(provider: str, card: Connector) -> ConnectionRequired:
    return ConnectionRequired(f"{card.title} is not connected to this account.", provider=provider)


async def _unavailable(account_id: int, provider: str, card: Connector, why: Unanswered) -> BackendUnavailable:
    if why.status == "broken":
        message = f"{card.title} no longer accepts the connection; connect_integration {provider} makes it again."
    else:
        message = f"{card.title} did not answer as it should; nothing was changed here."
        await run_in_thread(_store_error, account_id, provider, why.reason if why.status == "down" else why.status)
    return BackendUnavailable(message, [Outage(provider, why.status, retry_after_seconds=why.retry_after)])


def _take_lease(account_id: int, provider: str) -> dict[str, Any]:
    """Takes the lease of the connection."""
    now = clock.now()
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider, lock=True)
        if row is None or row.connected_at is None:
            raise _not_connected(provider, connector(provider))
        if row.syncing_until and row.syncing_until > now:
            raise _limit_reached("It is being synchronised right now.", 1, 1, row.syncing_until)
        verdict = hit(f"sync:{row.id}", MAX_SYNCS_PER_HOUR, HOUR_SECONDS)
        if not verdict.allowed:
            ends = now + timedelta(seconds=verdict.retry_after)
            raise _limit_reached(
                f"It was synchronised {MAX_SYNCS_PER_HOUR} times this hour.",
                MAX_SYNCS_PER_HOUR,
                MAX_SYNCS_PER_HOUR,
                ends,
            )
        row.syncing_until = now + LEASE
        return dict(row.details)


def _limit_reached(words: str, current: int, cap: int, ends: datetime) -> LimitReached:
    return LimitReached(words, limit="synchronisations", current=current, cap=cap, resets_at=ends)


def _end_lease(account_id: int, provider: str) -> None:
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider, lock=True)
        if row is not None:
            row.syncing_until = None


def _store_error(account_id: int, provider: str, reason: str) -> None:
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider, lock=True)
        if row is not None:
            row.last_error = reason


def _read_rows(account_id: int) -> Any:
    with transaction(account_id) as session:
        return sync_export.build_rows(session, reference(), clock.now())


def _apply(account_id: int, provider: str, pulled: Pulled, written: Written | None, dry_run: bool) -> SyncResult:
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider, lock=True)
        if row is None or row.connected_at is None:
            raise _not_connected(provider, connector(provider))
        trial = session.begin_nested()
        report = _apply_pulled(session, row, pulled)
        if pulled.unreadable:
            report.conflict("entry", pulled.unreadable, "unreadable")
        now = clock.now()
        if written is not None:
            _report_pushed(report, written)
        if dry_run:
            trial.rollback()
            return SyncResult(report, now)
        trial.commit()
        if written is not None:
            row.details = {**row.details, **written.details}
        if written is None or not written.failed:
            row.last_sync_at, row.last_error = now, None
        return SyncResult(report, now)


def _apply_pulled(session: Any, row: Connection, pulled: Pulled) -> Report:
    if pulled.accounts:
        return sync_points.apply(session, reference(), row.account_id, row.provider, pulled.accounts)
    if row.provider == "tripit":
        whole = row.details.get("by") != "text"
        return sync_bookings.apply(session, reference(), pulled, row.last_sync_at, whole=whole)
    return Report()


def _report_pushed(report: Report, written: Written) -> None:
    for keys, before in ((written.added, None), (written.changed, {})):
        for key in keys:
            report.change("row", key, before, {})
    both = [*written.added, *written.changed]
    report.rows_pushed = len(both)
    report.bookings_pushed = sum(key.startswith(("flight:", "hotel:")) for key in both)
