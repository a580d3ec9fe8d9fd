"""Users: accounts listed and found by address or id, each with its plan, its limits and what may use it."""

import sqlalchemy as sa

from auth_server.accounts.access_items import describe_access
from auth_server.accounts.factors import list_factors
from auth_server.pages.member import Member
from auth_server.pages.operate import operator
from auth_server.pages.operate.operator import USERS, get_for_operator, post_for_operator
from auth_server.web.outcomes import FlowResult, Redirect
from shared import clock
from shared.db.accounts import Account, page_of_accounts
from shared.db.operator_actions import list_actions
from shared.db.usage import API_CALLS, SEARCHES, TOOL_CALLS, count_used
from shared.domain.plans import LIMITS, Plan

PER_PAGE = 25
MAX_ACTIONS = 10  # of the trail, on the page of one account
SHOW = f"{USERS}/show"
MESSAGES = {
    "suspended": "The account is suspended: nothing is deleted, and nothing opens it.",
    "restored": "The account is restored, with the sessions, applications and keys it had.",
    "plan": "The plan is changed. The owner is told by mail.",
    "ended": "That access is ended. The owner is told by mail.",
    "unchanged": "Nothing was changed: it was so already.",
}


def find_user(member: Member) -> Account | None:
    """The account of the page or form, by its public id."""
    public_id = member.data.query_value("id") or member.read_field("id")
    return member.db.scalar(sa.select(Account).where(Account.public_id == public_id))


def describe_state(account: Account) -> str:
    if account.disabled_at is not None:
        return "suspended"
    return "not confirmed" if account.email is not None and account.email_confirmed_at is None else "active"


def list_users(member: Member) -> FlowResult:
    """Lists users, the oldest account first."""
    page = operator.read_page(member)
    rows, total = page_of_accounts(member.db, None, page, PER_PAGE)
    return _show_list(member, rows, total, page, "")


def find_users(member: Member) -> FlowResult:
    """Finds users by part of an address or a whole id. A form, not a link, so that no address gets into a log."""
    text = member.data.form_value("text").strip()
    if not text:
        return Redirect(USERS)
    by_id = member.db.scalars(sa.select(Account).where(Account.public_id == text)).all()
    rows, total = ([*by_id], 1) if by_id else page_of_accounts(member.db, text, 1, PER_PAGE)
    return _show_list(member, rows, total, 1, text)


def _show_list(member: Member, rows: list[Account], total: int, page: int, text: str) -> FlowResult:
    pages = 1 if text else -(-total // PER_PAGE)
    lines = [(row, describe_state(row)) for row in rows]
    typed = text or member.read_field("text")
    context = {"total": total, "page": page, "pages": pages, "text": typed, "searched": bool(text)}
    return operator.show(member, "operate_users.html", rows=lines, **context)


def show_user(member: Member) -> FlowResult:
    account = find_user(member)
    if account is None:
        return operator.show_nothing()
    items = describe_access(member.uow, account)
    return operator.show(
        member,
        "operate_user.html",
        user=account,
        state=describe_state(account),
        is_self=account.id == member.account.id,
        factors=list_factors(member.db, account.id),
        usage=_list_usage(member, account),
        items=[(item, item.partition(":")[0], words) for item, words in items.items()],
        actions=[action for action, _ in list_actions(member.db, account.public_id, MAX_ACTIONS)],
        messages=MESSAGES,
    )


def _list_usage(member: Member, account: Account) -> list[tuple[str, int, int | None]]:
    """Each counter as name, used and limit, where None is without a limit."""
    limits, day, agreed = LIMITS[Plan.of(account.plan)], clock.today(), account.api_calls_per_month
    calls = limits.api_calls_per_month if agreed is None else agreed
    return [
        ("Searches today", count_used(member.db, account.id, SEARCHES, day), limits.searches_per_day),
        ("Tool calls today", count_used(member.db, account.id, TOOL_CALLS, day), limits.tool_calls_per_day),
        ("API calls this month", count_used(member.db, account.id, API_CALLS, day.replace(day=1)), calls),
    ]


ROUTES = [
    get_for_operator(USERS, list_users),
    post_for_operator(USERS, find_users),
    get_for_operator(SHOW, show_user),
]
