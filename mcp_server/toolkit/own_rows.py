"""The caller's own rows: fetched by id, found where the same is saved already, and the plan's cap on active ones."""

from typing import Generic, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, and_, false, func, inspect, select
from sqlalchemy.orm import Session

from mcp_server.toolkit.context import Call, CallBase
from shared.db.accounts import lock
from shared.db.base import Base
from shared.db.repeats import find_repeat
from shared.db.watches import Watch
from shared.errors import LimitReached, NotFound

Row = TypeVar("Row", bound=Base)
Again = bool | None  # undescribed: the answer that names the saved row explains it


def get_own(kind: type[Row], what: str, session: Session, row_id: int, *, locked: bool = False) -> Row:
    """Raises NotFound when the row does not exist or belongs to another account. `locked`: until the call ends."""
    row = session.get(kind, row_id, with_for_update=locked or None)
    if row is None:
        raise NotFound(what, row_id)
    return row


class Saved(NamedTuple, Generic[Row]):
    """A saved row equal to the new one, and a sentence about it."""

    row: Row
    message: str


def find_saved(call: Call, row: Row, what: str, *, again: bool | None) -> Saved[Row] | None:
    """The caller's saved row that equals the new one; None with `again`."""
    if again or (stored := find_repeat(call.db, call.account_id, row)) is None:
        return None
    (number,) = inspect(stored).identity or ("",)
    rest = "nothing was added or changed. Only with again true is it saved twice."
    return Saved(stored, f"This is already saved as {what} {number}; {rest}")


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
            limit=kind.files,
            current=active,
            cap=cap,
            upgrade_url=call.upgrade_url,
            active_count=active,
        )
    return Capacity(active, f" Number {same} says the same and is active too: one of them can go." if same else "")
