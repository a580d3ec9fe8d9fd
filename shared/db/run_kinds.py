"""The kinds of background runs: what each is about, and which limit of a plan caps how many of it an account has.

`schedules` and `job_runs` name a kind by its text and its subject by number, without a foreign key. So anyone who
deletes subjects asks here which schedules must go with them. The handler of each kind stands in `jobs.runs.HANDLERS`.
"""

from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.runs import Schedule


class RunKind(StrEnum):
    """A kind of run; its text is stored."""

    subject: str | None  # table and column that `schedules.subject_id` is a value of; None: the service as a whole
    limit: str | None  # field of `domain.plans.Limits`

    def __new__(cls, value: str, subject: str | None = None, limit: str | None = None) -> "RunKind":
        kind = str.__new__(cls, value)
        kind._value_, kind.subject, kind.limit = value, subject, limit
        return kind

    ROUTE_MONITOR = "route_monitor", "route_monitors.id", "route_monitors"
    FLIGHT_ALERT = "flight_alert", "flight_alerts.id", "flight_alerts"
    STANDING_ORDER = "standing_order", "standing_orders.id", "standing_orders"
    HOTEL_PRICE = "hotel_price", "hotel_bookings.id"
    INBOUND_MAIL = "inbound_mail", "inbound_mails.number"
    AIRPORT_DELAYS = "airport_delays", None, "delay_alerts"  # one run for the delay alerts of everybody
    HOTEL_WATCHES = "hotel_watches"  # gives a schedule to each stay that lacks one
    REFERENCE_AUDIT = "reference_audit"
    EXCHANGE_RATES = "exchange_rates"
    SOURCE_WATCH = "source_watch"  # public files that are compared with our facts
    RETENTION = "retention"
    BILLING = "billing"  # asks the payment service about subscriptions
    DEADLINES = "deadlines"  # tells people of what ends soon

    def subjects(self, account_id: int | None = None) -> sa.Select[int]:
        """The numbers of all its subjects, or of one account's. A plain table: the guards of a session, which see one
        data mode only, do not act on it."""
        table, _, column = (self.subject or "").partition(".")
        rows = sa.table(table, sa.column(column), sa.column("account_id"))
        numbers = sa.select(rows.c[column])
        return numbers if account_id is None else numbers.where(rows.c.account_id == account_id)


WITH_SUBJECT = tuple(kind for kind in RunKind if kind.subject)


def delete_account_schedules(session: Session, account_id: int) -> None:
    """The account is about to be deleted; runs of its schedules go too."""
    for kind in WITH_SUBJECT:
        theirs = kind.subjects(account_id)
        session.execute(sa.delete(Schedule).where(Schedule.kind == kind, Schedule.subject_id.in_(theirs)))


def delete_orphaned_schedules(session: Session) -> None:
    """For subjects that were deleted in bulk, no matter who owned them."""
    for kind in WITH_SUBJECT:
        session.execute(sa.delete(Schedule).where(Schedule.kind == kind, Schedule.subject_id.not_in(kind.subjects())))
