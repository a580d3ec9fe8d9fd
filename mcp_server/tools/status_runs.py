"""Ways to a tier: a goal and a home airport go in; the gap, known runs, and paths ranked by cost and time come out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import select

from mcp_server.call import Call
from mcp_server.fields import Airport, Amount, AnyName, Currency, Day
from mcp_server.provenance import Sourced, caution, sourced
from mcp_server.results import NO_DATA, Freshness, Money, NoDataWord, Part, Result
from mcp_server.toolbox import Effect, Tier, tool
from shared.db.statuses import LoyaltyStatus
from shared.domain import elite
from shared.domain.earning import earn
from shared.domain.elite import Ladder
from shared.domain.elite import Tier as Rung
from shared.domain.status_runs import Chance, Run, ranked, runs_needed
from shared.errors import Fault, Invalid, NoData
from shared.reference import status
from shared.reference.rows.programmes import Program

NO_FARES = "No cash fares have been seen here yet, so no run has a price, and points that follow the fare are unknown."
NO_OFFERS = "No status-match or challenge offers have been gathered here."
NO_BOOKINGS = "no flight bookings are logged here."


class Gap(Part):
    metric: str
    required: int
    have: Money
    missing: Money


class StatusRun(Part):
    route: str
    carrier: str
    segments: int
    cabin: str
    fare: Money | NoDataWord
    currency: str
    qualifying_earned: Money | NoDataWord
    earned_without_fare: Money
    runs_needed: int | NoDataWord
    total_cost: Money | NoDataWord
    cost_per_unit: Money | NoDataWord
    fare_age_seconds: int | None
    miles_from_home: int


class StatusRuns(Result, Sourced):
    runs: list[StatusRun]
    goal_tier: str
    gap: Gap
    total_found: int
    assumptions: list[str]
    freshness: Freshness


class StatusPath(Part):
    kind: Literal["match", "challenge", "flying", "status_run"]
    cost: Money | NoDataWord
    currency: str
    days_needed: int | NoDataWord
    steps: list[str]
    gap_covered: Money | NoDataWord
    risk: str
    apply_url: str | None
    runs: int | None
    freshness: Freshness


class StatusPaths(Result, Sourced):
    paths: list[StatusPath]
    gap: Gap
    unreachable_reasons: list[str]


@dataclass(frozen=True)
class Goal:
    """A tier somebody wants, what it asks, and what they have towards it."""

    program: Program
    ladder: Ladder
    target: Rung
    required: int
    have: Decimal
    said: tuple[str, ...]

    @property
    def missing(self) -> Decimal:
        return max(Decimal(0), self.required - self.have)

    @property
    def lacking(self) -> str:
        missing = f"{elite.plainly(self.missing)} {elite.unit(self.target.metric)}"
        return f"{missing} are missing to {self.target.name}"

    @property
    def gap(self) -> Gap:
        return Gap(metric=self.target.metric, required=self.required, have=self.have, missing=self.missing)


def _goal(call: Call, name: str, tier: str | None) -> Goal:
    """The tier asked for, else the tracked target, else the next one. Raises NotFound, Candidates, NoData, Invalid."""
    program = call.reference.program(name)
    ladder = status.ladder(call.reference, program.slug)
    if not ladder.tiers:
        raise NoData(f"The tiers of {program.name} are not known here.", missing=["tier thresholds"])
    row = call.db.scalars(select(LoyaltyStatus).where(LoyaltyStatus.program == program.slug)).one_or_none()
    held = row.tier if row else None
    asked = status.tier_name(call.reference, program.slug, tier) if tier else (row.target_tier if row else None)
    target = ladder.tier(asked) or ladder.above(held)
    if target is None:
        raise NoData(f"{held} is the highest tier of {program.name} known here.", missing=["next tier"])
    required = ladder.required(held, target)
    if required is None:
        unit = elite.unit(target.metric)
        told = f"{target.alternative}" if target.alternative else f"tiers on the way are not counted in {unit}"
        raise NoData(f"What {target.name} asks is not one number: {told}.", missing=["tier threshold"])
    have, said = _have(row, target, call.today)
    return Goal(program, ladder, target, required, have, (*said, *elite.conditions(target)))


def _have(row: LoyaltyStatus | None, target: Rung, on: date) -> tuple[Decimal, list[str]]:
    if row is None or row.progress is None:
        return Decimal(0), ["No progress is recorded here: counted from zero."]
    if elite.year_is_over(row.progress_as_of, target.period, on):
        return Decimal(0), [f"The progress of {row.progress_as_of} is of a year that is over: counted from zero."]
    return row.progress, [f"Progress as reported on {row.progress_as_of}."]


def _chances(call: Call, goal: Goal, home: str) -> list[Chance]:
    """Every known run of the programme weighed against the gap. Raises NoData where there is none."""
    scheme = status.scheme(call.reference, goal.program.slug)
    if scheme is None:
        names = ", ".join(call.reference.programs[p].name for p in status.COUNTED)
        raise NoData(f"No status runs are known for {goal.program.name}. Known: {names}.", missing=["status runs"])
    if scheme.metric != goal.target.metric:
        unit = elite.unit(goal.target.metric)
        raise NoData(f"What the known runs count in {unit} is not known.", missing=["status runs"])
    runs = status.runs(call.reference, goal.program.slug)
    homes = call.reference.city(home)
    out = []
    for run in runs:
        made = earn(scheme, status.legs(call.reference, run.stops), run.cabin)
        away = 0 if run.stops[0] in homes else call.reference.miles(home, run.stops[0])
        out.append(Chance(run, away, made.amount, made.fixed, runs_needed(goal.missing, made.amount)))
    return out


def _deadline(call: Call, deadline: date | None) -> int:
    """Days left, today included; a year where no deadline is set."""
    if deadline is None:
        return 365
    if deadline < call.today:
        raise Invalid(Fault("deadline", "is in the past", f"a day from {call.today.isoformat()}"))
    return (deadline - call.today).days + 1


def _run(chance: Chance, currency: str) -> StatusRun:
    run: Run = chance.run
    return StatusRun(
        route="-".join(run.stops),
        carrier=run.carrier,
        segments=len(run.stops) - 1,
        cabin=run.cabin,
        fare=NO_DATA if chance.fare is None else chance.fare,
        currency=currency,
        qualifying_earned=NO_DATA if chance.earned is None else chance.earned,
        earned_without_fare=chance.without_fare,
        runs_needed=NO_DATA if chance.needed is None else chance.needed,
        total_cost=NO_DATA if chance.total is None else chance.total,
        cost_per_unit=NO_DATA if chance.per_unit is None else chance.per_unit,
        fare_age_seconds=None,
        miles_from_home=chance.miles_from_home,
    )


def _freshness(mode: Literal["none", "static"], source: str, note: str) -> Freshness:
    return Freshness(
        mode=mode,
        source=source,
        fetched_at=None,
        age_seconds=None,
        provider_checked_at=None,
        provider_age_seconds=None,
        cached_until=None,
        note=note,
    )


def _no_fares() -> Freshness:
    return _freshness("none", "cash fares seen in past searches", NO_FARES)


def _after_year_end(goal: Goal, deadline: date, on: date) -> list[str]:
    ends = elite.year_end(goal.target.period, on)
    if ends is None or deadline <= ends:
        return []
    return [f"The qualifying year ends on {ends}; what is flown after it counts towards the next one."]


@tool(area="search", tier=Tier.FREE, effect=Effect.READS)
def find_status_run(
    call: Call,
    goal_program: AnyName,
    deadline: Day,
    home_airport: Airport,
    goal_tier: Annotated[
        str | None, Field(max_length=60, description="The tracked target or the next tier when absent.")
    ] = None,
) -> StatusRuns:
    """Finds known own-carrier status-run routes that close the gap to a tier before a deadline, on cached fares.

    A fare never seen reads no_data. Free accounts see the top 3. Free.
    """
    days = _deadline(call, deadline)
    call.reference.airport(home_airport)
    goal = _goal(call, goal_program, goal_tier)
    chances = _chances(call, goal, home_airport)
    found = ranked(chances, days) if goal.missing else []
    if goal.missing and not found:
        starts = ", ".join(sorted({c.run.stops[0] for c in chances}))
        raise NoData(
            f"{goal.lacking}. No known run starts near {home_airport} and"
            f" closes that by {deadline}. Known runs start at {starts}.",
            missing=["status runs"],
        )
    if found and all(c.earned is None and not c.without_fare for c in found):
        raise NoData(
            f"{goal.lacking}. {len(found)} known runs start near"
            f" {home_airport}, but what they count follows the fare. {NO_FARES}",
            missing=["cash fares"],
        )
    currency = goal.program.home_currency
    shown = found[: call.limits.results]
    seen = f" {len(shown)} of {len(found)} are shown." if len(shown) < len(found) else ""
    told = f"{goal.lacking}; {len(found)} known runs.{seen} {NO_FARES}"
    return StatusRuns(
        message=f"{told} {caution(goal.target)}".rstrip() if goal.missing else f"{goal.target.name} is reached.",
        runs=[_run(c, currency) for c in shown],
        goal_tier=goal.target.name,
        gap=goal.gap,
        total_found=len(found),
        assumptions=[*goal.said, *_after_year_end(goal, deadline, call.today)],
        freshness=_no_fares(),
        **sourced(goal.target),
    )


def _run_paths(
    call: Call, goal: Goal, home: str | None, days: int, currency: str
) -> tuple[list[StatusPath], list[str]]:
    """Status runs as paths, or why there are none."""
    if home is None:
        return [], ["Status runs: home_airport is needed."]
    try:
        found = ranked(_chances(call, goal, home), days)
    except NoData as silent:
        return [], [f"Status runs: {silent.message}"]
    if not found:
        return [], [f"Status runs: none that is known starts near {home} and fits the deadline."]
    return [_run_path(c, goal, currency) for c in found[:3]], [f"Status runs: {NO_FARES}"]


def _run_path(chance: Chance, goal: Goal, currency: str) -> StatusPath:
    route, unit = "-".join(chance.run.stops), elite.unit(goal.target.metric)
    each = (
        f"{elite.plainly(chance.earned)} {unit} each"
        if chance.earned is not None
        else (f"{elite.plainly(chance.without_fare)} {unit} each, and more by the fare")
    )
    times = f"{chance.needed} times" if chance.needed is not None else "as often as the fare makes necessary"
    steps = [f"Position to {chance.run.stops[0]}."] if chance.miles_from_home else []
    return StatusPath(
        kind="status_run",
        cost=NO_DATA if chance.total is None else chance.total,
        currency=goal.program.home_currency if chance.total is not None else currency,
        days_needed=NO_DATA,
        steps=[*steps, f"Fly {route} in {chance.run.cabin} on {chance.run.carrier} {times}: {each}."],
        gap_covered=goal.missing if chance.needed is not None else NO_DATA,
        risk="The price is not known here; schedules and fares must be checked before counting on it.",
        apply_url=None,
        runs=chance.needed,
        freshness=_no_fares(),
    )


def _offer_paths(call: Call, goal: Goal, days: int) -> tuple[list[StatusPath], list[str]]:
    """Matches and challenges that lead to the tier or above it, for statuses held now; or why there are none."""
    tracked = call.db.scalars(select(LoyaltyStatus))
    held = {r.program: r.tier for r in tracked if r.valid_until is None or r.valid_until >= call.today}
    fit = [
        row
        for row in call.reference.rows("status_matches.csv")
        if row.to_program == goal.program.slug
        and (rung := goal.ladder.tier(row.to_tier)) is not None
        and rung.rank >= goal.target.rank
        and (row.ends_on is None or row.ends_on >= call.today)
        and (row.days_allowed is None or row.days_allowed <= days)
    ]
    if not fit:
        return [], [NO_OFFERS]
    open_to = [(row, elite.eligible(row.from_programs, row.from_tiers, held)) for row in fit]
    paths = [_offer_path(row, said, goal) for row, said in open_to if said != "no"]
    return paths, [] if paths else ["Match and challenge: none of the known offers takes a status you hold."]


def _offer_path(row: Any, said: str, goal: Goal) -> StatusPath:
    asked = (
        f"Show {' or '.join(row.from_tiers) or 'a status'} of {' or '.join(row.from_programs) or 'another programme'}."
    )
    return StatusPath(
        kind=row.kind,
        cost=NO_DATA if row.fee is None else row.fee,
        currency=row.currency,
        days_needed=NO_DATA if row.days_allowed is None else row.days_allowed,
        steps=[asked, *([row.requirement] if row.requirement else [])],
        gap_covered=goal.missing,
        risk="Whether you qualify is not known: no status is tracked."
        if said == "unknown"
        else "Granted at discretion.",
        apply_url=row.apply_url,
        runs=None,
        freshness=_freshness("static", row.source_url, f"Source dated {row.as_of or 'never'}."),
    )


def _affordable(path: StatusPath, max_cash: Decimal | None, currency: str) -> bool:
    """Not known to cost more; amounts in another currency are left to the reader."""
    if max_cash is None or isinstance(path.cost, str) or path.currency != currency:
        return True
    return path.cost <= max_cash


def _order(path: StatusPath) -> tuple[bool, Decimal, bool, int]:
    cost, days = path.cost, path.days_needed
    return (
        isinstance(cost, str),
        Decimal(0) if isinstance(cost, str) else cost,
        isinstance(days, str),
        0 if isinstance(days, str) else days,
    )


@tool(area="status", tier=Tier.PREMIUM, effect=Effect.READS)
def recommend_status_path(
    call: Call,
    target_program: AnyName,
    target_tier: Annotated[str, Field(max_length=60)],
    deadline: Day | None = None,
    home_airport: Annotated[Airport | None, Field(description="The profile's home airport when absent.")] = None,
    max_cash: Amount | None = None,
    currency: Currency = "USD",
) -> StatusPaths:
    """Ranks the ways to reach a tier (match, challenge, planned flying, status run) by cash cost and time.

    A cost never seen reads no_data. Premium.
    """
    days = _deadline(call, deadline)
    goal = _goal(call, target_program, target_tier)
    if not goal.missing:
        reached: Sequence[str] = ["The reported progress already covers this tier."]
        return _paths(goal, [], reached, f"{goal.target.name} of {goal.program.name} is reached.")
    offers, closed = _offer_paths(call, goal, days)
    flown, reasons = _run_paths(call, goal, home_airport, days, currency)
    paths = sorted((p for p in (*offers, *flown) if _affordable(p, max_cash, currency)), key=_order)
    why = [*closed, f"Planned flying: {NO_BOOKINGS}", *reasons]
    if max_cash is not None and any(p.cost == NO_DATA for p in paths):
        why.append(
            f"Whether a path without a known cost stays under {elite.plainly(max_cash)} {currency} cannot be said."
        )
    return _paths(
        goal,
        paths,
        why,
        f"{goal.lacking}; {len(paths)} paths known.",
    )


def _paths(goal: Goal, paths: list[StatusPath], why: Sequence[str], told: str) -> StatusPaths:
    return StatusPaths(
        message=f"{told} {' '.join(goal.said)} {caution(goal.target)}".rstrip(),
        paths=paths,
        gap=goal.gap,
        unreachable_reasons=list(why),
        **sourced(goal.target),
    )
