"""The hourly deletion of the service's old records about itself, and the daily worth of points."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from time import monotonic
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

import shared.db.migrations  # noqa: F401 - knows every table
from shared import clock
from shared.db.base import transaction
from shared.db.clients import empty_expired
from shared.db.outages import is_outage
from shared.db.partitions import make_partitions
from shared.db.retention import AGING_TABLES, AgingTable, sweep_aged
from shared.db.runs import COMPLETE, Claim, RunResult
from shared.db.sweeping import Busy, note_sweep, take_turns
from shared.db.worth_days import note_worth
from shared.reference.load import reference
from shared.settings import settings
from shared.telemetry.metrics import SWEPT_ROWS, count

log = logging.getLogger(__name__)
EVERY, FIRST = timedelta(hours=1), timedelta(minutes=10)
MAX_SECONDS = 30.0  # of one run; the rest is for the next


def check(_claim: Claim) -> Callable[[Session], RunResult]:
    """Deletes in many small transactions; an interrupted run is simply resumed."""
    until = monotonic() + MAX_SECONDS
    with transaction() as session:
        empty_expired(session, clock.now())
        note_worth(session, clock.today(), _list_values())
    _make_partitions()
    swept = _sweep(AGING_TABLES, until)
    for name, number in swept.items():
        count(SWEPT_ROWS, name, amount=number)
    if any(swept.values()):
        log.info("sweep: %s", ", ".join(f"{number} {name}" for name, number in swept.items() if number))
    with transaction() as session:
        note_sweep(session, "records")
    return lambda _session: COMPLETE


def _list_values() -> dict[str, Decimal]:
    programs = reference().programs.values()
    return {program.slug: program.value_usd_cents for program in programs if program.value_usd_cents is not None}


def _make_partitions() -> None:
    """Makes partitions now or in the next run; until then rows go to DEFAULT, and old ones are still deleted."""
    for kind in AGING_TABLES:
        if kind.by == "partitions":
            table: Any = kind.model.__table__
            try:
                names = make_partitions(table, _find_end(kind), clock.now())
            except Busy:
                log.info("partitions of %s are made by the next run", table.name)
            except SQLAlchemyError as error:
                if is_outage(error):
                    raise
                log.error("partitions of %s are left for the next run (%s)", table.name, type(error).__name__)
            else:
                log.debug("partitions made: %s", names)


def _sweep(kinds: Sequence[AgingTable], until: float) -> dict[str, int]:
    return take_turns([(kind.model.__tablename__, sweep_aged(kind, _find_end(kind))) for kind in kinds], until)


def _find_end(kind: AgingTable) -> datetime:
    """The moment before which rows of this kind are too old."""
    days: int = getattr(settings(), kind.setting)
    return clock.now() - timedelta(days=days)
