"""`award-travel user suspend|restore|access|end-access|delete`: what may use an account, and the end of it."""

import argparse
from dataclasses import dataclass

from auth_server.accounts import access_items, suspension
from auth_server.pages.account_deletion import delete_account
from auth_server.web.unit_of_work import UnitOfWork
from deploy.errors import CommandError
from deploy.operator_actions import open_unit_of_work, read_account, write_trail
from deploy.prompts import confirm
from deploy.rows import print_rows
from shared.db.base import transaction


@dataclass(frozen=True)
class AccessLine:
    item: str  # as `user end-access` takes it
    what: str


def suspend_account(arguments: argparse.Namespace) -> None:
    with open_unit_of_work() as uow:
        account = read_account(uow.db, arguments.email)
        if account.disabled_at is not None:
            raise CommandError(f"{arguments.email} is suspended already.")
        suspension.suspend(uow, account)
        write_trail(uow.db, arguments, "suspend", account.public_id)
    print(f"{arguments.email} is suspended: nothing is deleted, and nothing opens the account.")


def restore_account(arguments: argparse.Namespace) -> None:
    with open_unit_of_work() as uow:
        account = read_account(uow.db, arguments.email)
        if account.disabled_at is None:
            raise CommandError(f"{arguments.email} is not suspended.")
        suspension.restore(uow, account)
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
    """Everything, or the one item that was named; the owner is told by mail."""
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
    """The trail keeps the random id alone, so it is printed: by it the deletion is found again."""
    if not arguments.yes and not confirm(f"Delete {arguments.email} with everything it holds? Type yes: "):
        raise CommandError("Nothing was deleted.")
    with open_unit_of_work() as uow:
        account = read_account(uow.db, arguments.email)
        public_id = account.public_id
        write_trail(uow.db, arguments, "delete", public_id)
        delete_account(uow, account)
    print(f"{arguments.email} is deleted with everything it held. The trail knows it as {public_id}.")
