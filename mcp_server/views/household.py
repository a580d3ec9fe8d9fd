"""Other household members' balances, in results that count balances: pooled, or apart."""

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
    """What these ways spend from other members' balances."""
    return [
        MemberBalance(program=way.purse.program, member=share.member, points=share.points, pooling="yes")
        for way in ways
        for share in way.lent
    ]


def describe_lent(reference: Reference, ways: Iterable[Way]) -> str:
    """`Sam's 90,000 of The British Airways Club`, for points pooled with the person's; empty without."""
    lent = [(way.purse.program, way.lent) for way in ways if way.lent]
    return " and ".join(describe_shares(shares, program_name(reference, program)) for program, shares in lent)


def describe_left_apart(reference: Reference, balances: Iterable[Apart]) -> str:
    """Sentences, after a space, about balances that are not counted."""
    named = list(balances)[:MAX_NAMED]
    return "".join(f" {describe_apart(b, program_name(reference, b.program))}" for b in named)


def describe_counted(reference: Reference, household: Household, programs: Collection[str]) -> str:
    """Sentences, after a space, about other members' balances in these programmes: counted, or apart."""
    counted = [purse for purse in household.purses if purse.others and purse.program in programs][:MAX_NAMED]
    shares = [describe_shares(purse.others, program_name(reference, purse.program)) for purse in counted]
    together = f" {' and '.join(shares)} counted too, pooled with yours." if shares else ""
    apart = (balance for balance in household.apart if balance.program in programs)
    return together + describe_left_apart(reference, apart)
