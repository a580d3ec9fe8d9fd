"""Transfer options: ways to reach a points target from the saved balances, by cash value."""

from collections.abc import Sequence
from datetime import date
from typing import Annotated

from pydantic import Field
from sqlalchemy import select

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import AnyName, Points
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import NO_DATA, Money, NoDataWord, Part, Result
from mcp_server.views.transfers import RunningBonus, TransferRoute, read_routes, to_transfer_route
from shared.db.balances import PointsBalance
from shared.domain import transfer_options
from shared.domain.plurals import pluralize
from shared.domain.transfer_options import Combination, Purse, Way
from shared.domain.valuations import choose_value
from shared.errors import NoData
from shared.reference.reference import Reference
from shared.reference.rows import Program
from shared.reference.transfer_rates import describe_all_rates

MAX_OPTIONS = 20
MAX_RATES_IN_MESSAGE = 2
CURRENCY = "USD"


class TransferOption(Part):
    """`route` is null for points that are in the target programme already."""

    route: TransferRoute | None
    from_program: str
    source_points: int
    delivered_points: int
    leftover: int
    cost_cents: Money | NoDataWord
    cents_per_point: Money | NoDataWord
    bonus: RunningBonus | None
    hops: int
    posting_time: str | NoDataWord
    covers_target: bool


class CombinationPart(Part):
    from_program: str
    source_points: int
    delivered_points: int
    cost_cents: Money | NoDataWord
    route: TransferRoute | None


class CombinedOption(Part):
    parts: list[CombinationPart]
    delivered_points: int
    covers_target: bool
    cost_cents: Money | NoDataWord


class TransferOptions(Result):
    options: list[TransferOption]
    combinations: list[CombinedOption]
    shortfall: int
    balances_as_of: date
    currency: str
    valuations_as_of: str | None


def _find_bonus(way: Way) -> RunningBonus | None:
    running = [e.bonus for e in way.path.edges if e.bonus and not e.bonus.targeted] if way.path else []
    if not running:
        return None
    first = min(running, key=lambda b: b.ends_on)
    return RunningBonus(percent=first.percent, starts_on=first.starts_on, ends_on=first.ends_on, targeted=False)


def _to_option(reference: Reference, way: Way) -> TransferOption:
    return TransferOption(
        route=to_transfer_route(reference, way.path, way.needed if way.covers else None) if way.path else None,
        from_program=way.purse.program,
        source_points=way.points_sent,
        delivered_points=way.points_delivered,
        leftover=way.leftover,
        cost_cents=NO_DATA if way.cost is None else way.cost,
        cents_per_point=NO_DATA if way.cents_per_point is None else round(way.cents_per_point, 4),
        bonus=_find_bonus(way),
        hops=way.hops,
        posting_time=way.posting if way.posting != "unknown" else NO_DATA,
        covers_target=way.covers,
    )


def _to_combination(reference: Reference, combination: Combination, needed: int) -> CombinedOption:
    return CombinedOption(
        parts=[
            CombinationPart(
                from_program=p.purse.program,
                source_points=p.points_sent,
                delivered_points=p.points_delivered,
                cost_cents=NO_DATA if p.cost is None else p.cost,
                route=to_transfer_route(reference, p.path, None) if p.path else None,
            )
            for p in combination.parts
        ],
        delivered_points=combination.points_delivered,
        covers_target=combination.points_delivered >= needed,
        cost_cents=NO_DATA if combination.cost is None else combination.cost,
    )


@tool(area="transfers", tier=Tier.PREMIUM, effect=Effect.READS)
def compare_transfer_options(
    call: Call,
    target_program: AnyName,
    points_needed: Annotated[Points, Field(description="Points wanted in the target programme.")],
) -> TransferOptions:
    """Ranks ways to reach a points target from the user's balances by what they cost in cash value.

    A point costs its published value in US cents. Premium.
    """
    goal = call.reference.program(target_program)
    rows = list(call.db.scalars(select(PointsBalance)))
    if not any(r.balance for r in rows):
        raise NoData("No points balances are kept here; add one with update_points_balance.", missing=["balances"])
    programs = call.reference.programs
    purses = [Purse(r.program, r.balance, choose_value(r.own_cents, programs[r.program].value_usd_cents)) for r in rows]
    routes = read_routes(call)
    ways = transfer_options.find_ways(routes, purses, goal.slug, points_needed)
    if not ways:
        raise NoData(f"None of the balances kept here can become points of {goal.name}.", missing=["transfer path"])
    combinations = transfer_options.find_combinations(ways, points_needed)
    missing = transfer_options.find_shortfall(ways, points_needed)
    used = {w.purse.program for w in ways}
    dates = [d for p in used if (d := programs[p].as_of)]
    return TransferOptions(
        message=_describe_options(call.reference, goal, ways, combinations, points_needed, missing),
        options=[_to_option(call.reference, w) for w in ways[:MAX_OPTIONS]],
        combinations=[_to_combination(call.reference, c, points_needed) for c in combinations],
        shortfall=missing,
        balances_as_of=min(r.as_of for r in rows if r.program in used),
        currency=CURRENCY,
        valuations_as_of=min(dates, default=None),
    )


def _describe_options(
    reference: Reference,
    goal: Program,
    ways: Sequence[Way],
    combinations: Sequence[Combination],
    needed: int,
    missing: int,
) -> str:
    reaching = [w for w in ways if w.covers]
    balances = f"{len(reaching)} of {pluralize(len(ways), 'balance')}"
    message = f"{pluralize(needed, 'point')} of {goal.name}: {balances} can reach it alone"
    if reaching and (cost := reaching[0].cost) is not None:
        message += f", the cheapest with points worth about {cost / 100:,.2f} USD"
    message += f"; so can {pluralize(len(combinations), 'combination')}." if combinations else "."
    if missing:
        message += f" Missing even with every balance: {pluralize(missing, 'point')}."
    direct = [edge for way in ways if way.path for edge in way.path.edges]
    by_card = describe_all_rates(reference, direct)[:MAX_RATES_IN_MESSAGE]
    return " ".join([message, *by_card, "Transfers cannot be undone: confirm the seats first."])
