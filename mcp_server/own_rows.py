"""Rows of the caller alone: an id, or what a plan has a cap on, goes in; the row, or the refusal, comes out."""

from typing import Any, TypeVar

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from mcp_server.call import CallBase
from shared.db.accounts import lock
from shared.db.base import Base
from shared.db.pages import count
from shared.errors import LimitReached, NotFound

Row = TypeVar("Row", bound=Base)


def own(kind: type[Row], what: str, session: Session, row_id: int, *, locked: bool = False) -> Row:
    """Raises NotFound for what is not there or is somebody else's. Locked until the call is over."""
    row = session.get(kind, row_id, with_for_update=locked or None)
    if row is None:
        raise NotFound(what, row_id)
    return row


def same_as(session: Session, made: Any, running: ColumnElement[bool], *terms: str) -> str:
    """A sentence about an earlier row that runs and says the same; empty where there is none."""
    kind = type(made)
    alike = [getattr(kind, name) == getattr(made, name) for name in terms]
    earlier = session.scalar(select(func.min(kind.id)).where(running, kind.id < made.id, *alike))
    return f" Number {earlier} says the same and is active too: one of them can go." if earlier else ""


def check_cap(call: CallBase, session: Session, kind: type[Base], running: ColumnElement[bool], told: str) -> int:
    """How many run. Raises LimitReached when no place is free.

    Calls of one account wait for each other, so the last free place goes to one of them.
    """
    lock(session, call.account_id)
    limit = kind.__tablename__
    active, cap = count(session, kind, running), getattr(call.limits, limit)
    if active >= cap:
        raise LimitReached(
            f"{active} of {cap} {limit.replace('_', ' ')} of this plan are {told}",
            limit=limit,
            current=active,
            cap=cap,
            upgrade_url=call.upgrade_url,
            active_count=active,
        )
    return active
