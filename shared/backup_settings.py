"""The settings of backups."""

from pathlib import Path

from pydantic import BaseModel, NonNegativeInt, PositiveInt


class BackupSettings(BaseModel):
    """The part of the settings by which `award-travel backup` runs unattended."""

    backup_folder: Path | None = None  # where `award-travel backup` writes when no file is named
    backup_keep_days: PositiveInt = 7  # the newest backup of each of so many days stays
    backup_keep_weeks: NonNegativeInt = 5  # and of each of so many weeks
    backup_recipients: str = ""  # comma list of public keys of age; empty = not encrypted
    backup_upload: str | None = None  # a command that takes the file elsewhere; {} stands for it
    backup_upload_seconds: PositiveInt = 3600
    backup_max_age_hours: PositiveInt = 26  # of the last good one, before doctor calls it a fault
