"""Upcoming deadlines, soonest first."""

from typing import Annotated

from pydantic import Field

from mcp_server.toolkit import Call, Effect, Result, Tier, tool
from mcp_server.views.deadlines import UpcomingDeadline
from shared.db.portfolio import read_holdings
from shared.db.upcoming_bookings import earliest_today
from shared.domain import time_zones
from shared.domain.dates import format_day
from shared.domain.deadlines import Deadline, Kind, describe_next_step, select_due
from shared.domain.plurals import pluralize
from shared.services.deadlines import TABLES, Viewpoint, choose_currency, find_deadlines, find_undated_programs

MAX_DEADLINES = 200  # in one answer
MAX_PROGRAMS_IN_MESSAGE = 5


class Deadlines(Result):
    deadlines: list[UpcomingDeadline]
    total: int


@tool("balances", Tier.FREE, Effect.READS, "List upcoming deadlines", screen="portfolio")
def list_upcoming_deadlines(
    call: Call,
    within_days: Annotated[int, Field(ge=1, le=730)] = 90,
    kinds: list[Kind] | None = None,
) -> Deadlines:
    """Lists all that expires, ends or is due soon: points, vouchers, status, credits, annual fees, minimum spend.

    For "What is about to run out? What would I lose or owe?" Transfer bonuses and bookings too. Only stored dates.
    Free.
    """
    selected_kinds: tuple[Kind, ...] = tuple(kinds) if kinds else tuple(TABLES)
    tables = {table for kind in selected_kinds for table in TABLES[kind]}
    holdings = read_holdings(call.db, earliest_today(call.now), {"profile", *tables})
    call.add_own_programs(b.program for b in holdings.balances)
    profile = holdings.profile
    view = Viewpoint(
        call.reference,
        call.now,
        time_zones.find_local_day(call.now, (profile and profile.timezone) or time_zones.UTC),
        choose_currency((profile and profile.currency) or "USD"),
    )
    due = select_due(find_deadlines(view, holdings, selected_kinds), within_days)
    dateless = find_undated_programs(view, holdings) if "points" in selected_kinds else []
    return Deadlines(
        message=_describe_deadlines(due, within_days, dateless),
        deadlines=[UpcomingDeadline.model_validate(d) for d in due[:MAX_DEADLINES]],
        total=len(due),
    )


def _describe_deadlines(due: list[Deadline], within_days: int, dateless: list[str]) -> str:
    past = sum(d.days_left < 0 for d in due)
    first = describe_next_step(due)
    sentences = [first] if first else []
    within = f"within {pluralize(within_days, 'day')}."
    ahead = len(due) - past
    if ahead and not first:
        soonest = next(d for d in due if d.days_left >= 0)
        sentences.append(f"Next: {soonest.title}, {format_day(soonest.due_on)}.")
    sentences.append(f"{pluralize(ahead, 'deadline')} {within}" if ahead else f"Nothing is due {within}")
    if past:
        sentences.append(f"{pluralize(past, 'card bonus')} still marked pending after the last day to spend.")
    if len(due) > MAX_DEADLINES:
        sentences.append(f"The soonest {MAX_DEADLINES} are shown.")
    if dateless:
        more = f" and {len(dateless) - MAX_PROGRAMS_IN_MESSAGE} more" if len(dateless) > MAX_PROGRAMS_IN_MESSAGE else ""
        rules = f"{', '.join(dateless[:MAX_PROGRAMS_IN_MESSAGE])}{more}"
        sentences.append(f"For points of {rules} only the rule is known, not the day they expire: ask the user.")
    if any(d.value_at_risk for d in due):
        sentences.append("Values at risk are estimates.")
    return " ".join(sentences)
