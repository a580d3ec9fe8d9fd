"""Backup and restore: the rows of a filled database are the same afterwards, and whatever would harm is refused."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from auth_server.pages.account import export_account
from deploy.backups import archive as archives
from deploy.backups import command as restore
from deploy.backups import postgres_programs
from deploy.cli import main
from deploy.local.server_binaries import find_postgres
from shared.db.schema import upgrade
from shared.db.schema_version import revisions
from tests.deploy.conftest import engine_of
from tests.shared.db.fill import contents, fill
from tests.support.next_release import REVISION, install_next_release
from tests.support.service import Service, command, environment, folder_for_homes

Say = Callable[..., tuple[int, str, str]]
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")  # workers of one run share a server


@pytest.fixture
def other_database(pytestconfig: Any) -> Iterator[str]:
    """A database without a table."""
    with psycopg.connect(pytestconfig.servers["postgres"], autocommit=True) as admin:
        admin.execute(f"create database t_restored_{WORKER}")
        yield pytestconfig.servers["postgres"].rsplit("/", 1)[0] + f"/t_restored_{WORKER}"
        admin.execute(f"drop database t_restored_{WORKER} with (force)")


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Say:
    """say(database, "backup", file) -> (exit status, what was printed, what was said about a fault)."""

    def run(database: str, *words: str | Path) -> tuple[int, str, str]:
        monkeypatch.setenv("DATABASE_URL", database)
        status = main([str(word) for word in words])
        return status, *capsys.readouterr()

    return run


def add_digest(file: Path) -> None:
    """Makes a whole backup of an archive of pg_dump."""
    content = file.read_bytes()
    file.write_bytes(content + archives.SEAL + hashlib.sha256(content).hexdigest().encode())


def exported(database: str) -> dict[str, Any]:
    with Session(engine_of(database)) as session:
        return export_account(session, 1) | {"exported_at": None}


@pytest.fixture
def archive(say: Say, filled: str, tmp_path: Path) -> Path:
    """The backup of the filled database."""
    file = tmp_path / "all.backup"
    assert say(filled, "backup", file)[0] == 0
    return file


def test_a_backup_restored_elsewhere_holds_every_row_and_gives_the_same_export(
    say: Say, filled: str, archive: Path, other_database: str
) -> None:
    status, said, _ = say(other_database, "restore", archive)
    assert (status, said.splitlines()[0]) == (0, f"2 accounts restored, tables at version {revisions()[-1]}.")
    assert contents(engine_of(other_database)) == contents(engine_of(filled))
    assert exported(other_database) == exported(filled)
    assert len([rows for rows in exported(filled).values() if rows]) > 25
    fill(engine_of(other_database), 3)  # numbers go on where they were


def test_a_backup_is_the_operators_alone_and_names_what_else_is_needed(say: Say, filled: str, tmp_path: Path) -> None:
    file = tmp_path / "all.backup"
    _, said, _ = say(filled, "backup", file)
    assert oct(file.stat().st_mode & 0o777) == "0o600"
    assert "Keep SECRET_KEYS elsewhere" in said
    assert [p.name for p in tmp_path.iterdir()] == [file.name]
    status, _, fault = say(filled, "backup", file)
    assert (status, "exists: name another file" in fault) == (1, True)
    for folder, why in ((tmp_path / "nowhere", "No such file or directory"), (file, "Not a directory")):
        status, _, fault = say(filled, "backup", folder / "x")
        assert (status, f"({why}): name a file in a folder of yours" in fault) == (1, True), fault


def test_no_password_stands_on_a_command_line(
    say: Say, filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other_database: str
) -> None:
    lines: list[list[str]] = []
    launch = subprocess.Popen.__init__

    def noted(self: Any, line: Any, *more: Any, **kept: Any) -> None:
        lines.append([str(word) for word in line])
        launch(self, line, *more, **kept)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    say(filled, "backup", tmp_path / "x")
    say(other_database, "restore", tmp_path / "x")
    password = filled.split(":")[2].split("@")[0]
    assert {Path(line[0]).name for line in lines} == {"pg_dump", "pg_restore", "psql"}
    assert not [line for line in lines if password in " ".join(line)]


def test_a_database_that_holds_accounts_is_replaced_only_when_told_to(
    say: Say, archive: Path, filled: str, other_database: str
) -> None:
    upgrade(other_database.replace("postgresql:", "postgresql+psycopg:"))
    target = engine_of(other_database)
    fill(target, 3)
    before = contents(target)
    status, _, fault = say(other_database, "restore", archive)
    assert (status, "--replace" in fault) == (1, True)
    assert contents(target) == before
    assert say(other_database, "restore", archive, "--replace")[0] == 0
    assert contents(target) == contents(engine_of(filled))


@pytest.mark.slow  # starts programs
def test_a_backup_of_an_earlier_release_goes_forward(
    say: Say, archive: Path, other_database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = install_next_release(monkeypatch, tmp_path, None)
    status, told, _ = say(other_database, "restore", archive)
    assert (status, f"tables at version {REVISION}" in told, before != REVISION) == (0, True, True)
    with engine_of(other_database).connect() as connection:
        assert connection.exec_driver_sql("select count(*) from accounts where shoe_size is null").scalar_one() > 0


def test_a_backup_that_was_cut_off_or_changed_by_one_bit_changes_nothing(
    say: Say, archive: Path, other_database: str, tmp_path: Path
) -> None:
    upgrade(other_database.replace("postgresql:", "postgresql+psycopg:"))
    fill(engine_of(other_database), 3)
    before, whole = contents(engine_of(other_database)), archive.read_bytes()
    changed = tmp_path / "changed.backup"
    for share in (0.0, 0.6, 0.999):
        cut = int(len(whole) * share)
        for kept in (b"", bytes([whole[cut] ^ 1]) + whole[cut + 1 :]):
            changed.write_bytes(whole[:cut] + kept)
            status, _, fault = say(other_database, "restore", changed, "--replace")
            assert (status, "is no whole backup" in fault) == (1, True)
    assert contents(engine_of(other_database)) == before


def test_a_restore_that_fails_half_way_leaves_everything_as_it_was(
    say: Say, archive: Path, other_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade(other_database.replace("postgresql:", "postgresql+psycopg:"))
    target = engine_of(other_database)
    fill(target, 3)
    before, tables = contents(target), restore._check_target
    monkeypatch.setattr(restore, "_check_target", lambda *a, **k: tables(*a, **k)[:-2])  # two stay in the way
    status, _, fault = say(other_database, "restore", archive, "--replace")
    assert (status, "Nothing was restored" in fault) == (1, True)
    assert contents(target) == before


def run_statement(database: str, statement: str) -> None:
    with engine_of(database).begin() as connection:
        connection.execute(sa.text(statement))


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("update service_facts set value = 'live' where name = 'data_mode'", "holds live data and this is sandbox"),
        ("update signing_keys set private_sealed = 'deadbeef:00'", "SECRET_KEYS are not those of this backup"),
    ],
)
def test_a_backup_this_installation_cannot_live_with_is_refused(
    say: Say, filled: str, other_database: str, tmp_path: Path, statement: str, complaint: str
) -> None:
    run_statement(filled, statement)
    assert say(filled, "backup", tmp_path / "x")[0] == 0
    status, _, fault = say(other_database, "restore", tmp_path / "x")
    assert (status, complaint in fault) == (1, True)
    assert contents(engine_of(other_database)) == {}


def test_a_backup_of_a_later_release_is_refused_and_so_is_the_archive_of_another_database(
    say: Say, archive: Path, other_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_statement(other_database, "create table mine (id int)")
    foreign = tmp_path / "foreign"
    subprocess.run([find_postgres() / "pg_dump", "-Fc", "-f", foreign, other_database], check=True)
    add_digest(foreign)
    status, _, fault = say(other_database, "restore", foreign)
    assert (status, "is no backup of this service" in fault) == (1, True)
    for known, words in ((["0048"], "was made by a newer release"), (["9999"], "was made before the first release")):
        monkeypatch.setattr("shared.db.schema_version.revisions", lambda known=known: known)
        status, _, fault = say(other_database, "restore", archive)
        assert (status, words in fault) == (1, True)


def test_tables_of_a_later_release_are_not_backed_up_by_half(say: Say, filled: str, tmp_path: Path) -> None:
    run_statement(filled, "update alembic_version set version_num = '9999'")
    status, _, fault = say(filled, "backup", tmp_path / "x")
    assert (status, "make the backup with the release that made them" in fault) == (1, True)
    assert list(tmp_path.iterdir()) == []


def test_with_its_keys_lost_a_backup_is_restored_when_told_so(
    say: Say, filled: str, other_database: str, tmp_path: Path
) -> None:
    run_statement(filled, "update signing_keys set private_sealed = 'deadbeef:00'")
    say(filled, "backup", tmp_path / "x")
    assert say(other_database, "restore", tmp_path / "x", "--keys-lost")[0] == 0
    assert len(contents(engine_of(other_database))["accounts"]) == 2


def test_nothing_is_restored_under_a_service_that_works(say: Say, archive: Path, other_database: str) -> None:
    with psycopg.connect(other_database, application_name="award-travel"):
        status, _, fault = say(other_database, "restore", archive)
    assert (status, "stop all its programs first" in fault) == (1, True)


def test_a_file_that_is_no_backup_is_refused(say: Say, other_database: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("drop table accounts;", encoding="utf-8")
    for name, complaint in (("notes.txt", "is no whole backup"), ("nothing", "is no file")):
        status, _, fault = say(other_database, "restore", tmp_path / name)
        assert (status, complaint in fault) == (1, True)


def test_without_the_programs_of_postgresql_the_mend_is_said(
    say: Say, filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_programs, "find_postgres", lambda: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    status, _, fault = say(filled, "backup", tmp_path / "x")
    assert (status, "AWARD_PG_BIN" in fault) == (1, True)


def _refused(home: Path, *words: str) -> str:
    line = [sys.executable, "-m", "deploy.cli", *words, "--home", str(home)]
    done = subprocess.run(
        line, capture_output=True, text=True, timeout=90, env=environment(home), check=False, cwd=Path.cwd()
    )
    assert done.returncode == 1, done.stdout
    return done.stderr


@pytest.mark.e2e
@pytest.mark.slow  # a service runs, and private servers of another home are started
def test_a_running_service_is_backed_up_and_restored_into_a_home_that_has_its_keys(service: Service) -> None:
    email = service.person("saved")
    assert httpx.get(f"{service.web_url}/oauth/jwks", trust_env=False).json()["keys"]  # sealed with its keys
    with folder_for_homes() as folder:
        file, home = folder / "all.backup", folder / "second"
        said = command(service.home, "backup", str(file))
        assert str(service.home / "secrets.json") in said
        assert "stop it first" in _refused(service.home, "restore", str(file), "--replace")
        home.mkdir()
        assert "secrets.json" in _refused(home, "restore", str(file))
        (home / "secrets.json").write_bytes((service.home / "secrets.json").read_bytes())
        assert "restored, tables at version" in command(home, "restore", str(file))
        assert email in command(home, "user", "list")
