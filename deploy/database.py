"""`award-travel migrate` and `reset-sandbox`: the tables brought up to date, and invented rows deleted."""

import argparse
import os

from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.service import database
from deploy.prompts import confirm
from shared.db.base import transaction
from shared.db.schema import upgrade, versions
from shared.services.operations.data_mode import reset_sandbox
from shared.settings import driver_url


def _migrate(url: str) -> None:
    upgrade(url)
    print(f"The tables are at version {versions(url)[0]}.")


def run_migrate(arguments: argparse.Namespace) -> None:
    """Needs only DATABASE_URL where one is set."""
    if url := os.environ.get("DATABASE_URL"):
        _migrate(driver_url(url))
        return
    with database(Home(arguments.home)):
        _migrate(driver_url(os.environ["DATABASE_URL"]))


def run_reset_sandbox(arguments: argparse.Namespace) -> None:
    with database(Home(arguments.home)):
        with transaction() as session:
            counts = reset_sandbox(session, apply=False)
        print("Invented rows: " + (", ".join(f"{n} {name}" for name, n in counts.items()) or "none"))
        if not arguments.yes and not confirm("Delete them? Type yes: "):
            raise CommandError("Nothing was deleted.")
        with transaction() as session:
            reset_sandbox(session, apply=True)
        print("Deleted; the next start may choose either data mode.")
