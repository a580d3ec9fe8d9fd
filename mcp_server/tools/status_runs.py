"""Ways to reach a tier: status runs, booked flights, matches and challenges, by cost and time."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import select

from mcp_server.toolkit import NO_DATA, Call, Effect, Marked, Money, NoDataWord, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import AirportOrCity, Amount, AnyName, Currency, Day
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.views.sightings import age_in_seconds, build_freshness
from mcp_server.views.status_goals import NIGHTS, Goal, NextYearGap, StatusGap, plan_nights, resolve_goal
from shared.db.members import HOLDER
from shared.db.observations import FareObservation
from shared.db.statuses import LoyaltyStatus
from shared.domain import status_tiers
from shared.domain.dates import format_day, format_iso_day
from shared.domain.earning import count_points
from shared.domain.minor_units import round_to_minor_unit
from shared.domain.offers import find_state
from shared.domain.plurals import pluralize
from shared.domain.status_runs import ObservedFare, Run, RunOption, count_runs, rank_runs
from shared.errors import Fault, Invalid, NoData
from shared.reference import statuses
from shared.reference.city_airports import require_airports
from shared.services.bookings.booked_flights import estimate_progress, paid_legs
from shared.services.search.exchange_rates import load_cached_rates, none_known
from shared.services.search.price_memory import round_trips_seen
from shared.services.search.provenance import Freshness, describe_unasked

# Status runs: the tier a person aims at, the gap, and the known runs that help, with fares seen for them.

CABINS = {"premium": "premium_economy"}
MAX_SEARCHES = 3
NO_FARES = (
    "No cash fare for these runs was seen recently, so no prices are shown; points that depend on one are unknown."
)
SOME_FARES = (
    "Fares are from searches of the last 14 days, with taxes, and may be gone. Points that depend on the fare without"
    " taxes are unknown; `at most` counts the whole fare."
)


class FareSearch(Part):
    """A search of return trips for one passenger that would show a fare of a run."""

    origin: str
    destination: str
    cabin: str
    currency: str


class StatusRun(Marked):
    route: str
    carrier: str
    segments: int
    cabin: str
    fare: Money | NoDataWord
    currency: str
    qualifying_earned: Money | NoDataWord
    earned_without_fare: Money
    earned_at_most: Money | NoDataWord
    runs_needed: int | NoDataWord
    runs_needed_at_least: int | NoDataWord
    total_cost: Money | NoDataWord
    total_cost_at_least: Money | NoDataWord
    cost_per_unit: Money | NoDataWord
    fare_age_seconds: int | None
    fare_source: str | None
    fare_for: date | None
    miles_from_home: int


def weigh_runs(call: Call, goal: Goal, home: str, days: int) -> list[RunOption]:
    """Every known run of the programme compared with the gap, with a fare where one was seen for these days.

    Raises NoData without a known run. A fare includes taxes, so points that depend on the fare without taxes are not
    computed from it.
    """
    scheme = statuses.build_scheme(call.reference, goal.program.slug)
    if scheme is None:
        names = ", ".join(call.reference.programs[p].name for p in statuses.COUNTING_RULES)
        raise NoData(f"No status runs are known for {goal.program.name}. Known: {names}.", missing=["status runs"])
    if scheme.metric != goal.target.metric:
        unit = status_tiers.format_metric(goal.target.metric)
        raise NoData(f"What the known runs count in {unit} is not known.", missing=["status runs"])
    runs = statuses.list_runs(call.reference, goal.program.slug)
    homes = require_airports(call.reference, home)
    fares = find_fares(call, runs, goal.program.home_currency, call.today + timedelta(days=days - 1))
    chances = []
    for run in runs:
        legs, fare = statuses.build_legs(call.reference, run.stops), fares.get(run.slug)
        earned = count_points(scheme, legs, run.cabin)
        most = count_points(scheme, legs, run.cabin, fare.amount, goal.current_tier).amount if fare else earned.amount
        chances.append(
            RunOption(
                run=run,
                miles_from_home=0 if run.stops[0] in homes else call.reference.miles(home, run.stops[0]),
                earned=earned.amount,
                without_fare=earned.fixed,
                needed=count_runs(goal.missing, earned.amount),
                fare=fare.amount if fare else None,
                observed_fare=fare,
                earned_at_most=most,
                needed_at_least=count_runs(goal.missing, most),
            )
        )
    return chances


def count_days_left(call: Call, deadline: date | None) -> int:
    """Days left, today included; a year where no deadline is set."""
    if deadline is None:
        return 365
    if deadline < call.today:
        raise Invalid(Fault("deadline", "is in the past", f"a day from {call.today.isoformat()}"))
    return (deadline - call.today).days + 1


def to_run(call: Call, chance: RunOption, currency: str) -> StatusRun:
    run: Run = chance.run
    fare_seen = chance.observed_fare
    return StatusRun(
        route="-".join(run.stops),
        carrier=run.carrier,
        segments=len(run.stops) - 1,
        cabin=run.cabin,
        fare=NO_DATA if chance.fare is None else chance.fare,
        currency=currency,
        qualifying_earned=NO_DATA if chance.earned is None else chance.earned,
        earned_without_fare=chance.without_fare,
        earned_at_most=NO_DATA if chance.earned_at_most is None else chance.earned_at_most,
        runs_needed=NO_DATA if chance.needed is None else chance.needed,
        runs_needed_at_least=NO_DATA if chance.needed_at_least is None else chance.needed_at_least,
        total_cost=NO_DATA if chance.total is None else chance.total,
        total_cost_at_least=NO_DATA if chance.lowest_total is None else chance.lowest_total,
        cost_per_unit=NO_DATA if chance.per_unit is None else round(chance.per_unit, 4),
        fare_age_seconds=age_in_seconds(call, min(fare_seen.seen_at, fare_seen.checked_at or fare_seen.seen_at))
        if fare_seen
        else None,
        fare_source=fare_seen.source if fare_seen else None,
        fare_for=fare_seen.day if fare_seen else None,
        miles_from_home=chance.miles_from_home,
        generated_at=call.sandbox_timestamp(fare_seen.seen_at) if fare_seen else None,
    )


def describe_fares(chances: Sequence[RunOption], currency: str) -> str:
    """Says where the fares come from, and which search would find the first missing one."""
    fares = SOME_FARES if any(c.observed_fare for c in chances) else NO_FARES
    searches = list_fare_searches(chances, currency)
    if not searches:
        return fares
    first = searches[0]
    return (
        f"{fares} A search of cash flights from {first.origin} to {first.destination} and back in"
        f" {first.cabin.replace('_', ' ')} for one passenger, priced in {first.currency}, can fill that in."
    )


def list_fare_searches(chances: Iterable[RunOption], currency: str) -> list[FareSearch]:
    """The return-trip searches that could find the missing fares, each once."""
    lacking = [c.run for c in chances if c.fare is None]
    searches = [
        FareSearch(origin=run.stops[0], destination=turn, cabin=CABINS.get(run.cabin, run.cabin), currency=currency)
        for run in lacking
        if (turn := run.turns_at)
    ]
    return list({(s.origin, s.destination, s.cabin): s for s in searches}.values())[:MAX_SEARCHES]


def build_fares_freshness(call: Call, chances: Iterable[RunOption]) -> Freshness:
    """The age of the oldest fare shown."""
    fares = [c.observed_fare for c in chances if c.observed_fare]
    if not fares:
        return describe_unasked("none", "cash fares seen in past searches", NO_FARES)
    return build_freshness(
        call, (f.source for f in fares), (f.seen_at for f in fares), (f.checked_at for f in fares), SOME_FARES
    )


def find_fares(call: Call, runs: Sequence[Run], currency: str, until: date) -> dict[str, ObservedFare]:
    """The newest fare seen for each run, in one currency; a fare without a stored exchange rate is left out.

    A fare counts for a run only if carrier, cabin and number of stops are the same.
    """
    round_trips = {(run.stops[0], turn) for run in runs if (turn := run.turns_at)}
    observations = round_trips_seen(call.db, call.account_id, round_trips, call.today, until) if round_trips else []
    currencies = {currency, *(row.currency for row in observations)}
    rates = load_cached_rates(currencies) if len(currencies) > 1 else none_known()
    fares: dict[str, ObservedFare] = {}
    for run in runs:
        for row in (r for r in observations if _is_fare_of(run, r)):
            amount = rates.amount(row.price, row.currency, currency)
            if amount is not None:
                rounded = round_to_minor_unit(amount, currency)
                fares[run.slug] = ObservedFare(rounded, row.date, row.source, row.seen_at, row.provider_checked_at)
                break
    return fares


def _is_fare_of(run: Run, row: FareObservation) -> bool:
    return (
        (row.origin, row.destination, row.stops) == (run.stops[0], run.turns_at, run.changes)
        and set(row.carriers) == {run.carrier}
        and row.cabin == CABINS.get(run.cabin, run.cabin)
    )


NO_OFFERS = "No status-match or challenge offers have been gathered here."


class StatusRuns(Result, Verified):
    runs: list[StatusRun]
    goal_tier: str
    gap: StatusGap
    next_year: NextYearGap | None
    total_found: int
    assumptions: list[str]
    fare_searches: list[FareSearch]
    freshness: Freshness


class StatusPath(Part):
    kind: Literal["match", "challenge", "flying", "status_run", "nights"]
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
    next_year: NextYearGap | None
    unreachable_reasons: list[str]


def _warn_of_year_end(goal: Goal, deadline: date, on: date) -> list[str]:
    ends = status_tiers.find_year_end(goal.target.period, on)
    if ends is None or deadline <= ends:
        return []
    return [f"The qualifying year ends on {format_day(ends)}; what is flown after it counts towards the next one."]


@tool("search", Tier.FREE, Effect.READS, "Find a status run")
def find_status_run(
    call: Call,
    goal_program: AnyName,
    deadline: Day,
    home_airport: AirportOrCity,
    goal_tier: Annotated[str | None, Field(max_length=60)] = None,
) -> StatusRuns:
    """Finds a cheap mileage run or status run: a weekend return flight for the tier points short of Silver or Gold.

    For "I need a few more points before December to stay Gold." Known routes, cached fares; else
    no_data. Free accounts: top 3. Free.
    """
    days = count_days_left(call, deadline)
    call.reference.airport(home_airport)
    goal = resolve_goal(call, goal_program, goal_tier)
    all_runs = weigh_runs(call, goal, home_airport, days)
    ranked_runs = rank_runs(all_runs, days) if goal.missing else []
    lacking = goal.describe_lacking(deadline, call.today)
    if goal.missing and not ranked_runs:
        starts = ", ".join(sorted({c.run.stops[0] for c in all_runs}))
        raise NoData(
            f"{lacking}. No known run starts near {home_airport} and"
            f" closes that by {format_day(deadline)}. Known runs start at {starts}.",
            missing=["status runs"],
        )
    if ranked_runs and all(c.earned is None and not c.without_fare and c.fare is None for c in ranked_runs):
        raise NoData(
            f"{lacking}. {pluralize(len(ranked_runs), 'known run')} near {home_airport}: what is earned depends on"
            f" the fare. {describe_fares(ranked_runs, goal.program.home_currency)}",
            missing=["cash fares"],
        )
    currency = goal.program.home_currency
    runs_shown = ranked_runs[: call.limits.results]
    cut = f" {len(runs_shown)} of {len(ranked_runs)} are shown." if len(runs_shown) < len(ranked_runs) else ""
    summary = f"{lacking}; {pluralize(len(ranked_runs), 'known run')}.{cut} {describe_fares(runs_shown, currency)}"
    return StatusRuns(
        message=summary if goal.missing else f"{goal.target.name} is reached.",
        runs=[to_run(call, c, currency) for c in runs_shown],
        goal_tier=goal.target.name,
        gap=goal.gap,
        next_year=goal.find_next_year(deadline, call.today),
        total_found=len(ranked_runs),
        assumptions=[*goal.notes, *_warn_of_year_end(goal, deadline, call.today)],
        fare_searches=list_fare_searches(runs_shown, currency),
        freshness=build_fares_freshness(call, runs_shown),
        **describe_verified(goal.target),
    )


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
                cost=Decimal(0),  # the flights are already paid
                currency=currency,
                days_needed=(plan.counted[-1].departure_date - call.today).days,
                steps=[f"Fly as booked: {flight}" for flight in flights[:20]],
                gap_covered=min(plan.amount, goal.missing),
                risk=" ".join(plan.notes),
                apply_url=None,
                runs=None,
                freshness=describe_unasked("static", "the bookings logged here", "As they were logged."),
            )
        ],
        [],
    )


def _find_nights_path(
    call: Call, goal: Goal, deadline: date | None, currency: str
) -> tuple[list[StatusPath], list[str]]:
    """Nights at the programme's hotels as a path, those booked first, or the reason why there is none."""
    if goal.target.metric != NIGHTS:
        return [], [f"Nights: {goal.target.name} is counted in {goal.unit}."]
    plan, reasons = plan_nights(call, goal, deadline)
    if plan is None:
        return [], reasons
    price = "The price of a night is not known here." if plan.cheapest is None else "The price may be gone."
    return [
        StatusPath(
            kind="nights",
            cost=Decimal(0) if not plan.needed else NO_DATA if plan.cost is None else round(plan.cost, 2),
            currency=plan.cheapest.currency if plan.cheapest and plan.needed else currency,
            days_needed=(plan.first - call.today).days + plan.needed + plan.booked,
            steps=plan.describe(goal),
            gap_covered=goal.missing,
            risk=f"{price} Look up whether nights paid with points, and more rooms than one, count.",
            apply_url=None,
            runs=None,
            freshness=describe_unasked("static", "hotel prices seen in past searches", "Of the last 14 days."),
        )
    ], []


def _find_offer_paths(call: Call, goal: Goal, days: int) -> tuple[list[StatusPath], list[str]]:
    """Matches and challenges to the tier or above it from statuses held now, or the reason why there are none."""
    tracked = call.db.scalars(select(LoyaltyStatus).where(LoyaltyStatus.member == HOLDER))
    tiers_held = {r.program: r.tier for r in tracked if r.valid_until is None or r.valid_until >= call.today}
    offers = [
        row
        for row in call.reference.rows("status_matches.csv")
        if row.to_program == goal.program.slug
        and (rung := goal.ladder.tier(row.to_tier)) is not None
        and rung.rank >= goal.target.rank
        and row.is_valid(call.today)
        and (row.days_allowed is None or row.days_allowed <= days)
    ]
    if not offers:
        return [], [NO_OFFERS]
    running = [row for row in offers if find_state(row, call.today) != "past"]
    if not running:
        last_day = format_iso_day(max(row.as_of or "" for row in offers))
        return [], [f"Match and challenge: the offers known here were last seen on {last_day} and may have ended."]
    judged_offers = [(row, statuses.judge_match(call.reference, row, tiers_held, call.today)) for row in running]
    paths = [_to_offer_path(row, eligibility, goal) for row, eligibility in judged_offers if eligibility != "no"]
    return paths, [] if paths else ["Match and challenge: none of the known offers takes a status you hold."]


def _to_offer_path(row: Any, eligibility: str, goal: Goal) -> StatusPath:
    proof = (
        f"Show {' or '.join(row.from_tiers) or 'a status'} of {' or '.join(row.from_programs) or 'another programme'}."
    )
    return StatusPath.from_row(
        row,
        cost=NO_DATA if row.fee is None else row.fee,
        days_needed=NO_DATA if row.days_allowed is None else row.days_allowed,
        steps=[proof, *([row.requirement] if row.requirement else [])],
        gap_covered=goal.missing,
        risk="Whether you qualify is not known: no status is tracked."
        if eligibility == "unknown"
        else "Granted at discretion.",
        runs=None,
        freshness=describe_unasked(
            "static", row.source_url, f"Source dated {format_iso_day(row.as_of)}." if row.as_of else "Source undated."
        ),
    )


def _is_affordable(path: StatusPath, max_cash: Decimal | None, currency: str) -> bool:
    """Whether the path may be affordable. Amounts in another currency are not compared."""
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


@tool("status", Tier.PREMIUM, Effect.READS, "Recommend a way to a status")
def recommend_status_path(
    call: Call,
    target_program: AnyName,
    target_tier: Annotated[str, Field(max_length=60)],
    deadline: Day | None = None,
    home_airport: AirportOrCity | None = None,
    max_cash: Amount | None = None,
    currency: Currency = "USD",
) -> StatusPaths:
    """Ranks the ways to reach an elite status by cost and time: match, challenge, flying, nights or a status run.

    For "What is the easiest way for me to get to Diamond?" Within a budget and deadline, cheapest or fastest;
    unseen: no_data. Flights only: find_status_run. Premium.
    """
    days = count_days_left(call, deadline)
    goal = resolve_goal(call, target_program, target_tier)
    if not goal.missing:
        reached: Sequence[str] = ["The reported progress already covers this tier."]
        return _to_paths(goal, [], reached, f"{goal.target.name} of {goal.program.name} is reached.", None)
    offers, closed = _find_offer_paths(call, goal, days)
    if goal.program.kind == "hotel":  # flights do not count there
        planned, grounded = _find_nights_path(call, goal, deadline, currency)
        flown: Sequence[StatusPath] = ()
        reasons: Sequence[str] = ()
    else:
        flown, reasons = _find_run_paths(call, goal, home_airport, days, currency)
        planned, grounded = _find_flying_path(call, goal, days, currency)
    paths = sorted((p for p in (*offers, *planned, *flown) if _is_affordable(p, max_cash, currency)), key=_sort_key)
    why = [*closed, *grounded, *reasons]
    if max_cash is not None and any(p.cost == NO_DATA for p in paths):
        why.append(f"Paths without a known cost may cost more than {status_tiers.format_number(max_cash)} {currency}.")
    return _to_paths(
        goal,
        paths,
        why,
        f"{goal.describe_lacking(deadline, call.today)}. {_describe_ways(paths)}",
        goal.find_next_year(deadline, call.today),
    )


def _describe_ways(paths: Sequence[StatusPath]) -> str:
    """The first way in full, and how many more there are."""
    if not paths:
        return "No path is known."
    more = f" {pluralize(len(paths) - 1, 'more path')} known." if len(paths) > 1 else ""
    return f"{paths[0].steps[0]}{more}" if paths[0].steps else f"{pluralize(len(paths), 'path')} known."


def _to_paths(
    goal: Goal, paths: list[StatusPath], reasons: Sequence[str], summary: str, following: NextYearGap | None
) -> StatusPaths:
    return StatusPaths(
        message=f"{summary} {' '.join(goal.notes)}".rstrip(),
        paths=paths,
        gap=goal.gap,
        next_year=following,
        unreachable_reasons=list(reasons),
        **describe_verified(goal.target),
    )
