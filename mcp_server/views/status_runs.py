"""Status runs: the tier a person aims at, what is missing, and the known runs that help, with fares seen for them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal

from sqlalchemy import select

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.results import NO_DATA, Marked, Money, NoDataWord, Part
from mcp_server.views.sightings import age_in_seconds, build_freshness
from shared.db.members import HOLDER
from shared.db.observations import FareObservation
from shared.db.statuses import LoyaltyStatus
from shared.domain import status_tiers
from shared.domain.dates import format_day
from shared.domain.earning import count_points
from shared.domain.minor_units import round_to_minor_unit
from shared.domain.status_runs import ObservedFare, Run, RunOption, count_runs
from shared.domain.status_tiers import Ladder, StatusTier
from shared.errors import Fault, Invalid, NoData
from shared.reference import statuses
from shared.reference.rows.programmes import Program
from shared.services.search.exchange_rates import load_cached_rates, none_known
from shared.services.search.price_memory import round_trips_seen
from shared.services.search.provenance import Freshness

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


class StatusGap(Part):
    metric: str
    required: int
    have: Money
    missing: Money


@dataclass(frozen=True)
class Goal:
    """A tier a person aims at, what it requires, and their progress towards it."""

    program: Program
    ladder: Ladder
    target: StatusTier
    required: int
    have: Decimal
    current_tier: str
    notes: tuple[str, ...]

    @property
    def missing(self) -> Decimal:
        return max(Decimal(0), self.required - self.have)

    @property
    def lacking(self) -> str:
        missing = f"{status_tiers.format_number(self.missing)} {status_tiers.format_metric(self.target.metric)}"
        return f"{missing} to go for {self.target.name}"

    @property
    def gap(self) -> StatusGap:
        return StatusGap(metric=self.target.metric, required=self.required, have=self.have, missing=self.missing)


def resolve_goal(call: Call, name: str, tier: str | None) -> Goal:
    """The tier asked for, else the tracked target, else the next one. Raises NotFound, Candidates, NoData, Invalid."""
    program = call.reference.program(name)
    ladder = statuses.build_ladder(call.reference, program.slug)
    if not ladder.tiers:
        raise NoData(f"The tiers of {program.name} are not known here.", missing=["tier thresholds"])
    own = LoyaltyStatus.program == program.slug, LoyaltyStatus.member == HOLDER
    row = call.db.scalars(select(LoyaltyStatus).where(*own)).one_or_none()
    tier_now = row.tier if row else None
    target_tier = (
        statuses.match_tier(call.reference, program.slug, tier) if tier else (row.target_tier if row else None)
    )
    target = ladder.tier(target_tier) or ladder.above(tier_now)
    if target is None:
        raise NoData(f"{tier_now} is the highest tier of {program.name} known here.", missing=["next tier"])
    required = ladder.find_required(tier_now, target)
    if required is None:
        unit = status_tiers.format_metric(target.metric)
        why = f"{target.alternative}" if target.alternative else f"tiers on the way are not counted in {unit}"
        raise NoData(f"What {target.name} asks is not one number: {why}.", missing=["tier threshold"])
    have, notes = _read_progress(row, target, call.today)
    return Goal(
        program, ladder, target, required, have, tier_now or "", (*notes, *status_tiers.list_conditions(target))
    )


def _read_progress(row: LoyaltyStatus | None, target: StatusTier, on: date) -> tuple[Decimal, list[str]]:
    if row is None or row.progress is None:
        return Decimal(0), ["No progress is recorded here: counted from zero."]
    reported = f"on {format_day(row.progress_as_of)}" if row.progress_as_of else "on a day that is not known"
    if status_tiers.is_year_over(row.progress_as_of, target.period, on):
        return Decimal(0), [f"The progress reported {reported} belongs to a year that is over: counted from zero."]
    return row.progress, [f"Progress as reported {reported}."]


def weigh_runs(call: Call, goal: Goal, home: str, days: int) -> list[RunOption]:
    """Every known run of the programme compared with the gap, with a fare where one was seen for these days.

    Raises NoData where there is none. A fare includes taxes, so points that depend on the fare without taxes are not
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
    homes = call.reference.city(home)
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


def build_static_freshness(mode: Literal["none", "static"], source: str, note: str) -> Freshness:
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
    """Where the fares come from, and for the first run without one which search would find it."""
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
    """The searches of return trips that could find the fares that are lacking, each once."""
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
        return build_static_freshness("none", "cash fares seen in past searches", NO_FARES)
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
