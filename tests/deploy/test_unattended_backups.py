"""Backups that no one watches: encrypted, taken elsewhere, rotated, remembered; each failure has its exit status."""

import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyrage
import pytest

from deploy.backups import archive as archives
from deploy.backups.command import build_name, select_expired
from deploy.backups.encryption import is_encrypted
from deploy.doctor.stores import check_backup
from deploy.errors import CommandError
from shared.db.base import engine, transaction
from shared.db.last_backup import find_last_backup
from tests.deploy.conftest import engine_of
from tests.deploy.test_backup import Say, other_database, say
from tests.shared.db.fill import contents
from tests.support.settings_and_clock import Configure, StandingClock

__all__ = ["other_database", "say"]
DAY = date(2026, 11, 23)  # a Monday


def _name(day: date, hour: int = 3) -> str:
    return build_name(datetime(day.year, day.month, day.day, hour, tzinfo=UTC), encrypted=False)


def test_the_newest_of_each_of_seven_days_and_of_five_weeks_stay() -> None:
    names = [_name(DAY - timedelta(days=back), hour) for back in range(60) for hour in (3, 15)]
    expired = set(select_expired(names, DAY, days=7, weeks=5))
    staying = sorted(set(names) - expired)
    days = {_name(DAY - timedelta(days=back), 15) for back in range(7)}
    sundays = {_name(DAY - timedelta(days=1 + 7 * back), 15) for back in range(4)}
    assert set(staying) == days | sundays


def test_other_files_stay_and_so_does_the_newest_backup_however_old() -> None:
    old = [_name(date(2020, 1, 1)), _name(date(2020, 1, 2))]
    others = ["notes.txt", "award-travel-20260230T000000Z.backup", f".{old[0]}.123", "award-travel.backup"]
    assert select_expired([*others, *old], DAY, days=7, weeks=5) == [old[0]]


@pytest.fixture
def identity(tmp_path: Path, configure: Configure) -> Path:
    """The file of an identity, whose public key the settings name."""
    secret = pyrage.x25519.Identity.generate()
    configure(BACKUP_RECIPIENTS=str(secret.to_public()))
    file = tmp_path / "identity"
    file.write_text(f"# made by age-keygen\n{secret}\n", encoding="utf-8")
    return file


def test_an_encrypted_backup_is_restored_with_its_identity_alone(
    say: Say, filled: str, other_database: str, tmp_path: Path, identity: Path
) -> None:
    file = tmp_path / "all.backup.age"
    assert say(filled, "backup", file)[0] == 0
    assert is_encrypted(file)
    assert b"PGDMP" not in file.read_bytes()
    assert oct(file.stat().st_mode & 0o777) == "0o600"
    status, _, fault = say(other_database, "restore", file)
    assert (status, "name the file with its age identity" in fault) == (1, True)
    other = tmp_path / "other"
    other.write_text(str(pyrage.x25519.Identity.generate()), encoding="utf-8")
    status, _, fault = say(other_database, "restore", file, "--identity", other)
    assert (status, "does not open" in fault) == (1, True)
    status, text, _ = say(filled, "restore", file, "--rehearse", "--identity", identity)
    assert (status, "all.backup.age can be restored" in text) == (0, True)
    assert say(other_database, "restore", file, "--identity", identity)[0] == 0
    assert len(contents(engine_of(other_database))["accounts"]) == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["all.backup.age", "identity", "other"]


def test_an_encrypted_backup_that_was_cut_off_is_refused(
    say: Say, filled: str, other_database: str, tmp_path: Path, identity: Path
) -> None:
    file = tmp_path / "all.backup.age"
    say(filled, "backup", file)
    file.write_bytes(file.read_bytes()[:-1000])
    status, _, fault = say(other_database, "restore", file, "--identity", identity)
    assert (status, "changed or cut off" in fault) == (1, True)
    assert contents(engine_of(other_database)) == {}


def test_a_key_that_is_none_is_refused_before_anything_is_written(
    say: Say, filled: str, tmp_path: Path, configure: Configure
) -> None:
    configure(BACKUP_RECIPIENTS="age1nonsense")
    status, _, fault = say(filled, "backup", tmp_path / "x")
    assert (status, "no public key of age" in fault, list(tmp_path.iterdir())) == (1, True, [])


@pytest.fixture
def own_engine(filled: str) -> Iterator[None]:
    """Sessions of this test work on the filled database, as those of the command do."""
    engine.cache_clear()
    yield
    engine().dispose()
    engine.cache_clear()


@pytest.fixture
def folder(tmp_path: Path, configure: Configure, filled: str) -> Path:
    """A folder of backups with two old ones; programs and commands work on the filled database."""
    configure(BACKUP_FOLDER=tmp_path, DATABASE_URL=filled)
    for day in (date(2020, 1, 1), date(2020, 1, 2)):
        (tmp_path / _name(day)).write_bytes(b"old")
    return tmp_path


def test_a_backup_without_a_name_goes_to_its_folder_is_rotated_and_remembered(
    say: Say, folder: Path, filled: str, configure: Configure, standing_clock: StandingClock, own_engine: None
) -> None:
    with pytest.raises(CommandError, match="no good one yet"):
        check_backup()
    status, text, _ = say(filled, "backup")
    assert (status, "2 older backups deleted" in text) == (0, True)
    (file,) = folder.iterdir()
    archives.check_whole(file)
    with transaction() as session:
        last = find_last_backup(session)
    assert last is not None
    assert (last.bytes, last.encrypted, last.uploaded) == (file.stat().st_size, False, False)
    assert "the last good one is" in check_backup()
    standing_clock.set(last.at + timedelta(hours=60))  # the command is a program, which keeps the machine's clock
    with pytest.raises(CommandError, match="hours old"):
        check_backup()


def _command(code: str) -> str:
    return f"{sys.executable} -c '{code}'"


def test_an_upload_gets_the_file_and_no_secret_of_the_service(
    say: Say, folder: Path, filled: str, configure: Configure, own_engine: None
) -> None:
    code = (
        'import os,sys,json; print(json.dumps([sys.argv[1:], sorted(os.environ)]), file=open(sys.argv[1]+".seen","w"))'
    )
    configure(BACKUP_UPLOAD=_command(code) + " {} elsewhere:$HOME;true", SECRET_KEYS=os.environ["SECRET_KEYS"])
    assert say(filled, "backup")[0] == 0
    (file,) = folder.glob("*.seen")
    words, names = json.loads(file.read_text(encoding="utf-8"))
    assert words == [str(file).removesuffix(".seen"), "elsewhere:$HOME;true"]  # no shell read it
    assert {"SECRET_KEYS", "SERVICE_CLIENT_SECRET", "DATABASE_URL", "REDIS_URL"}.isdisjoint(names)


@pytest.mark.parametrize(
    ("upload", "complaint"),
    [
        (_command('import sys; sys.exit("no such bucket")'), "ended with status 1: no such bucket"),
        (_command("import time; time.sleep(60)"), "took over 1 s and was ended"),
        ("/nowhere/rclone copy", "could not be run (No such file or directory)"),
    ],
)
def test_a_failed_upload_has_its_own_status_deletes_nothing_and_is_no_good_backup(
    say: Say, folder: Path, filled: str, configure: Configure, upload: str, complaint: str, own_engine: None
) -> None:
    configure(BACKUP_UPLOAD=upload, BACKUP_UPLOAD_SECONDS=1)
    status, _, fault = say(filled, "backup")
    assert (status, complaint in fault) == (5, True), fault
    assert len(list(folder.iterdir())) == 3
    with transaction() as session:
        assert find_last_backup(session) is None


def test_older_backups_that_cannot_be_deleted_have_their_own_status(
    say: Say, folder: Path, filled: str, own_engine: None
) -> None:
    old = folder / _name(date(2020, 1, 1))
    old.unlink()
    old.mkdir()  # no file can be deleted there, anyone who asks
    assert say(filled, "backup")[0] == 6


def test_a_full_disk_is_told_as_such_and_leaves_nothing(
    say: Say, filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, identity: Path, configure: Configure
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archives, "_write", refuse)
    status, _, fault = say(filled, "backup", tmp_path / "x")
    assert status == 1
    assert fault == (
        f"award-travel: Could not write {tmp_path / 'x'}: its disk is full. Make room there, or choose another disk.\n"
    )
    assert [p.name for p in tmp_path.iterdir()] == ["identity"]
