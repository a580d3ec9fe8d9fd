"""Past transfer bonuses of each route as results show them: what was seen and when."""

from collections import defaultdict
from datetime import date

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.results import Part
from shared.domain.bonus_patterns import PastBonus, describe_pattern


class SeenBonus(Part):
    percent: int
    starts_on: date | None
    ends_on: date


class BonusPattern(Part):
    from_program: str
    to_program: str
    pattern: str
    bonuses: list[SeenBonus]


def list_bonus_patterns(call: Call) -> list[BonusPattern]:
    """Routes that are open today and had at least two bonuses so far, the most frequent first."""
    routes = call.reference.routes(call.today)
    pairs = {(edge.source, edge.target) for edges in routes.values() for edge in edges}
    bonuses_by_pair: dict[tuple[str, str], list[PastBonus]] = defaultdict(list)
    for row in call.reference.rows("transfer_bonuses.csv"):
        pair = (row.from_program, row.to_program)
        if pair in pairs and (row.valid_from or row.valid_to) <= call.today:
            bonuses_by_pair[pair].append(PastBonus(row.bonus_percent, row.valid_from, row.valid_to))
    return [
        BonusPattern(
            from_program=source,
            to_program=target,
            pattern=text,
            bonuses=[SeenBonus(percent=b.percent, starts_on=b.starts_on, ends_on=b.ends_on) for b in bonuses],
        )
        for (source, target), bonuses in sorted(bonuses_by_pair.items(), key=lambda item: (-len(item[1]), item[0]))
        if (text := describe_pattern(bonuses))
    ]
