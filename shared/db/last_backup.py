"""What is remembered of the last good backup, for doctor and for anyone who is about to change the service."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import ServiceFact

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
    value = json.dumps(asdict(backup) | {"at": backup.at.isoformat()})
    row = insert(ServiceFact).values(name=FACT, value=value, set_at=clock.now())
    newest = {"value": row.excluded.value, "set_at": row.excluded.set_at}
    session.execute(row.on_conflict_do_update(index_elements=["name"], set_=newest))


def find_last_backup(session: Session) -> LastBackup | None:
    value = session.scalar(sa.select(ServiceFact.value).where(ServiceFact.name == FACT))
    return None if value is None else parse_backup(value)


def parse_backup(value: str) -> LastBackup:
    """What `note_backup` wrote."""
    facts = json.loads(value)
    return LastBackup(**facts | {"at": datetime.fromisoformat(facts["at"])})
