"""Progress towards the next tier: reported, booked, and missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import Field
from sqlalchemy import select

from mcp_server.toolkit import Call, Effect, Money, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import AnyName, Day
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.wording import program_name
from shared.db.bookings import FlightBooking
from shared.db.statuses import LoyaltyStatus
from shared.domain import status_tiers
from shared.domain.balances import count_days_left
from shared.domain.dates import format_day
from shared.domain.plurals import pluralize
from shared.domain.status_tiers import Ladder, Requirement, StatusTier, Way
from shared.domain.tier_progress import WayProgress, describe_missing, is_met, measure_ways
from shared.errors import Fault, Invalid, NoData, NotFound
from shared.reference import statuses
from shared.reference.load import Reference
from shared.services.bookings.booked_flights import A_YEAR, KNOWN_SPAN, estimate_progress, paid_legs

_NIGHTS_NOT_COUNTED = "Nights booked here are not counted."


class Counter(Part):
    metric: str
    required: int
    reported: Money | None
    gap: Money | None


class TierWay(Part):
    """One way to a tier: all its counters together. `met` is null where an unknown counter decides."""

    counters: list[Counter]
    met: bool | None


class KeptTier(Part):
    """What keeps the tier held for another year."""

    tier: str
    ways: list[TierWay]
    met: bool | None


class Progress(Verified):
    program: str
    member: str | None
    tier: str
    lifetime: bool
    next_tier: str | None
    target_tier: str | None
    goal_tier: str
    metric: str
    required: int | None
    reported: Money | None
    reported_as_of: date | None
    estimated_from_bookings: Money
    gap: Money | None
    ways: list[TierWay]
    keep: KeptTier | None
    year_ends_on: date | None
    days_left: int | None
    on_track: bool | None
    assumptions: list[str]
    bookings_counted: list[int]


class StatusProgress(Result):
    progress: list[Progress]


@dataclass(frozen=True)
class Estimate:
    """A programme's progress, and the ways used to measure it."""

    progress: Progress
    ways: tuple[WayProgress, ...]
    keep: tuple[WayProgress, ...]


def _find_goal(ladder: Ladder, row: LoyaltyStatus) -> StatusTier | None:
    """The target, else the next tier, else the tier held, which has to be earned again."""
    tier_held, target = ladder.tier(row.tier), ladder.tier(row.target_tier)
    if row.lifetime and target and tier_held and target.rank <= tier_held.rank:
        target = None
    return target or ladder.above(row.tier) or tier_held


def _list_ways(ladder: Ladder, row: LoyaltyStatus, goal: StatusTier) -> tuple[Way, ...]:
    """The ways to the goal from the tier held; none if nothing has to be earned."""
    if goal.name == row.tier:
        return () if row.lifetime else goal.keep_ways
    required = ladder.find_required(row.tier, goal)
    if ladder.resets and required:
        return ((Requirement(goal.metric, required),),)
    return goal.ways


def _measure_progress(call: Call, row: LoyaltyStatus, legs: Sequence[FlightBooking], on: date) -> Estimate | None:
    """The progress in one programme; None when its tiers are not known."""
    ladder = statuses.build_ladder(call.reference, row.program)
    tier_held, goal = ladder.tier(row.tier), _find_goal(ladder, row)
    if goal is None:
        return None
    reported, notes = _read_progress(row, goal, on)
    since = row.progress_as_of + timedelta(days=1) if reported is not None and row.progress_as_of else on
    ends = status_tiers.find_year_end(goal.period, on)
    own_legs = [leg for leg in legs if leg.member == row.member]
    flown = estimate_progress(call.reference, row.program, row.tier, own_legs, since, ends or on + A_YEAR)
    # Flights do not count with a hotel.
    of_bookings = flown.notes if call.reference.programs[row.program].kind != "hotel" else (_NIGHTS_NOT_COUNTED,)
    counters = _read_counters(row, goal, reported, flown.amount, on)
    ways = measure_ways(_list_ways(ladder, row, goal), counters)
    keeps = tier_held is not None and tier_held is not goal and not row.lifetime
    keep = measure_ways(tier_held.keep_ways, counters) if tier_held and keeps else ()
    first = next((c for way in ways[:1] for c in way.counters if c.metric == goal.metric), None)
    if first is None and not (row.lifetime and goal is tier_held):
        unit = status_tiers.format_metric(goal.metric)
        notes.append(f"What {goal.name} asks from {row.tier} is not one number of {unit}.")
    progress = Progress.from_row(
        row,
        member=row.member or None,
        next_tier=above.name if (above := ladder.above(row.tier)) else None,
        goal_tier=goal.name,
        metric=goal.metric,
        required=first.required if first else None,
        reported=row.progress,
        reported_as_of=row.progress_as_of,
        estimated_from_bookings=flown.amount,
        gap=first.gap if first else None,
        ways=_to_ways(ways),
        keep=KeptTier(tier=row.tier, ways=_to_ways(keep), met=is_met(keep)) if keep else None,
        year_ends_on=ends,
        days_left=count_days_left(ends, on),
        on_track=_is_on_track(ways, reported, goal, on) if ways else (True if row.lifetime else None),
        assumptions=[*status_tiers.list_conditions(goal), *of_bookings, *notes],
        bookings_counted=[leg.id for leg in flown.counted],
        **describe_verified(goal),
    )
    return Estimate(progress, ways, keep)


def _read_counters(
    row: LoyaltyStatus, goal: StatusTier, reported: Decimal | None, flown: Decimal, on: date
) -> dict[str, Decimal]:
    """Each counter's known value: reported in this qualifying year, and for the main one with bookings."""
    if status_tiers.is_year_over(row.progress_as_of, goal.period, on):
        return {}
    others = {metric: Decimal(str(amount)) for metric, amount in row.other_progress.items()}
    return others | ({goal.metric: reported + flown} if reported is not None else {})


def _to_ways(ways: Sequence[WayProgress]) -> list[TierWay]:
    return [
        TierWay(
            counters=[Counter.from_row(c) for c in way.counters],
            met=way.met,
        )
        for way in ways
    ]


def _is_on_track(ways: Sequence[WayProgress], reported: Decimal | None, goal: StatusTier, on: date) -> bool | None:
    """Whether it is on track: by bookings if they are enough, otherwise by the reported pace, for each counter."""
    if is_met(ways) or reported is None:
        return is_met(ways) or None
    paces = [
        None
        if counter.reported is None
        else status_tiers.is_on_track(
            reported if counter.metric == goal.metric else counter.reported, counter.required, goal.period, on
        )
        for counter in ways[0].counters
    ]
    return False if False in paces else None if None in paces else True


def _read_progress(row: LoyaltyStatus, aim: status_tiers.StatusTier, on: date) -> tuple[Decimal | None, list[str]]:
    if row.progress is None:
        return None, ["No progress is recorded, so the gap is not known."]
    if status_tiers.is_year_over(row.progress_as_of, aim.period, on):
        reported_on = format_day(row.progress_as_of) if row.progress_as_of else "an unknown day"
        return None, [f"The progress of {reported_on} belongs to a qualifying year that is over."]
    return row.progress, []


@tool("status", Tier.FREE, Effect.READS, "Show progress to a status")
def get_status_progress(
    call: Call,
    program: Annotated[AnyName | None, Field(description="Absent: all.")] = None,
    as_of: Annotated[Day | None, Field(description="Absent: today.")] = None,
) -> StatusProgress:
    """Shows how far it is to the next status tier: nights, tier points or experience points (XP) needed this year.

    For "How much more do I need for Gold? Can I make it?" Counts logged bookings. How to earn the rest:
    recommend_status_path. Free.
    """
    if as_of and abs(as_of - call.today) > KNOWN_SPAN:
        raise Invalid(Fault("as_of", "is too far away", "a day within two years of today"))
    slug = call.reference.program(program).slug if program else None
    rows = list(call.db.scalars(select(LoyaltyStatus).order_by(LoyaltyStatus.program, LoyaltyStatus.member)))
    tracked = [r for r in rows if slug in (None, r.program)]
    if slug and not tracked:
        raise NotFound("loyalty status", slug, [r.program for r in rows][:3])
    legs = paid_legs(call.db, call.today) if tracked else ()
    measured = [(r.program, _measure_progress(call, r, legs, as_of or call.today)) for r in tracked]
    unknown_names = [call.reference.programs[p].name for p, estimate in measured if estimate is None]
    estimates = [estimate for _, estimate in measured if estimate]
    if not estimates:
        about = (
            f"The tiers of {', '.join(unknown_names)} are not known here."
            if unknown_names
            else "No elite status is tracked."
        )
        raise NoData(about, missing=["tier thresholds" if unknown_names else "loyalty status"])
    left_out = f" The tiers of {', '.join(unknown_names)} are not known here." if unknown_names else ""
    return StatusProgress(
        message=" ".join(_describe_progress(call.reference, e) for e in estimates) + left_out,
        progress=[e.progress for e in estimates],
    )


def _describe_progress(facts: Reference, estimate: Estimate) -> str:
    progress = estimate.progress
    whose = f" of {progress.member}" if progress.member else ""
    name, goal = f"{program_name(facts, progress.program)}{whose}", progress.goal_tier
    if progress.lifetime and goal == progress.tier:
        return f"{name}: {goal} is yours for life, so nothing has to be earned for it."
    earning = f"keep {goal}" if goal == progress.tier else goal
    met = is_met(estimate.ways)
    if met:
        words = f"{goal} is kept" if goal == progress.tier else f"{goal} is reached"
    elif not estimate.ways or (progress.gap is None and not any(way.is_known for way in estimate.ways)):
        words = f"the gap to {earning} is not known"
    else:
        words = f"{describe_missing(estimate.ways)} to {earning}"
    return f"{name}: {words}{_describe_days(progress, met)}{_describe_keep(estimate)}."


def _describe_keep(estimate: Estimate) -> str:
    """What the tier held still needs for another year."""
    met, keep = is_met(estimate.keep), estimate.keep
    if not keep or (met is None and not any(way.is_known for way in keep)):
        return ""
    tier = estimate.progress.tier
    return f"; {tier} is kept for another year" if met else f"; {describe_missing(keep)} to keep {tier}"


def _describe_days(progress: Progress, met: bool | None) -> str:
    if met or progress.gap is None or progress.year_ends_on is None or progress.days_left is None:
        return ""
    days = f" by {format_day(progress.year_ends_on)} ({pluralize(progress.days_left, 'day')} left)"
    if not progress.required or progress.gap == progress.required:
        return days
    return f"{days}, or {progress.required:,} from {format_day(progress.year_ends_on + timedelta(days=1))}"
