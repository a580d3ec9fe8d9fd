"""`award-travel migrate` and `reset-sandbox`: updates the tables, and deletes invented rows."""

import argparse

from deploy.database.direct_database import read_direct_url, update_tables
from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.service import database
from deploy.terminal import confirm
from shared.db.base import transaction
from shared.db.schema_version import read_schema
from shared.services.operations.data_mode import find_data_mode, holds_nothing, reset_sandbox
from shared.settings.checks import driver_url
from shared.variables import read_variable


def _migrate(url: str) -> None:
    update_tables(url)
    schema = read_schema(url)
    newer = ", newer than this release, which runs on them all the same" if schema.is_newer else ""
    print(f"The tables are at version {schema.current}{newer}.")


def run_migrate(arguments: argparse.Namespace) -> None:
    """Needs only DATABASE_URL where one is set."""
    if read_variable("DATABASE_URL"):
        _migrate(driver_url(read_direct_url()))
        return
    with database(Home(arguments.home)):
        _migrate(driver_url(read_direct_url()))


def run_reset_sandbox(arguments: argparse.Namespace) -> None:
    with database(Home(arguments.home)):
        with transaction() as session:
            counts = reset_sandbox(session, apply=False)
        print("Invented rows: " + (", ".join(f"{n} {name}" for name, n in counts.items()) or "none"))
        if not arguments.yes and not confirm("Delete them? Type yes: "):
            raise CommandError("Nothing was deleted.")
        with transaction() as session:
            reset_sandbox(session, apply=True)
            stored = None if holds_nothing(session) else find_data_mode(session)
        stays = f"the database stays in {stored} mode, which its first start chose"
        print(f"Deleted; {stays if stored else 'the next start may choose either data mode'}.")
