"""`award-travel user`: makes, changes and lists accounts."""

import argparse
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from auth_server.accounts import access, access_items, factors
from auth_server.accounts.accounts import create_account
from auth_server.accounts.security_events import record_event
from auth_server.pages.account_deletion import delete_account
from auth_server.web.unit_of_work import UnitOfWork
from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.service import database
from deploy.operators.operator_actions import open_unit_of_work, read_account, write_trail
from deploy.terminal import confirm, print_rows, read_password
from shared.db.accounts import Account, page_of_accounts
from shared.db.base import transaction
from shared.domain.plans import LIMITS, Plan
from shared.domain.plurals import pluralize
from shared.outbox.plan_change import change_admin, change_plan, change_trial

# `award-travel user list` and `find`: accounts by pages, by a part of the address or by their id.

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
    """Prints one page, the oldest account first, then how to get the next."""
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
    """Finds accounts by a part of the address, or by the id that the trail and log lines name."""
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


# `award-travel user suspend|restore|access|end-access|delete`: access to an account, and ending it.


@dataclass(frozen=True)
class AccessLine:
    item: str  # for `user end-access`
    what: str


def suspend_account(arguments: argparse.Namespace) -> None:
    with open_unit_of_work() as uow:
        account = read_account(uow.db, arguments.email)
        if account.disabled_at is not None:
            raise CommandError(f"{arguments.email} is suspended already.")
        access.suspend(uow, account)
        write_trail(uow.db, arguments, "suspend", account.public_id)
    print(f"{arguments.email} is suspended: nothing is deleted, and nothing opens the account.")


def restore_account(arguments: argparse.Namespace) -> None:
    with open_unit_of_work() as uow:
        account = read_account(uow.db, arguments.email)
        if account.disabled_at is None:
            raise CommandError(f"{arguments.email} is not suspended.")
        access.restore(uow, account)
        write_trail(uow.db, arguments, "restore", account.public_id)
    print(f"{arguments.email} is restored, with the sessions, applications and keys it had.")


def list_access(arguments: argparse.Namespace) -> None:
    with transaction() as session:
        account = read_account(session, arguments.email)
        rows = access_items.describe_access(UnitOfWork(session), account)
    lines = [AccessLine(item, words) for item, words in rows.items()]
    empty = "No browser is signed in, and no application or key is active."
    print_rows(lines, lambda line: f"{line.item}  {line.what}", empty=empty, as_json=arguments.json)


def end_access(arguments: argparse.Namespace) -> None:
    """Ends all access, or the one item named; the owner gets a mail."""
    with open_unit_of_work() as uow:
        account = read_account(uow.db, arguments.email)
        what = access_items.end_access(uow, account, arguments.item)
        if what is None:
            raise CommandError(
                f"{arguments.item} is no active access of this account: see award-travel user access EMAIL."
            )
        write_trail(uow.db, arguments, "end-access", account.public_id, what)
    print(f"{arguments.email}: {what} ended.")


def remove_account(arguments: argparse.Namespace) -> None:
    """Prints the random id: the trail keeps only that, and it is how the deletion is found again."""
    if not arguments.yes and not confirm(f"Delete {arguments.email} with everything it holds? Type yes: "):
        raise CommandError("Nothing was deleted.")
    with open_unit_of_work() as uow:
        account = read_account(uow.db, arguments.email)
        public_id = account.public_id
        write_trail(uow.db, arguments, "delete", public_id)
        delete_account(uow, account)
    print(f"{arguments.email} is deleted with everything it held. The trail knows it as {public_id}.")


def run_user(arguments: argparse.Namespace) -> None:
    password = read_password() if getattr(arguments, "password_stdin", False) else None
    changes = {"plan": _change_plan, "limit": _change_limit, "trial": _change_trial, "admin": _change_admin}
    changes |= {"second-factor": _remove_second_factor, "suspend": suspend_account, "restore": restore_account}
    changes |= {"access": list_access, "end-access": end_access, "delete": remove_account, "list": list_accounts}
    changes |= {"find": find_accounts}
    with database(Home(arguments.home)):
        if arguments.action == "add":
            _add_account(arguments, password)
        else:
            changes[arguments.action](arguments)


def _add_account(arguments: argparse.Namespace, password: str | None) -> None:
    new_password = password or secrets.token_urlsafe(12)
    with transaction() as session:
        account = create_account(session, arguments.email, new_password, plan=arguments.plan, admin=arguments.admin)
        detail = f"{account.plan}{', administrator' if account.is_admin else ''}"
        write_trail(session, arguments, "add", account.public_id, detail)
        email = account.email
    print(f"{email} added on the {arguments.plan} plan{', as an administrator' if arguments.admin else ''}.")
    if password is None:
        print(f"Password: {new_password}")


@contextmanager
def _edit_account(arguments: argparse.Namespace, change: str = "") -> Iterator[tuple[Session, Account]]:
    """Yields one account in a transaction that writes the trail; the servers are told after the commit."""
    with transaction() as session:
        account = read_account(session, arguments.email)
        before = account.plan
        yield session, account
        write_trail(session, arguments, arguments.action, account.public_id, change.format(before=before))


def _change_plan(arguments: argparse.Namespace) -> None:
    if arguments.api_calls is not None and arguments.api_calls < 0:
        raise CommandError("--api-calls is a number of calls a month: 0 or more.")
    with _edit_account(arguments, f"{{before}} -> {arguments.plan}") as (session, account):
        before = account.plan
        change_plan(session, account, Plan.of(arguments.plan), arguments.api_calls)
    agreed_calls = "" if arguments.api_calls is None else f", {arguments.api_calls} API calls a month"
    print(f"{arguments.email}: {before} -> {arguments.plan}{agreed_calls}.")


def _change_limit(arguments: argparse.Namespace) -> None:
    if arguments.calls != "plan" and not (arguments.calls.isdecimal() and len(arguments.calls) < 10):
        raise CommandError("The limit is a number of API calls a month, or the word plan.")
    agreed_calls = None if arguments.calls == "plan" else int(arguments.calls)
    with _edit_account(arguments, arguments.calls) as (session, account):
        plan = Plan.of(account.plan)
        change_plan(session, account, plan, agreed_calls)
    calls = LIMITS[plan].api_calls_per_month if agreed_calls is None else agreed_calls
    print(f"{arguments.email}: {calls} API calls a month{' as the plan says' if agreed_calls is None else ''}.")


def _change_trial(arguments: argparse.Namespace) -> None:
    if not 0 <= arguments.days <= 3650:
        raise CommandError("A trial lasts 0 to 3650 days; 0 ends it.")
    with _edit_account(arguments, f"{arguments.days} days") as (session, account):
        until = change_trial(session, account, arguments.days)
    print(f"{arguments.email}: inbox trial {f'until {until:%Y-%m-%d %H:%M} UTC' if arguments.days else 'ended'}.")


def _change_admin(arguments: argparse.Namespace) -> None:
    with _edit_account(arguments, arguments.flag) as (session, account):
        change_admin(session, account, is_admin=arguments.flag == "on")
    print(f"{arguments.email} is {'an' if arguments.flag == 'on' else 'no'} administrator.")


def _remove_second_factor(arguments: argparse.Namespace) -> None:
    """Removes it and mails the owner: a thief would ask the operator for this."""
    with _edit_account(arguments, "off") as (session, account):
        factors.remove_all(session, account)
        record_event(UnitOfWork(session), account, "factor_removed", subject="Passkeys, the app and recovery codes")
    print(f"{arguments.email}: the password alone signs in again. Ask them to add a new passkey or app.")
