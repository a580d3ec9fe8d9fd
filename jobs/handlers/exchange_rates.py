"""The run that fetches the central bank's exchange rates, so that estimates need not ask."""

from collections.abc import Callable
from datetime import timedelta

from sqlalchemy.orm import Session

from jobs import event_loop
from shared.db.runs import COMPLETE, Claim, RunResult
from shared.services.search.exchange_rates import fetch_bank_rates, store_bank_rates

EVERY, FIRST = timedelta(hours=12), timedelta(minutes=2)  # the bank publishes once a working day, at about 16:00 CET


def check(_claim: Claim) -> Callable[[Session], RunResult]:
    """Stores the rates; without an answer the old ones stay until the next run, half a day later."""
    rates = event_loop.ask(fetch_bank_rates)
    if rates:
        store_bank_rates(rates)
    return lambda _session: COMPLETE
