"""The hourly run that tells people of their deadlines, each account in its local morning."""

import logging
import time
from collections.abc import Callable
from datetime import timedelta

from sqlalchemy.orm import Session

from shared import clock
from shared.db.base import transaction
from shared.db.runs import COMPLETE, Claim, RunResult
from shared.reference.load import reference
from shared.services.watches.deadlines import list_due_accounts, tell_deadlines

log = logging.getLogger(__name__)
EVERY, FIRST = timedelta(hours=1), timedelta(minutes=5)
BATCH = 500  # accounts in one batch
MAX_SECONDS = 60.0  # of one run; the rest waits for the next


def check(_claim: Claim) -> Callable[[Session], RunResult]:
    """Uses one transaction for each account: an interrupted run is resumed, and no one is told twice."""
    until, after = time.monotonic() + MAX_SECONDS, 0
    while True:
        with transaction() as session:
            account_ids, last = list_due_accounts(session, clock.now(), after, BATCH)
        for account_id in account_ids:
            if time.monotonic() >= until:
                log.warning("deadlines: not all accounts were reached; the next run continues")
                return lambda _session: COMPLETE
            with transaction(account_id) as session:
                tell_deadlines(session, reference(), account_id, clock.now())
        if last is None:
            return lambda _session: COMPLETE
        after = last
