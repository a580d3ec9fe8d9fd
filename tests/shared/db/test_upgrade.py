"""Upgrades: filled databases of every earlier version reach the newest tables with every row as it was."""

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import NullPool

from shared.db.base import Base
from shared.db.migrations import __name__ as _all_models  # noqa: F401 - the comparison sees every table
from shared.db.partitions import list_partitioned
from shared.db.schema import upgrade
from shared.db.schema_version import revisions, versions
from tests.shared.db.fill import contents, fill, list_partitions


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


@pytest.mark.slow  # a database goes through all versions
def test_a_filled_database_of_any_release_loses_and_changes_no_row(empty: sa.Engine) -> None:
    """Each version's tables take rows alongside those of all versions before, and the next version keeps every one."""
    upgrade(_url(empty), revisions()[0])
    fill(empty, 0)
    first, changes = contents(empty), {}
    for number, version in enumerate([*revisions()[1:], "head"], 1):
        fill(empty, number)
        before = contents(empty)
        upgrade(_url(empty), version)
        after = contents(empty)
        changes |= {f"{name} at {version}": found for name, found in _find_changes(before, after).items()}
    assert changes == {}
    assert versions(_url(empty))[0] == revisions()[-1]
    assert {len(after[name]) for name in first} == {1 + len(revisions())}


@pytest.mark.slow  # migrations run twice
@pytest.mark.parametrize("version", revisions()[::12])
def test_a_filled_database_passes_many_versions_in_one_transaction(empty: sa.Engine, version: str) -> None:
    upgrade(_url(empty), version)
    for number in (1, 2):
        fill(empty, number)
    before = contents(empty)
    upgrade(_url(empty))
    assert _find_changes(before, contents(empty)) == {}
    assert versions(_url(empty))[0] == revisions()[-1]


@pytest.mark.slow  # makes the tables of a release
def test_what_was_allowed_without_a_second_factor_administers_no_more(empty: sa.Engine) -> None:
    upgrade(_url(empty), "0048")
    fill(empty, 1)
    tables = ("oauth_consents", "oauth_families", "api_keys")
    with empty.begin() as connection:
        for table in tables[:2]:
            connection.exec_driver_sql(f"update {table} set administer = true")
    upgrade(_url(empty))
    with empty.connect() as connection:
        rows = [connection.exec_driver_sql(f"select administer from {table}").scalars().all() for table in tables]
    assert rows == [[False]] * 3


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


def test_versions_are_told_from_the_first_to_the_newest() -> None:
    assert revisions()[:2] == ["0001", "0002"]
