"""The audit of reference data: findings, their history, and the mail to the operator."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared import clock
from shared.db import fact_items
from shared.db.accounts import Account
from shared.db.audit import store_findings as store_rows
from shared.db.base import transaction
from shared.db.messages import Delivery
from shared.db.observations import prices_since
from shared.db.run_kinds import RunKind
from shared.db.runs import COMPLETE, RunResult
from shared.reference.ages import UNDATED
from shared.reference.audit import OBSERVATION_AGE, FactDoubt, ObservedPrice, audit_facts
from shared.reference.load import reference
from shared.services.operations import fact_reports, source_watch
from shared.services.operations.facts import list_corrections, refresh
from shared.settings import settings

_MAX_IN_MAIL = 40


def run_audit() -> list[FactDoubt]:
    """Lists everything a person should check now, the oldest first."""
    refresh()
    with transaction() as session:
        corrections = list_corrections(session)
        prices = [ObservedPrice(*row) for row in prices_since(session, clock.now() - OBSERVATION_AGE)]
        outside = [*source_watch.list_findings(session), *fact_reports.list_findings(session)]
    findings = [*audit_facts(reference(), clock.today(), prices, corrections), *outside]
    return sorted(findings, key=lambda f: (f.since, f.kind, f.file, f.key))


def close_item(session: Session, name: str, who: str, reason: str) -> bool:
    """Closes a difference (D12) or a report (R5); whether it was open."""
    return fact_items.close_item(session, name, clock.today(), who, reason)


def describe_since(finding: FactDoubt) -> str:
    return "undated" if finding.since == UNDATED else finding.since.isoformat()


def store_findings(session: Session, findings: Sequence[FactDoubt], run_id: int) -> RunResult:
    """Stores what was found and writes one mail to the operator, if there is one and something to say."""
    rows = [{"kind": f.kind, "file": f.file, "key": f.key, "since": f.since, "text": f.text} for f in findings]
    store_rows(session, rows, clock.today())
    if findings and (address := settings().operator_email):
        _enqueue_mail(session, address, findings, run_id)
    return COMPLETE


def _enqueue_mail(session: Session, address: str, findings: Sequence[FactDoubt], run_id: int) -> None:
    """Enqueues the mail for an account: the operator's own, else the first administrator's."""
    own = sa.func.lower(Account.email) == address.lower()
    owner = session.scalar(
        sa.select(Account.id).where(own | Account.is_admin).order_by(own.desc(), Account.id).limit(1)
    )
    if owner is None:
        return
    facts: dict[str, Any] = {
        "total": len(findings),
        "kinds": dict(sorted(Counter(f.kind for f in findings).items())),
        "findings": [f"{describe_since(f)}  {f.kind}  {f.file}  {f.key}: {f.text}" for f in findings[:_MAX_IN_MAIL]],
    }
    session.add(
        Delivery(
            account_id=owner,
            dedupe_key=f"{RunKind.REFERENCE_AUDIT}:{run_id}",
            channel="email",
            recipient=address,
            event=RunKind.REFERENCE_AUDIT,
            facts=facts,
        )
    )
