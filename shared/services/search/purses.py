"""The balances of a household as purses: points at what they are worth to the person, else at the published value."""

from collections.abc import Iterable, Mapping, Sequence
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
from shared.services.own_programs import add_own_programs, read_own_references

_BALANCES = (
    sa.select(PointsBalance)
    .where(PointsBalance.balance > 0)
    .order_by(PointsBalance.account_id, PointsBalance.program, PointsBalance.member)  # the holder's first
)


class Household(NamedTuple):
    """`purses`: one of each programme that counts, with what others hold there; `apart` is what cannot be joined.

    `reference`: the facts with the programmes the account added.
    """

    reference: Reference
    purses: Sequence[Purse] = ()
    apart: Sequence[Apart] = ()

    def count_points(self) -> dict[str, int]:
        """The points by programme, put together with those of others where that can be done."""
        return {purse.program: purse.pool().points for purse in self.purses}


def read_household(session: Session, reference: Reference) -> Household:
    """Reads the balances with points of the account the session is bound to, of all its members.

    Everything that counts balances counts these: no other way knows whose points can be put together.
    """
    rows = session.scalars(_BALANCES).all()
    return _build_household(rows, add_own_programs(session, reference, [row.program for row in rows]))


def read_households(session: Session, reference: Reference, account_ids: Iterable[int]) -> Mapping[int, Household]:
    """Those of several accounts; who has no balance is absent."""
    rows = session.scalars(_BALANCES.where(PointsBalance.account_id.in_(sorted(set(account_ids))))).all()
    facts = read_own_references(session, reference, {row.account_id for row in rows if is_own(row.program)})
    return {
        account_id: _build_household(group, facts.get(account_id, reference))
        for account_id, group in groupby(rows, key=lambda row: row.account_id)
    }


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
            apart += [Apart(program, balance.member, balance.balance, pooling, terms) for balance in others]
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
