"""Ages of facts: when a fact was last confirmed, and from which age on it is unknown instead of shown."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from shared.domain.dates import parse_loose_day
from shared.domain.plurals import pluralize

UNDATED = date.min  # sorts before every date
DAYS_OF_YEAR = 365
# Years after which a fact of a file is no longer shown; rules of programmes rarely hold longer unseen.
USUAL_YEARS = 5
YEARS_SHOWN: dict[str, int] = {"status_matches.csv": 1}


def find_last_check(row: Any) -> date:
    """The day a fact was last confirmed, else the day its source carries (its first, where only the month is known)."""
    if row.audited_on is not None:
        return row.audited_on  # type: ignore[no-any-return]
    return find_source_day(row)


def find_source_day(row: Any) -> date:
    """The day the source of a fact carries (its first, where only the month is known), else UNDATED."""
    return parse_loose_day(row.as_of) if row.as_of else UNDATED


def find_page_day(fact: Any) -> date | None:
    """The day of the page in which someone checked a fact; None where no one did, or the page carries no whole day.

    The day of the look at our table, `audited_on`, is never told as the day a fact was checked: the page may be old.
    """
    if fact.audited_on is None or not fact.as_of or len(fact.as_of) != len("2026-11-22"):
        return None
    return date.fromisoformat(fact.as_of)


def is_outdated(file: str, row: Any, today: date) -> bool:
    """Whether a fact is past the limit of its file. One without a date is not: answers call it undated."""
    checked_on = find_last_check(row)
    return checked_on != UNDATED and (today - checked_on).days > YEARS_SHOWN.get(file, USUAL_YEARS) * DAYS_OF_YEAR


def describe_left_out(file: str, rows: Iterable[Any], today: date) -> str:
    """A sentence about those of the facts that are too old to be shown, with a space before it; empty without one."""
    count = sum(is_outdated(file, row, today) for row in rows)
    age = pluralize(YEARS_SHOWN.get(file, USUAL_YEARS), "year")
    return f" {count:,} more, from sources older than {age}, left out." if count else ""


def explain_outdated(file: str, row: Any) -> str:
    """Why a fact is not shown, as a sentence."""
    years = YEARS_SHOWN.get(file, USUAL_YEARS)
    return f"The newest source is of {find_last_check(row).year}; what is older than {years} years is not shown."
