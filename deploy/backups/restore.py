"""A backup put into an empty database, in one transaction."""

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from deploy.backups.archive import check_whole, list_own_entries, list_own_tables, read_small_tables
from deploy.backups.postgres_programs import Server, find_program, quote_error
from deploy.direct_database import read_direct_url, update_tables
from deploy.errors import CommandError
from shared.domain.plurals import pluralize


def check_archive(archive: Path, *, keys_lost: bool) -> str:
    """The version of its tables. Raises CommandError where this release, data mode or keys cannot live with it."""
    from shared.db.schema_version import revisions
    from shared.settings import settings

    check_whole(archive)
    tables = read_small_tables(archive)
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
    """The service's tables that stand in the way. Refuses a database that is in use, or that holds accounts."""
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
    """Takes statements until the first that fails; what is not committed then never was."""
    command = [find_program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", f"--dbname={server.address}"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=server.environment, **pipes) as program:  # type: ignore[call-overload]
        yield program


@contextlib.contextmanager
def _open_entries(archive: Path) -> Iterator[str]:
    """The name of a file that tells pg_restore what of the archive to take."""
    with tempfile.NamedTemporaryFile(prefix="award-travel-entries-") as file:
        file.write(list_own_entries(archive))
        file.flush()
        yield file.name


def load_archive(server: Server, archive: Path, old_tables: list[str]) -> None:
    """One transaction: the old tables go and the archive's come, or nothing happens.

    What others hung on the old tables, a view say, is not dropped with them: PostgreSQL then names it and refuses.
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
    from shared.setting_checks import driver_url

    check_archive(archive, keys_lost=keys_lost)
    server = Server.from_environment()
    load_archive(server, archive, _check_target(server, archive, replace=replace))
    url = driver_url(read_direct_url())
    update_tables(url)
    accounts, waiting, version = *_count_rows(server), versions(url)[0]
    print(f"{pluralize(accounts, 'account')} restored, tables at version {version}.")
    if waiting:
        print(f"{waiting} messages had not gone out when the backup was made; they do at the next start.")


def _count_rows(server: Server) -> tuple[int, int]:
    """How many accounts there are, and messages that wait to be sent."""
    accounts = "select count(*) from accounts"
    messages = "select count(*) from deliveries where status in ('pending', 'claimed')"
    with server.connect() as connection:
        rows = [connection.execute(query).fetchone() or (0,) for query in (accounts, messages)]
    return rows[0][0], rows[1][0]
