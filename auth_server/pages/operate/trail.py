"""The trail: who did what to which account, application, run or provider, why and when, the newest first."""

import sqlalchemy as sa

from auth_server.pages.member import Member
from auth_server.pages.operate import operator
from auth_server.pages.operate.operator import TRAIL, get_for_operator
from auth_server.web.outcomes import FlowResult
from shared.db.accounts import Account
from shared.db.operator_actions import OperatorAction, list_actions

PER_PAGE = 20
SHOW = f"{TRAIL}/show"


def show_trail(member: Member) -> FlowResult:
    """Shows it all or, with `target` in the address, what was done to it; `before` is the number of a later action."""
    before, target = operator.read_number(member, "before"), member.data.query_value("target") or None
    rows = list_actions(member.db, target, PER_PAGE + 1, before=before)
    older = rows[PER_PAGE - 1][0].id if len(rows) > PER_PAGE else None
    about = {"target": target} if target else {}
    context = {"rows": rows[:PER_PAGE], "older": older, "is_newest": before is None, "about": about}
    return operator.show(member, "operate_trail.html", **context)


def show_action(member: Member) -> FlowResult:
    """Shows one action in full: a list shortens its reason."""
    number = operator.read_number(member, "id")
    rows = sa.select(OperatorAction, Account.email).outerjoin(Account, Account.public_id == OperatorAction.target)
    row = member.db.execute(rows.where(OperatorAction.id == number)).one_or_none() if number is not None else None
    if row is None:
        return operator.show_nothing()
    return operator.show(member, "operate_action.html", action=row[0], email=row[1])


ROUTES = [get_for_operator(TRAIL, show_trail), get_for_operator(SHOW, show_action)]
