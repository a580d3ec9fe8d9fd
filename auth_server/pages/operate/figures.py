"""Figures of 90 days by week: calls, errors, new accounts, checks and messages, each as a chart with its table."""

import logging
from collections import Counter
from collections.abc import Mapping
from datetime import date, timedelta

from sqlalchemy.exc import SQLAlchemyError

from auth_server.pages.member import Member
from auth_server.pages.operate import operator
from auth_server.pages.operate.operator import FIGURES, get_for_operator
from auth_server.web.charts import Chart, draw_bars, draw_stacks
from auth_server.web.outcomes import FlowResult
from shared import clock
from shared.db.daily_figures import count_by_day

log = logging.getLogger(__name__)
DAYS = 90
USE, WORK = "use", "work"
PARTS = {USE: "Use", WORK: "Checks and messages"}
_CHARTS = {
    USE: {"calls": "Calls of tools", "errors": "Calls that ended in an error", "accounts": "New accounts"},
    WORK: {"checks": "Checks of route watches", "messages": "Messages"},
}
_Counts = Mapping[date, Mapping[str, int]]


def show_figures(member: Member) -> FlowResult:
    """Asks for each figure separately: a slow one does not cost the others their charts."""
    part, today = member.data.query_value("part") or USE, clock.today()
    if part not in PARTS:
        return operator.show_nothing()
    charts = [(words, *_read_chart(name, words, today)) for name, words in _CHARTS[part].items()]
    context = {"charts": charts, "days": DAYS, "parts": PARTS, "part": part}
    return operator.show(member, "operate_figures.html", **context)


def _read_chart(name: str, words: str, today: date) -> tuple[Chart | None, bool]:
    """The chart, where there is anything to draw, and whether the database answered in time."""
    since = today - timedelta(days=DAYS - 1)
    try:
        counts = count_by_day(name, since)
    except (SQLAlchemyError, OSError) as error:
        log.warning("figures: %s were not counted (%s)", name, type(error).__name__)
        return None, False
    return _draw(words, _sum_weeks(counts, since, today)) if counts else None, True


def _sum_weeks(counts: _Counts, since: date, today: date) -> list[tuple[str, Mapping[str, int]]]:
    """By week from Monday; the first and last may be partial."""
    monday = since - timedelta(days=since.weekday())
    weeks: dict[date, Counter[str]] = {}
    while monday <= today:
        weeks[monday] = Counter()
        monday += timedelta(days=7)
    for day, numbers in counts.items():
        if since <= day <= today:
            weeks[day - timedelta(days=day.weekday())].update(numbers)
    return [(f"week of {monday.day} {monday:%b}", numbers) for monday, numbers in weeks.items()]


def _draw(words: str, weeks: list[tuple[str, Mapping[str, int]]]) -> Chart | None:
    kinds = {kind for _, numbers in weeks for kind in numbers}
    if kinds <= {""}:
        return draw_bars([(week, numbers.get("", 0)) for week, numbers in weeks], words, unit="Week")
    named = [(week, {kind.replace("_", " "): number for kind, number in numbers.items()}) for week, numbers in weeks]
    return draw_stacks(named, words, unit="Week")


ROUTES = [get_for_operator(FIGURES, show_figures)]
