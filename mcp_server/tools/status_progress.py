"""Progress towards the next tier: what was reported, what is booked, and the gap."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import Field
from sqlalchemy import select

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import AnyName, Day
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Money, Result
from mcp_server.toolkit.wording import program_name
from shared.db.bookings import FlightBooking
from shared.db.statuses import LoyaltyStatus
from shared.domain import status_tiers
from shared.domain.dates import format_day
from shared.errors import Fault, Invalid, NoData, NotFound
from shared.reference import statuses
from shared.reference.load import Reference
from shared.services.bookings.booked_flights import A_YEAR, KNOWN_SPAN, estimate_progress, paid_legs


class Progress(Verified):
    program: str
    tier: str
    next_tier: str | None
    target_tier: str | None
    metric: str
    required: int | None
    reported: Money | None
    reported_as_of: date | None
    estimated_from_bookings: Money
    gap: Money | None
    year_ends_on: date | None
    on_track: bool | None
    assumptions: list[str]
    bookings_counted: list[int]


class StatusProgress(Result):
    progress: list[Progress]


def _estimate_progress(call: Call, row: LoyaltyStatus, legs: Sequence[FlightBooking], on: date) -> Progress | None:
    """The progress in one programme; None when its tiers are not known."""
    ladder = statuses.build_ladder(call.reference, row.program)
    above = ladder.above(row.tier)
    goal = ladder.tier(row.target_tier) or above or ladder.tier(row.tier)
    if goal is None:
        return None
    required = ladder.find_required(row.tier, goal)
    reported, notes = _read_progress(row, goal, on)
    since = row.progress_as_of + timedelta(days=1) if reported is not None and row.progress_as_of else on
    ends = status_tiers.find_year_end(goal.period, on)
    flown = estimate_progress(call.reference, row.program, row.tier, legs, since, ends or on + A_YEAR)
    if required is None:
        notes.append(
            f"What {goal.name} asks from {row.tier} is not one number of {status_tiers.format_metric(goal.metric)}."
        )
    reckoned = reported is not None and required is not None
    total = (reported or Decimal(0)) + flown.amount
    return Progress(
        program=row.program,
        tier=row.tier,
        next_tier=above.name if above else None,
        target_tier=row.target_tier,
        metric=goal.metric,
        required=required,
        reported=row.progress,
        reported_as_of=row.progress_as_of,
        estimated_from_bookings=flown.amount,
        gap=max(Decimal(0), required - total) if reported is not None and required is not None else None,
        year_ends_on=ends,
        on_track=_is_on_track(reported or Decimal(0), total, required or 0, goal, on) if reckoned else None,
        assumptions=[*status_tiers.list_conditions(goal), *flown.notes, *notes],
        bookings_counted=[leg.id for leg in flown.counted],
        **describe_verified(goal),
    )


def _is_on_track(reported: Decimal, total: Decimal, required: int, goal: status_tiers.Tier, on: date) -> bool | None:
    """Bookings count when they are enough; otherwise the pace of the reported progress decides."""
    return True if total >= required else status_tiers.is_on_track(reported, required, goal.period, on)


def _read_progress(row: LoyaltyStatus, aim: status_tiers.Tier, on: date) -> tuple[Decimal | None, list[str]]:
    if row.progress is None:
        return None, ["No progress is recorded, so the gap is not known."]
    if status_tiers.is_year_over(row.progress_as_of, aim.period, on):
        reported_on = format_day(row.progress_as_of) if row.progress_as_of else "an unknown day"
        return None, [f"The progress of {reported_on} belongs to a qualifying year that is over."]
    return row.progress, []


@tool(area="status", tier=Tier.FREE, effect=Effect.READS)
def get_status_progress(
    call: Call,
    program: Annotated[AnyName | None, Field(description="Absent: every tracked programme.")] = None,
    as_of: Annotated[Day | None, Field(description="Today when absent.")] = None,
) -> StatusProgress:
    """Estimates progress to the next tier from reported progress plus logged upcoming bookings.

    Without reported progress the gap is unknown. Free.
    """
    if as_of and abs(as_of - call.today) > KNOWN_SPAN:
        raise Invalid(Fault("as_of", "is too far away", "a day within two years of today"))
    slug = call.reference.program(program).slug if program else None
    rows = list(call.db.scalars(select(LoyaltyStatus).order_by(LoyaltyStatus.program)))
    tracked = [r for r in rows if slug in (None, r.program)]
    if slug and not tracked:
        raise NotFound("loyalty status", slug, [r.program for r in rows][:3])
    legs = paid_legs(call.db, call.today) if tracked else ()
    by_program = {r.program: _estimate_progress(call, r, legs, as_of or call.today) for r in tracked}
    unknown_names = [call.reference.programs[p].name for p, estimate in by_program.items() if estimate is None]
    estimates = [p for p in by_program.values() if p]
    if not estimates:
        about = (
            f"The tiers of {', '.join(unknown_names)} are not known here."
            if unknown_names
            else "No elite status is tracked."
        )
        raise NoData(about, missing=["tier thresholds" if unknown_names else "loyalty status"])
    left_out = f" The tiers of {', '.join(unknown_names)} are not known here." if unknown_names else ""
    return StatusProgress(
        message=" ".join(_describe_progress(call.reference, p) for p in estimates) + left_out, progress=estimates
    )


def _describe_progress(facts: Reference, progress: Progress) -> str:
    name = program_name(facts, progress.program)
    goal = progress.target_tier or progress.next_tier or progress.tier
    if progress.gap is None:
        return f"{name}: the gap to {goal} is not known."
    return (
        f"{name}: {status_tiers.format_number(progress.gap)} {status_tiers.format_metric(progress.metric)} to {goal}."
    )
