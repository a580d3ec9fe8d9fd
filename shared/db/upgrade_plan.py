"""The plan of an upgrade of the tables: missing migrations, and the tables each one names."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa
from alembic.script import Script
from sqlalchemy import NullPool, create_engine

from shared.db.last_backup import FACT, LastBackup, parse_backup
from shared.db.maintenance import find_maintenance
from shared.db.schema import list_steps, walk_scripts
from shared.db.schema_version import Schema, read_schema
from shared.db.schema_window import find_oldest

# The partitions of a table count as its own.
_SIZES = """
select coalesce(whole.relname, part.relname) as relname, cast(sum(pg_total_relation_size(part.oid)) as bigint) as size
 from pg_class as part left join pg_inherits on inhrelid = part.oid left join pg_class as whole on whole.oid = inhparent
 where part.relkind = 'r' and part.relnamespace = {schema} group by 1"""
_SCHEMA = "(select relnamespace from pg_class where oid = to_regclass('alembic_version'))"


class PendingMigration(NamedTuple):
    """`tables` are the existing ones that it names, with their size in bytes."""

    revision: str
    summary: str
    tables: dict[str, int]


@dataclass(frozen=True)
class UpgradePlan:
    """`runs_meanwhile`: programs of the tables' present release still run on the new ones.

    `in_maintenance`: they answer that the service is under maintenance, and start no job.
    """

    schema: Schema
    migrations: list[PendingMigration]
    runs_meanwhile: bool
    in_maintenance: bool
    last_backup: LastBackup | None

    @property
    def bytes(self) -> int:
        """The size of all tables touched, with indexes; a table named by two migrations counts twice."""
        return sum(sum(migration.tables.values()) for migration in self.migrations)


def plan_upgrade(url: str) -> UpgradePlan:
    """Reads only: the database refuses anything else of this connection."""
    schema = read_schema(url)
    with create_engine(url, poolclass=NullPool).connect() as connection:
        connection.execution_options(postgresql_readonly=True)
        rows = connection.exec_driver_sql(_SIZES.format(schema=_SCHEMA))
        sizes = {row.relname: row.size for row in rows}
        has_facts = "service_facts" in sizes
        last_backup = _read_last_backup(connection) if has_facts else None
        in_maintenance = has_facts and find_maintenance(connection) is not None
    unknown = schema.is_newer or schema.is_too_old
    migrations = [] if unknown else [_describe(script, sizes) for script in _list_missing(schema.current)]
    return UpgradePlan(schema, migrations, _runs_meanwhile(schema), in_maintenance, last_backup)


def _list_missing(current: str | None) -> list[Script]:
    scripts = walk_scripts()
    names = [script.revision for script in scripts]
    return scripts[names.index(current) + 1 :] if current else scripts


def _runs_meanwhile(schema: Schema) -> bool:
    """Also True if nothing will change, or if there are no tables and so no programs."""
    if schema.current is None or schema.current == schema.expected:
        return True
    if schema.is_newer or schema.is_too_old:
        return schema.is_usable
    names = [step.revision for step in list_steps()]
    return names.index(find_oldest(list_steps())) <= names.index(schema.current)


def _read_last_backup(connection: sa.Connection) -> LastBackup | None:
    value = connection.execute(sa.text("select value from service_facts where name = :name"), {"name": FACT}).scalar()
    return None if value is None else parse_backup(value)


def _describe(script: Script, sizes: dict[str, int]) -> PendingMigration:
    words = set(_list_words(Path(script.path).read_text(encoding="utf-8")))
    tables = {name: size for name, size in sorted(sizes.items()) if name in words}
    return PendingMigration(script.revision, (script.doc or "").partition("\n")[0], tables)


def _list_words(source: str) -> Iterator[str]:
    """Words of all strings in the code except its docstring and columns of foreign keys (`accounts.id`)."""
    tree = ast.parse(source)
    docstring = ast.get_docstring(tree, clean=False)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != docstring:
            yield from re.findall(r"\w+(?![\w.])", node.value)
