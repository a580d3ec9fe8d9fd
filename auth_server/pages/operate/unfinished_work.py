"""Runs and messages: what waits and since when, what failed or is uncertain, and doing one of them again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from auth_server.pages.member import Member, redirect_back
from auth_server.pages.operate import operator
from auth_server.pages.operate.operator import JOBS, MAIL, Question, build_change_routes, get_for_operator
from auth_server.web.outcomes import FlowResult
from shared.db.service_figures import ServiceFigures, read_service_figures
from shared.db.unfinished_work import (
    UNSENT,
    MessageLine,
    RunLine,
    find_failed_run,
    find_unsent_message,
    list_messages,
    list_runs,
    repeat_message,
    repeat_run,
)
from shared.domain.plurals import pluralize

PER_PAGE = 20
MAX_ERROR = 300  # characters of it on the page that asks
RETRY, RESEND = f"{JOBS}/retry", f"{MAIL}/resend"
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"))
MESSAGES = {
    "retried": "The run is due again at once, as a separate run. The failed one stays in the list.",
    "resent": "The message is written again and goes out at once. The old one stays in the list.",
    "unchanged": "Nothing was done: it was done already, or its text is gone.",
}


@dataclass(frozen=True)
class _Queue:
    """The waiting work: since when, in words, and open rows by kind and status."""

    ages: list[tuple[str, str]]
    counts: list[tuple[str, str, int]]


def _describe_wait(seconds: float) -> str:
    """How long the oldest has waited, in the largest unit that there are two of."""
    if seconds < 1:
        return "nothing is due"
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= 2 * size), (1, "second"))
    return pluralize(int(seconds // size), unit)


def _read_queue(describe: Callable[[ServiceFigures], _Queue]) -> _Queue | None:
    """None when the database is too busy to count; these statements have their own short limit."""
    try:
        return describe(read_service_figures())
    except (SQLAlchemyError, OSError):
        return None


def _describe_runs(figures: ServiceFigures) -> _Queue:
    ages = [("Oldest due schedule", _describe_wait(figures.oldest_due_schedule))]
    for queue, seconds in figures.oldest_due_runs.items():
        ages.append((f"Oldest due run of {queue}", _describe_wait(seconds)))
    return _Queue(ages, sorted((*names, number) for names, number in figures.open_runs.items()))


def _describe_deliveries(figures: ServiceFigures) -> _Queue:
    ages = [("Oldest due message", _describe_wait(figures.oldest_due_delivery))]
    return _Queue(ages, sorted((*names, number) for names, number in figures.open_deliveries.items()))


def _show(member: Member, template: str, queue: _Queue | None, rows: Sequence[RunLine | MessageLine]) -> FlowResult:
    context = {"page": operator.read_page(member), "has_more": len(rows) > PER_PAGE, "messages": MESSAGES}
    return operator.show(member, template, queue=queue, rows=rows[:PER_PAGE], **context)


def _find_offset(member: Member) -> int:
    return (operator.read_page(member) - 1) * PER_PAGE


def show_jobs(member: Member) -> FlowResult:
    rows = list_runs(member.db, ["failed"], None, PER_PAGE + 1, offset=_find_offset(member))
    return _show(member, "operate_jobs.html", _read_queue(_describe_runs), rows)


def show_mail(member: Member) -> FlowResult:
    rows = list_messages(member.db, UNSENT, None, PER_PAGE + 1, offset=_find_offset(member))
    return _show(member, "operate_mail.html", _read_queue(_describe_deliveries), rows)


def _find_run(member: Member) -> RunLine | None:
    number = operator.read_number(member, "id")
    return find_failed_run(member.db, number) if number is not None else None


def _find_message(member: Member) -> MessageLine | None:
    try:
        return find_unsent_message(member.db, UUID(member.data.query_value("id") or member.read_field("id")))
    except ValueError:
        return None


def _shorten(error: str | None) -> str:
    return (error or "no error is stored")[:MAX_ERROR].rstrip(".")


def _ask_retry(member: Member, run: RunLine, fault: str) -> FlowResult:
    text = f"{run.kind} of {run.subject_id} failed: {_shorten(run.error)}. It runs once more at once."
    question = Question(RETRY, f"Retry {run.kind}?", text, "Retry", (JOBS, "Jobs"), {"id": str(run.id)})
    return operator.ask(member, question, fault)


def _retry(member: Member, run: RunLine, reason: str) -> FlowResult:
    repeated = repeat_run(member.db, run.id) if member.take_form_once() else None
    if repeated is None:
        return redirect_back(JOBS, "unchanged")
    run_id, kind = repeated
    operator.write_trail(member, "jobs retry", f"run:{run.id}", f"{kind}, as run {run_id}", reason)
    return redirect_back(JOBS, "retried")


def _ask_resend(member: Member, message: MessageLine, fault: str) -> FlowResult:
    why = "may have arrived already" if message.status == "uncertain" else "failed"
    text = (
        f"{message.event} by {message.channel} to {message.recipient} {why}: {_shorten(message.error)}. "
        "It is written again and goes out at once. One-time links in it may have ended since."
    )
    title, fields = f"Resend {message.event}?", {"id": str(message.id)}
    return operator.ask(member, Question(RESEND, title, text, "Resend", (MAIL, "Mail"), fields), fault)


def _resend(member: Member, message: MessageLine, reason: str) -> FlowResult:
    repeated = repeat_message(member.db, message.id) if member.take_form_once() else None
    if repeated is None:
        return redirect_back(MAIL, "unchanged")
    _, account = repeated
    operator.write_trail(member, "mail resend", account, str(message.id), reason)
    return redirect_back(MAIL, "resent")


ROUTES = [
    get_for_operator(JOBS, show_jobs),
    *build_change_routes(RETRY, _find_run, _ask_retry, _retry),
    get_for_operator(MAIL, show_mail),
    *build_change_routes(RESEND, _find_message, _ask_resend, _resend),
]
