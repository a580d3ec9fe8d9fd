"""Deadlines page: everything that ends within a year, by month, each with the page that settles it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import groupby
from typing import Any

from auth_server.pages.forms import read_page
from auth_server.pages.member import Member, get_for_member
from auth_server.pages.tool_calls import Subject, look
from auth_server.web.outcomes import FlowResult
from auth_server.web.year_of_dots import Ending, Year, draw_year
from shared import clock
from shared.domain.party_prices import format_money
from shared.outbox.links import DEADLINES_PAGE, find_settling_path
from shared.outbox.wording.deadlines import describe_step

WITHIN_DAYS, SOON_DAYS = 365, 30
PER_PAGE = 40  # such a page stays under 30 kB
MAX_LABELS = 5  # labels in the year, for the most valuable
_DEADLINES = Subject("deadline", DEADLINES_PAGE, "The list of what ends")


async def show(member: Member) -> FlowResult:
    answer = await look(member, "list_upcoming_deadlines", within_days=WITHIN_DAYS)
    if not answer.is_good:
        return _DEADLINES.show_away()
    rows, number = answer.get("deadlines", ()), read_page(member)
    first = (number - 1) * PER_PAGE
    groups: list[dict[str, Any]] = [
        {"title": name_credits(sum_credits(run)) if len(run) > 1 else "", "rows": list(map(_describe, run))}
        for run in list_groups(rows[first : first + PER_PAGE])
    ]
    months = groupby(groups, key=lambda group: f"{group['rows'][0]['day']:%B %Y}")
    paging = {"page": number, "has_more": len(rows) > first + PER_PAGE, "total": answer.get("total", 0)}
    context = {"months": [(month, list(days)) for month, days in months], "paging": paging}
    return member.show("deadlines.html", year=_draw_year(rows) if number == 1 else None, **context)


def _draw_year(rows: Sequence[Mapping[str, Any]]) -> Year | None:
    """Currencies cannot be compared by size, so only the first counts; the largest get labels."""
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


def list_groups(rows: Iterable[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Groups the card credits of one day, so that ten equal rows become one; everything else stays single."""
    kinds = groupby(rows, key=lambda row: (row["due_on"], row["kind"] == "card_credit"))
    runs = [(is_credit, list(run)) for (_, is_credit), run in kinds]
    return [group for is_credit, run in runs for group in ([run] if is_credit else [[row] for row in run])]


def sum_credits(rows: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """The open amounts by currency."""
    sums = Counter[str]()
    for row in rows:
        sums[row["currency"]] += row["amount"] or 0
    return sums


def name_credits(sums: Mapping[str, float]) -> str:
    """`$445 of card credits end`."""
    return f"{' and '.join(format_money(amount, code) for code, amount in sums.items())} of card credits end"


def _describe(row: Mapping[str, Any]) -> dict[str, Any]:
    subject = row["subject"]
    return dict(row) | {
        "day": date.fromisoformat(row["due_on"]),
        "soon": row["days_left"] <= SOON_DAYS,
        "page": find_settling_path(row["kind"], subject["type"], subject["id"]),
        "step": describe_step(row["kind"]),
    }


ROUTES = [get_for_member(DEADLINES_PAGE, show)]
