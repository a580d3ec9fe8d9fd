"""The balances of a household as purses: points at the person's own value, else the published one."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.balances import PointsBalance
from shared.db.members import HOLDER
from shared.domain.household import Apart
from shared.domain.transfer_options import Purse, Share
from shared.domain.valuations import choose_value
from shared.reference.own_programs import is_own
from shared.reference.reference import Reference
from shared.services.own_programs import add_own_programs

_BALANCES = (
    sa.select(PointsBalance)
    .where(PointsBalance.balance > 0)
    .order_by(PointsBalance.program, PointsBalance.member)  # the holder's first
)


class Household(NamedTuple):
    """`purses`: one for each counted programme, with others' points; `apart` is what cannot be pooled.

    `reference`: the facts with the programmes the account added.
    """

    reference: Reference
    purses: Sequence[Purse] = ()
    apart: Sequence[Apart] = ()

    def count_points(self) -> dict[str, int]:
        """The points by programme, pooled with others' where possible."""
        return {purse.program: purse.pool().points for purse in self.purses}


def read_household(session: Session, reference: Reference, account_id: int | None = None) -> Household:
    """Reads the nonzero balances of all members of the session's account, or of this one.

    All counting of balances uses these: only they know whose points can be pooled.
    """
    its = () if account_id is None else (PointsBalance.account_id == account_id,)
    rows = session.scalars(_BALANCES.where(*its)).all()
    return _build_household(rows, add_own_programs(session, reference, [row.program for row in rows], account_id))


def _build_household(rows: Iterable[PointsBalance], reference: Reference) -> Household:
    purses: list[Purse] = []
    apart: list[Apart] = []
    for program, group in groupby(rows, key=lambda row: row.program):
        if program not in reference.programs:
            continue
        balances = list(group)
        rule = reference.pooling(program)
        pooling = rule.pooling if rule else "unknown"
        own = balances[0] if balances[0].member == HOLDER else None
        others = [balance for balance in balances if balance is not own]
        if pooling != "yes":
            terms = rule.terms if rule else None
            published = reference.programs[program].value_usd_cents
            apart += [
                Apart(program, b.member, b.balance, pooling, terms, choose_value(b.own_cents, published))
                for b in others
            ]
            others = []
        if own or others:
            purses.append(_build_purse(reference, own, others))
    return Household(reference, purses, apart)


def _build_purse(reference: Reference, own: PointsBalance | None, others: Sequence[PointsBalance]) -> Purse:
    first = own or others[0]
    return Purse(
        program=first.program,
        points=own.balance if own else 0,
        value=choose_value(first.own_cents, reference.programs[first.program].value_usd_cents),
        as_of=min(balance.as_of for balance in (first, *others)),
        own_value=first.own_cents is not None or is_own(first.program),
        others=tuple(Share(balance.member, balance.balance) for balance in others),
    )
