"""What other members of the household hold, as results that count balances say it: put together, or apart."""

from collections.abc import Collection, Iterable

from mcp_server.toolkit.results import Part
from mcp_server.toolkit.wording import program_name
from shared.domain.household import Apart, describe_apart, describe_shares
from shared.domain.transfer_options import Way
from shared.reference.reference import Reference
from shared.services.search.purses import Household

MAX_NAMED = 2  # balances in one message


class MemberBalance(Part):
    """`pooling`: whether the programme lets members put points together; only with yes are they counted."""

    program: str
    member: str
    points: int
    pooling: str


def list_lent(ways: Iterable[Way]) -> list[MemberBalance]:
    """What these ways spend of other members."""
    return [
        MemberBalance(program=way.purse.program, member=share.member, points=share.points, pooling="yes")
        for way in ways
        for share in way.lent
    ]


def list_apart(balances: Iterable[Apart]) -> list[MemberBalance]:
    return [MemberBalance(program=b.program, member=b.member, points=b.points, pooling=b.pooling) for b in balances]


def describe_lent(reference: Reference, ways: Iterable[Way]) -> str:
    """`Sam's 90,000 of The British Airways Club`, of what is put together with the person's; empty without."""
    lent = [(way.purse.program, way.lent) for way in ways if way.lent]
    return " and ".join(describe_shares(shares, program_name(reference, program)) for program, shares in lent)


def describe_left_apart(reference: Reference, balances: Iterable[Apart]) -> str:
    """Sentences, led by a space, about those that are not counted."""
    named = list(balances)[:MAX_NAMED]
    return "".join(f" {describe_apart(b, program_name(reference, b.program))}" for b in named)


def describe_counted(reference: Reference, household: Household, programs: Collection[str]) -> str:
    """Sentences, led by a space, about balances of other members in these programmes: counted, or left apart."""
    counted = [purse for purse in household.purses if purse.others and purse.program in programs][:MAX_NAMED]
    shares = [describe_shares(purse.others, program_name(reference, purse.program)) for purse in counted]
    together = f" {' and '.join(shares)} counted too, pooled with yours." if shares else ""
    apart = (balance for balance in household.apart if balance.program in programs)
    return together + describe_left_apart(reference, apart)
