"""Balances and statuses from a points tracker, unless the account's own are newer."""

import re
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import lock
from shared.db.balances import PointsBalance, select_holder_balances
from shared.db.members import HOLDER
from shared.db.statuses import LoyaltyStatus
from shared.errors import Candidates
from shared.providers.connectors import TrackedAccount
from shared.reference import statuses
from shared.reference.reference import Reference
from shared.services.connections.sync_report import SyncReport

_ASIDE = re.compile(r"\(.*?\)|\[.*?\]")
# The tracker's own short names, where the long one is not enough.
_CODES = {
    "aa": "american-airlines-aadvantage",
    "british": "british-airways-club",
    "hhonors": "hilton-honors",
    "goldpassport": "world-of-hyatt",
}


def find_program(reference: Reference, account: TrackedAccount) -> str | None:
    if account.code in _CODES:
        return _CODES[account.code]
    for name in (account.name, _ASIDE.sub(" ", account.name).strip()):
        if len(programs := reference.find_programs(name)) == 1:
            return programs[0]
    return None


def apply(
    session: Session, reference: Reference, account_id: int, source: str, accounts: tuple[TrackedAccount, ...]
) -> SyncReport:
    """Within the session's transaction; which programmes changed, and what was left as it was and why."""
    report, slugs = SyncReport(), set[str]()
    lock(session, account_id)
    balances = {row.program: row for row in session.scalars(select_holder_balances().with_for_update())}
    own = select(LoyaltyStatus).where(LoyaltyStatus.member == HOLDER)
    statuses = {row.program: row for row in session.scalars(own.with_for_update())}
    for account in accounts:
        slug = find_program(reference, account)
        if slug is None:
            report.conflict("balance", account.code or "unnamed", "unknown_program")
        elif slug in slugs:
            report.conflict("balance", slug, "several_accounts")
        elif account.stale:
            report.conflict("balance", slug, "not_checked_lately")
        else:
            _sync_balance(session, report, source, slug, account, balances.get(slug))
            _sync_status(session, reference, report, source, slug, account, statuses.get(slug))
        if slug is not None:
            slugs.add(slug)
    session.flush()
    return report


def _is_newer_here(row: PointsBalance | LoyaltyStatus, checked_at: datetime | None) -> bool:
    """What a person wrote after the tracker looked is not overwritten."""
    return row.source == "manual" and (checked_at is None or row.updated_at > checked_at)


def _sync_balance(
    session: Session, report: SyncReport, source: str, slug: str, account: TrackedAccount, row: PointsBalance | None
) -> None:
    if account.balance is None:
        return
    report.balances += 1
    values: dict[str, Any] = {"balance": account.balance}
    if account.expires_on is not None or row is None:
        values["expires_on"] = account.expires_on
    before = None if row is None else {name: getattr(row, name) for name in values}
    if before == values:
        return
    if row is not None and _is_newer_here(row, account.checked_at):
        report.conflict("balance", slug, "newer_here")
        return
    if row is None:
        row = PointsBalance(program=slug, balance=account.balance, as_of=clock.today(), source=source)
        session.add(row)
    for name, value in values.items():
        setattr(row, name, value)
    row.as_of = account.checked_at.date() if account.checked_at else clock.today()
    row.source, row.updated_at = source, clock.now()
    report.change("balance", slug, before, values)


def _sync_status(
    session: Session,
    reference: Reference,
    report: SyncReport,
    source: str,
    slug: str,
    account: TrackedAccount,
    row: LoyaltyStatus | None,
) -> None:
    if account.tier is None or reference.programs[slug].kind == "bank":
        return
    report.statuses += 1
    try:
        tier = statuses.match_tier(reference, slug, account.tier)
    except Candidates:
        report.conflict("status", slug, "unknown_tier")
        return
    if row is not None and row.tier == tier:
        return
    if row is not None and _is_newer_here(row, account.checked_at):
        report.conflict("status", slug, "newer_here")
        return
    before = None if row is None else {"tier": row.tier}
    if row is None:
        row = LoyaltyStatus(program=slug, tier=tier, source=source)
        session.add(row)
    elif row.tier != tier:
        row.valid_until = None  # it was of the tier held before
    row.tier, row.source, row.updated_at = tier, source, clock.now()
    report.change("status", slug, before, {"tier": tier})
