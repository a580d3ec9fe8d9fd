"""The run of all delay alerts: its claim goes in, what is to be written about their airports comes out."""

from collections.abc import Callable, Mapping
from functools import partial

from sqlalchemy.orm import Session

from jobs import event_loop
from shared.db.base import transaction
from shared.db.runs import Claim
from shared.services.watches.delay_alerts import Report, airports, query_sources, settle


def check(claim: Claim) -> Callable[[Session], str | None]:
    """Asks outside any transaction. What nobody answered is asked in the next run, which is minutes away."""
    with transaction() as session:
        wanted = airports(session)
    return partial(_settle, claim.id, event_loop.ask(query_sources, wanted) if wanted else {})


def _settle(run_id: int, reports: Mapping[str, Report], session: Session) -> None:
    if reports:
        settle(session, run_id, reports)
