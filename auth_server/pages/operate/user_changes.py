"""Changes of one account by an operator: suspended, restored, put on another plan, and its access ended."""

from collections.abc import Callable

from auth_server.accounts import access
from auth_server.accounts.access_items import describe_access, end_access
from auth_server.pages.member import Member
from auth_server.pages.operate import operator
from auth_server.pages.operate.operator import USERS, Question
from auth_server.pages.operate.users import SHOW, find_user
from auth_server.web.outcomes import FlowResult, Redirect
from shared.db.accounts import Account, lock
from shared.domain.parsing.numbers import UnreadNumber, read_number
from shared.domain.plans import Plan
from shared.outbox.plan_change import change_plan

SUSPEND, RESTORE, END, PLAN = (f"{USERS}/{name}" for name in ("suspend", "restore", "end-access", "plan"))
MAX_DIGITS = 9  # of a number of calls a month
CALLS_FAULT = "This is not a number of calls. Enter a whole number, or leave it empty."
_Act = Callable[[Member, Account, str], FlowResult]


def _name(account: Account) -> str:
    return account.email or f"the agent {account.public_id}"


def _ask(
    member: Member, account: Account, path: str, words: tuple[str, str, str], fault: str = "", **context: object
) -> FlowResult:
    title, text, button = words
    fields = {"id": account.public_id} | ({"item": item} if (item := _read_item(member)) else {})
    question = Question(path, title, text, button, (f"{SHOW}?id={account.public_id}", _name(account)), fields)
    return operator.ask(member, question, fault, **context)


def _read_item(member: Member) -> str:
    return member.data.query_value("item") or member.read_field("item")


def _redirect_to(account: Account, done: str) -> Redirect:
    return Redirect(f"{SHOW}?id={account.public_id}&done={done}")


def _lock_first(act: _Act) -> _Act:
    """Two changes of one account at once wait for each other."""

    def change(member: Member, account: Account, reason: str) -> FlowResult:
        lock(member.db, account.id)
        member.db.refresh(account)
        return act(member, account, reason)

    return change


def _ask_suspend(member: Member, account: Account, fault: str) -> FlowResult:
    text = (
        "Every way into the account is closed at once. Nothing is deleted, and it can be restored. The owner is told."
    )
    return _ask(member, account, SUSPEND, (f"Suspend {_name(account)}?", text, "Suspend"), fault)


def _suspend(member: Member, account: Account, reason: str) -> FlowResult:
    """Never suspends the operator's own account: no one could undo that here."""
    if account.id == member.account.id:
        return _ask_suspend(member, account, "This is the account you are signed in with. It is not suspended.")
    if account.disabled_at is not None:
        return _redirect_to(account, "unchanged")
    access.suspend(member.uow, account)
    operator.write_trail(member, "suspend", account.public_id, None, reason)
    return _redirect_to(account, "suspended")


def _ask_restore(member: Member, account: Account, fault: str) -> FlowResult:
    text = "The sessions, applications and keys it had work again at once. The owner is told."
    return _ask(member, account, RESTORE, (f"Restore {_name(account)}?", text, "Restore"), fault)


def _restore(member: Member, account: Account, reason: str) -> FlowResult:
    if account.disabled_at is None:
        return _redirect_to(account, "unchanged")
    access.restore(member.uow, account)
    operator.write_trail(member, "restore", account.public_id, None, reason)
    return _redirect_to(account, "restored")


def _ask_end(member: Member, account: Account, fault: str) -> FlowResult:
    item = _read_item(member)
    words = describe_access(member.uow, account).get(item) if item else "every session, application and key"
    if words is None:
        return _redirect_to(account, "unchanged")
    text = f"Of {_name(account)}: {words}. It works no more at once, and cannot be given back. The owner is told."
    title = f"End this {item.partition(':')[0]}?" if item else "End all access?"
    return _ask(member, account, END, (title, text, "End it"), fault)


def _end(member: Member, account: Account, reason: str) -> FlowResult:
    what = end_access(member.uow, account, _read_item(member) or None)
    if what is None:
        return _redirect_to(account, "unchanged")
    operator.write_trail(member, "end-access", account.public_id, what, reason)
    return _redirect_to(account, "ended")


def _ask_plan(member: Member, account: Account, fault: str, calls_fault: str = "") -> FlowResult:
    agreed = account.api_calls_per_month
    calls = member.read_field("calls") if member.data.form or agreed is None else str(agreed)
    text = "What the plan does not cover is paused, newest first, and nothing is deleted. The owner is told."
    return _ask(
        member,
        account,
        PLAN,
        (f"Plan of {_name(account)}", text, "Change the plan"),
        fault,
        plans=[(plan.slug, plan.name.title()) for plan in Plan],
        chosen=member.read_field("plan") or account.plan,
        calls=calls,
        calls_fault=calls_fault,
    )


def _change_plan(member: Member, account: Account, reason: str) -> FlowResult:
    calls, slug, before = member.data.form_value("calls").strip(), member.data.form_value("plan"), account.plan
    try:
        agreed = read_number(calls, is_whole=True) if calls else None
    except UnreadNumber:
        return _ask_plan(member, account, "", CALLS_FAULT)
    if agreed is not None and not 0 <= agreed < 10**MAX_DIGITS:
        return _ask_plan(member, account, "", CALLS_FAULT)
    if slug not in {plan.slug for plan in Plan}:
        return _ask_plan(member, account, "")
    change_plan(member.db, account, Plan.of(slug), agreed)
    detail = f"{before} -> {slug}" + ("" if agreed is None else f", {agreed} API calls a month")
    operator.write_trail(member, "plan", account.public_id, detail, reason)
    return _redirect_to(account, "plan")


_CHANGES = (
    (SUSPEND, _ask_suspend, _suspend),
    (RESTORE, _ask_restore, _restore),
    (END, _ask_end, _end),
    (PLAN, _ask_plan, _change_plan),
)
ROUTES = [
    route
    for path, ask, act in _CHANGES
    for route in operator.build_change_routes(path, find_user, ask, _lock_first(act))
]
