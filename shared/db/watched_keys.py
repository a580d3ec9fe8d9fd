"""Whether each key that a watch of award seats looks at matched at the last check that answered for it."""

from collections.abc import Mapping
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db import bulk
from shared.db.base import Base


def store_key_states(
    session: Session, table: type[Base], watch_id: int, states: Mapping[str, bool], answered_at: datetime
) -> None:
    """Writes the keys that answered into `MonitorKey` or `FlightAlertKey`; the others keep their state."""
    owner = sa.inspect(table).primary_key[0].name
    rows = [
        {owner: watch_id, "key": key, "matched": matched, "answered_at": answered_at} for key, matched in states.items()
    ]
    if rows:
        newest = (
            f"on conflict ({owner}, key) do update set matched = excluded.matched, answered_at = excluded.answered_at"
        )
        bulk.write(session, table, rows, newest)
