"""Progress towards tiers: what a person reported and booked and what a programme asks go in, gap and pace come out."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Annotated

from pydantic import Field
from sqlalchemy import select

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import AnyName, Day
from mcp_server.toolkit.provenance import Sourced, sourced
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Money, Result
from mcp_server.toolkit.wording import program_name
from shared.db.bookings import FlightBooking
from shared.db.statuses import LoyaltyStatus
from shared.domain import status_tiers
from shared.errors import Fault, Invalid, NoData, NotFound
from shared.reference import statuses
from shared.reference.load import Reference
from shared.services.bookings.booked_flights import A_YEAR, NEAR, booked, paid_legs


class Progress(Sourced):
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


def _progress(call: Call, row: LoyaltyStatus, legs: Sequence[FlightBooking], on: date) -> Progress | None:
    """None where the programme's tiers are not known."""
    ladder = statuses.ladder(call.reference, row.program)
    above = ladder.above(row.tier)
    aim = ladder.tier(row.target_tier) or above or ladder.tier(row.tier)
    if aim is None:
        return None
    required = ladder.required(row.tier, aim)
    known, said = _reported(row, aim, on)
    since = row.progress_as_of + timedelta(days=1) if known is not None and row.progress_as_of else on
    ends = status_tiers.year_end(aim.period, on)
    flown = booked(call.reference, row.program, row.tier, legs, since, ends or on + A_YEAR)
    if required is None:
        said.append(f"What {aim.name} asks from {row.tier} is not one number of {status_tiers.unit(aim.metric)}.")
    reckoned = known is not None and required is not None
    have = (known or Decimal(0)) + flown.amount
    return Progress(
        program=row.program,
        tier=row.tier,
        next_tier=above.name if above else None,
        target_tier=row.target_tier,
        metric=aim.metric,
        required=required,
        reported=row.progress,
        reported_as_of=row.progress_as_of,
        estimated_from_bookings=flown.amount,
        gap=max(Decimal(0), required - have) if known is not None and required is not None else None,
        year_ends_on=ends,
        on_track=_on_track(known or Decimal(0), have, required or 0, aim, on) if reckoned else None,
        assumptions=[*status_tiers.conditions(aim), *flown.said, *said],
        bookings_counted=[leg.id for leg in flown.counted],
        **sourced(aim),
    )


def _on_track(known: Decimal, have: Decimal, required: int, aim: status_tiers.Tier, on: date) -> bool | None:
    """What is booked counts where it is enough; the pace is that of what was flown."""
    return True if have >= required else status_tiers.on_track(known, required, aim.period, on)


def _reported(row: LoyaltyStatus, aim: status_tiers.Tier, on: date) -> tuple[Decimal | None, list[str]]:
    if row.progress is None:
        return None, ["No progress is recorded, so the gap is not known."]
    if status_tiers.year_is_over(row.progress_as_of, aim.period, on):
        return None, [f"The progress of {row.progress_as_of} belongs to a qualifying year that is over."]
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
    if as_of and abs(as_of - call.today) > NEAR:
        raise Invalid(Fault("as_of", "is too far away", "a day within two years of today"))
    slug = call.reference.program(program).slug if program else None
    rows = list(call.db.scalars(select(LoyaltyStatus).order_by(LoyaltyStatus.program)))
    wanted = [r for r in rows if slug in (None, r.program)]
    if slug and not wanted:
        raise NotFound("loyalty status", slug, [r.program for r in rows][:3])
    legs = paid_legs(call.db, call.today) if wanted else ()
    made = {r.program: _progress(call, r, legs, as_of or call.today) for r in wanted}
    silent = [call.reference.programs[p].name for p, found in made.items() if found is None]
    known = [p for p in made.values() if p]
    if not known:
        about = f"The tiers of {', '.join(silent)} are not known here." if silent else "No elite status is tracked."
        raise NoData(about, missing=["tier thresholds" if silent else "loyalty status"])
    left_out = f" The tiers of {', '.join(silent)} are not known here." if silent else ""
    return StatusProgress(message=" ".join(_told(call.reference, p) for p in known) + left_out, progress=known)


def _told(facts: Reference, one: Progress) -> str:
    name = program_name(facts, one.program)
    aim = one.target_tier or one.next_tier or one.tier
    if one.gap is None:
        return f"{name}: the gap to {aim} is not known."
    return f"{name}: {status_tiers.plainly(one.gap)} {status_tiers.unit(one.metric)} to {aim}."
