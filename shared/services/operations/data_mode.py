"""The data mode of an installation: a database filled in one mode is refused by programs in the other."""

import logging

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Session

import shared.db.migrations  # noqa: F401 - knows every table
from shared.db.accounts import Account, ServiceFact
from shared.db.base import Base, transaction
from shared.db.run_kinds import delete_orphaned_schedules
from shared.settings import SettingsError, settings

log = logging.getLogger(__name__)
FACT = "data_mode"


class WrongDataMode(SettingsError):
    """The database was filled in the other mode; the text names the remedy."""


def find_data_mode(session: Session) -> str | None:
    """The mode the database was first started in; None before the first start."""
    stored = session.get(ServiceFact, FACT)
    return stored.value if stored else None


def holds_nothing(session: Session) -> bool:
    """Whether it has no account and no row of either mode, so that nothing can pass for what it is not."""
    tables = [Account.__table__, *_list_mode_tables()]
    return not session.scalar(sa.select(sa.or_(*(sa.exists(sa.select(sa.literal(1)).select_from(t)) for t in tables))))


def check_data_mode(session: Session) -> None:
    """Raises WrongDataMode where a start would be refused. Writes nothing."""
    stored, mode = find_data_mode(session), settings().data_mode
    if stored in (None, mode) or holds_nothing(session):
        return
    if stored == "sandbox":
        raise WrongDataMode(
            "This database was filled in sandbox mode and cannot be opened live, so that invented rows never pass for"
            " real ones. `award-travel reset-sandbox` deletes the invented rows; or set AWARD_BACKEND=sandbox."
        )
    raise WrongDataMode(
        "This database holds live data and cannot be opened in sandbox mode. Set AWARD_BACKEND=live, or use another"
        " database (`award-travel reset-sandbox` deletes invented rows only, never live ones)."
    )


def claim_data_mode(session: Session) -> None:
    """Remembers the mode at the first start, or at a later one of an empty database; else raises WrongDataMode."""
    mode = settings().data_mode
    stored = session.get(ServiceFact, FACT, with_for_update=True)
    if stored is None:
        try:
            with session.begin_nested():
                session.add(ServiceFact(name=FACT, value=mode))
        except IntegrityError:  # two programs started at once
            session.expire_all()
        stored = session.get_one(ServiceFact, FACT)
    if stored.value != mode:
        check_data_mode(session)
        stored.value = mode


def _list_mode_tables() -> list[sa.Table]:
    return [t for t in reversed(Base.metadata.sorted_tables) if "synthetic" in t.c]


def hold_data_mode() -> None:
    """Claims the mode at each program's start; raises WrongDataMode. Readiness reports a database that is down."""
    try:
        with transaction() as session:
            claim_data_mode(session)
    except SQLAlchemyError:
        log.warning("data mode: the database does not answer; the mode was not compared")


def reset_sandbox(session: Session, apply: bool) -> dict[str, int]:
    """Counts the invented rows of each table; deletes them, and forgets that mode, when `apply` is true.

    Plain table statements: the guards of a session see one data mode only.
    """
    tables = _list_mode_tables()
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
