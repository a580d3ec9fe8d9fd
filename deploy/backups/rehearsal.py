"""The rehearsal of a restore: a backup restored into a database made for it, compared and dropped again."""

import contextlib
import json
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import NullPool, create_engine, make_url
from sqlalchemy.orm import Session

from deploy.backups.archive import list_own_tables
from deploy.backups.postgres_programs import Server
from deploy.backups.restore import check_archive, load_archive
from deploy.errors import CommandError
from deploy.sealed_values import count_by_key
from deploy.terminal import open_console, print_styled
from shared.domain.plurals import pluralize
from shared.secrets import key_id
from shared.setting_checks import driver_url
from shared.settings import settings

_KEY_ID = re.compile("[0-9a-f]{8}")
PREFIX = "award_rehearsal_"
# What a table consists of besides its rows, by table: columns with type and default, indexes, constraints.
_SHAPES = """
  select table_name || ' column ' || column_name || ' ' || data_type || ' ' || is_nullable || ' '
         || coalesce(column_default, '') as shape, table_name as owner
    from information_schema.columns where table_schema = 'public'
  union all
  select indexdef, tablename from pg_indexes where schemaname = 'public'
  union all
  select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid), conrelid::regclass::text
    from pg_constraint where connamespace = 'public'::regnamespace and conrelid <> 0
"""


@dataclass(frozen=True)
class Report:
    """What a rehearsal showed. `rows_now` are those of the service's database, None where it has no such table."""

    seconds: float
    bytes: int
    tables: int
    rows: int
    version_in_backup: str
    version_restored: str
    differing_rows: dict[str, tuple[int, int | None]]  # by table: in the backup, now
    differing_parts: list[str]  # columns, indexes and constraints that one of the two lacks
    sealed_with_missing_keys: dict[str, int]  # values that no key of SECRET_KEYS opens, by the id of their key


def rehearse_restore(archive: Path, name: str, *, keys_lost: bool, as_json: bool) -> int:
    """Prints the report; 1 where the restored tables are built otherwise than the service's, or keys are missing."""
    version, started = check_archive(archive, keys_lost=keys_lost), time.monotonic()
    live = Server.from_environment()
    with _scratch_database(live) as scratch:
        load_archive(scratch, archive, [])
        restored_version = _migrate(scratch)
        seconds = time.monotonic() - started
        report = _compare(scratch, live, archive, seconds, version, restored_version)
    if as_json:
        print(json.dumps(asdict(report)))
    else:
        _print_report(report, name)
    return 1 if report.differing_parts or (report.sealed_with_missing_keys and not keys_lost) else 0


@contextlib.contextmanager
def _scratch_database(live: Server) -> Iterator[Server]:
    """An empty database next to the service's; it is dropped, whatever happens."""
    name = f"{PREFIX}{secrets.token_hex(4)}"
    with live.connect() as connection:
        try:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        except psycopg.errors.InsufficientPrivilege:
            raise CommandError(
                f"The role {connection.info.user} may not make the database for a rehearsal: as a superuser run"
                f" `alter role {connection.info.user} createdb`, or rehearse with the DATABASE_URL of another server."
            ) from None
        try:
            url = make_url(driver_url(live.url)).set(database=name)
            yield Server.from_url(url.render_as_string(hide_password=False))
        finally:
            connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def _migrate(scratch: Server) -> str:
    from shared.db.schema import upgrade
    from shared.db.schema_version import versions

    upgrade(driver_url(scratch.url))
    return versions(driver_url(scratch.url))[0] or ""


def _compare(scratch: Server, live: Server, archive: Path, seconds: float, version: str, restored: str) -> Report:
    with scratch.connect() as there, live.connect() as here:
        rows, rows_now = _count_rows(there), _count_rows(here)
        is_same_version = _read_version(here) == restored
        parts = _list_parts(there) ^ _list_parts(here) if is_same_version else set()
    differing = {name: (count, rows_now.get(name)) for name, count in rows.items() if rows_now.get(name) != count}
    return Report(
        seconds=round(seconds, 1),
        bytes=archive.stat().st_size,
        tables=len(rows),
        rows=sum(rows.values()),
        version_in_backup=version,
        version_restored=restored,
        differing_rows=differing,
        differing_parts=sorted(parts),
        sealed_with_missing_keys=_count_missing_keys(scratch),
    )


def _count_missing_keys(scratch: Server) -> dict[str, int]:
    engine = create_engine(driver_url(scratch.url), poolclass=NullPool)
    with Session(engine) as session:
        counts = count_by_key(session)
    here = {key_id(material) for material in settings().encryption_keys}
    missing = (name for name in sorted(counts) if name not in here and _KEY_ID.fullmatch(name))
    return {name: counts[name].total() for name in missing}


def _count_rows(connection: "psycopg.Connection[Any]") -> dict[str, int]:
    """By table; the number of the version stands elsewhere in the report."""
    names = [name for name in list_own_tables(connection) if name != "alembic_version"]
    count = "select count(*) from {}"
    return {
        name: (connection.execute(sql.SQL(count).format(sql.Identifier(name))).fetchone() or (0,))[0] for name in names
    }


def _read_version(connection: "psycopg.Connection[Any]") -> str | None:
    if "alembic_version" not in list_own_tables(connection):
        return None
    return (connection.execute("select version_num from alembic_version").fetchone() or (None,))[0]


def _list_parts(connection: "psycopg.Connection[Any]") -> set[str]:
    own = set(list_own_tables(connection))
    return {shape for shape, owner in connection.execute(_SHAPES) if owner in own}


def _print_report(report: Report, name: str) -> None:
    console = open_console()
    rows, tables = pluralize(report.rows, "row"), pluralize(report.tables, "table")
    print_styled(console, f"{name} can be restored: {rows} in {tables}, in {report.seconds} s.")
    print_styled(console, f"Its tables were at version {report.version_in_backup}, now at {report.version_restored}.")
    if report.differing_rows:
        print_styled(console, f"\n{'Table':<32}{'in the backup':>16}{'now':>16}")
    for table, (count, now) in sorted(report.differing_rows.items()):
        print_styled(console, f"{table:<32}{count:>16,}{'none' if now is None else format(now, ','):>16}")
    if report.differing_parts:
        print_styled(console, "\nOnly in one of the two, the restored tables or those of the service:")
    for part in report.differing_parts:
        print_styled(console, f"  {part}")
    for key, number in report.sealed_with_missing_keys.items():
        print_styled(console, f"\n{pluralize(number, 'value')} sealed with {key}, which is not in SECRET_KEYS.")
    print_styled(console, "\nThe database of the rehearsal is dropped; that of the service was only read.")
