"""IANA time zones by loose name, and the local date of a moment."""

from datetime import date, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

UTC = "UTC"
_NO_PLACES = ("localtime", "Factory")  # files of the tz database that are not zones


@lru_cache(maxsize=1)
def _list_zones() -> dict[str, str]:
    return {name.lower(): name for name in available_timezones() if name not in _NO_PLACES}


def find_zone_name(text: str) -> str | None:
    """The IANA name, whatever its case and with blanks for underscores; None for an unknown zone."""
    return _list_zones().get("_".join(text.split()).lower())


def find_zone(name: str) -> ZoneInfo | None:
    """Finds a zone; None for a name unknown to this machine."""
    iana_name = find_zone_name(name)
    return ZoneInfo(iana_name) if iana_name else None


def find_local_day(now: datetime, name: str) -> date:
    """The local day at that moment, or the UTC day in an unknown zone."""
    return now.astimezone(find_zone(name) or ZoneInfo(UTC)).date()
