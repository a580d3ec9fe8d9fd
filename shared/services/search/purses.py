"""The saved balances as purses: points at what they are worth to the person, else at the published value."""

from sqlalchemy.orm import Session

from shared.db.balances import PointsBalance, select_holder_balances
from shared.domain.transfer_options import Purse
from shared.domain.valuations import choose_value
from shared.reference.own_programs import is_own
from shared.reference.reference import Reference
from shared.services.own_programs import add_own_programs


def read_purses(session: Session, reference: Reference) -> list[Purse]:
    """Reads the purses with points, of the account the session is bound to."""
    rows = session.scalars(select_holder_balances().where(PointsBalance.balance > 0)).all()
    reference = add_own_programs(session, reference, [row.program for row in rows])
    return [
        Purse(
            program=row.program,
            points=row.balance,
            value=choose_value(row.own_cents, reference.programs[row.program].value_usd_cents),
            as_of=row.as_of,
            own_value=row.own_cents is not None or is_own(row.program),
        )
        for row in rows
    ]
