"""`award-travel user list` and `find`: accounts by pages, by a part of the address or by their id."""

import argparse
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from deploy.errors import CommandError
from deploy.rows import print_rows
from shared.db.accounts import Account, page_of_accounts
from shared.db.base import transaction
from shared.domain.plurals import pluralize

MAX_PER_PAGE = 1000


@dataclass(frozen=True)
class AccountLine:
    id: str  # the public one
    email: str | None
    plan: str
    is_admin: bool
    state: str  # active | not confirmed | suspended
    created_at: datetime
    last_seen_at: datetime | None


def list_accounts(arguments: argparse.Namespace) -> None:
    """One page, the oldest account first; what follows is said behind it."""
    page, per_page = arguments.page, arguments.per_page
    if page < 1 or not 1 <= per_page <= MAX_PER_PAGE:
        raise CommandError(f"--page counts from 1, and a page has 1 to {MAX_PER_PAGE} accounts.")
    with transaction() as session:
        rows, total = page_of_accounts(session, None, page, per_page)
        lines = [_to_line(row) for row in rows]
    empty = "No account yet: award-travel user add EMAIL" if page == 1 else f"There are {pluralize(total, 'account')}."
    print_rows(lines, _describe, empty=empty, as_json=arguments.json)
    if not arguments.json and page * per_page < total:
        print(f"{pluralize(total, 'account')} in all; the next page: award-travel user list --page {page + 1}")


def find_accounts(arguments: argparse.Namespace) -> None:
    """By a part of the address, or by the id that the trail and log lines name."""
    with transaction() as session:
        by_id = session.scalars(sa.select(Account).where(Account.public_id == arguments.text)).all()
        rows, total = page_of_accounts(session, arguments.text, 1, MAX_PER_PAGE)
        lines = [_to_line(row) for row in by_id or rows]
    print_rows(lines, _describe, empty=f"No account has {arguments.text} in its address.", as_json=arguments.json)
    if not by_id and total > MAX_PER_PAGE and not arguments.json:
        print(f"{pluralize(total, 'account')} in all; name more of the address.")


def _to_line(row: Account) -> AccountLine:
    is_unconfirmed = row.email is not None and row.email_confirmed_at is None
    state = "suspended" if row.disabled_at else "not confirmed" if is_unconfirmed else "active"
    return AccountLine(row.public_id, row.email, row.plan, row.is_admin, state, row.created_at, row.last_seen_at)


def _describe(line: AccountLine) -> str:
    state = "" if line.state == "active" else f"  {line.state}"
    admin = "admin" if line.is_admin else ""
    return f"{line.email or line.id:<40} {line.plan:<12} {admin:<6} since {line.created_at:%Y-%m-%d}{state}"
