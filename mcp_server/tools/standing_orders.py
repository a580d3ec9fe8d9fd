"""Standing orders: instructions that run daily or weekly and mail their result."""

from calendar import day_name
from datetime import datetime, timedelta
from functools import partial
from textwrap import shorten
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema
from sqlalchemy import func, select, true

from mcp_server.toolkit import Added, Call, Effect, Paging, Part, Result, Tier, tool
from mcp_server.toolkit.edits import describe_changes, edit
from mcp_server.toolkit.own_rows import Again, check_cap, find_saved, get_own
from mcp_server.toolkit.parameters import Page, PerPage, RowId, TripId, line
from mcp_server.toolkit.wording import tell_rows
from mcp_server.views.standing_orders import Outcome, StandingOrder, to_standing_orders
from shared.db.pagination import page_of
from shared.db.runs import run_now, schedule, unschedule
from shared.db.standing_orders import StandingOrder as Row
from shared.db.standing_orders import StandingOrderRun as Run
from shared.db.trips import open_trip
from shared.domain.dates import format_day
from shared.domain.plurals import pluralize
from shared.domain.short_ids import shorten_uuid
from shared.domain.standing_orders import DAILY, WEEKLY, next_run
from shared.domain.watch_kinds import STANDING_ORDER
from shared.errors import BackendUnavailable, Fault, Invalid, LimitReached, Outage

Cadence = Literal["daily", "weekly"]
Prompt = Annotated[str, line(4000)]
OrderId = Annotated[RowId, Field(description="From list_standing_orders.")]
Hour = Annotated[int, Field(ge=0, le=23, description="In UTC.")]
Weekday = Annotated[int, Field(ge=0, le=6, description="0 is Sunday; weekly only.")]
Clearable = Annotated[Literal["trip_id"], WithJsonSchema({"type": "string", "enum": ["trip_id"]})]
EXTRA_RUN_INTERVAL = timedelta(hours=1)
QUEUE_SECONDS = 60  # the longest a run usually waits for a worker
MONDAY = 1
WITHOUT_MODEL = (
    "To watch award seats none is needed: a route monitor looks every few hours and mails what opens."
    " Logged hotel stays are watched for lower prices, and a delay alert watches an airport."
)


class OneOrder(Result):
    standing_order: StandingOrder


class CreatedOrder(OneOrder, Added):
    pass


class Orders(Result):
    standing_orders: list[StandingOrder]
    paging: Paging


class UpdatedOrder(Result):
    standing_order: StandingOrder
    changed: list[str]


class OrderRun(Part):
    run_id: str
    started_at: datetime | None
    finished_at: datetime | None
    outcome: Outcome | None
    tools_called: list[str]
    error: str | None


class OrderDetails(Result):
    standing_order: StandingOrder
    last_result: str | None
    runs: list[OrderRun]


class QueuedRun(Result):
    run_id: str
    queued: bool
    expected_by: datetime
    next_allowed_at: datetime


_get_own = partial(get_own, Row, "standing order")


def _get_own_running(call: Call, order_id: int, verb: str) -> Row:
    """The order, locked. Raises Invalid when it is stopped or paused."""
    row = _get_own(call.db, order_id, locked=True)
    if row.stopped_at is not None:
        raise Invalid(Fault("standing_order_id", f"is stopped and cannot be {verb}", "a running order, or a new one"))
    if row.paused_at is not None:
        raise Invalid(Fault("standing_order_id", f"is paused by the plan and cannot be {verb}", "a running order"))
    return row


def _require_model(call: Call, nothing: str) -> None:
    if not call.settings.standing_order_model:
        raise BackendUnavailable(
            f"This installation has no language model for standing orders, so {nothing}; its operator can set one up."
            f" {WITHOUT_MODEL}",
            [Outage("language_model", "not_configured")],
        )


def _describe_model(call: Call) -> str:
    """A sentence if orders can neither be created nor run here."""
    if call.settings.standing_order_model:
        return ""
    return f" This installation has no language model, so none can be created or run. {WITHOUT_MODEL}"


def _check_cap(call: Call) -> None:
    refusal = "running; nothing was created. Stop one with cancel_standing_order or choose a larger plan."
    check_cap(call, call.db, Row, refusal)


def _schedule_runs(call: Call, row: Row) -> datetime:
    """Schedules the first run at the next such hour; returns the time."""
    first = next_run(call.now, row.run_hour, row.run_weekday)
    schedule(call.db, STANDING_ORDER.run, row.id, DAILY if row.cadence == "daily" else WEEKLY, first)
    return first


@tool("standing_orders", Tier.PREMIUM, Effect.ADDS, "Create a standing order")
def create_standing_order(
    call: Call,
    prompt: Annotated[Prompt, Field(description="Complete: it sees no conversation.")],
    cadence: Cadence = "weekly",
    run_hour: Hour = 7,
    run_weekday: Weekday = MONDAY,
    trip_id: TripId | None = None,
    again: Again = None,
) -> CreatedOrder:
    """Schedules a search or report that repeats daily or weekly, such as each Monday at 7, and emails the result.

    For "Every Sunday, go over my points and write me the best deals." A digest or summary; it only reads. Seats on one
    route: create_route_monitor. Premium.
    """
    if trip_id is not None:
        open_trip(call.db, trip_id)
    _require_model(call, "nothing was stored")
    weekday = run_weekday if cadence == "weekly" else None
    row = Row(prompt=prompt, cadence=cadence, run_hour=run_hour, run_weekday=weekday, trip_id=trip_id)
    if saved := find_saved(call, row, "standing order", again=again):
        part = to_standing_orders(call, [saved.row])[0]
        return CreatedOrder(message=saved.message, standing_order=part, already_saved=True)
    _check_cap(call)
    call.db.add(row)
    call.db.flush()
    first = _schedule_runs(call, row)
    return CreatedOrder(
        message=f"Standing order {row.id} runs {cadence}, first on {first:%A}, {format_day(first)} at {first:%H:%M}"
        " UTC. Each result is mailed and kept. run_standing_order runs it sooner.",
        already_saved=False,
        standing_order=to_standing_orders(call, [row])[0],
    )


@tool("standing_orders", Tier.FREE, Effect.READS, "List standing orders")
def list_standing_orders(
    call: Call, state: Literal["running", "stopped", "all"] = "running", page: Page = 1, per_page: PerPage = 20
) -> Orders:
    """Lists the user's scheduled jobs and daily or weekly reports: next run, last outcome, failed or not.

    For "Which reports do I have set up?" Free.
    """
    condition = {"running": Row.is_running(), "stopped": ~Row.is_running(), "all": true()}[state]
    rows, total = page_of(call.db, Row, [condition], Row.id.desc(), page=page, per_page=per_page)
    kind = "standing order" if state == "all" else f"{state} standing order"
    prompts = (shorten(row.prompt, 60, placeholder=" ...") for row in rows)
    return Orders(
        message=f"{tell_rows(total, kind, prompts)}{_describe_model(call)}",
        standing_orders=to_standing_orders(call, rows),
        paging=Paging.of(page, per_page, total),
    )


@tool("standing_orders", Tier.FREE, Effect.READS, "Show a standing order")
def get_standing_order(call: Call, standing_order_id: OrderId) -> OrderDetails:
    """Opens one daily or weekly report or job: results of the last run, and past runs failed or not.

    For "What did my Monday report say?" Free.
    """
    row = _get_own(call.db, standing_order_id)
    mine = Run.standing_order_id == row.id
    names = OrderRun.model_fields.keys() - {"run_id"}
    runs = call.db.scalars(select(Run).where(mine).order_by(Run.queued_at.desc(), Run.id).limit(10)).all()
    last_result = select(Run.result).where(mine, Run.result.is_not(None)).order_by(Run.finished_at.desc()).limit(1)
    history = f"its {pluralize(len(runs), 'newest run')}" if runs else "no runs yet"
    return OrderDetails(
        message=f"Standing order {row.id} with {history}.",
        standing_order=to_standing_orders(call, [row])[0],
        last_result=call.db.scalar(last_result),
        runs=[
            OrderRun.model_validate({name: getattr(run, name) for name in names} | {"run_id": shorten_uuid(run.id)})
            for run in runs
        ],
    )


@tool("standing_orders", Tier.PREMIUM, Effect.CHANGES, "Change a standing order")
def update_standing_order(
    call: Call,
    standing_order_id: OrderId,
    prompt: Prompt | None = None,
    cadence: Cadence | None = None,
    run_hour: Hour | None = None,
    run_weekday: Weekday | None = None,
    trip_id: TripId | None = None,
    clear: list[Clearable] | None = None,
) -> UpdatedOrder:
    """Changes a daily or weekly report or scheduled job: its hour, weekday, topic or trip.

    For "Make it Friday at 8 instead, and look for first class." Premium.
    """
    if trip_id is not None:
        open_trip(call.db, trip_id)
    row = _get_own_running(call, standing_order_id, "changed")
    changes = {
        "prompt": prompt,
        "cadence": cadence,
        "run_hour": run_hour,
        "run_weekday": _settle_weekday(row, cadence or row.cadence, run_weekday),
        "trip_id": trip_id,
    }
    changed = edit(row, call.now, changes, clear)
    call.db.flush()
    soon = ""
    if {"cadence", "run_hour", "run_weekday"} & set(changed):
        first = _schedule_runs(call, row)
        soon = f" It next runs on {first:%A}, {format_day(first)} at {first:%H:%M} UTC."
    order = to_standing_orders(call, [row])[0]
    weekday = None if order.run_weekday is None else day_name[order.run_weekday - 1]  # that of Monday is 1 here
    message = describe_changes(f"standing order {row.id}", order, changed, run_weekday=weekday)
    return UpdatedOrder(message=message + soon, standing_order=order, changed=changed)


def _settle_weekday(row: Row, cadence: str, weekday: int | None) -> int | Literal[""] | None:
    """The weekday to store: daily orders have none, weekly ones keep theirs or take Monday."""
    if cadence == "weekly":
        return MONDAY if weekday is None and row.run_weekday is None else weekday
    if weekday is not None:
        raise Invalid(Fault("run_weekday", "is given for a daily order", "cadence weekly, or no run_weekday"))
    return ""


@tool("standing_orders", Tier.FREE, Effect.CHANGES, "Cancel a standing order")
def cancel_standing_order(call: Call, standing_order_id: OrderId) -> OneOrder:
    """Stops a daily or weekly report or scheduled job for good; the last result stays.

    For "I don't want that weekly mail anymore, stop it." Free.
    """
    row = _get_own(call.db, standing_order_id, locked=True)
    if row.stopped_at is None:
        row.stopped_at = call.now
        call.db.flush()
        unschedule(call.db, STANDING_ORDER.run, [row.id])
    return OneOrder(
        message=f"Standing order {row.id} is stopped; its last result is kept.",
        standing_order=to_standing_orders(call, [row])[0],
    )


@tool("standing_orders", Tier.PREMIUM, Effect.ADDS, "Run a standing order now", open_world=True)
def run_standing_order(call: Call, standing_order_id: OrderId) -> QueuedRun:
    """Runs a daily or weekly report or scheduled job immediately, one extra time, and emails the result.

    For "Don't wait for Monday, do my report today." At most hourly. Premium.
    """
    row = _get_own_running(call, standing_order_id, "run")
    _require_model(call, "nothing was queued")
    next_allowed = _allow_extra_run(call, row)
    run = Run(
        standing_order_id=row.id,
        job_run_id=run_now(call.db, STANDING_ORDER.run, row.id),
        manual=True,
        queued_at=call.now,
    )
    call.db.add(run)
    call.db.flush()
    return QueuedRun(
        message=f"Standing order {row.id} is queued; the result is mailed and stands with the order.",
        run_id=shorten_uuid(run.id),
        queued=True,
        expected_by=call.now + timedelta(seconds=QUEUE_SECONDS + call.settings.standing_order_seconds),
        next_allowed_at=next_allowed,
    )


def _allow_extra_run(call: Call, row: Row) -> datetime:
    """The next moment an extra run is allowed. The row is locked, so that one of two concurrent calls is refused."""
    query = select(func.max(Run.queued_at)).where(Run.standing_order_id == row.id, Run.manual)
    last_extra = call.db.scalar(query)
    if last_extra is not None and (allowed_at := last_extra + EXTRA_RUN_INTERVAL) > call.now:
        raise LimitReached(
            f"Standing order {row.id} was run by hand at {last_extra:%H:%M} UTC; one extra run an hour is allowed.",
            limit="standing_order_runs",
            current=1,
            cap=1,
            resets_at=allowed_at,
        )
    return call.now + EXTRA_RUN_INTERVAL
