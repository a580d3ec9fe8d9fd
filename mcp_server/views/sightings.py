"""Seats seen in earlier searches for results: their age and the note with it.

Sightings are read as far back as SEEN_DAYS. A seat may be gone since, so everything says when it was seen.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from mcp_server.toolkit.context import Call, CallBase
from shared.services.search.provenance import Freshness, describe_unasked

SEEN_DAYS = 14
NOTE = f"Seen in searches of the last {SEEN_DAYS} days; a seat may be gone since. Search again before moving points."


def sightings_since(call: CallBase) -> datetime:
    return call.now - timedelta(days=SEEN_DAYS)


def age_in_seconds(call: Call, seen_at: datetime) -> int:
    return max(0, int((call.now - seen_at).total_seconds()))


def build_freshness(
    call: Call,
    sources: Iterable[str],
    seen_at: Iterable[datetime],
    checked_at: Iterable[datetime | None],
    note: str = NOTE,
) -> Freshness:
    """The age of the oldest row; our own and the provider's age are separate fields."""
    oldest = min(seen_at, default=None)
    oldest_check = min((c for c in checked_at if c), default=None)
    if oldest is None:
        return describe_unasked("none", "none", "Nothing that fits was seen.")
    return Freshness(
        mode="sandbox" if call.data_mode == "sandbox" else "cached",
        source=", ".join(sorted(set(sources))),
        fetched_at=oldest,
        age_seconds=age_in_seconds(call, oldest),
        provider_checked_at=oldest_check,
        provider_age_seconds=age_in_seconds(call, oldest_check) if oldest_check else None,
        cached_until=None,
        note=note,
    )
