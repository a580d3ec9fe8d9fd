"""Rows of the caller alone: an id, or what a plan has a cap on, goes in; the row, or the refusal, comes out."""

from typing import NamedTuple, TypeVar

from sqlalchemy import ColumnElement, and_, false, func, select
from sqlalchemy.orm import Session

from mcp_server.toolkit.context import CallBase
from shared.db.accounts import lock
from shared.db.base import Base
from shared.errors import LimitReached, NotFound

Row = TypeVar("Row", bound=Base)


def get_own(kind: type[Row], what: str, session: Session, row_id: int, *, locked: bool = False) -> Row:
    """Raises NotFound for what is not there or is somebody else's. Locked until the call is over."""
    row = session.get(kind, row_id, with_for_update=locked or None)
    if row is None:
        raise NotFound(what, row_id)
    return row


class Capacity(NamedTuple):
    """How many run, and a sentence about one that says the same as the one to be added, if there is any."""

    active: int
    same: str


def same_terms(row: Base, *terms: str) -> ColumnElement[bool]:
    """The condition that a row says the same."""
    return and_(*(getattr(type(row), name) == getattr(row, name) for name in terms))


def check_cap(
    call: CallBase,
    session: Session,
    kind: type[Base],
    running: ColumnElement[bool],
    state_words: str,
    alike: ColumnElement[bool] | None = None,
) -> Capacity:
    """The room there is. Raises LimitReached when no place is free.

    Calls of one account wait for each other, so the last free place goes to one of them.
    """
    lock(session, call.account_id)
    limit, id = kind.__tablename__, kind.__table__.c.id
    twin = func.min(id).filter(false() if alike is None else alike)
    active, same = session.execute(select(func.count(), twin).select_from(kind).where(running)).one()
    cap = getattr(call.limits, limit)
    if active >= cap:
        raise LimitReached(
            f"{active} of {cap} {limit.replace('_', ' ')} of this plan are {state_words}",
            limit=limit,
            current=active,
            cap=cap,
            upgrade_url=call.upgrade_url,
            active_count=active,
        )
    return Capacity(active, f" Number {same} says the same and is active too: one of them can go." if same else "")
