"""The data mode of an installation: a database filled in one mode is refused by programs in the other."""

import logging

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Session

import shared.db.migrations  # noqa: F401 - knows every table
from shared.db.accounts import ServiceFact
from shared.db.base import Base, transaction
from shared.db.run_kinds import delete_orphaned_schedules
from shared.settings import SettingsError, settings

log = logging.getLogger(__name__)
FACT = "data_mode"


class WrongDataMode(SettingsError):
    """The database was filled in the other mode; the text names the mend."""


def claim_data_mode(session: Session) -> None:
    """Remembers the mode at the first start, and afterwards raises WrongDataMode when it differs."""
    mode = settings().data_mode
    stored = session.get(ServiceFact, FACT)
    if stored is None:
        try:
            with session.begin_nested():
                session.add(ServiceFact(name=FACT, value=mode))
        except IntegrityError:  # two programs started at once
            session.expire_all()
        stored = session.get_one(ServiceFact, FACT)
    if stored.value == "sandbox" and mode == "live":
        raise WrongDataMode(
            "This database was filled in sandbox mode and cannot be opened live, so that invented rows never pass for"
            " real ones. `award-travel reset-sandbox` deletes the invented rows; or set AWARD_BACKEND=sandbox."
        )
    if stored.value != mode:
        raise WrongDataMode(
            "This database holds live data and cannot be opened in sandbox mode. Set AWARD_BACKEND=live, or use another"
            " database (`award-travel reset-sandbox` deletes invented rows only, never live ones)."
        )


def hold_data_mode() -> None:
    """Said by each program at its start; raises WrongDataMode. A database that is away is told by readiness instead."""
    try:
        with transaction() as session:
            claim_data_mode(session)
    except SQLAlchemyError:
        log.warning("data mode: the database does not answer; the mode was not compared")


def reset_sandbox(session: Session, apply: bool) -> dict[str, int]:
    """How many invented rows each table holds; deletes them, and forgets the mode, when `apply` is true.

    Plain table statements: the guards of a session see one data mode only.
    """
    tables = [t for t in reversed(Base.metadata.sorted_tables) if "synthetic" in t.c]
    counts = {
        t.name: session.scalar(sa.select(sa.func.count()).select_from(t).where(t.c.synthetic)) or 0 for t in tables
    }
    if apply:
        for table in tables:
            session.execute(sa.delete(table).where(table.c.synthetic))
        delete_orphaned_schedules(session)
        facts = ServiceFact.__table__
        session.execute(sa.delete(ServiceFact).where(facts.c.name == FACT, facts.c.value == "sandbox"))
    return {name: count for name, count in counts.items() if count}
