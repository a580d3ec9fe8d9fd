"""`award-travel jobs` and `mail`: runs and messages that failed or wait, and doing them again."""

import argparse
from typing import Any

from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.service import database
from deploy.operators.operator_actions import read_account, write_trail
from deploy.terminal import print_rows
from shared.db.base import transaction
from shared.db.unfinished_work import UNSENT, list_messages, list_runs, repeat_message, repeat_run

MAX_ERROR = 80  # characters of it in a line; --json has all


def run_jobs(arguments: argparse.Namespace) -> None:
    with database(Home(arguments.home)):
        _list_runs(arguments) if arguments.action == "list" else _retry_run(arguments)


def _list_runs(arguments: argparse.Namespace) -> None:
    with transaction() as session:
        rows = list_runs(session, arguments.status or ["failed"], arguments.kind, arguments.limit)

    def describe(row: Any) -> str:
        moment = f"{row.finished_at or row.due_at:%Y-%m-%d %H:%M}"
        return f"{row.id:>10}  {moment}  {row.status:<8} {row.kind} {row.subject_id}  {(row.error or '')[:MAX_ERROR]}"

    print_rows(rows, describe, empty="No such run.", as_json=arguments.json)


def _retry_run(arguments: argparse.Namespace) -> None:
    with transaction() as session:
        repeated = repeat_run(session, arguments.id)
        if repeated is None:
            raise CommandError(f"No run {arguments.id} has failed: see award-travel jobs list.")
        run_id, kind = repeated
        write_trail(session, arguments, "jobs retry", f"run:{arguments.id}", f"{kind}, as run {run_id}")
    print(f"{kind} is due again at once, as run {run_id}.")


def run_mail(arguments: argparse.Namespace) -> None:
    with database(Home(arguments.home)):
        _list_messages(arguments) if arguments.action == "list" else _resend_message(arguments)


def _list_messages(arguments: argparse.Namespace) -> None:
    with transaction() as session:
        account = read_account(session, arguments.account).public_id if arguments.account else None
        rows = list_messages(session, arguments.status or UNSENT, account, arguments.limit)

    def describe(row: Any) -> str:
        head = f"{row.id}  {row.created_at:%Y-%m-%d %H:%M}  {row.status:<12} {row.event} by {row.channel}"
        return f"{head} to {row.recipient}  {(row.error or '')[:MAX_ERROR]}"

    print_rows(rows, describe, empty="No such message.", as_json=arguments.json)


def _resend_message(arguments: argparse.Namespace) -> None:
    with transaction() as session:
        repeated = repeat_message(session, arguments.id)
        if repeated is None:
            raise CommandError(
                f"{arguments.id} is no message that failed or is uncertain, or its text is gone: see award-travel mail"
                " list."
            )
        new_id, account = repeated
        write_trail(session, arguments, "mail resend", account, str(arguments.id))
    print(f"It is written again as {new_id} and goes out at once. One-time links in it may have ended since.")
