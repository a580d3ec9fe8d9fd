"""`award-travel client` and `trail`: applications suspended, and who did what to which account, why and when."""

import argparse
import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from auth_server.accounts.accounts import find_account
from auth_server.oauth.clients import lock_client, restore_client, suspend_client
from auth_server.web.unit_of_work import UnitOfWork
from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.service import database
from deploy.terminal import print_rows
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.operator_actions import OperatorAction, list_actions
from shared.redis import publish

MAX_REASON_CHARACTERS = 500


@contextmanager
def open_unit_of_work() -> Iterator[UnitOfWork]:
    """One transaction; after the commit the servers are told, so that it takes effect within two seconds."""
    with transaction() as session:
        uow = UnitOfWork(session)
        yield uow
    for event in uow.events:
        publish(**event)


def write_trail(session: Session, arguments: argparse.Namespace, action: str, target: str, detail: str = "") -> None:
    """Raises CommandError for an empty reason; a command that requires none may have one."""
    reason = getattr(arguments, "reason", None)
    if reason is not None and not 0 < len(reason.strip()) <= MAX_REASON_CHARACTERS:
        raise CommandError(f"--reason is 1 to {MAX_REASON_CHARACTERS} characters that say why.")
    actor = f"cli:{getpass.getuser()}"
    session.add(OperatorAction(actor=actor, action=action, target=target, detail=detail or None, reason=reason))
    session.flush()


def read_account(session: Session, email: str) -> Account:
    """Raises CommandError for an unknown account."""
    account = find_account(session, email)
    if account is None:
        raise CommandError(f"No account {email}: see award-travel user list.")
    return account


def run_client(arguments: argparse.Namespace) -> None:
    suspends = arguments.action == "suspend"
    with database(Home(arguments.home)), open_unit_of_work() as uow:
        client = lock_client(uow.db, arguments.client_id)
        if client is None or client.kind == "service":
            raise CommandError(f"No application {arguments.client_id}: user access EMAIL prints those of an account.")
        if (client.disabled_at is not None) == suspends:
            raise CommandError(f"{client.name} is {'suspended already' if suspends else 'not suspended'}.")
        (suspend_client if suspends else restore_client)(uow, client)
        write_trail(uow.db, arguments, f"client {arguments.action}", client.client_id, client.name)
        print(f"{client.name} is {'suspended: its tokens open nothing' if suspends else 'restored'}.")


def run_trail(arguments: argparse.Namespace) -> None:
    with database(Home(arguments.home)), transaction() as session:
        account = find_account(session, arguments.target) if arguments.target else None
        actions = list_actions(session, account.public_id if account else arguments.target, arguments.limit)
        rows = [
            ActionLine(row.at, row.actor, row.action, email or row.target, row.detail, row.reason)
            for row, email in actions
        ]
    print_rows(rows, _describe_action, empty="Nothing stands in the trail.", as_json=arguments.json)


@dataclass(frozen=True)
class ActionLine:
    at: datetime
    actor: str
    action: str
    target: str
    detail: str | None
    reason: str | None


def _describe_action(line: ActionLine) -> str:
    detail = f" ({line.detail})" if line.detail else ""
    head = f"{line.at:%Y-%m-%d %H:%M:%S}  {line.actor}  {line.action}  {line.target}{detail}"
    return f"{head}\n    {line.reason or 'no reason given'}"
