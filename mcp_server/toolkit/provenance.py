"""Provenance of facts in results: source, date, audit and confidence of a row of the reference data."""

from datetime import date
from typing import Any

from mcp_server.toolkit.results import Part
from shared.domain.dates import format_iso_day
from shared.reference.rows.fact import Fact


class Sourced(Part):
    """A fact's source, how old that source is, and how far it is trusted. `unaudited`: we never confirmed it."""

    source_url: str
    as_of: str | None
    unaudited: bool
    confidence: str


class Verified(Sourced):
    """As Sourced; `verified_on` is the day of our last audit, None when there was none."""

    verified_on: str | None


class Audited(Sourced):
    """As Sourced; `audited_on` is the day of our last audit, None when there was none."""

    audited_on: date | None


def describe_source(fact: Any) -> dict[str, Any]:
    """Fields of Sourced, from anything that carries a fact's provenance."""
    return {
        "source_url": fact.source_url,
        "as_of": fact.as_of,
        "unaudited": fact.audited_on is None,
        "confidence": fact.confidence,
    }


def describe_verified(fact: Any) -> dict[str, Any]:
    return describe_source(fact) | {"verified_on": fact.audited_on.isoformat() if fact.audited_on else None}


def describe_audited(fact: Any) -> dict[str, Any]:
    return describe_source(fact) | {"audited_on": fact.audited_on}


def warn_about(fact: Any) -> str:
    """A sentence for the message: how much the fact can be relied on; empty when there is nothing to say."""
    words = []
    if fact.confidence == "low":
        words.append("An estimate of low confidence.")
    if fact.audited_on is None:
        words.append(
            f"Unaudited; source dated {format_iso_day(fact.as_of)}." if fact.as_of else "Unaudited; source undated."
        )
    return " ".join(words)


def find_newest_date(facts: list[Fact]) -> str | None:
    """The latest date any of the sources carries: until then the facts were looked at."""
    return max((f.as_of for f in facts if f.as_of), default=None)
