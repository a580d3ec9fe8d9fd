"""What administrators see of accounts: the filters they name go in, pages of accounts come out."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from mcp_server.call import Call
from mcp_server.fields import Page, PerPage
from mcp_server.results import Paging, Part, Result
from mcp_server.toolbox import Effect, Tier, tool
from shared.db.accounts import page_of_accounts
from shared.db.base import everyone


class ListedUser(Part):
    id: int
    email: str | None
    tier: str
    created_at: datetime
    last_seen_at: datetime | None


class Users(Result):
    users: list[ListedUser]
    paging: Paging


@tool(area="admin", tier=Tier.ADMIN, effect=Effect.READS, title="Admin: list users")
def admin_list_users(
    call: Call,
    search: Annotated[str | None, Field(max_length=120, description="Part of the email.")] = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Users:
    """Lists all accounts, oldest first, with their plan; search narrows by a part of the email. Admin-only."""
    rows, total = page_of_accounts(everyone(call.db), search, page, per_page)
    users = [
        ListedUser(id=r.id, email=r.email, tier=r.plan, created_at=r.created_at, last_seen_at=r.last_seen_at)
        for r in rows
    ]
    message = f"{total} account{'' if total == 1 else 's'}{' fit the search' if search else ''}."
    return Users(message=message, users=users, paging=Paging.of(page, per_page, total))
