"""Upgrades: a filled database of the release before reaches the newest tables with every row as it was."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import NullPool

from shared.db import migrations
from shared.db.base import Base
from shared.db.partitions import list_partitioned
from shared.db.schema import SchemaError, upgrade
from shared.db.schema_version import revisions, versions
from shared.db.watches import WATCH_KINDS
from tests.shared.db.fill import contents, fill, list_partitions
from tests.support.next_release import REVISION, install_next_release


@pytest.fixture
def empty(pytestconfig: Any) -> Iterator[sa.Engine]:
    """A database without a table."""
    name = f"t_upgraded_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"  # workers share one server
    with psycopg.connect(pytestconfig.servers["postgres"], autocommit=True) as admin:
        admin.execute(f"create database {name}")
        url = pytestconfig.servers["postgres"].rsplit("/", 1)[0] + f"/{name}"
        yield sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)
        admin.execute(f"drop database {name} with (force)")


def _url(engine: sa.Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


def _differences(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[str]:
    """Rows that went, came or changed; columns that are new do not count."""
    kept = Counter(repr({name: row[name] for name in before[0]}) for row in after)
    rows = Counter(map(repr, before))
    return [*(rows - kept), *(kept - rows)]


def _find_changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, list[str]]:
    return {name: found for name in before if (found := _differences(before[name], after.get(name, [])))}


@pytest.mark.slow  # makes all tables and a row in each
def test_a_filled_database_of_the_release_before_loses_and_changes_no_row(
    empty: sa.Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    upgrade(_url(empty))
    fill(empty, 0)
    before = contents(empty)
    upgrade(_url(empty))  # nothing is missing
    assert contents(empty) == before
    install_next_release(monkeypatch, tmp_path, None)
    upgrade(_url(empty))
    assert _find_changes(before, contents(empty)) == {}
    assert versions(_url(empty)) == (REVISION, REVISION)
    fill(empty, 1)
    assert {len(rows) for rows in contents(empty).values()} == {2}


@pytest.mark.slow  # fills all tables
def test_tables_that_the_migrations_before_the_first_release_made_go_on_from_there(empty: sa.Engine) -> None:
    """Their last one has the number of the first one now, and its own note of the release before it."""
    upgrade(_url(empty), "0049")
    fill(empty, 1)
    before = contents(empty)
    with empty.begin() as connection:
        connection.exec_driver_sql("comment on table alembic_version is '0049 runs with 0048'")
    upgrade(_url(empty))
    gone = {"tool_span_counts", "tool_span_times", "client_span_counts", "daily_calls"}  # sums of others
    assert _find_changes({name: rows for name, rows in before.items() if name not in gone}, contents(empty)) == {}
    assert gone.isdisjoint(contents(empty))
    assert versions(_url(empty))[0] == revisions()[-1]


def test_tables_from_before_the_first_release_are_refused_and_left_alone(fresh_database: str) -> None:
    engine = sa.create_engine(fresh_database.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql("update alembic_version set version_num = '0031'")
    with pytest.raises(SchemaError, match="0031, from before the first release"):
        upgrade(_url(engine))
    assert versions(_url(engine))[0] == "0031"


def test_every_model_is_registered_with_the_migrations() -> None:
    """Whatever else is imported: a backup and a restore take the tables that are registered, and no others."""
    modules = (Path(migrations.__file__).parents[1]).glob("*.py")
    holders = {module.stem for module in modules if "    __tablename__ = " in module.read_text(encoding="utf-8")}
    assert holders - {kind.files for kind in WATCH_KINDS} <= vars(migrations).keys()


def test_the_models_are_what_the_migrations_make(fresh_database: str) -> None:
    engine = sa.create_engine(fresh_database.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)
    partitions = list_partitions(engine)
    options = {
        "compare_server_default": True,
        "target_metadata": Base.metadata,
        "include_name": lambda name, *_: name not in partitions,
    }
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, Base.metadata) == []


def test_the_models_are_partitioned_and_keyed_as_the_tables_are(fresh_database: str) -> None:
    """What the comparison of models and tables does not look at."""
    engine = sa.create_engine(fresh_database.replace("postgresql:", "postgresql+psycopg:"), poolclass=NullPool)
    ways = "select relname, pg_get_partkeydef(oid) from pg_class where relkind = 'p'"
    with engine.connect() as connection:
        made = {row.relname: row[1] for row in connection.exec_driver_sql(ways)}
    assert made == {table.name: table.dialect_options["postgresql"]["partition_by"] for table in list_partitioned()}
    keys = {table.name: table.primary_key.columns.keys() for table in Base.metadata.sorted_tables}
    inspector = sa.inspect(engine)
    assert {name: inspector.get_pk_constraint(name)["constrained_columns"] for name in keys} == keys
