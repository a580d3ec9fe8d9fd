"""`award-travel upgrade --check`: what it says of an older, an equal and a newer database, and that it only reads."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from deploy.cli import main
from deploy.database.upgrades import BYTES_A_SECOND, describe_plan, list_first_steps
from shared import clock
from shared.db import schema_version, upgrade_plan
from shared.db.last_backup import LastBackup, note_backup
from shared.db.maintenance import Maintenance, begin_maintenance
from shared.db.schema_version import Schema, revisions
from shared.db.upgrade_plan import PendingMigration, UpgradePlan, plan_upgrade
from tests.shared.db.test_schema_window import apply_next_migration
from tests.support.next_release import REVISION, install_next_release

NEWEST = revisions()[-1]


@pytest.fixture
def url(fresh_database: str) -> str:
    return fresh_database.replace("postgresql:", "postgresql+psycopg:")


def _backup(hours: float) -> LastBackup:
    return LastBackup(clock.now() - timedelta(hours=hours), 1, encrypted=False, uploaded=False)


def _plan(hours: float = 1, **changes: Any) -> UpgradePlan:
    migration = PendingMigration(REVISION, "Something.", {"deliveries": 3 * BYTES_A_SECOND})
    schema, backup = Schema(NEWEST, REVISION, NEWEST), _backup(hours)
    plan = UpgradePlan(schema, [migration], runs_meanwhile=True, in_maintenance=False, last_backup=backup)
    return UpgradePlan(**(plan.__dict__ | changes))


def test_the_missing_migrations_are_listed_with_the_tables_they_name(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install_next_release(monkeypatch, tmp_path, None)
    (migration,) = plan_upgrade(url).migrations
    assert (migration.revision, migration.summary) == (REVISION, "Sizes of shoes.")
    assert sorted(migration.tables) == ["accounts", "deliveries"]
    assert plan_upgrade(url).bytes >= sum(migration.tables.values()) > 0
    assert schema_version.read_schema(url).current == NEWEST


def test_the_database_refuses_whatever_the_check_would_write(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade_plan, "_SIZES", "create table t (n int) -- {schema}")
    with pytest.raises(sa.exc.InternalError, match="read-only"):
        plan_upgrade(url)


@pytest.mark.parametrize(("mark", "runs"), [(NEWEST, True), (None, False)])
def test_programs_run_meanwhile_where_every_missing_migration_says_so(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mark: str | None, runs: bool
) -> None:
    install_next_release(monkeypatch, tmp_path, mark)
    assert plan_upgrade(url).runs_meanwhile is runs


def test_maintenance_lets_tables_change_that_the_programs_of_before_do_not_run_on(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """So that a step that asks before it migrates is not in the way once everything it asked for is done."""
    install_next_release(monkeypatch, tmp_path, None)
    assert list_first_steps(plan_upgrade(url)) != []
    with Session(sa.create_engine(url, poolclass=sa.NullPool)) as session, session.begin():
        begin_maintenance(session, Maintenance(clock.now()))
        note_backup(session, _backup(0))
    assert list_first_steps(plan_upgrade(url)) == []


def test_tables_from_before_the_first_release_are_named(url: str) -> None:
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as connection:
        connection.exec_driver_sql("update alembic_version set version_num = '0031'")
    plan = plan_upgrade(url)
    assert (plan.migrations, plan.runs_meanwhile) == ([], False)
    assert "from before the first release" in list_first_steps(plan)[0]


def test_nothing_stands_in_the_way_of_tables_that_are_right_or_not_there(url: str) -> None:
    assert (plan_upgrade(url).migrations, list_first_steps(plan_upgrade(url))) == ([], [])
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as connection:
        connection.exec_driver_sql("drop table alembic_version")
    plan = plan_upgrade(url)
    assert (plan.schema.current, len(plan.migrations), list_first_steps(plan)) == (
        None,
        len(revisions()),
        [],
    )


def test_a_newer_schema_is_named_and_is_in_the_way_unless_it_is_compatible(url: str, tmp_path: Path) -> None:
    apply_next_migration(url, tmp_path, runs_with=None)
    plan = plan_upgrade(url)
    assert (plan.migrations, plan.runs_meanwhile) == ([], False)
    assert "start the newer release" in list_first_steps(plan)[0]
    newer = Schema("next", NEWEST, NEWEST)
    assert list_first_steps(_plan(schema=newer, migrations=[])) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, []),
        ({"last_backup": None}, ["Make a backup"]),
        ({"hours": 48.0}, ["Make a backup"]),
        ({"runs_meanwhile": False}, ["Run award-travel maintenance on"]),
        ({"runs_meanwhile": False, "last_backup": None}, ["Make a backup", "Run award-travel maintenance on"]),
        ({"runs_meanwhile": False, "in_maintenance": True}, []),
        ({"runs_meanwhile": False, "in_maintenance": True, "last_backup": None}, ["Make a backup"]),
        ({"migrations": [], "last_backup": None}, []),
    ],
)
def test_what_is_to_be_done_first_and_the_status(changes: dict[str, Any], words: list[str]) -> None:
    plan = _plan(**changes)
    steps = list_first_steps(plan)
    assert [step[: len(word)] for step, word in zip(steps, words, strict=True)] == words
    document = describe_plan(plan, steps)
    assert document["ready"] is (not words)
    assert document["at_most_seconds"] == (4 if plan.migrations else 0)


def test_the_command_prints_lines_or_json_and_ends_with_its_status(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("deploy.database.upgrades.plan_upgrade", lambda _: plan_upgrade(url))
    assert main(["upgrade", "--check"]) == 0
    assert "There is nothing to migrate." in capsys.readouterr().out
    install_next_release(monkeypatch, tmp_path, None)
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as connection:
        connection.exec_driver_sql("delete from service_facts")
    assert main(["upgrade", "--check"]) == 1
    text = capsys.readouterr().out
    assert "First: Make a backup" in text
    assert REVISION in text
    assert main(["upgrade", "--check", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["ready"], document["last_backup"]) == (NEWEST, False, None)
    assert {"accounts", "deliveries"} == set(document["migrations"][0]["tables"])


def test_upgrade_alone_names_the_command_that_does_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["upgrade"])
    assert "--check" in capsys.readouterr().err
