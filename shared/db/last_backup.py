"""What is remembered of the last good backup, for doctor and for anyone who is about to change the service."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import ServiceFact, store_fact

FACT = "last_backup"


@dataclass(frozen=True)
class LastBackup:
    """`bytes` of the file. A backup whose upload failed is not remembered."""

    at: datetime
    bytes: int
    encrypted: bool
    uploaded: bool

    @property
    def age(self) -> timedelta:
        return clock.now() - self.at


def note_backup(session: Session, backup: LastBackup) -> None:
    store_fact(session, FACT, json.dumps(asdict(backup) | {"at": backup.at.isoformat()}))


def find_last_backup(session: Session) -> LastBackup | None:
    value = session.scalar(sa.select(ServiceFact.value).where(ServiceFact.name == FACT))
    return None if value is None else parse_backup(value)


def parse_backup(value: str) -> LastBackup:
    """Parses what `note_backup` wrote."""
    facts = json.loads(value)
    return LastBackup(**facts | {"at": datetime.fromisoformat(facts["at"])})
