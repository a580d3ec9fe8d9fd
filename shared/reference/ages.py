"""Ages of facts: when a fact was last confirmed, and the age from which it is no longer shown."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from shared.domain.dates import parse_loose_day
from shared.domain.plurals import pluralize

UNDATED = date.min  # sorts before every date
DAYS_OF_YEAR = 365
# Years after which a fact of a file is no longer shown; rules of programmes rarely stay true longer.
USUAL_YEARS = 5
YEARS_SHOWN: dict[str, int] = {"status_matches.csv": 1}


def find_last_check(row: Any) -> date:
    """The day a fact was last confirmed, else the day of its source (the first, if only the month is known)."""
    if row.audited_on is not None:
        return row.audited_on  # type: ignore[no-any-return]
    return find_source_day(row)


def find_source_day(row: Any) -> date:
    """The day of a fact's source (the first, if only the month is known), else UNDATED."""
    return parse_loose_day(row.as_of) if row.as_of else UNDATED


def find_page_day(fact: Any) -> date | None:
    """The day of the page in which a fact was checked; None if unchecked, or the page has no full date.

    `audited_on`, the day someone looked, is never shown as the day of the check: the page may be old.
    """
    if fact.audited_on is None or not fact.as_of or len(fact.as_of) != len("2026-11-22"):
        return None
    return date.fromisoformat(fact.as_of)


def is_outdated(file: str, row: Any, today: date) -> bool:
    """Whether a fact is past the limit of its file. One without a date is not: answers call it undated."""
    checked_on = find_last_check(row)
    return checked_on != UNDATED and (today - checked_on).days > YEARS_SHOWN.get(file, USUAL_YEARS) * DAYS_OF_YEAR


def describe_left_out(file: str, rows: Iterable[Any], today: date) -> str:
    """A sentence, after a space, about facts too old to be shown; empty without any."""
    count = sum(is_outdated(file, row, today) for row in rows)
    age = pluralize(YEARS_SHOWN.get(file, USUAL_YEARS), "year")
    return f" {count:,} more, from sources older than {age}, left out." if count else ""


def explain_outdated(file: str, row: Any) -> str:
    """Why a fact is not shown, as a sentence."""
    years = YEARS_SHOWN.get(file, USUAL_YEARS)
    return f"The newest source is of {find_last_check(row).year}; what is older than {years} years is not shown."
