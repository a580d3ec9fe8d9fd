"""The caller's own rows: fetching one by its id, and the plan's cap on how many may be active."""

from typing import NamedTuple, TypeVar

from sqlalchemy import ColumnElement, and_, false, func, select
from sqlalchemy.orm import Session

from mcp_server.toolkit.context import CallBase
from shared.db.accounts import lock
from shared.db.base import Base
from shared.db.watches import Watch
from shared.errors import LimitReached, NotFound

Row = TypeVar("Row", bound=Base)


def get_own(kind: type[Row], what: str, session: Session, row_id: int, *, locked: bool = False) -> Row:
    """Raises NotFound when the row does not exist or belongs to another account. `locked`: until the call ends."""
    row = session.get(kind, row_id, with_for_update=locked or None)
    if row is None:
        raise NotFound(what, row_id)
    return row


class Capacity(NamedTuple):
    """How many rows are active, and a sentence about an active one with the same terms, if there is one."""

    active: int
    same: str


def same_terms(row: Base, *terms: str) -> ColumnElement[bool]:
    """The condition that another row has the same terms."""
    return and_(*(getattr(type(row), name) == getattr(row, name) for name in terms))


def check_cap(
    call: CallBase,
    session: Session,
    model: type[Watch],
    state_words: str,
    alike: ColumnElement[bool] | None = None,
) -> Capacity:
    """Raises LimitReached when the plan's cap is reached.

    Calls of one account wait for each other (row lock), so only one of them takes the last place.
    """
    lock(session, call.account_id)
    kind, cap = model.KIND, model.KIND.cap(call.plan)
    twin = func.min(model.id).filter(false() if alike is None else alike)
    active, same = session.execute(select(func.count(), twin).select_from(model).where(model.is_running())).one()
    if active >= cap:
        raise LimitReached(
            f"{active} of {cap} {kind.nouns} of this plan are {state_words}",
            limit=kind.table,
            current=active,
            cap=cap,
            upgrade_url=call.upgrade_url,
            active_count=active,
        )
    return Capacity(active, f" Number {same} says the same and is active too: one of them can go." if same else "")
