"""`award-travel upgrade --check`: what the upgrade to this release would do to the tables; nothing is changed."""

import argparse
import json
from math import ceil
from typing import Any

from deploy.local.home import Home
from deploy.local.service import database
from deploy.terminal import open_console, print_row, print_styled
from shared.db.last_backup import LastBackup
from shared.db.upgrade_plan import PendingMigration, UpgradePlan, plan_upgrade
from shared.domain.plurals import pluralize
from shared.settings import VERSION, settings

BYTES_A_SECOND = 20_000_000  # of a table rewritten with its indexes; 95 MB/s were measured on two cores
_MEGABYTE = 1_000_000


def run_upgrade(arguments: argparse.Namespace) -> int:
    """Prints the plan; returns 1 if something must be done first."""
    with database(Home(arguments.home), tables=False):
        plan = plan_upgrade(settings().database_url)
    steps = list_first_steps(plan)
    if arguments.json:
        print(json.dumps(describe_plan(plan, steps)))
    else:
        _print_plan(plan, steps)
    return 1 if steps else 0


def list_first_steps(plan: UpgradePlan) -> list[str]:
    """What to do before the tables are updated, one sentence each."""
    if plan.schema.is_newer or plan.schema.is_too_old:
        return [] if plan.schema.is_usable else [plan.schema.describe_fault()]
    if plan.schema.current is None or not plan.migrations:
        return []
    steps = []
    if not _is_fresh(plan.last_backup):
        steps.append("Make a backup: award-travel backup FILE.")
    if not plan.runs_meanwhile and not plan.in_maintenance:
        steps.append(
            "Run award-travel maintenance on, and stop dispatchers, workers and the mail listener: the programs of the"
            " release before do not run on the new tables, and would fail from the first migration on."
        )
    return steps


def _is_fresh(backup: LastBackup | None) -> bool:
    return backup is not None and backup.age.total_seconds() <= settings().backup_max_age_hours * 3600


def _estimate_seconds(plan: UpgradePlan) -> int:
    """An upper bound: most migrations add to a table and rewrite none."""
    return ceil(plan.bytes / BYTES_A_SECOND) + len(plan.migrations)


def describe_plan(plan: UpgradePlan, steps: list[str]) -> dict[str, Any]:
    """Sizes are bytes, times seconds; `at_most_seconds` assumes that every table named is rewritten."""
    backup = plan.last_backup
    return {
        "release": VERSION,
        "schema": plan.schema.current,
        "schema_of_release": plan.schema.expected,
        "schema_is_newer": plan.schema.is_newer,
        "migrations": [migration._asdict() for migration in plan.migrations],
        "programs_run_meanwhile": plan.runs_meanwhile,
        "in_maintenance": plan.in_maintenance,
        "at_most_seconds": _estimate_seconds(plan),
        "last_backup": backup and {"at": backup.at.isoformat(), "is_fresh": _is_fresh(backup)},
        "first": steps,
        "ready": not steps,
    }


def _print_plan(plan: UpgradePlan, steps: list[str]) -> None:
    console = open_console()
    for label, text in (
        ("release", VERSION),
        ("tables", _describe_schema(plan)),
        *((f"  {migration.revision}", _describe_migration(migration)) for migration in plan.migrations),
        ("programs", _describe_programs(plan)),
        ("time", _describe_time(plan)),
        ("backup", _describe_backup(plan.last_backup)),
    ):
        print_row(console, (f"{label:<10}", ""), text)
    end = "Nothing stands in the way: award-travel migrate." if plan.migrations else "There is nothing to migrate."
    print_styled(console, "\n" + ("\n".join(f"First: {step}" for step in steps) or end))


def _describe_schema(plan: UpgradePlan) -> str:
    have, want = plan.schema.current, plan.schema.expected
    if plan.schema.is_newer:
        return f"version {have}, of a newer release; this one wants {want}"
    if plan.schema.is_too_old:
        return f"version {have}, from before the first release"
    if have is None:
        return f"none yet; this release wants version {want}"
    missing = f"; {pluralize(len(plan.migrations), 'migration')} to {want}" if plan.migrations else ", as it wants"
    return f"version {have}{missing}"


def _describe_migration(migration: PendingMigration) -> str:
    sizes = ", ".join(f"{name} {size / _MEGABYTE:,.1f} MB" for name, size in migration.tables.items())
    return f"{migration.summary} ({sizes or 'no table that is there'})"


def _describe_programs(plan: UpgradePlan) -> str:
    if (plan.schema.is_newer or plan.schema.is_too_old) and not plan.runs_meanwhile:
        return "those of this release do not run on these tables"
    if plan.runs_meanwhile:
        return "those that run now go on running"
    end = "; maintenance is on, so they fail no one" if plan.in_maintenance else ""
    return f"those of the release before do not run on the new tables{end}"


def _describe_time(plan: UpgradePlan) -> str:
    if not plan.migrations:
        return "nothing to do"
    return f"at most about {_estimate_seconds(plan)} s, should each of these tables be written again"


def _describe_backup(backup: LastBackup | None) -> str:
    if backup is None:
        return "none was ever made"
    hours = f"{backup.age.total_seconds() / 3600:.0f} hours old"
    limit = settings().backup_max_age_hours
    return hours if _is_fresh(backup) else f"{hours}, older than BACKUP_MAX_AGE_HOURS ({limit})"
