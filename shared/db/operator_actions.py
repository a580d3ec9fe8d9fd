"""The trail of operators: who did what to which account or application, why and when."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import Index
from sqlalchemy.orm import Mapped, Session

from shared.db.accounts import Account
from shared.db.base import Numbered, stamp


class OperatorAction(Numbered):
    """One action. No key leads to the account: its random public id, and no address, outlives the account here."""

    __tablename__ = "operator_actions"
    __table_args__ = (Index("ix_operator_actions_target", "target"),)

    actor: Mapped[str]  # cli:<login name>, or admin:<public id> of an administrator at the operators' pages
    action: Mapped[str]
    target: Mapped[str]  # the public id of an account, or a client id
    detail: Mapped[str | None]  # details: a plan before and after, the name of a key
    reason: Mapped[str | None]
    at: Mapped[stamp]


def list_actions(
    session: Session, target: str | None, limit: int, *, before: int | None = None
) -> Sequence[tuple[OperatorAction, str | None]]:
    """The newest actions, each with the address of its account while there is one. `before` is the id of a later."""
    rows = sa.select(OperatorAction, Account.email).outerjoin(Account, Account.public_id == OperatorAction.target)
    theirs = rows if target is None else rows.where(OperatorAction.target == target)
    theirs = theirs if before is None else theirs.where(OperatorAction.id < before)
    newest = session.execute(theirs.order_by(OperatorAction.id.desc()).limit(limit))
    return [(action, email) for action, email in newest]
