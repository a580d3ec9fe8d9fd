"""The tier a person aims at, what is missing in this qualifying year and the next, and hotel nights that reach it."""

import math
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal

from sqlalchemy import select

from mcp_server.toolkit import Call, Money, Part
from shared.db.bookings import HotelBooking
from shared.db.hotel_prices import CheapNight, find_cheapest_nights
from shared.db.members import HOLDER
from shared.db.statuses import LoyaltyStatus
from shared.domain import status_tiers
from shared.domain.dates import format_day
from shared.domain.plurals import pluralize
from shared.domain.status_tiers import Ladder, StatusTier
from shared.errors import NoData
from shared.reference import hotels, statuses
from shared.reference.exchange_rates import find_exchange_rate
from shared.reference.rows.programmes import Program

NIGHTS = "nights"
_PRICES_OF = timedelta(days=14)  # as with fares


class StatusGap(Part):
    metric: str
    required: int
    have: Money
    missing: Money


class NextYearGap(Part):
    """What the tier asks in the qualifying year after this one, of which nothing is earned yet."""

    begins_on: date
    required: int
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
    def unit(self) -> str:
        return status_tiers.format_metric(self.target.metric)

    def describe_lacking(self, deadline: date | None, on: date) -> str:
        """`19 nights to go for Globalist by 31 Dec 2026, or 60 from 1 Jan 2027`; a deadline within the year: one."""
        lacking = f"{status_tiers.format_number(self.missing)} {self.unit} to go for {self.target.name}"
        following = self.find_next_year(deadline, on)
        if following is None:
            return lacking
        ends = format_day(following.begins_on - timedelta(days=1))
        later = f"{status_tiers.format_number(following.missing)} from {format_day(following.begins_on)}"
        return f"{lacking} by {ends}, or {later}"

    def find_next_year(self, deadline: date | None, on: date) -> NextYearGap | None:
        """The gap if the given time goes beyond the qualifying year; None within it."""
        begins = status_tiers.find_next_start(self.target.period, deadline, on)
        if begins is None or not self.missing:
            return None
        return NextYearGap(begins_on=begins, required=self.required, missing=Decimal(self.required))

    @property
    def gap(self) -> StatusGap:
        return StatusGap.from_row(self, metric=self.target.metric)


def resolve_goal(call: Call, name: str, tier: str | None) -> Goal:
    """The requested tier, else the tracked target, else the next one. Raises NotFound, Candidates, NoData, Invalid."""
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


@dataclass(frozen=True)
class NightsPlan:
    """Nights that would close a gap between two days, and the cheapest one seen."""

    booked: int
    needed: int
    first: date
    last: date
    cheapest: CheapNight | None = None
    hotel: str | None = None

    @property
    def is_possible(self) -> bool:
        return self.booked + self.needed <= (self.last - self.first).days + 1

    @property
    def cost(self) -> Decimal | None:
        return None if self.cheapest is None else self.cheapest.cash * self.needed

    def describe(self, goal: Goal) -> list[str]:
        booked = f"Stay the {pluralize(self.booked, 'night')} booked."
        place = f" The cheapest seen recently: {self.hotel}." if self.hotel else ""
        days = f"from {format_day(self.first)} to {format_day(self.last)}"
        more = f"Stay {pluralize(self.needed, 'night')} {days} at the cheapest hotels of {goal.program.name}"
        return [
            *([booked] if self.booked else []),
            *([f"{more}: each counts, whatever it costs.{place}"] if self.needed else []),
        ]


def plan_nights(call: Call, goal: Goal, deadline: date | None) -> tuple[NightsPlan | None, list[str]]:
    """The nights that close the gap in this qualifying year, else in the next, or why none do."""
    this_year = _plan_window(call, goal, goal.missing, call.today, deadline)
    plan, following = this_year, goal.find_next_year(deadline, call.today)
    if not plan.is_possible and following:
        plan = _plan_window(call, goal, following.missing, following.begins_on, deadline)
    if not plan.is_possible:
        nights = pluralize(this_year.needed + this_year.booked, "night")
        return None, [f"Nights: {nights} do not fit before {format_day(this_year.last)}."]
    names = {
        hotels.code(row): row.name for row in call.reference.rows("hotels.csv") if row.program == goal.program.slug
    }
    cheap_nights = find_cheapest_nights(call.db, list(names), call.account_id, call.now - _PRICES_OF)
    cheapest = min(cheap_nights, key=_to_usd, default=None)
    return replace(plan, cheapest=cheapest, hotel=names[cheapest.hotel_code] if cheapest else None), []


def _plan_window(call: Call, goal: Goal, missing: Decimal, first: date, deadline: date | None) -> NightsPlan:
    ends = status_tiers.find_year_end(goal.target.period, first)
    last = min(filter(None, (ends, deadline)), default=first + timedelta(days=365))
    booked = min(_count_booked(call, goal.program.slug, first, last), math.ceil(missing))
    return NightsPlan(booked, math.ceil(missing) - booked, first, last)


def _to_usd(night: CheapNight) -> Decimal:
    rate = find_exchange_rate(night.currency)
    return night.cash * rate.usd_per_unit if rate else Decimal("Infinity")


def _count_booked(call: Call, program: str, first: date, last: date) -> int:
    """Nights of the holder's stays with the programme between two days, without cancelled ones."""
    rows = call.db.scalars(
        select(HotelBooking).where(
            HotelBooking.member == HOLDER,
            HotelBooking.cancelled_at.is_(None),
            HotelBooking.check_out_date > first,
            HotelBooking.check_in_date <= last,
        )
    )
    after = last + timedelta(days=1)
    return sum(
        (min(row.check_out_date, after) - max(row.check_in_date, first)).days
        for row in rows
        if (hotel := hotels.find_stored(call.reference, row.hotel_code)) and hotel.program == program
    )
