"""Tools with which administrators find accounts and read their plan and use."""

from datetime import UTC, datetime, time
from typing import Annotated, Literal

from pydantic import Field

from mcp_server.calls.quota import COUNTED
from mcp_server.toolkit import Call, Effect, Paging, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import Page, PerPage, RowId
from mcp_server.views.trips import SearchRecord, to_search_record
from shared.db.accounts import page_of_accounts
from shared.db.admin_figures import count_rest_calls, find_account, newest_searches
from shared.db.base import unscoped
from shared.db.usage import API_CALLS, count_used
from shared.domain.plans import LIMITS, Plan
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, NotFound

MAX_RECENT_SEARCHES = 20


class ListedUser(Part):
    id: int
    email: str | None
    tier: str
    created_at: datetime
    last_seen_at: datetime | None


class Users(Result):
    users: list[ListedUser]
    paging: Paging


class User(Part):
    id: int
    email: str | None
    created_at: datetime
    tier: str
    is_admin: bool


class Subscription(Part):
    """Plans are changed by the operator and do not end by themselves."""

    tier: str
    state: Literal["none", "active", "disabled"]
    renews_on: None


class ApiUsage(Part):
    this_month: int
    cap: int
    today: int


class OneUser(Result):
    user: User
    subscription: Subscription
    api_usage: ApiUsage
    recent_searches: list[SearchRecord]


@tool("admin", Tier.ADMIN, Effect.READS, "List accounts (administrator)")
def admin_list_users(
    call: Call,
    search: Annotated[str | None, Field(max_length=120, description="Part of the email.")] = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Users:
    """Lists all registered accounts with their plan, or finds everyone who signed up with an email or domain.

    For "Who signed up from this company?" Admin-only.
    """
    rows, total = page_of_accounts(unscoped(call.db), search, page, per_page)
    users = [ListedUser.from_row(r, tier=r.plan) for r in rows]
    message = f"{pluralize(total, 'account')}{' found' if search else ''}."
    return Users(message=message, users=users, paging=Paging.of(page, per_page, total))


@tool("admin", Tier.ADMIN, Effect.READS, "Show an account (administrator)")
def admin_get_user(
    call: Call,
    id: RowId | None = None,
    email: Annotated[str | None, Field(max_length=254)] = None,
) -> OneUser:
    """Looks up one customer's account by id or email for support: premium paid or not, blocked, API use, searches.

    For "A customer says premium is paid." Admin-only.
    """
    if id is None and email is None:
        raise Invalid(Fault("id", "is missing, and so is email", "one of the two"))
    row = find_account(unscoped(call.db), id, email)
    if row is None:
        raise NotFound("account", email if id is None else id)
    searches = [to_search_record(s) for s in newest_searches(call.db, row.id, MAX_RECENT_SEARCHES)]
    paid: Literal["none", "active"] = "none" if row.plan == Plan.FREE.slug else "active"
    subscription = Subscription(tier=row.plan, state="disabled" if row.disabled_at else paid, renews_on=None)
    session, agreed = unscoped(call.db), row.api_calls_per_month
    api_usage = ApiUsage(
        this_month=count_used(session, row.id, API_CALLS, call.today.replace(day=1)),
        cap=LIMITS[Plan.of(row.plan)].api_calls_per_month if agreed is None else agreed,
        today=count_rest_calls(session, row.id, datetime.combine(call.today, time(), UTC), COUNTED[API_CALLS]),
    )
    return OneUser(
        message=f"Account {row.id}, {row.email or 'an agent without an address'}: {row.plan.title()} plan.",
        user=User.from_row(row, tier=row.plan),
        subscription=subscription,
        api_usage=api_usage,
        recent_searches=searches,
    )
