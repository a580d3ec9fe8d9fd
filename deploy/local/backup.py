"""`award-travel backup` and `restore`: everything the database holds as one file, and back.

The file is an archive of pg_dump. What opens its sealed parts (SECRET_KEYS) is not in it.
"""

import argparse
import contextlib
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.server_binaries import find_postgres
from deploy.local.service import database, is_set_by_environment

SEAL = b"\naward-travel sha256 "  # leads the last bytes of the file; pg_restore takes half a file for a whole one
SMALL_TABLES = ("alembic_version", "service_facts", "signing_keys")  # small tables that tell what an archive is


class Server(NamedTuple):
    """How PostgreSQL's programs reach the database; the password stays off their command lines."""

    address: str
    environment: dict[str, str]

    @classmethod
    def from_environment(cls) -> "Server":
        parameters: dict[str, Any] = conninfo_to_dict(os.environ["DATABASE_URL"].replace("+psycopg", "", 1))
        password = parameters.pop("password", None)
        return cls(make_conninfo(**parameters), os.environ | ({"PGPASSWORD": password} if password else {}))

    def connect(self) -> "psycopg.Connection[Any]":
        return psycopg.connect(os.environ["DATABASE_URL"].replace("+psycopg", "", 1), autocommit=True)


def _find_program(name: str) -> str:
    with contextlib.suppress(CommandError):
        if (program := find_postgres() / name).exists():
            return str(program)
    if installed := shutil.which(name):
        return installed
    raise CommandError(f"No {name} here: install PostgreSQL's client programs, or name their folder with AWARD_PG_BIN.")


def _last_words(errors: bytes) -> str:
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    wrong = [line for line in lines if "error" in line.lower()]
    return (wrong or lines or ["it said nothing"])[0][:300]


def run_backup(arguments: argparse.Namespace) -> None:
    """Of a service that runs, too: the archive shows one moment."""
    target: Path = arguments.file.absolute()
    if target.exists():
        raise CommandError(f"{target} exists: name another file.")
    home, outside = Home(arguments.home), is_set_by_environment()
    with database(home, tables=False):
        new = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            _dump_database(Server.from_environment(), new)
            _append_digest(new)
            new.rename(target)
        except OSError as fault:
            raise CommandError(
                f"{target} cannot be written ({fault.strerror}): name a file in a folder of yours."
            ) from None
        finally:
            new.unlink(missing_ok=True)
    keys = "SECRET_KEYS" if outside else f"SECRET_KEYS ({home.path / 'secrets.json'})"
    print(f"{target}: {target.stat().st_size:,} bytes, everything the database holds.")
    print(f"Keep {keys} elsewhere: without them connections, sign-ins and secret links of this backup are lost.")


def _dump_database(server: Server, new: Path) -> None:
    command = [
        _find_program("pg_dump"),
        "--format=custom",
        "--no-owner",
        "--no-privileges",
        f"--dbname={server.address}",
    ]
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as sink:
        done = subprocess.run(command, stdout=sink, stderr=subprocess.PIPE, env=server.environment, check=False)
        if done.returncode:
            raise CommandError(f"pg_dump could not read the database: {_last_words(done.stderr)}")


def _append_digest(new: Path) -> None:
    with new.open("r+b") as archive:
        digest = hashlib.file_digest(archive, "sha256").hexdigest()
        archive.write(SEAL + digest.encode())
        archive.flush()
        os.fsync(archive.fileno())


def _check_whole(archive: Path) -> None:
    """Whether the file is what was written, to the last byte."""
    length = archive.stat().st_size - len(SEAL) - 64
    digest = hashlib.sha256()
    with archive.open("rb") as content:
        while length > 0 and (part := content.read(min(length, 1 << 20))):
            digest.update(part)
            length -= len(part)
        if content.read() != SEAL + digest.hexdigest().encode():
            raise CommandError(f"{archive} is no whole backup: it was changed or cut off, or something else made it.")


def _read_small_tables(archive: Path) -> dict[str, list[dict[str, str]]]:
    """The rows of the small tables of an archive, read without any database."""
    command = [
        _find_program("pg_restore"),
        "--data-only",
        "--file=-",
        *(f"--table={name}" for name in SMALL_TABLES),
        str(archive),
    ]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise CommandError(f"{archive} is no whole backup: {_last_words(done.stderr)}")
    return _parse_copy_statements(done.stdout.decode("utf-8"))


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


def _check_archive(archive: Path, *, keys_lost: bool) -> None:
    """Whether this release, in this data mode and with these keys, can live with what the archive holds."""
    from shared.db.schema import revisions
    from shared.secrets import key_id
    from shared.settings import settings

    _check_whole(archive)
    tables = _read_small_tables(archive)
    versions = [row["version_num"] for row in tables.get("alembic_version", [])]
    if not versions:
        raise CommandError(f"{archive} is no backup of this service.")
    if versions[0] not in revisions():
        raise CommandError(f"{archive} was made by a newer release (tables at {versions[0]}): install that one first.")
    modes = [row["value"] for row in tables.get("service_facts", []) if row["name"] == "data_mode"]
    if modes and modes[0] != settings().data_mode:
        raise CommandError(
            f"{archive} holds {modes[0]} data and this is {settings().data_mode} mode: set AWARD_BACKEND."
        )
    sealed = {row["private_sealed"].partition(":")[0] for row in tables.get("signing_keys", [])}
    if sealed and not keys_lost and not sealed & {key_id(key) for key in settings().encryption_keys}:
        raise CommandError(
            "SECRET_KEYS are not those of this backup: put the installation's secrets.json into the home (or its"
            " SECRET_KEYS into the environment) first. If they are lost, --keys-lost restores all but what they seal."
        )


def _check_target(server: Server, archive: Path, *, replace: bool) -> list[str]:
    """The service's tables that stand in the way. Refuses a database that is in use, or that holds accounts."""
    import shared.db.migrations  # noqa: F401 - registers every table
    from shared.db.base import Base

    with server.connect() as connection:
        others = "select 1 from pg_stat_activity where datname = current_database() and application_name = %s"
        if connection.execute(others, ("award-travel",)).fetchone():
            raise CommandError("The service works on this database: stop all its programs first.")
        names = connection.execute("select tablename from pg_tables where schemaname = 'public'")
        there = {name for (name,) in names} & {*Base.metadata.tables, "alembic_version"}
        filled = "accounts" in there and connection.execute("select 1 from accounts limit 1").fetchone()
    if filled and not replace:
        raise CommandError(
            f"This database holds accounts: --replace deletes all it holds and puts {archive.name} in its place."
        )
    return sorted(there)


@contextlib.contextmanager
def _psql(server: Server) -> Iterator["subprocess.Popen[bytes]"]:
    """Takes statements until the first that fails; what is not committed then never was."""
    command = [_find_program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", f"--dbname={server.address}"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=server.environment, **pipes) as program:  # type: ignore[call-overload]
        yield program


def _load_archive(server: Server, archive: Path, old_tables: list[str]) -> None:
    """One transaction: the old tables go and the archive's come, or nothing happens."""
    drop = f"drop table {', '.join(old_tables)} cascade;\n" if old_tables else ""
    script = [_find_program("pg_restore"), "--no-owner", "--no-privileges", "--file=-", str(archive)]
    with _psql(server) as psql, contextlib.suppress(BrokenPipeError):
        assert psql.stdin is not None
        assert psql.stderr is not None
        psql.stdin.write(f"set client_min_messages = error;\nbegin;\n{drop}".encode())
        psql.stdin.flush()
        read = subprocess.run(script, stdout=psql.stdin, stderr=subprocess.PIPE, check=False)
        if read.returncode == 0:
            psql.stdin.write(b"commit;\nanalyze;\n")
        psql.stdin.close()
        complaints = psql.stderr.read()
    if psql.returncode or read.returncode:
        raise CommandError(f"Nothing was restored: {_last_words(complaints or read.stderr)}")


def run_restore(arguments: argparse.Namespace) -> None:
    from shared.db.schema import upgrade, versions
    from shared.settings import driver_url

    archive, home = arguments.file.absolute(), Home(arguments.home)
    if not archive.is_file():
        raise CommandError(f"{archive} is no file.")
    if not is_set_by_environment() and home.prepare().running():
        raise CommandError(f"The service runs on {home.path}: stop it first.")
    with database(home, tables=False):
        _check_archive(archive, keys_lost=arguments.keys_lost)
        server = Server.from_environment()
        _load_archive(server, archive, _check_target(server, archive, replace=arguments.replace))
        url = driver_url(os.environ["DATABASE_URL"])
        upgrade(url)
        accounts, waiting, version = *_count_rows(server), versions(url)[0]
    print(f"{accounts} accounts restored, tables at version {version}.")
    if waiting:
        print(f"{waiting} messages had not gone out when the backup was made; they do at the next start.")


def _count_rows(server: Server) -> tuple[int, int]:
    """How many accounts there are, and messages that wait to be sent."""
    accounts = "select count(*) from accounts"
    messages = "select count(*) from deliveries where status in ('pending', 'claimed')"
    with server.connect() as connection:
        rows = [connection.execute(query).fetchone() or (0,) for query in (accounts, messages)]
    return rows[0][0], rows[1][0]
