"""Backups of a database that others use too: their extensions, tables and views stay theirs, on the way out and in."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest

from deploy.backups import archive as archives
from deploy.backups import command
from deploy.local.server_binaries import find_postgres
from shared.db.schema_version import revisions
from tests.deploy.conftest import engine_of
from tests.deploy.test_backup import (
    WORKER,
    Say,
    add_digest,
    archive,
    other_database,
    run_statement,
    say,
)
from tests.shared.db.fill import contents

__all__ = ["archive", "other_database", "say"]
EXTENSIONS: tuple[LiteralString, ...] = ("pg_stat_statements", "hstore", "vector")
PLAIN = f"t_plain_{WORKER}"
PG_DUMP = [find_postgres() / "pg_dump", "-Fc", "-N", "standing"]  # without the clock of the tests


@pytest.fixture
def plain_role(pytestconfig: Any) -> Iterator[None]:
    """The role PLAIN, which may nothing but sign in, as the service's own role in production."""
    with psycopg.connect(pytestconfig.servers["postgres"], autocommit=True) as admin:
        admin.execute(f"create role {PLAIN} login password 'plain'")
        yield
        admin.execute(f"drop role {PLAIN}")


def _as_plain(url: str) -> str:
    return f"postgresql://{PLAIN}:plain@{url.split('@')[1]}"


def _give_back(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(f"reassign owned by {PLAIN} to award")
        admin.execute(f"drop owned by {PLAIN}")


@pytest.fixture
def shared_database(filled: str, plain_role: None) -> Iterator[str]:
    """The filled database as the plain role sees it, with what a superuser put next to its tables; its address."""
    with psycopg.connect(filled, autocommit=True) as admin:
        names = admin.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
        for (name,) in names:
            admin.execute(
                psycopg.sql.SQL("alter table {} owner to {}").format(*map(psycopg.sql.Identifier, (name, PLAIN)))
            )
        for extension in EXTENSIONS:
            admin.execute(f"create extension {extension}")
        admin.execute("create table theirs (words hstore, embedding vector(3))")
        admin.execute("create function theirs_too() returns int language sql as 'select 1'")
        yield _as_plain(filled)
        _give_back(filled)


@pytest.fixture
def empty_database(other_database: str, plain_role: None) -> Iterator[str]:
    """A database of the plain role without a table, as it sees it; its address."""
    run_statement(other_database, f"alter database t_restored_{WORKER} owner to {PLAIN}")
    yield _as_plain(other_database)
    _give_back(other_database)


def test_a_database_with_foreign_extensions_and_tables_is_backed_up_and_restored_by_the_services_role(
    say: Say, shared_database: str, empty_database: str, filled: str, tmp_path: Path
) -> None:
    file = tmp_path / "all.backup"
    assert say(shared_database, "backup", file)[0] == 0
    listing = archives.run_pg_restore(file, "--list").decode()
    assert "EXTENSION" not in listing
    assert "theirs" not in listing
    status, _, fault = say(empty_database, "restore", file)
    assert (status, fault) == (0, "")
    run_statement(filled, "drop table theirs")
    assert contents(engine_of(empty_database)) == contents(engine_of(filled))


def test_an_archive_of_the_whole_database_as_earlier_releases_made_it_is_restored_without_its_extensions(
    say: Say, filled: str, empty_database: str, tmp_path: Path
) -> None:
    run_statement(filled, "create extension pg_stat_statements")
    file = tmp_path / "whole.backup"
    subprocess.run([*PG_DUMP, "--no-owner", "--no-privileges", "-f", file, filled], check=True)
    add_digest(file)
    assert "EXTENSION - pg_stat_statements" in archives.run_pg_restore(file, "--list").decode()
    status, _, fault = say(empty_database, "restore", file)
    assert (status, fault) == (0, "")
    assert contents(engine_of(empty_database)) == contents(engine_of(filled))


def test_the_services_tables_are_all_that_a_migrated_database_holds(fresh_database: str, tmp_path: Path) -> None:
    """No type, function or view of ours stands outside its tables, where a backup would leave it out."""
    file = tmp_path / "whole"
    subprocess.run([*PG_DUMP, "--schema-only", "-f", file, fresh_database], check=True)
    entries = [line.split() for line in archives.run_pg_restore(file, "--list").decode().splitlines()]
    whole = {tuple(words[3:-1]) for words in entries if words[0] != ";"}
    archives.dump_database(archives.Server.from_url(fresh_database), tmp_path / "own")
    entries = [line.split() for line in archives.run_pg_restore(tmp_path / "own", "--list").decode().splitlines()]
    own = {tuple(words[3:-1]) for words in entries if words[0] != ";"}
    assert whole - own == set()


def test_a_view_that_others_made_of_our_tables_is_named_and_not_dropped(
    say: Say, archive: Path, filled: str, tmp_path: Path
) -> None:
    run_statement(filled, "create view theirs as select email from accounts")
    status, _, fault = say(filled, "restore", archive, "--replace")
    assert (status, "view theirs depends on table accounts" in fault) == (1, True)
    run_statement(filled, "drop view theirs")
    assert say(filled, "restore", archive, "--replace")[0] == 0


def _list_rehearsals(url: str) -> set[str]:
    with psycopg.connect(url) as connection:
        names = {name for (name,) in connection.execute("select datname from pg_database")}
    return {name for name in names if name.startswith(command.PREFIX)}


@pytest.fixture
def own_rehearsals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their databases have a name that no other worker gives."""
    monkeypatch.setattr(command, "PREFIX", f"{command.PREFIX}{WORKER}_")


def test_a_rehearsal_restores_beside_the_service_reports_and_leaves_nothing(
    say: Say, archive: Path, filled: str, own_rehearsals: None
) -> None:
    rows = contents(engine_of(filled))
    with psycopg.connect(filled, application_name="award-travel"):  # the service runs
        status, text, fault = say(filled, "restore", archive, "--rehearse", "--json")
        run_statement(filled, "delete from tool_calls where id = 1")
        later, words, _ = say(filled, "restore", archive, "--rehearse")
    report = json.loads(text)
    assert (status, fault, report["differing_rows"], report["differing_parts"]) == (0, "", {}, [])
    assert report["tables"] == len(rows)
    assert report["rows"] == sum(map(len, rows.values()))
    assert report["version_in_backup"] == report["version_restored"] == revisions()[-1]
    assert later == 0
    assert re.search(r"^tool_calls +2 +1$", words, re.MULTILINE)
    assert _list_rehearsals(filled) == set()


def test_a_rehearsal_tells_of_values_whose_key_is_missing(say: Say, filled: str, tmp_path: Path) -> None:
    run_statement(filled, "update connections set access_sealed = 'deadbeef:00' where id = 1")
    say(filled, "backup", file := tmp_path / "x")
    status, text, _ = say(filled, "restore", file, "--rehearse")
    assert (status, "1 value sealed with deadbeef, which is not in SECRET_KEYS" in text) == (1, True)
    assert say(filled, "restore", file, "--rehearse", "--keys-lost")[0] == 0


def test_a_rehearsal_tells_of_an_index_that_the_backup_lacks(say: Say, archive: Path, filled: str) -> None:
    run_statement(filled, "create index mine_alone on accounts (plan)")
    status, text, _ = say(filled, "restore", archive, "--rehearse")
    assert status == 1
    assert "CREATE INDEX mine_alone ON public.accounts" in text


def test_a_rehearsal_that_fails_or_may_not_begin_leaves_no_database_and_says_why(
    say: Say, archive: Path, filled: str, shared_database: str, own_rehearsals: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, _, fault = say(shared_database, "restore", archive, "--rehearse")
    assert (status, f"alter role {PLAIN} createdb" in fault) == (1, True)
    monkeypatch.setattr(command, "_migrate", lambda scratch: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        say(filled, "restore", archive, "--rehearse")
    assert _list_rehearsals(filled) == set()
