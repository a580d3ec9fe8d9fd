"""The kinds of background runs besides those of watches, and the subject of each run of any kind.

`schedules` and `job_runs` name a kind by its text and its subject by number, without a foreign key. So anyone who
deletes subjects asks here which schedules must go with them. The handler of each kind is in `jobs.runs.HANDLERS`.
"""

from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.runs import Schedule
from shared.domain.watch_kinds import WATCH_KINDS


class RunKind(StrEnum):
    """A kind of run for the service itself, or for reading a mail; its text is stored."""

    INBOUND_MAIL = "inbound_mail"
    HOTEL_WATCHES = "hotel_watches"  # gives a schedule to each stay without one
    REFERENCE_AUDIT = "reference_audit"
    EXCHANGE_RATES = "exchange_rates"
    SOURCE_WATCH = "source_watch"  # public files that are compared with our facts
    RETENTION = "retention"
    BILLING = "billing"  # asks the payment service about subscriptions
    ROUTE_SWEEP = "route_sweep"  # looks at the top routes of home airports
    DEADLINES = "deadlines"  # tells people of deadlines


# By kind of run, the table and column that `schedules.subject_id` refers to; for other kinds it is 0.
SUBJECTS = {kind.run: (kind.table, "id") for kind in WATCH_KINDS if kind.has_own_runs} | {
    RunKind.INBOUND_MAIL.value: ("inbound_mails", "number")
}


def select_subjects(kind: str, account_id: int | None = None) -> sa.Select[int]:
    """The ids of all subjects of a kind, or of one account's. Uses a plain table: a session's guards, which see one
    data mode only, do not apply to it."""
    table, column = SUBJECTS[kind]
    rows = sa.table(table, sa.column(column), sa.column("account_id"))
    numbers = sa.select(rows.c[column])
    return numbers if account_id is None else numbers.where(rows.c.account_id == account_id)


def delete_account_schedules(session: Session, account_id: int) -> None:
    """Deletes an account's schedules and their runs, before the account itself."""
    for kind in SUBJECTS:
        theirs = select_subjects(kind, account_id)
        session.execute(sa.delete(Schedule).where(Schedule.kind == kind, Schedule.subject_id.in_(theirs)))


def delete_orphaned_schedules(session: Session) -> None:
    """Deletes schedules of subjects that were deleted in bulk, of any owner."""
    for kind in SUBJECTS:
        subjects = select_subjects(kind)
        session.execute(sa.delete(Schedule).where(Schedule.kind == kind, Schedule.subject_id.not_in(subjects)))
