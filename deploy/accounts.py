"""`award-travel user`: accounts made, changed and listed by the operator."""

import argparse
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from auth_server.accounts import factors
from auth_server.accounts.accounts import create_account
from auth_server.accounts.security_events import record_event
from auth_server.web.unit_of_work import UnitOfWork
from deploy.account_access import end_access, list_access, remove_account, restore_account, suspend_account
from deploy.account_list import find_accounts, list_accounts
from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.service import database
from deploy.operator_actions import read_account, write_trail
from deploy.prompts import read_password
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.domain.plans import LIMITS, Plan
from shared.outbox.plan_change import change_admin, change_plan, change_trial


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
    """One account, inside a transaction that writes the trail; the servers are told once it is committed."""
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
    """The owner is told by mail: it is what a thief would ask the operator for."""
    with _edit_account(arguments, "off") as (session, account):
        factors.remove_all(session, account)
        record_event(UnitOfWork(session), account, "factor_removed", subject="Passkeys, the app and recovery codes")
    print(f"{arguments.email}: the password alone signs in again. Ask them to add a new passkey or app.")
