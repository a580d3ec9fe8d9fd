"""Members of one household: in sentences, and their balances that cannot be pooled with the person's."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from shared.domain.transfer_options import Purse, Share


def add_member(name: str, member: str | None) -> str:
    """`Sapphire Preferred of Anna`; just the name where the thing is the account holder's."""
    return f"{name} of {member}" if member else name


@dataclass(frozen=True)
class Apart:
    """A balance of another member. `pooling`: no, conditional or unknown, with any terms."""

    program: str
    member: str
    points: int
    pooling: str
    terms: str | None
    value: Decimal | None = None  # cents of one point

    def to_purse(self) -> Purse:
        return Purse(self.program, self.points, self.value, member=self.member)


def describe_shares(shares: Iterable[Share], program: str) -> str:
    """`Sam's 95,000 of The British Airways Club`."""
    return " and ".join(f"{share.member}'s {share.points:,} of {program}" for share in shares)


def describe_apart(apart: Apart, program: str) -> str:
    """A sentence on the owner, and that it is not counted."""
    whose = f"{apart.member}'s {apart.points:,} of {program}"
    if apart.pooling == "no":
        why = "the programme does not let members put points together"
        return f"{whose} cannot be joined: {why}. They pay for a ticket booked apart."
    if apart.pooling == "conditional":
        terms = f" ({apart.terms})" if apart.terms else ""
        return f"{whose} can be joined on conditions only{terms}, so they are not counted."
    return f"{whose} are not counted: whether they can be joined is not known."
