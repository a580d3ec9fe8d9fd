"""Provenance of facts in results: source, date, check and confidence of a row, and a short summary for an answer."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Any

from mcp_server.toolkit.results import Part
from shared import clock
from shared.domain.dates import format_iso_day, parse_loose_day
from shared.reference.ages import find_page_day
from shared.reference.own_programs import SOURCE
from shared.reference.rows.fact import Fact

# Most facts of this field change within a year; past half of it the day of an unchecked source belongs in the sentence.
OLD_AGE = timedelta(days=183)


class Sourced(Part):
    """A fact's source, the day of its page, and how far it is trusted. `unaudited`: no one ever checked it there."""

    source_url: str
    as_of: str | None
    unaudited: bool
    confidence: str


class Verified(Sourced):
    """As Sourced; `verified_on` is the day of the page it was checked in, None when no one did or it has no day."""

    verified_on: str | None


class Audited(Sourced):
    """As Sourced; `audited_on` is the day of the page it was checked in, None if unchecked or undated."""

    audited_on: date | None


def _describe_source(fact: Any) -> dict[str, Any]:
    return {
        "source_url": fact.source_url,
        "as_of": fact.as_of,
        "unaudited": fact.audited_on is None,
        "confidence": fact.confidence,
    }


def describe_verified(fact: Any) -> dict[str, Any]:
    """Fields of Verified, from anything that carries a fact's provenance."""
    day = find_page_day(fact)
    return _describe_source(fact) | {"verified_on": day.isoformat() if day else None}


def describe_audited(fact: Any) -> dict[str, Any]:
    """Fields of Audited, from anything that carries a fact's provenance."""
    return _describe_source(fact) | {"audited_on": find_page_day(fact)}


def find_last_check(facts: Iterable[Any]) -> date | None:
    """The oldest of the pages in which all these facts were checked; None if one was in no dated page."""
    days = [find_page_day(fact) for fact in facts]
    return None if None in days else min((day for day in days if day), default=None)


def find_newest_date(facts: Iterable[Fact]) -> str | None:
    """The latest date of any source."""
    return max((f.as_of for f in facts if f.as_of), default=None)


def cite_checks(objects: Iterable[dict[str, Any]]) -> str:
    """How far the facts of an answer were checked, in a few words: `Checked 7 Oct 2026.` The rows name their sources.

    Empty where the answer holds no such fact. A fact is any object with the fields of Sourced; what a person entered
    is none. A checked fact is shown with the day of its page; an unchecked old one with its own day.
    """
    facts = [fact for fact in objects if "unaudited" in fact and fact.get("source_url") not in (None, "", SOURCE)]
    if not facts:
        return ""
    oldest = min((fact["as_of"] for fact in facts if fact["unaudited"] and fact["as_of"]), default=None)
    is_old = oldest is not None and clock.today() - parse_loose_day(oldest) > OLD_AGE
    which = "source" if all(fact["unaudited"] for fact in facts) else "of these"
    age = f"; the oldest {which} is of {format_iso_day(oldest)}" if oldest and is_old else ""
    doubt = " Confidence is low." if all(fact["confidence"] == "low" for fact in facts) else ""
    return f"{_describe_checks(facts)}{age}.{doubt}"


def _describe_checks(facts: Sequence[dict[str, Any]]) -> str:
    unchecked = sum(fact["unaudited"] for fact in facts)
    if unchecked == len(facts):
        return "Not checked"
    checked = [fact for fact in facts if not fact["unaudited"]]
    days = sorted(
        day for fact in checked if (day := fact.get("verified_on") or fact.get("audited_on") or fact["as_of"])
    )
    words = (
        f"Checked {format_iso_day(days[0])}{' or later' if days[0] != days[-1] else ''}"
        if days
        else "Checked, the day is not known"
    )
    return f"{words}, {unchecked} of {len(facts)} not checked" if unchecked else words
