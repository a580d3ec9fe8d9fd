"""Transfer options: ways to reach a points target from the saved balances, by cash value."""

from collections.abc import Sequence
from datetime import date
from typing import Annotated

from pydantic import Field

from mcp_server.toolkit import NO_DATA, Call, Effect, Money, NoDataWord, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import AnyName, Points
from mcp_server.toolkit.wording import list_program_names, program_name
from mcp_server.views.household import MemberBalance, describe_left_apart, describe_lent, list_lent
from mcp_server.views.transfers import RunningBonus, TransferRoute, read_routes, to_transfer_route
from shared.domain import transfer_options
from shared.domain.funding import Funds, find_payment, find_slowest, sum_cost
from shared.domain.plurals import pluralize
from shared.domain.transfer_options import Combination, Purse, Way
from shared.domain.transfers import Edge, Network, find_sensible_paths
from shared.domain.valuations import VALUATION_CURRENCY
from shared.errors import NoData
from shared.reference.reference import Reference
from shared.reference.rows.programmes import Program
from shared.reference.transfer_rates import describe_all_rates
from shared.services.search.purses import read_household

MAX_OPTIONS = 20
MAX_RATES_IN_MESSAGE = 2


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


class DeadEnd(Part):
    """A balance whose points do not become points of the target, or are too few to be sent."""

    program: str
    points: int


class TransferOptions(Result):
    """`names`: of every programme in the answer, by slug. What other members hold is counted where the person's own
    is not enough: `pooled_with` is what is put together then, `apart` what cannot be joined.
    """

    target_program: str
    points_needed: int
    names: dict[str, str]
    dead_ends: list[DeadEnd]
    options: list[TransferOption]
    combinations: list[CombinedOption]
    pooled_with: list[MemberBalance]
    apart: list[MemberBalance]
    shortfall: int
    balances_as_of: date
    currency: str
    valuations_as_of: str | None


def _find_bonus(way: Way) -> RunningBonus | None:
    running = [e.bonus for e in way.path.edges if e.bonus and not e.bonus.targeted] if way.path else []
    if not running:
        return None
    first = min(running, key=lambda b: b.ends_on or date.max)
    return RunningBonus.from_row(first, targeted=False)


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


@tool(
    "transfers",
    Tier.PREMIUM,
    Effect.READS,
    "Compare transfers into a programme",
    screen="transfer-paths",
    condenses=True,
)
def compare_transfer_options(
    call: Call,
    target_program: AnyName,
    points_needed: Annotated[Points, Field(description="Points to arrive.")],
) -> TransferOptions:
    """Ranks which of the user's points to transfer when short for an award, cheapest first, bonuses counted.

    For "I need 20k more for my award: what should I move?" From one currency: find_transfer_paths. Premium.
    """
    goal = call.find_program(target_program)
    household = read_household(call.db, call.reference)
    call.add_own_programs(p.program for p in household.purses)
    if not household.purses and not household.apart:
        raise NoData("No points balances are kept here; add one with update_points_balance.", missing=["balances"])
    programs = call.reference.programs
    routes = read_routes(call)
    purses, ways = _choose_purses(routes, household.purses, goal.slug, points_needed)
    missing = transfer_options.find_shortfall(ways, points_needed)
    apart = [
        balance
        for balance in household.apart
        if missing and (balance.program == goal.slug or find_sensible_paths(routes, balance.program, goal.slug))
    ]
    left_apart = describe_left_apart(call.reference, apart)
    if not ways:
        text = f"None of the balances kept here can become points of {goal.name}.{left_apart}"
        raise NoData(text, missing=["transfer path"])
    combinations = transfer_options.find_combinations(ways, points_needed)
    used = {w.purse.program: w.purse for w in ways}
    dates = [d for p in used.values() if not p.own_value and (d := programs[p.program].as_of)]
    fastest = (find_payment({goal.slug: points_needed}, Funds(routes, purses)) or {}).get(goal.slug, ())
    cheapest = _find_cheapest([*((w,) for w in ways if w.covers), *(c.parts for c in combinations)])
    paid = (cheapest or fastest) if not missing else [Way(p, None, p.points, p.points, p.points) for p in used.values()]
    dead_ends = [p for p in purses if p.points > 0 and p.program not in used]
    named_programs = [goal.slug, *(p.program for p in purses), *(b.program for b in apart), *_list_steps(ways)]
    return TransferOptions(
        target_program=goal.slug,
        points_needed=points_needed,
        names=list_program_names(call.reference, named_programs),
        dead_ends=[DeadEnd(program=p.program, points=p.points) for p in dead_ends],
        message=" ".join(
            [
                _describe_options(
                    goal, ways, combinations, points_needed, missing, describe_lent(call.reference, paid)
                ),
                *_describe_cheapest(call.reference, cheapest, fastest),
                *describe_all_rates(call.reference, _list_edges(ways))[:MAX_RATES_IN_MESSAGE],
                f"Transfers cannot be undone: confirm the seats first.{left_apart}",
            ]
        ),
        options=[_to_option(call.reference, w) for w in ways[:MAX_OPTIONS]],
        combinations=[_to_combination(call.reference, c, points_needed) for c in combinations],
        pooled_with=list_lent(paid),
        apart=[MemberBalance.from_row(b) for b in apart],
        shortfall=missing,
        balances_as_of=min(p.as_of for p in used.values() if p.as_of),
        currency=VALUATION_CURRENCY,
        valuations_as_of=min(dates, default=None),
    )


def _choose_purses(
    routes: Network, purses: Sequence[Purse], goal: str, needed: int
) -> tuple[Sequence[Purse], list[Way]]:
    """The balances that count, with their ways: the person's own, or if too few, all combined.

    In the wanted programme the other members' points count first: they need no transfer.
    """
    purses = [purse.pool() if purse.program == goal and purse.points < needed else purse for purse in purses]
    ways = transfer_options.find_ways(routes, purses, goal, needed)
    together = [purse.pool() for purse in purses]
    if not transfer_options.find_shortfall(ways, needed) or together == purses:
        return purses, ways
    more = transfer_options.find_ways(routes, together, goal, needed)
    brings_more = transfer_options.find_shortfall(more, needed) < transfer_options.find_shortfall(ways, needed)
    return (together, more) if brings_more else (purses, ways)


def _list_edges(ways: Sequence[Way]) -> list[Edge]:
    return [edge for way in ways if way.path for edge in way.path.edges]


def _list_steps(ways: Sequence[Way]) -> list[str]:
    return [edge.target for edge in _list_edges(ways[:MAX_OPTIONS])]


def _describe_options(
    goal: Program, ways: Sequence[Way], combinations: Sequence[Combination], needed: int, missing: int, lent: str
) -> str:
    points = f"{pluralize(needed, 'point')} of {goal.name}"
    if lent and not missing:
        return f"{points}: covered with {lent}, pooled with yours."
    if missing:
        pooled = f", {lent} pooled" if lent else ""
        return f"{points}: {missing:,} are missing even with every balance{pooled}."
    alone = {w.purse.program for w in ways if w.covers}
    balances = f"{len(alone)} of {pluralize(len({w.purse.program for w in ways}), 'balance')}"
    message = f"{points}: {balances} can reach it alone"
    return message + (f"; so can {pluralize(len(combinations), 'combination')}." if combinations else ".")


def _describe_cheapest(reference: Reference, cheapest: Sequence[Way], fastest: Sequence[Way]) -> list[str]:
    if not cheapest:
        return []
    worth = (sum_cost(cheapest) or 0) / 100
    spent = f"The cheapest spends {_list_parts(reference, cheapest)}, worth about {worth:,.2f} USD."
    return [spent + _describe_fastest(reference, fastest, cheapest)]


def _find_cheapest(choices: Sequence[Sequence[Way]]) -> Sequence[Way]:
    """The cheapest option, of one or several balances; empty if no cost is known."""
    costs = [(cost, len(ways), at) for at, ways in enumerate(choices) if (cost := sum_cost(ways)) is not None]
    return choices[min(costs)[2]] if costs else ()


def _describe_fastest(reference: Reference, fastest: Sequence[Way], cheapest: Sequence[Way]) -> str:
    """Describes the fastest option, if not the cheapest: a seat can go while points are on their way."""
    if not fastest or find_slowest(fastest) == find_slowest(cheapest):
        return ""
    speed = {"instant": "at once", "hours": "within hours", "days": "in days"}.get(find_slowest(fastest), "soonest")
    return f" To arrive {speed}: {_list_parts(reference, fastest)}."


def _list_parts(reference: Reference, ways: Sequence[Way]) -> str:
    return " and ".join(f"{w.points_sent:,} of {program_name(reference, w.purse.program)}" for w in ways)
