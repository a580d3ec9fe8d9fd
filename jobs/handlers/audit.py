"""The weekly audit's run: its claim goes in; findings to be stored, and a mail to the operator, come out."""

from collections.abc import Callable, Sequence
from functools import partial

from sqlalchemy.orm import Session

from shared.db.runs import Claim
from shared.reference.audit import AuditFinding
from shared.services.operations.audit import findings, keep


def check(claim: Claim) -> Callable[[Session], str | None]:
    """Audits outside any transaction, and leaves the writing to the run's holder. The files are never edited."""
    return partial(_settle, claim.id, findings())


def _settle(run_id: int, found: Sequence[AuditFinding], session: Session) -> None:
    keep(session, found, run_id)
