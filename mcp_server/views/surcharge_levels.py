"""Airlines' cash surcharges on a route, as a level per programme, to rank programmes before a search."""

from collections.abc import Sequence
from typing import Literal

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.wording import join_names
from shared.reference.surcharges import SurchargeLevel, group_levels, list_nonstop_carriers, rank_programs

_MOST_TOLD = 2  # programmes of one level


class RankedSurcharge(Verified):
    """`usd_low` to `usd_high`: amounts seen, `per` one_way or round_trip, without the taxes of states and airports."""

    program: str
    airlines: list[str]
    level: Literal["none", "low", "moderate", "high", "very_high"]
    usd_low: int | None
    usd_high: int | None
    per: str
    note: str | None


def list_surcharges(
    call: Call, starts: Sequence[str], ends: Sequence[str], cabin: str, programs: Sequence[str]
) -> list[SurchargeLevel]:
    """The programmes' surcharge levels on the airlines known to fly the route non-stop."""
    return rank_programs(call.reference, list_nonstop_carriers(call.reference, starts, ends), cabin, programs)


def to_ranked(level: SurchargeLevel) -> RankedSurcharge:
    row = level.row
    return RankedSurcharge.from_row(
        row, program=level.program, airlines=list(level.airlines), note=row.remark, **describe_verified(row)
    )


def describe_surcharges(call: Call, ranked: Sequence[SurchargeLevel]) -> str:
    """`Surcharges: none with Aeroplan and AAdvantage (AA); very high with Atmos Rewards.`"""
    groups = group_levels(ranked)
    levels = dict.fromkeys([*list(groups)[:1], *list(groups)[-1:]])
    parts = [f"{level.replace('_', ' ')} with {_name_some(call, groups[level])}" for level in levels]
    return f"Surcharges: {'; '.join(parts)}." if parts else ""


def _name_some(call: Call, levels: Sequence[SurchargeLevel]) -> str:
    """Names programmes; one with several levels on the route also with this level's airlines."""
    names = [
        call.reference.programs[one.program].name + (f" ({'/'.join(one.airlines)})" if one.is_one_of_several else "")
        for one in levels[:_MOST_TOLD]
    ]
    more = len(levels) - len(names)
    return join_names([*names, f"{more} more"] if more else names)
