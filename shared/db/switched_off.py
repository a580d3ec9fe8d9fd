"""Providers that the operator switched off, until they are switched on again."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import ServiceFact

_PREFIX = "provider_off:"


def switch_off(session: Session, provider: str, reason: str) -> bool:
    """Switches it off; False if it already was."""
    row = insert(ServiceFact).values(name=_PREFIX + provider, value=reason, set_at=clock.now())
    return session.execute(row.on_conflict_do_nothing().returning(ServiceFact.name)).one_or_none() is not None


def switch_on(session: Session, provider: str) -> bool:
    """Switches it on; False if it already was."""
    gone = sa.delete(ServiceFact).where(ServiceFact.name == _PREFIX + provider).returning(ServiceFact.name)
    return session.execute(gone).one_or_none() is not None


def list_switched_off(session: Session) -> dict[str, datetime]:
    """The time each provider was switched off."""
    rows = sa.select(ServiceFact.name, ServiceFact.set_at).where(ServiceFact.name.startswith(_PREFIX, autoescape=True))
    return {name.removeprefix(_PREFIX): moment for name, moment in session.execute(rows)}
