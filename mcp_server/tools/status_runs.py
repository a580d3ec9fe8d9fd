"""Ways to reach a tier: status runs, booked flights, matches and challenges, by cost and time."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import select

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import AirportOrCity, Amount, AnyName, Currency, Day
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import NO_DATA, Money, NoDataWord, Part, Result
from mcp_server.views.status_runs import (
    FareSearch,
    Goal,
    StatusGap,
    StatusRun,
    build_fares_freshness,
    build_static_freshness,
    count_days_left,
    describe_fares,
    list_fare_searches,
    resolve_goal,
    to_run,
    weigh_runs,
)
from shared.db.members import HOLDER
from shared.db.profile import Profile
from shared.db.statuses import LoyaltyStatus
from shared.domain import status_tiers
from shared.domain.dates import format_day, format_iso_day
from shared.domain.plurals import pluralize
from shared.domain.status_runs import RunOption, rank_runs
from shared.errors import NoData
from shared.reference import statuses
from shared.services.bookings.booked_flights import estimate_progress, paid_legs
from shared.services.search.provenance import Freshness

NO_OFFERS = "No status-match or challenge offers have been gathered here."


class StatusRuns(Result, Verified):
    runs: list[StatusRun]
    goal_tier: str
    gap: StatusGap
    total_found: int
    assumptions: list[str]
    fare_searches: list[FareSearch]
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


class StatusPaths(Result, Verified):
    paths: list[StatusPath]
    gap: StatusGap
    unreachable_reasons: list[str]


def _warn_of_year_end(goal: Goal, deadline: date, on: date) -> list[str]:
    ends = status_tiers.find_year_end(goal.target.period, on)
    if ends is None or deadline <= ends:
        return []
    return [f"The qualifying year ends on {format_day(ends)}; what is flown after it counts towards the next one."]


@tool(
    title="Cheap mileage run: a weekend trip for the tier points I'm short of to make Silver or Gold by March",
    area="search",
    tier=Tier.FREE,
    effect=Effect.READS,
)
def find_status_run(
    call: Call,
    goal_program: AnyName,
    deadline: Day,
    home_airport: AirportOrCity,
    goal_tier: Annotated[
        str | None, Field(max_length=60, description="Absent: the tracked target or next tier.")
    ] = None,
) -> StatusRuns:
    """Finds a cheap mileage run or status run: a return flight that earns what is short of a tier before the year ends.

    For a weekend there and back to reach, keep or requalify. Known own-carrier routes on cached fares, else no_data.
    Free accounts: top 3. Free.
    """
    days = count_days_left(call, deadline)
    call.reference.airport(home_airport)
    goal = resolve_goal(call, goal_program, goal_tier)
    all_runs = weigh_runs(call, goal, home_airport, days)
    ranked_runs = rank_runs(all_runs, days) if goal.missing else []
    if goal.missing and not ranked_runs:
        starts = ", ".join(sorted({c.run.stops[0] for c in all_runs}))
        raise NoData(
            f"{goal.lacking}. No known run starts near {home_airport} and"
            f" closes that by {format_day(deadline)}. Known runs start at {starts}.",
            missing=["status runs"],
        )
    if ranked_runs and all(c.earned is None and not c.without_fare and c.fare is None for c in ranked_runs):
        raise NoData(
            f"{goal.lacking}. {pluralize(len(ranked_runs), 'known run')} near {home_airport}: what is earned depends on"
            f" the fare. {describe_fares(ranked_runs, goal.program.home_currency)}",
            missing=["cash fares"],
        )
    currency = goal.program.home_currency
    runs_shown = ranked_runs[: call.limits.results]
    cut = f" {len(runs_shown)} of {len(ranked_runs)} are shown." if len(runs_shown) < len(ranked_runs) else ""
    summary = f"{goal.lacking}; {pluralize(len(ranked_runs), 'known run')}.{cut} {describe_fares(runs_shown, currency)}"
    return StatusRuns(
        message=summary if goal.missing else f"{goal.target.name} is reached.",
        runs=[to_run(call, c, currency) for c in runs_shown],
        goal_tier=goal.target.name,
        gap=goal.gap,
        total_found=len(ranked_runs),
        assumptions=[*goal.notes, *_warn_of_year_end(goal, deadline, call.today)],
        fare_searches=list_fare_searches(runs_shown, currency),
        freshness=build_fares_freshness(call, runs_shown),
        **describe_verified(goal.target),
    )


def _read_home(call: Call) -> str | None:
    profile = call.db.get(Profile, call.account_id)
    return profile.home_airport if profile else None


def _find_run_paths(
    call: Call, goal: Goal, home: str | None, days: int, currency: str
) -> tuple[list[StatusPath], list[str]]:
    """The three best status runs as paths, and a sentence about fares or the reason why there are none."""
    if home is None:
        return [], ["Status runs: home_airport is needed, here or in the profile."]
    try:
        ranked_runs = rank_runs(weigh_runs(call, goal, home, days), days)
    except NoData as refusal:
        return [], [f"Status runs: {refusal.message}"]
    if not ranked_runs:
        return [], [f"Status runs: none that is known starts near {home} and fits the deadline."]
    return [_to_run_path(call, c, goal, currency) for c in ranked_runs[:3]], [
        f"Status runs: {describe_fares(ranked_runs[:3], goal.program.home_currency)}"
    ]


def _to_run_path(call: Call, chance: RunOption, goal: Goal, currency: str) -> StatusPath:
    route, unit = "-".join(chance.run.stops), status_tiers.format_metric(goal.target.metric)
    each = (
        f"{status_tiers.format_number(chance.earned)} {unit} each time"
        if chance.earned is not None
        else (f"{status_tiers.format_number(chance.without_fare)} {unit} each time, and more depending on the fare")
    )
    times = pluralize(chance.needed, "time") if chance.needed is not None else "as often as needed"
    steps = [f"Position to {chance.run.stops[0]}."] if chance.miles_from_home else []
    return StatusPath(
        kind="status_run",
        cost=NO_DATA if chance.total is None else chance.total,
        currency=goal.program.home_currency if chance.total is not None else currency,
        days_needed=NO_DATA,
        steps=[*steps, f"Fly {route} in {chance.run.cabin} on {chance.run.carrier} {times}: {each}."],
        gap_covered=goal.missing if chance.needed is not None else NO_DATA,
        risk=f"{'The price may be gone' if chance.observed_fare else 'The price is not known here'}. Check schedules"
        " and fares before you count on it.",
        apply_url=None,
        runs=chance.needed,
        freshness=build_fares_freshness(call, [chance]),
    )


def _find_flying_path(call: Call, goal: Goal, days: int, currency: str) -> tuple[list[StatusPath], list[str]]:
    """The booked flights that count towards the tier as a path, or the reason why there is none."""
    until = call.today + timedelta(days=days - 1)
    legs = [leg for leg in paid_legs(call.db, call.today) if leg.member == HOLDER]
    plan = estimate_progress(call.reference, goal.program.slug, goal.current_tier, legs, call.today, until)
    if not plan.amount or goal.target.metric != getattr(
        statuses.build_scheme(call.reference, goal.program.slug), "metric", ""
    ):
        return [], [f"Planned flying: {plan.notes[0]}"]
    flights = [
        f"{leg.airline} {leg.origin}-{leg.destination} on {format_day(leg.departure_date)}." for leg in plan.counted
    ]
    return (
        [
            StatusPath(
                kind="flying",
                cost=Decimal(0),  # the flights are paid for already
                currency=currency,
                days_needed=(plan.counted[-1].departure_date - call.today).days,
                steps=[f"Fly as booked: {flight}" for flight in flights[:20]],
                gap_covered=min(plan.amount, goal.missing),
                risk=" ".join(plan.notes),
                apply_url=None,
                runs=None,
                freshness=build_static_freshness("static", "the bookings logged here", "As they were logged."),
            )
        ],
        [],
    )


def _find_offer_paths(call: Call, goal: Goal, days: int) -> tuple[list[StatusPath], list[str]]:
    """Matches and challenges to the tier or above it from statuses held now, or the reason why there are none."""
    tracked = call.db.scalars(select(LoyaltyStatus).where(LoyaltyStatus.member == HOLDER))
    tiers_held = {r.program: r.tier for r in tracked if r.valid_until is None or r.valid_until >= call.today}
    offers = [
        row
        for row in call.reference.fresh_rows("status_matches.csv", call.today)
        if row.to_program == goal.program.slug
        and (rung := goal.ladder.tier(row.to_tier)) is not None
        and rung.rank >= goal.target.rank
        and row.is_valid(call.today)
        and (row.days_allowed is None or row.days_allowed <= days)
    ]
    if not offers:
        return [], [NO_OFFERS]
    judged_offers = [
        (row, status_tiers.check_eligibility(row.from_programs, row.from_tiers, tiers_held)) for row in offers
    ]
    paths = [_to_offer_path(row, eligibility, goal) for row, eligibility in judged_offers if eligibility != "no"]
    return paths, [] if paths else ["Match and challenge: none of the known offers takes a status you hold."]


def _to_offer_path(row: Any, eligibility: str, goal: Goal) -> StatusPath:
    proof = (
        f"Show {' or '.join(row.from_tiers) or 'a status'} of {' or '.join(row.from_programs) or 'another programme'}."
    )
    return StatusPath(
        kind=row.kind,
        cost=NO_DATA if row.fee is None else row.fee,
        currency=row.currency,
        days_needed=NO_DATA if row.days_allowed is None else row.days_allowed,
        steps=[proof, *([row.requirement] if row.requirement else [])],
        gap_covered=goal.missing,
        risk="Whether you qualify is not known: no status is tracked."
        if eligibility == "unknown"
        else "Granted at discretion.",
        apply_url=row.apply_url,
        runs=None,
        freshness=build_static_freshness(
            "static", row.source_url, f"Source dated {format_iso_day(row.as_of)}." if row.as_of else "Source undated."
        ),
    )


def _is_affordable(path: StatusPath, max_cash: Decimal | None, currency: str) -> bool:
    """Whether the path is not known to cost more. Amounts in another currency are not compared."""
    if max_cash is None or isinstance(path.cost, str) or path.currency != currency:
        return True
    return path.cost <= max_cash


def _sort_key(path: StatusPath) -> tuple[bool, Decimal, bool, int]:
    cost, days = path.cost, path.days_needed
    return (
        isinstance(cost, str),
        Decimal(0) if isinstance(cost, str) else cost,
        isinstance(days, str),
        0 if isinstance(days, str) else days,
    )


@tool(
    area="status",
    tier=Tier.PREMIUM,
    effect=Effect.READS,
    title="I want status by next year: rank the easiest, cheapest way to Gold, Diamond, Sapphire for me",
)
def recommend_status_path(
    call: Call,
    target_program: AnyName,
    target_tier: Annotated[str, Field(max_length=60)],
    deadline: Day | None = None,
    home_airport: Annotated[AirportOrCity | None, Field(description="The profile's home airport when absent.")] = None,
    max_cash: Amount | None = None,
    currency: Currency = "USD",
) -> StatusPaths:
    """Finds the cheapest, easiest or fastest way to get elite status: a match, a challenge, flying or a status run.

    Compares the options within a budget and deadline, by cash cost and time; unseen costs: no_data. Flights alone:
    find_status_run. Premium.
    """
    days = count_days_left(call, deadline)
    goal = resolve_goal(call, target_program, target_tier)
    if not goal.missing:
        reached: Sequence[str] = ["The reported progress already covers this tier."]
        return _to_paths(goal, [], reached, f"{goal.target.name} of {goal.program.name} is reached.")
    offers, closed = _find_offer_paths(call, goal, days)
    flown, reasons = _find_run_paths(call, goal, home_airport or _read_home(call), days, currency)
    planned, grounded = _find_flying_path(call, goal, days, currency)
    paths = sorted((p for p in (*offers, *planned, *flown) if _is_affordable(p, max_cash, currency)), key=_sort_key)
    why = [*closed, *grounded, *reasons]
    if max_cash is not None and any(p.cost == NO_DATA for p in paths):
        why.append(f"Paths without a known cost may cost more than {status_tiers.format_number(max_cash)} {currency}.")
    return _to_paths(
        goal,
        paths,
        why,
        f"{goal.lacking}; {pluralize(len(paths), 'path')} known.",
    )


def _to_paths(goal: Goal, paths: list[StatusPath], reasons: Sequence[str], summary: str) -> StatusPaths:
    return StatusPaths(
        message=f"{summary} {' '.join(goal.notes)}".rstrip(),
        paths=paths,
        gap=goal.gap,
        unreachable_reasons=list(reasons),
        **describe_verified(goal.target),
    )
