"""What every fact carries: its source, how old that is, when we last confirmed it, and how far it is trusted."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Fact:
    """Where a fact is from, how old that is, when we last confirmed it, and how far it is trusted."""

    source_url: str
    as_of: str | None
    audited_on: date | None
    confidence: str
    note: str | None
