"""The hourly deletion of what the service wrote about itself and no longer keeps."""

import logging
import time
from collections.abc import Callable
from datetime import timedelta

from sqlalchemy.orm import Session

import shared.db.migrations  # noqa: F401 - knows every table
from shared import clock
from shared.db.base import transaction
from shared.db.clients import empty_expired
from shared.db.retention import AGING_TABLES, AgingTable, sweep_oldest
from shared.db.runs import COMPLETE, Claim, RunResult
from shared.settings import settings

log = logging.getLogger(__name__)
EVERY, FIRST = timedelta(hours=1), timedelta(minutes=10)
BATCH = 5_000  # rows of one transaction: short locks, and other work in between
MAX_SECONDS = 30.0  # of one run; what is left is for the next


def check(_claim: Claim) -> Callable[[Session], RunResult]:
    """Removes in many small transactions; one that was interrupted is simply gone on with."""
    until = time.monotonic() + MAX_SECONDS
    with transaction() as session:
        empty_expired(session, clock.now())
    swept = {kind.model.__tablename__: _sweep(kind, until) for kind in AGING_TABLES}
    if any(swept.values()):
        log.info("sweep: %s", ", ".join(f"{number} {name}" for name, number in swept.items() if number))
    return lambda _session: COMPLETE


def _sweep(kind: AgingTable, until: float) -> int:
    before = clock.now() - timedelta(days=getattr(settings(), kind.setting))
    total, removed = 0, BATCH
    while removed == BATCH and time.monotonic() < until:
        with transaction() as session:
            removed = sweep_oldest(session, kind, before, BATCH)
        total += removed
    return total
