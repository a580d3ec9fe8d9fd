"""The file of a backup: a pg_dump archive of only the service's own tables, followed by a digest.

The keys to its sealed parts (SECRET_KEYS) are not in it.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import IO, Any

import psycopg

from deploy.backups.encryption import encrypt, parse_recipients
from deploy.backups.postgres_programs import Server, check_dump_program, find_program, quote_error
from deploy.errors import CommandError

SEAL = b"\naward-travel sha256 "  # starts the end of the file; pg_restore would take half a file for a whole one
SMALL_TABLES = ("alembic_version", "service_facts", "signing_keys")  # small tables that tell what an archive is
_MAX_ERROR_BYTES = 10_000
FOREIGN_ENTRIES = ("EXTENSION", "SCHEMA")  # kinds that the service does not use; archives of whole databases have some


def list_own_tables(connection: "psycopg.Connection[Any]") -> list[str]:
    """The service's tables that this database has, without their partitions. Tables of others are ignored."""
    import shared.db.migrations  # noqa: F401 - registers every table
    from shared.db.base import Base

    rows = connection.execute("select tablename from pg_tables where schemaname = 'public'")
    return sorted({name for (name,) in rows} & {*Base.metadata.tables, "alembic_version"})


def _check_schema_is_ours(connection: "psycopg.Connection[Any]", own: list[str]) -> None:
    """Raises if not: a later release may have tables that this one would leave out."""
    from shared.db.schema_version import revisions

    versions = "select version_num from alembic_version" if "alembic_version" in own else "select ''"
    (version,) = connection.execute(versions).fetchone() or ("",)
    if not version:
        raise CommandError("This database holds no tables of the service: award-travel migrate makes them.")
    if version not in revisions():
        raise CommandError(
            f"The tables are at version {version}, which this release does not know: make the backup with the release"
            " that made them, or it would leave out what came with them."
        )


class _Sealing:
    """Passes on what pg_dump writes, and then its digest."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source, self._digest = source, hashlib.sha256()
        self._has_ended = False

    def read(self, size: int = -1, /) -> bytes:
        part = self._source.read(size)
        self._digest.update(part)
        if part or self._has_ended:
            return part
        self._has_ended = True
        return SEAL + self._digest.hexdigest().encode()


def dump_database(server: Server, new: Path, recipients: str = "") -> None:
    """Writes the archive with its digest to `new`, which only its owner can read; encrypted to these keys of age."""
    keys = parse_recipients(recipients)
    with server.connect() as connection:
        own = list_own_tables(connection)
        _check_schema_is_ours(connection, own)
        check_dump_program(connection)
        # pg_dump takes a table that is named without its partitions.
        query = "select inhrelid::regclass::text from pg_inherits where inhparent::regclass::text = any(%s) order by 1"
        partitions = [name for (name,) in connection.execute(query, (own,))]
    tables = [f"--table=public.{name}" for name in (*own, *partitions)]
    command = [find_program("pg_dump"), "--format=custom", "--no-owner", "--no-privileges", *tables]
    with (
        os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as sink,
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            [*command, f"--dbname={server.address}"], stdout=subprocess.PIPE, stderr=errors, env=server.environment
        ) as program,
    ):
        assert program.stdout is not None
        _write(_Sealing(program.stdout), sink, keys)
        if program.wait():
            errors.seek(0)
            raise CommandError(f"pg_dump stopped: {quote_error(errors.read(_MAX_ERROR_BYTES))}")


def _write(source: _Sealing, sink: IO[bytes], keys: list[Any]) -> None:
    if keys:
        encrypt(source, sink, keys)
    else:
        shutil.copyfileobj(source, sink, 1 << 20)
    sink.flush()
    os.fsync(sink.fileno())


def check_whole(archive: Path) -> None:
    """Raises CommandError unless the file is complete and unchanged."""
    length = archive.stat().st_size - len(SEAL) - 64
    digest = hashlib.sha256()
    with archive.open("rb") as content:
        while length > 0 and (part := content.read(min(length, 1 << 20))):
            digest.update(part)
            length -= len(part)
        if content.read() != SEAL + digest.hexdigest().encode():
            raise CommandError(f"{archive} is no whole backup: it was changed or cut off, or something else made it.")


def run_pg_restore(archive: Path, *options: str) -> bytes:
    """Returns what pg_restore prints of an archive, without any database."""
    process = subprocess.run([find_program("pg_restore"), *options, str(archive)], capture_output=True, check=False)
    if process.returncode:
        raise CommandError(f"{archive} is no whole backup: {quote_error(process.stderr)}")
    return process.stdout


def list_own_entries(archive: Path) -> bytes:
    """The archive's list of contents for pg_restore, without what the service's own role may not make.

    An entry is `number; catalogue-id object-id KIND schema name owner`; the comment on an extension is one of kind
    COMMENT with `EXTENSION` in place of the name.
    """
    lines = run_pg_restore(archive, "--list").splitlines(keepends=True)
    return b"".join(line for line in lines if not _is_foreign(line.decode("utf-8", "replace").split()))


def _is_foreign(words: list[str]) -> bool:
    kind, name = words[3:4], words[5:6]
    return kind[:1] != [] and (kind[0] in FOREIGN_ENTRIES or (kind[0] == "COMMENT" and name[0] in FOREIGN_ENTRIES))


def read_small_tables(archive: Path) -> dict[str, list[dict[str, str]]]:
    """The rows of the small tables of an archive."""
    tables = (f"--table={name}" for name in SMALL_TABLES)
    return _parse_copy_statements(run_pg_restore(archive, "--data-only", "--file=-", *tables).decode("utf-8"))


def _parse_copy_statements(script: str) -> dict[str, list[dict[str, str]]]:
    """The rows of each `copy TABLE (COLUMN, ...) from stdin` of a script, by table."""
    tables: dict[str, list[dict[str, str]]] = {}
    rows: list[dict[str, str]] = []
    columns: list[str] | None = None
    for line in script.split("\n"):
        if line.startswith("COPY "):
            name, _, named = line.removeprefix("COPY ").partition(" (")
            rows = tables.setdefault(name.rpartition(".")[2], [])
            columns = [column.strip('"') for column in named.partition(")")[0].split(", ")]
        elif line == "\\.":
            columns = None
        elif columns is not None:
            rows.append(dict(zip(columns, line.split("\t"), strict=True)))
    return tables
