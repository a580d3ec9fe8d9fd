"""The link in a mail that pauses the one watch it came from: with a button, and with another to go on.

As with the link that ends a kind of mail, the signed address is the proof, so signing in is not needed.
"""

from sqlalchemy import select

from auth_server.web.outcomes import FlowResult, Page, Redirect, show_problem
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared.db.accounts import Account
from shared.db.watches import NoRoom, PausableWatch, find_watch, pause_watch, resume_watch
from shared.outbox.links import WATCHES_PAGE, find_watch_path, read_pause_token

PATH = "/pause"
RESUME_PATH = "/pause/resume"
_DEAD_LINK = show_problem(
    "This link does not work any longer",
    "The watch has ended, or was deleted. Sign in to see what is watched for you.",
    410,
    links=((WATCHES_PAGE, "Your watches"),),
)


def _find_own(uow: UnitOfWork, data: RequestData) -> tuple[Account, PausableWatch] | None:
    link = read_pause_token(data.query_value("token") or "")
    if link is None:
        return None
    public_id, kind, number = link
    account = uow.db.scalar(select(Account).where(Account.public_id == public_id, Account.disabled_at.is_(None)))
    watch = find_watch(uow.db, account, kind, number) if account is not None else None
    return (account, watch) if account is not None and watch is not None else None


def show_form(uow: UnitOfWork, data: RequestData) -> FlowResult:
    """Opening the link changes nothing: programs that read mail open links too."""
    own = _find_own(uow, data)
    return _DEAD_LINK if own is None else _show(own[1], data)


def _show(watch: PausableWatch, data: RequestData, fault: str = "", status: int = 200) -> FlowResult:
    token = data.query_value("token")
    page = find_watch_path(watch.row.KIND.name, watch.row.id)
    variables = {"title": watch.row.title, "is_running": watch.is_running, "token": token, "fault": fault, "page": page}
    return Page("watch_pause.html", variables, status)


def pause(uow: UnitOfWork, data: RequestData) -> FlowResult:
    own = _find_own(uow, data)
    if own is None:
        return _DEAD_LINK
    pause_watch(uow.db, own[1])
    return _return_to_form(data)


def resume(uow: UnitOfWork, data: RequestData) -> FlowResult:
    own = _find_own(uow, data)
    if own is None:
        return _DEAD_LINK
    try:
        resume_watch(uow.db, *own)
    except NoRoom as full:
        fault = f"Your plan runs {full.cap} of these at once. Pause another one first."
        return _show(own[1], data, fault, 409)
    return _return_to_form(data)


def _return_to_form(data: RequestData) -> FlowResult:
    """Redirects, so that a reload repeats nothing."""
    return Redirect(f"{PATH}?token={data.query_value('token')}")
