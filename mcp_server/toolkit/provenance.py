"""Provenance of facts in results: source, date, audit and confidence of a row, and one sentence of them an answer."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from mcp_server.toolkit.results import Part
from shared.domain.dates import format_iso_day
from shared.reference.provenance import find_publisher
from shared.reference.rows.fact import Fact

_NAMED_SOURCES = 3  # in the sentence; the rows name all


class Sourced(Part):
    """A fact's source, how old that source is, and how far it is trusted. `unaudited`: no one ever checked it."""

    source_url: str
    as_of: str | None
    unaudited: bool
    confidence: str


class Verified(Sourced):
    """As Sourced; `verified_on` is the day someone last checked it, None when no one did."""

    verified_on: str | None


class Audited(Sourced):
    """As Sourced; `audited_on` is the day someone last checked it, None when no one did."""

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
    return _describe_source(fact) | {"verified_on": fact.audited_on.isoformat() if fact.audited_on else None}


def describe_audited(fact: Any) -> dict[str, Any]:
    """Fields of Audited, from anything that carries a fact's provenance."""
    return _describe_source(fact) | {"audited_on": fact.audited_on}


def find_last_check(facts: Iterable[Any]) -> date | None:
    """The day up to which all these facts were checked by someone; None when one never was."""
    days = [fact.audited_on for fact in facts]
    return None if None in days else min(days, default=None)


def find_newest_date(facts: Iterable[Fact]) -> str | None:
    """The latest date any of the sources carries."""
    return max((f.as_of for f in facts if f.as_of), default=None)


def cite_sources(objects: Iterable[dict[str, Any]]) -> str:
    """One sentence for the objects of an answer: whose facts it gives and when they were last checked.

    Empty where the answer holds no such fact. A fact is any object with the fields of Sourced.
    """
    facts = [fact for fact in objects if "unaudited" in fact and fact.get("source_url")]
    if not facts:
        return ""
    publishers = Counter(find_publisher(fact["source_url"]) or fact["source_url"] for fact in facts)
    names = [name for name, _ in publishers.most_common(_NAMED_SOURCES)]
    if more := len(publishers) - len(names):
        names.append(f"{more} more")
    label = "Source" if len(publishers) == 1 else "Sources"
    doubt = " Confidence is low." if all(fact["confidence"] == "low" for fact in facts) else ""
    return f"{label}: {_join_names(names)}; {_describe_checks(facts)}.{doubt}"


def _join_names(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _describe_checks(facts: Sequence[dict[str, Any]]) -> str:
    unchecked = [fact for fact in facts if fact["unaudited"]]
    days = [day for fact in facts if (day := fact.get("verified_on") or fact.get("audited_on"))]
    if not days:
        return f"never checked{_describe_dates(unchecked)}"
    last = f"last checked on {format_iso_day(min(days))}" + (" or later" if len(set(days)) > 1 else "")
    if not unchecked:
        return last
    return f"{len(unchecked)} of {len(facts)} never checked, the rest {last}"


def _describe_dates(facts: Sequence[dict[str, Any]]) -> str:
    """The dates that the sources of unchecked facts carry."""
    dates = sorted(fact["as_of"] for fact in facts if fact["as_of"])
    if not dates:
        return ", undated"
    first, last = format_iso_day(dates[0]), format_iso_day(dates[-1])
    span = first if first == last else f"{first} to {last}"
    return f", dated {span}" + (", some undated" if len(dates) < len(facts) else "")
