"""Figures of the last days for operators: calls, errors, new accounts, checks and messages, each in one pass."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time

import sqlalchemy as sa

from shared.db.admin_figures import ERRORS
from shared.db.service_figures import open_connection
from shared.db.usage import UNCOUNTED_TOOL
from shared.settings import settings

TIMEOUT_MILLISECONDS = 1500  # for each: five of them, with the rest of a page, take at most ten seconds
# Day, kind and number of rows. No session guards these statements, so they name the data mode themselves.
_BY_DAY = "select cast(timezone('UTC', {moment}) as date), {words}, count(*) from {rows} group by 1, 2"
_STATEMENTS = {
    "calls": "select day, '', sum(calls) from tool_call_counts"  # noqa: S608
    f" where day >= :day and tool <> '{UNCOUNTED_TOOL}' group by 1",
    "errors": "select day, outcome, sum(calls) from tool_call_counts"  # noqa: S608
    f" where day >= :day and outcome in {ERRORS} group by 1, 2",
    "accounts": _BY_DAY.format(moment="created_at", words="''", rows="accounts where created_at >= :moment"),
    "checks": _BY_DAY.format(
        moment="checked_at",
        words="''",
        rows="route_monitor_checks where checked_at >= :moment and synthetic = :synthetic",
    ),
    "looks": _BY_DAY.format(
        moment="checked_at",
        words="case when outcome = 'backend_unavailable' then 'fail' when failed_sources <> '{}' then 'part'"
        " else 'done' end",
        rows="route_monitor_checks where checked_at >= :moment and synthetic = :synthetic"
        " and outcome not in ('connection_required', 'not_configured')",
    ),
    "messages": _BY_DAY.format(
        moment="created_at",
        words="case when status in ('sent', 'failed', 'uncertain') then status else 'waiting' end",
        rows="deliveries where created_at >= :moment and synthetic = :synthetic",
    ),
}
NAMES = tuple(_STATEMENTS)


def count_by_day(name: str, since: date) -> Mapping[date, Mapping[str, int]]:
    """Numbers by day (UTC) and kind, which is "" if there is only one.

    Raises SQLAlchemyError, also when it takes too long.
    """
    moment = datetime.combine(since, time(), UTC)
    values = {"day": since, "moment": moment, "synthetic": settings().data_mode == "sandbox"}
    statement = sa.text(_STATEMENTS[name])
    used = {key: value for key, value in values.items() if f":{key}" in _STATEMENTS[name]}
    counts: dict[date, dict[str, int]] = {}
    with open_connection(TIMEOUT_MILLISECONDS) as connection:
        for day, words, number in connection.execute(statement, used):
            counts.setdefault(day, {})[words] = int(number)
    return counts
