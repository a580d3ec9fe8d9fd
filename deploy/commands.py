"""The short commands: parsed words go in; accounts, tokens, tables or sandbox rows are seen to, and said."""

import argparse
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.service import database, serving

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from shared.db.accounts import Account


def _password() -> str:
    """One line from stdin; what a terminal or a file adds at its end is no part of it."""
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise CommandError("No password came on stdin: pass it as one line, for example with < FILE.")
    return password


def run_user(given: argparse.Namespace) -> None:
    password = _password() if getattr(given, "password_stdin", False) else None
    with database(Home(given.home)):
        if given.action == "add":
            _add(given, password)
        elif given.action == "list":
            _list()
        else:
            {"plan": _plan, "limit": _limit, "trial": _trial, "admin": _admin}[given.action](given)


def _add(given: argparse.Namespace, password: str | None) -> None:
    from auth_server.accounts.accounts import create_account
    from shared.db.base import transaction

    made = password or secrets.token_urlsafe(12)
    with transaction() as session:
        email = create_account(session, given.email, made, plan=given.plan, admin=given.admin).email
    print(f"{email} added on the {given.plan} plan{', as an administrator' if given.admin else ''}.")
    if password is None:
        print(f"Password: {made}")


@contextmanager
def _account(email: str) -> "Iterator[tuple[Session, Account]]":
    """One account, inside a transaction; the servers are told once it is committed."""
    from auth_server.accounts.accounts import find_account
    from shared.db.base import transaction

    with transaction() as session:
        account = find_account(session, email)
        if account is None:
            raise CommandError(f"No account {email}: see award-travel user list.")
        yield session, account


def _plan(given: argparse.Namespace) -> None:
    from shared.domain.plans import Plan
    from shared.outbox.plan_change import change_plan

    if given.api_calls is not None and given.api_calls < 0:
        raise CommandError("--api-calls is a number of calls a month: 0 or more.")
    with _account(given.email) as (session, account):
        before = account.plan
        change_plan(session, account, Plan.of(given.plan), given.api_calls)
    agreed = "" if given.api_calls is None else f", {given.api_calls} API calls a month"
    print(f"{given.email}: {before} -> {given.plan}{agreed}.")


def _limit(given: argparse.Namespace) -> None:
    from shared.domain.plans import LIMITS, Plan
    from shared.outbox.plan_change import change_plan

    if given.calls != "plan" and not (given.calls.isdecimal() and len(given.calls) < 10):
        raise CommandError("The limit is a number of API calls a month, or the word plan.")
    agreed = None if given.calls == "plan" else int(given.calls)
    with _account(given.email) as (session, account):
        plan = Plan.of(account.plan)
        change_plan(session, account, plan, agreed)
    calls = LIMITS[plan].api_calls_per_month if agreed is None else agreed
    print(f"{given.email}: {calls} API calls a month{' as the plan says' if agreed is None else ''}.")


def _trial(given: argparse.Namespace) -> None:
    from shared.outbox.plan_change import change_trial

    if not 0 <= given.days <= 3650:
        raise CommandError("A trial lasts 0 to 3650 days; 0 ends it.")
    with _account(given.email) as (session, account):
        until = change_trial(session, account, given.days)
    print(f"{given.email}: inbox trial {f'until {until:%Y-%m-%d %H:%M} UTC' if given.days else 'ended'}.")


def _admin(given: argparse.Namespace) -> None:
    from shared.outbox.plan_change import change_admin

    with _account(given.email) as (session, account):
        change_admin(session, account, is_admin=given.flag == "on")
    print(f"{given.email} is {'an' if given.flag == 'on' else 'no'} administrator.")


def _list() -> None:
    from sqlalchemy import select

    from shared.db.accounts import Account
    from shared.db.base import transaction

    with transaction() as session:
        rows = session.scalars(select(Account).order_by(Account.id)).all()
    for row in rows:
        admin = "admin" if row.is_admin else ""
        print(f"{row.email or row.public_id:<40} {row.plan:<12} {admin:<6} since {row.created_at:%Y-%m-%d}")
    if not rows:
        print("No account yet: award-travel user add EMAIL")


def run_token(given: argparse.Namespace) -> None:
    from deploy.client.oauth_login import access_token

    password = _password()
    with serving(Home(given.home)) as mcp_url:
        print(access_token(mcp_url, given.email, password))


def run_try(given: argparse.Namespace) -> None:
    from deploy.client.try_client import attempt, parsed

    arguments = parsed(given.arguments)
    if given.password_stdin != bool(given.email):
        raise CommandError("--email and --password-stdin go together; without both a browser is used.")
    password = _password() if given.password_stdin else None
    with serving(Home(given.home)) as mcp_url:
        attempt(mcp_url, given.email, password, given.tool, arguments)


def run_migrate(given: argparse.Namespace) -> None:
    """Needs only DATABASE_URL where one is set."""
    import os

    from shared.db.schema import upgrade, versions
    from shared.settings import driver_url

    def migrate(url: str) -> None:
        upgrade(url)
        print(f"The tables are at version {versions(url)[0]}.")

    if url := os.environ.get("DATABASE_URL"):
        migrate(driver_url(url))
        return
    with database(Home(given.home)):
        migrate(driver_url(os.environ["DATABASE_URL"]))


def _agreed(question: str) -> bool:
    print(question, end="", flush=True)
    return sys.stdin.readline().strip() == "yes"


def run_reset_sandbox(given: argparse.Namespace) -> None:
    from shared.db.base import transaction

    with database(Home(given.home)):
        from shared.services.operations.data_mode import reset_sandbox

        with transaction() as session:
            counts: dict[str, Any] = reset_sandbox(session, apply=False)
        print("Invented rows: " + (", ".join(f"{n} {name}" for name, n in counts.items()) or "none"))
        if not given.yes and not _agreed("Delete them? Type yes: "):
            raise CommandError("Nothing was deleted.")
        with transaction() as session:
            reset_sandbox(session, apply=True)
        print("Deleted; the next start may choose either data mode.")
