"""Deadlines page: everything that ends within a year, by month, each with the page that settles it."""

from collections.abc import Mapping
from datetime import date
from itertools import groupby
from typing import Any

from auth_server.pages.forms import read_page
from auth_server.pages.member import Member
from auth_server.pages.member_routes import get_for_member
from auth_server.pages.tool_calls import Subject, look
from auth_server.web.outcomes import FlowResult
from shared.outbox.links import DEADLINES_PAGE, find_settling_path
from shared.outbox.wording.deadlines import describe_step

WITHIN_DAYS, SOON_DAYS = 365, 30
PER_PAGE = 40  # such a page stays under 30 kB
_DEADLINES = Subject("deadline", DEADLINES_PAGE, "The list of what ends")


async def show(member: Member) -> FlowResult:
    answer = await look(member, "list_upcoming_deadlines", within_days=WITHIN_DAYS)
    if not answer.is_good:
        return _DEADLINES.show_away()
    rows, number = answer.get("deadlines", ()), read_page(member)
    first = (number - 1) * PER_PAGE
    months = groupby(map(_describe, rows[first : first + PER_PAGE]), key=lambda row: f"{row['day']:%B %Y}")
    paging = {"page": number, "has_more": len(rows) > first + PER_PAGE, "total": answer.get("total", 0)}
    return member.show("deadlines.html", months=[(month, list(days)) for month, days in months], paging=paging)


def _describe(row: Mapping[str, Any]) -> dict[str, Any]:
    subject = row["subject"]
    return dict(row) | {
        "day": date.fromisoformat(row["due_on"]),
        "soon": row["days_left"] <= SOON_DAYS,
        "page": find_settling_path(row["kind"], subject["type"], subject["id"]),
        "step": describe_step(row["kind"]),
    }


ROUTES = [get_for_member(DEADLINES_PAGE, show)]
