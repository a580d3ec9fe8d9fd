"""`award-travel backup` and `restore`: the service's own tables as one file, and back."""

import argparse
import contextlib
import json
import os
import re
import secrets
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import NullPool, create_engine, make_url
from sqlalchemy.orm import Session

from deploy.backups.archive import check_whole, dump_database, list_own_entries, list_own_tables, read_small_tables
from deploy.backups.encryption import open_archive
from deploy.backups.postgres_programs import Server, find_program, quote_error
from deploy.database.direct_database import read_direct_url, update_tables
from deploy.errors import CommandError, build_write_fault
from deploy.local.home import Home
from deploy.local.service import SETTINGS_OF_A_SERVICE, database, is_set_by_environment
from deploy.sealing.sealed_values import count_by_key
from deploy.terminal import open_console, print_styled
from shared.db.base import transaction
from shared.db.last_backup import LastBackup, note_backup
from shared.domain.plurals import pluralize
from shared.secrets import key_id
from shared.settings import Settings, settings
from shared.settings.checks import driver_url

# A backup put into an empty database, in one transaction.


def check_archive(archive: Path, *, keys_lost: bool) -> str:
    """The version of its tables. Raises CommandError if this release, data mode or keys do not fit it."""
    from shared.db.schema_version import revisions
    from shared.settings import settings

    check_whole(archive)
    tables = read_small_tables(archive)
    versions = [row["version_num"] for row in tables.get("alembic_version", [])]
    if not versions:
        raise CommandError(f"{archive} is no backup of this service.")
    if versions[0] < revisions()[0]:
        raise CommandError(f"{archive} was made before the first release (tables at {versions[0]}): it is too old.")
    if versions[0] not in revisions():
        raise CommandError(f"{archive} was made by a newer release (tables at {versions[0]}): install that one first.")
    modes = [row["value"] for row in tables.get("service_facts", []) if row["name"] == "data_mode"]
    if modes and modes[0] != settings().data_mode:
        raise CommandError(
            f"{archive} holds {modes[0]} data and this is {settings().data_mode} mode: set AWARD_BACKEND."
        )
    if not keys_lost:
        _check_keys({row["private_sealed"].partition(":")[0] for row in tables.get("signing_keys", [])})
    return versions[0]


def _check_keys(sealed_with: set[str]) -> None:
    from shared.secrets import key_id
    from shared.settings import settings

    if sealed_with and not sealed_with & {key_id(key) for key in settings().encryption_keys}:
        raise CommandError(
            "SECRET_KEYS are not those of this backup: put the installation's secrets.json into the home (or its"
            " SECRET_KEYS into the environment) first. If they are lost, --keys-lost restores all but what they seal."
        )


def _check_target(server: Server, archive: Path, *, replace: bool) -> list[str]:
    """The service's tables that are in the way. Refuses a database that is in use, or that holds accounts."""
    with server.connect() as connection:
        others = "select 1 from pg_stat_activity where datname = current_database() and application_name = %s"
        if connection.execute(others, ("award-travel",)).fetchone():
            raise CommandError("The service works on this database: stop all its programs first.")
        own = list_own_tables(connection)
        filled = "accounts" in own and connection.execute("select 1 from accounts limit 1").fetchone()
    if filled and not replace:
        raise CommandError(
            f"This database holds accounts: --replace deletes all the service holds there and puts {archive.name} in"
            " its place."
        )
    return own


@contextlib.contextmanager
def _psql(server: Server) -> Iterator["subprocess.Popen[bytes]"]:
    """Runs statements until the first failure; uncommitted ones are then undone."""
    command = [find_program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", f"--dbname={server.address}"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=server.environment, **pipes) as program:  # type: ignore[call-overload]
        yield program


@contextlib.contextmanager
def _open_entries(archive: Path) -> Iterator[str]:
    """The name of a file with the entries that pg_restore is to take."""
    with tempfile.NamedTemporaryFile(prefix="award-travel-entries-") as file:
        file.write(list_own_entries(archive))
        file.flush()
        yield file.name


def load_archive(server: Server, archive: Path, old_tables: list[str]) -> None:
    """Replaces the old tables by the archive's in one transaction, or does nothing.

    Objects of others on the old tables, such as a view, are not dropped: PostgreSQL names them and refuses.
    """
    drop = f"drop table {', '.join(old_tables)};\n" if old_tables else ""
    options = ["--no-owner", "--no-privileges", "--file=-"]
    with _open_entries(archive) as entries, _psql(server) as psql, contextlib.suppress(BrokenPipeError):
        assert psql.stdin is not None
        assert psql.stderr is not None
        psql.stdin.write(f"set client_min_messages = error;\nbegin;\n{drop}".encode())
        psql.stdin.flush()
        script = [find_program("pg_restore"), *options, f"--use-list={entries}", str(archive)]
        read = subprocess.run(script, stdout=psql.stdin, stderr=subprocess.PIPE, check=False)
        if read.returncode == 0:
            psql.stdin.write(b"commit;\nanalyze;\n")
        psql.stdin.close()
        complaints = psql.stderr.read()
    if psql.returncode or read.returncode:
        raise CommandError(f"Nothing was restored: {quote_error(complaints or read.stderr)}")


def restore_archive(archive: Path, *, replace: bool, keys_lost: bool) -> None:
    from shared.db.schema_version import versions
    from shared.settings.checks import driver_url

    check_archive(archive, keys_lost=keys_lost)
    server = Server.from_environment()
    load_archive(server, archive, _check_target(server, archive, replace=replace))
    url = driver_url(read_direct_url())
    update_tables(url)
    accounts, waiting, version = *_count_restored_rows(server), versions(url)[0]
    print(f"{pluralize(accounts, 'account')} restored, tables at version {version}.")
    if waiting:
        print(f"{waiting} messages had not gone out when the backup was made; they do at the next start.")


def _count_restored_rows(server: Server) -> tuple[int, int]:
    """Counts accounts, and messages that wait to be sent."""
    accounts = "select count(*) from accounts"
    messages = "select count(*) from deliveries where status in ('pending', 'claimed')"
    with server.connect() as connection:
        rows = [connection.execute(query).fetchone() or (0,) for query in (accounts, messages)]
    return rows[0][0], rows[1][0]


# The operator's own command that takes a backup elsewhere, run without a shell and with a time limit.

PLACE = "{}"  # stands for the file in the command, as in find -exec
_WORDS_QUOTED = 300  # characters of what the command said


class UploadFailed(CommandError):
    """The backup is in its folder, but nowhere else."""

    code = 5


def upload(file: Path, command: str, seconds: float) -> None:
    """Raises UploadFailed. The command gets the environment without the secrets of the service."""
    words = [word.replace(PLACE, str(file)) for word in shlex.split(command)]
    words += [] if PLACE in command else [str(file)]
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS_OF_A_SERVICE}
    with tempfile.TemporaryFile() as errors:
        try:
            program = subprocess.Popen(
                words,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as fault:
            raise UploadFailed(f"{file} is made, but {words[0]} could not be run ({fault.strerror}).") from None
        _await_end(program, file, seconds)
        if program.returncode:
            errors.seek(-min(_WORDS_QUOTED, errors.seek(0, os.SEEK_END)), os.SEEK_END)
            last = errors.read().decode("utf-8", "replace").strip().splitlines()[-1:]
            raise UploadFailed(
                f"{file} is made, but {words[0]} ended with status {program.returncode}: {' '.join(last) or 'no words'}"
            )


def _await_end(program: "subprocess.Popen[bytes]", file: Path, seconds: float) -> None:
    """Waits for the command; ends it and all it started when its time is over."""
    try:
        program.wait(seconds)
    except subprocess.TimeoutExpired:
        raise UploadFailed(f"{file} is made, but its upload took over {seconds:g} s and was ended.") from None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()


# Which backups of a folder stay: the newest of each of the last days, and of each of the last weeks.

_NAME = re.compile(r"award-travel-([0-9]{8}T[0-9]{6})Z\.backup(\.age)?")
_MOMENT = "%Y%m%dT%H%M%S"


def build_name(moment: datetime, *, encrypted: bool) -> str:
    return f"award-travel-{moment.astimezone(UTC):{_MOMENT}}Z.backup{'.age' if encrypted else ''}"


def read_moment(name: str) -> datetime | None:
    """When the backup of this name was made; None for any other file."""
    match = _NAME.fullmatch(name)
    try:
        return datetime.strptime(match[1], _MOMENT).replace(tzinfo=UTC) if match else None
    except ValueError:  # 30 February
        return None


def select_expired(names: Iterable[str], today: date, days: int, weeks: int) -> list[str]:
    """The names to delete, oldest first. The newest backup of all stays, however old it is."""
    moments = sorted(((moment, name) for name in names if (moment := read_moment(name))), reverse=True)
    newest_of_days: dict[date, str] = {}
    newest_of_weeks: dict[date, str] = {}
    for moment, name in moments:
        day = moment.date()
        newest_of_days.setdefault(day, name)
        newest_of_weeks.setdefault(day - timedelta(days=day.weekday()), name)
    monday = today - timedelta(days=today.weekday())
    staying = {name for day, name in newest_of_days.items() if day > today - timedelta(days=days)}
    staying |= {name for first, name in newest_of_weeks.items() if first > monday - timedelta(weeks=weeks)}
    staying |= {name for _, name in moments[:1]}
    return [name for _, name in reversed(moments) if name not in staying]


# The rehearsal of a restore: a backup restored into a database made for it, compared and dropped again.

_KEY_ID = re.compile("[0-9a-f]{8}")
PREFIX = "award_rehearsal_"
# The parts of each table besides its rows: columns with type and default, indexes, constraints.
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
    """The result of a rehearsal. `rows_now` are those of the service's database, None without such a table."""

    seconds: float
    bytes: int
    tables: int
    rows: int
    version_in_backup: str
    version_restored: str
    differing_rows: dict[str, tuple[int, int | None]]  # by table: in the backup, now
    differing_parts: list[str]  # columns, indexes and constraints that only one of the two has
    sealed_with_missing_keys: dict[str, int]  # values that no key of SECRET_KEYS opens, by the id of their key


def rehearse_restore(archive: Path, name: str, *, keys_lost: bool, as_json: bool) -> int:
    """Prints the report; returns 1 if the tables' structure differs from the service's, or keys are missing."""
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
    """An empty database next to the service's; always dropped at the end."""
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
    """Counts rows by table; the report gives the version elsewhere."""
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


class RotationFailed(CommandError):
    """The backup is made and uploaded; expired ones could not be deleted."""

    code = 6


def run_backup(arguments: argparse.Namespace) -> None:
    """Backs up a service, even a running one: the archive shows one moment."""
    home, outside = Home(arguments.home), is_set_by_environment()
    with database(home, tables=False):
        now, config = datetime.now(UTC), settings()
        if arguments.file is None and config.backup_folder is None:
            raise CommandError("Name a file, or set BACKUP_FOLDER: a backup without a name goes there.")
        name = build_name(now, encrypted=bool(config.backup_recipients.strip()))
        target = (arguments.file or Path(config.backup_folder or "") / name).absolute()
        if target.exists():
            raise CommandError(f"{target} exists: name another file.")
        _write_backup(Server.from_environment(), target, config.backup_recipients)
        keys = "SECRET_KEYS" if outside else f"SECRET_KEYS ({home.path / 'secrets.json'})"
        print(f"{target}: {target.stat().st_size:,} bytes, everything the service holds.")
        print(f"Keep {keys} elsewhere: without them connections, sign-ins and secret links of this backup are lost.")
        if config.backup_upload:
            upload(target, config.backup_upload, config.backup_upload_seconds)
        size, uploaded = target.stat().st_size, bool(config.backup_upload)
        with transaction() as session:
            note_backup(session, LastBackup(now, size, bool(config.backup_recipients.strip()), uploaded))
        if arguments.file is None:
            _delete_expired(target.parent, now, config)


def _write_backup(server: Server, target: Path, recipients: str) -> None:
    """Writes the whole backup or nothing."""
    new = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        dump_database(server, new, recipients)
        new.rename(target)
    except OSError as fault:
        raise build_write_fault(target, fault, "name a file in a folder of yours.") from None
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)


def _delete_expired(folder: Path, now: datetime, config: Settings) -> None:
    """Deletes expired files only in a folder of backups, and only those named as backups of it."""
    names = [file.name for file in folder.iterdir()]
    expired = select_expired(names, now.date(), config.backup_keep_days, config.backup_keep_weeks)
    try:
        for name in expired:
            (folder / name).unlink(missing_ok=True)
    except OSError as fault:
        raise RotationFailed(f"Older backups in {folder} could not be deleted ({fault.strerror}).") from None
    if expired:
        print(f"{pluralize(len(expired), 'older backup')} deleted.")


def run_restore(arguments: argparse.Namespace) -> int:
    file, home = arguments.file.absolute(), Home(arguments.home)
    if not file.is_file():
        raise CommandError(f"{file} is no file.")
    if not arguments.rehearse and not is_set_by_environment() and home.prepare().running():
        raise CommandError(f"The service runs on {home.path}: stop it first.")
    with database(home, tables=False), open_archive(file, arguments.identity) as archive:
        if arguments.rehearse:
            return rehearse_restore(archive, file.name, keys_lost=arguments.keys_lost, as_json=arguments.json)
        restore_archive(archive, replace=arguments.replace, keys_lost=arguments.keys_lost)
    return 0
