"""Due rows become runs, and runs and deliveries become wake-up calls; any number of dispatchers may run at once."""

import logging
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from queue import Empty, SimpleQueue
from types import FrameType

from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from jobs.handlers import billing, deadlines, exchange_rates, hotel_prices, retention, route_sweeps, source_watch
from jobs.queue import DELIVERIES, MAIL, RUNS, count_under_way, free_slots, queue, wake
from shared.db.base import transaction
from shared.db.maintenance import WATCH
from shared.db.messages import hand_over_deliveries
from shared.db.provider_cards import store_cards
from shared.db.run_kinds import RunKind
from shared.db.runs import create_due_runs, ensure_schedule, hand_over_runs, list_waiting_queues
from shared.db.switched_off import list_switched_off
from shared.domain.watch_kinds import DELAY_ALERT
from shared.provider_health import mirror_switches
from shared.services.operations.workers import record_end, record_sign
from shared.services.search.sources import list_provider_cards
from shared.settings import settings

log = logging.getLogger(__name__)
HandOver = Callable[[Session, int, float, int], list[tuple[str, int]]]
HAND_OVERS: dict[str, HandOver] = {
    DELIVERIES: hand_over_deliveries,
    RUNS: partial(hand_over_runs, queue=RUNS),
    MAIL: partial(hand_over_runs, queue=MAIL),
}


def step() -> None:
    """One round. Rows are marked as handed over before the queue gets them: a crash in between only delays them.

    During maintenance nothing is handed over: what falls due then is done afterwards.
    """
    if not WATCH.read():
        _hand_over()
    record_sign("dispatcher", os.getpid())  # for the start, the doctor and the status page


def _hand_over() -> None:
    with transaction() as session:
        create_due_runs(session, gather=settings().gather_seconds)
        switches = list_switched_off(session)
        # In a quiet service, asking Redis about each queue twice a second was half of the work.
        waiting = list_waiting_queues(session, DELIVERIES)
    mirror_switches(switches)  # of a Redis that lost them
    ttl, queues = settings().wake_up_seconds, {name: queue(name) for name in HAND_OVERS if name in waiting}
    if not queues:
        return
    # Redis is asked first: when it is down, nothing is marked as handed over.
    room = {name: (free_slots(one), count_under_way(one)) for name, one in queues.items()}
    with transaction() as session:  # one for all three: twice a second, it is most of a quiet service's work
        rows = {name: HAND_OVERS[name](session, free, ttl, busy) for name, (free, busy) in room.items()}
    for name, one in queues.items():
        wake(one, rows[name], ttl)


def begin() -> None:
    """The first round: schedules the service's own work."""
    with transaction() as session:
        ensure_schedule(session, RunKind.REFERENCE_AUDIT, timedelta(weeks=1), timedelta(hours=1))
        pace = timedelta(seconds=settings().delay_check_interval_seconds)
        ensure_schedule(session, DELAY_ALERT.run, pace, pace)
        ensure_schedule(session, RunKind.EXCHANGE_RATES, exchange_rates.EVERY, exchange_rates.FIRST)
        ensure_schedule(session, RunKind.RETENTION, retention.EVERY, retention.FIRST)
        ensure_schedule(session, RunKind.SOURCE_WATCH, source_watch.EVERY, source_watch.FIRST)
        ensure_schedule(session, RunKind.ROUTE_SWEEP, route_sweeps.EVERY, route_sweeps.FIRST)
        ensure_schedule(session, RunKind.DEADLINES, deadlines.EVERY, deadlines.FIRST)
        ensure_schedule(session, RunKind.BILLING, billing.EVERY, billing.FIRST)
        ensure_schedule(session, RunKind.HOTEL_WATCHES, hotel_prices.EVERY, hotel_prices.FIRST)
        store_cards(session, list_provider_cards())  # for the operators' page, whose program knows none
    step()


def run() -> None:
    """Runs rounds until SIGTERM or SIGINT; finishes the current one."""
    # Not an Event: a signal that comes while `wait` holds its lock would wait for that lock for ever.
    stop: SimpleQueue[None] = SimpleQueue()

    def ask_to_stop(_number: int, _frame: FrameType | None) -> None:
        stop.put(None)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask_to_stop)
    trouble: str | None = None
    has_begun = False
    while True:
        trouble = _survive_outage(trouble, step if has_begun else begin)
        has_begun = has_begun or trouble is None
        with suppress(Empty):
            stop.get(timeout=settings().dispatcher_interval_seconds)
            break
    record_end("dispatcher", os.getpid())


def _survive_outage(before: str | None, turn: Callable[[], None] = step) -> str | None:
    """One round that survives an outage; logs once what is down, and once that it is back."""
    try:
        turn()
    except (RedisError, OSError):
        trouble = "the queue (Redis) is down"
    except SQLAlchemyError as error:
        trouble = f"the database is down or refuses ({type(error).__name__})"
    else:
        if before:
            log.warning("dispatcher: works again")
        return None
    if trouble != before:
        log.warning("dispatcher: %s, trying again", trouble)
    return trouble
