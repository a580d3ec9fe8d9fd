"""`award-travel backup` and `restore`: the service's own tables as one file, and back."""

import argparse
import os
from datetime import UTC, datetime
from pathlib import Path

from deploy.backups.archive import dump_database
from deploy.backups.encryption import open_archive
from deploy.backups.postgres_programs import Server
from deploy.backups.rehearsal import rehearse_restore
from deploy.backups.restore import restore_archive
from deploy.backups.rotation import build_name, select_expired
from deploy.backups.upload import upload
from deploy.errors import CommandError, build_write_fault
from deploy.local.home import Home
from deploy.local.service import database, is_set_by_environment
from shared.db.base import transaction
from shared.db.last_backup import LastBackup, note_backup
from shared.domain.plurals import pluralize
from shared.settings import Settings, settings


class RotationFailed(CommandError):
    """The backup is made and uploaded; older ones that were to go are still there."""

    code = 6


def run_backup(arguments: argparse.Namespace) -> None:
    """Of a service that runs, too: the archive shows one moment."""
    home, outside = Home(arguments.home), is_set_by_environment()
    with database(home, tables=False):
        now, config = datetime.now(UTC), settings()
        target = _choose_target(arguments.file, now, config)
        _write_backup(Server.from_environment(), target, config.backup_recipients)
        keys = "SECRET_KEYS" if outside else f"SECRET_KEYS ({home.path / 'secrets.json'})"
        print(f"{target}: {target.stat().st_size:,} bytes, everything the service holds.")
        print(f"Keep {keys} elsewhere: without them connections, sign-ins and secret links of this backup are lost.")
        if config.backup_upload:
            upload(target, config.backup_upload, config.backup_upload_seconds)
        _note_success(target, now, config)
        if arguments.file is None:
            _delete_expired(target.parent, now, config)


def _choose_target(file: Path | None, now: datetime, config: Settings) -> Path:
    if file is None and config.backup_folder is None:
        raise CommandError("Name a file, or set BACKUP_FOLDER: a backup without a name goes there.")
    name = build_name(now, encrypted=bool(config.backup_recipients.strip()))
    target = (file or Path(config.backup_folder or "") / name).absolute()
    if target.exists():
        raise CommandError(f"{target} exists: name another file.")
    return target


def _write_backup(server: Server, target: Path, recipients: str) -> None:
    """Whole or not at all."""
    new = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        dump_database(server, new, recipients)
        new.rename(target)
    except OSError as fault:
        raise build_write_fault(target, fault, "name a file in a folder of yours.") from None
    finally:
        new.unlink(missing_ok=True)


def _note_success(target: Path, now: datetime, config: Settings) -> None:
    size, uploaded = target.stat().st_size, bool(config.backup_upload)
    with transaction() as session:
        note_backup(session, LastBackup(now, size, bool(config.backup_recipients.strip()), uploaded))


def _delete_expired(folder: Path, now: datetime, config: Settings) -> None:
    """Only in a folder of backups, and only files named as backups of it are."""
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
