"""Runs of standing orders in the database: their tasks and results."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.db.runs import Claim, unschedule
from shared.db.standing_orders import StandingOrder, StandingOrderRun, delete_old_runs
from shared.domain.plans import Plan
from shared.domain.watch_kinds import STANDING_ORDER
from shared.outbox.enqueue import tell
from shared.outbox.wording.messages import SANDBOX_LINE
from shared.settings import settings

DONE, FAILED = "standing_order_done", "standing_order_failed"
LOST, STOPPED = "unavailable", "stopped"


@dataclass(frozen=True)
class OrderRun:
    """The task of a run, read before any model is asked."""

    order_id: int
    run_id: int  # of the job
    account: str  # the public id
    prompt: str


@dataclass(frozen=True)
class Outcome:
    """How a run ended: a text in Markdown, or one word of ours; `again` if a later attempt may succeed."""

    text: str = ""
    error: str | None = None
    again: bool = False
    tools_called: Sequence[str] = ()


def prepare(session: Session, claim: Claim) -> OrderRun | None:
    """The run; None if the order must not run any longer, and then a manual run ends as stopped."""
    account, order = _lock_both(session, claim.subject_id)
    if account is None or order is None:
        return None
    if not _runs(order, account):
        unschedule(session, STANDING_ORDER.run, [order.id] if order.stopped_at or order.paused_at else [])
        if run := _run(session, claim.id):
            _end(run, Outcome(error=STOPPED))
        return None
    run = _run(session, claim.id) or StandingOrderRun(
        standing_order_id=order.id, account_id=order.account_id, job_run_id=claim.id, queued_at=clock.now()
    )
    run.started_at = clock.now()
    session.add(run)
    return OrderRun(order.id, claim.id, account.public_id, order.prompt)


def _lock_both(session: Session, order_id: int) -> tuple[Account | None, StandingOrder | None]:
    """The account and its order as they are once locked, in the order in which a change of plan locks them."""
    owner = select(StandingOrder.account_id).where(StandingOrder.id == order_id).scalar_subquery()
    query = select(Account).where(Account.id == owner).with_for_update(key_share=True)
    account = session.scalar(query.execution_options(populate_existing=True))
    return account, session.get(StandingOrder, order_id, with_for_update=True, populate_existing=True)


def _runs(order: StandingOrder, account: Account) -> bool:
    covered = STANDING_ORDER.cap(Plan.of(account.plan)) > 0 and account.disabled_at is None
    return order.stopped_at is None and order.paused_at is None and covered


def _run(session: Session, job_run_id: int) -> StandingOrderRun | None:
    return session.scalar(select(StandingOrderRun).where(StandingOrderRun.job_run_id == job_run_id))


def goes_on(session: Session, order_id: int) -> bool:
    """Whether the order should still run; checked during a run."""
    order = session.get(StandingOrder, order_id)
    return order is not None and _runs(order, session.get_one(Account, order.account_id))


def settle(session: Session, order_id: int, job_run_id: int, outcome: Outcome) -> None:
    """Keeps how the run ended, and tells it by one notice and one mail; nothing of an order stopped since."""
    account, order = _lock_both(session, order_id)
    run = _run(session, job_run_id)
    if account is None or order is None or run is None or run.outcome is not None:
        return
    if not _runs(order, account):
        _end(run, Outcome(error=STOPPED, tools_called=outcome.tools_called))
        return
    _end(run, outcome)
    session.flush()
    delete_old_runs(session, order.id)
    facts = {"order_id": order.id, "prompt": order.prompt, "result": outcome.text, "error": outcome.error}
    tell(
        session,
        account,
        FAILED if outcome.error else DONE,
        facts,
        dedupe_key=f"standing_order:{order.id}:{job_run_id}",
        subject=(STANDING_ORDER.run, order.id),
        mail=True,
    )


def _end(run: StandingOrderRun, outcome: Outcome) -> None:
    """Ends the run; a result from invented data says so in its first line."""
    run.finished_at, run.outcome = clock.now(), "failed" if outcome.error else "ok"
    run.error, run.tools_called = outcome.error, list(outcome.tools_called)
    if not outcome.error:
        sandbox = settings().data_mode == "sandbox"
        run.result = f"{SANDBOX_LINE}\n\n{outcome.text}" if sandbox else outcome.text
