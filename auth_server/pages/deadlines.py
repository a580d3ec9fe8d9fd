"""Deadlines page: everything that ends within a year, by month, each with the page that settles it."""

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import groupby
from typing import Any

from auth_server.pages.forms import read_page
from auth_server.pages.member import Member
from auth_server.pages.member_routes import get_for_member
from auth_server.pages.tool_calls import Subject, look
from auth_server.web.outcomes import FlowResult
from auth_server.web.year_of_dots import Ending, Year, draw_year
from shared import clock
from shared.domain.party_prices import format_money
from shared.outbox.links import DEADLINES_PAGE, find_settling_path
from shared.outbox.wording.deadlines import describe_step

WITHIN_DAYS, SOON_DAYS = 365, 30
PER_PAGE = 40  # such a page stays under 30 kB
MAX_LABELS = 5  # words on the year, of what is worth most
_DEADLINES = Subject("deadline", DEADLINES_PAGE, "The list of what ends")


async def show(member: Member) -> FlowResult:
    answer = await look(member, "list_upcoming_deadlines", within_days=WITHIN_DAYS)
    if not answer.is_good:
        return _DEADLINES.show_away()
    rows, number = answer.get("deadlines", ()), read_page(member)
    first = (number - 1) * PER_PAGE
    months = groupby(map(_describe, rows[first : first + PER_PAGE]), key=lambda row: f"{row['day']:%B %Y}")
    paging = {"page": number, "has_more": len(rows) > first + PER_PAGE, "total": answer.get("total", 0)}
    context = {"months": [(month, list(days)) for month, days in months], "paging": paging}
    return member.show("deadlines.html", year=_draw_year(rows) if number == 1 else None, **context)


def _draw_year(rows: Sequence[Mapping[str, Any]]) -> Year | None:
    """Worth of different currencies is no one size, so that of the first alone counts; the largest have their words."""
    values = [row["value_at_risk"] | {"day": date.fromisoformat(row["due_on"])} for row in rows if row["value_at_risk"]]
    alike = [value for value in values if value["currency"] == values[0]["currency"]]
    least = min(sorted((value["amount"] for value in alike), reverse=True)[:MAX_LABELS], default=0)
    return draw_year(
        [
            Ending(v["day"], v["amount"], format_money(v["amount"], v["currency"]) if v["amount"] >= least else "")
            for v in alike
        ],
        clock.today(),
    )


def _describe(row: Mapping[str, Any]) -> dict[str, Any]:
    subject = row["subject"]
    return dict(row) | {
        "day": date.fromisoformat(row["due_on"]),
        "soon": row["days_left"] <= SOON_DAYS,
        "page": find_settling_path(row["kind"], subject["type"], subject["id"]),
        "step": describe_step(row["kind"]),
    }


ROUTES = [get_for_member(DEADLINES_PAGE, show)]
