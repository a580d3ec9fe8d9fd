"""`award-travel invite` and `invites`: invites people by mail, and lists open invitations."""

import argparse

from auth_server.accounts.invitations import invite, list_open
from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.service import database
from deploy.operators.operator_actions import open_unit_of_work, write_trail
from shared.db.base import transaction
from shared.settings import settings

MAX_DAYS = 90


def run_invite(arguments: argparse.Namespace) -> None:
    if not 1 <= arguments.days <= MAX_DAYS:
        raise CommandError(f"An invitation is open for 1 to {MAX_DAYS} days.")
    with database(Home(arguments.home)):
        if settings().signup_rule == "closed":
            raise CommandError("SIGNUP=closed takes no invitations: set SIGNUP=invite, or use award-travel user add.")
        with open_unit_of_work() as uow:
            account = invite(uow, arguments.email, arguments.days)
            write_trail(uow.db, arguments, "invite", account.public_id, f"{arguments.days} days")
            print(f"{account.email} is invited for {arguments.days} days; the mail with the link is on its way.")


def run_invites(arguments: argparse.Namespace) -> None:
    with database(Home(arguments.home)), transaction() as session:
        rows = list_open(session)
        for email, invited_at, expires_at in rows:
            print(f"{email:<40} invited {invited_at:%Y-%m-%d}, open until {expires_at:%Y-%m-%d %H:%M} UTC")
        if not rows:
            print("No invitation is open: award-travel invite EMAIL")
