"""Local times of flights as people read them, with the days an arrival is later than its departure."""

import re
from datetime import date

_LOCAL = re.compile(r"(?:(\d{4}-\d{2}-\d{2})[T ])?(\d{2}:\d{2})", re.ASCII)


def _parse_local(text: str | None) -> tuple[date | None, str] | None:
    """The day, where it is said, and the time of an ISO local time; None of anything else."""
    match = _LOCAL.match(text or "")
    if match is None:
        return None
    try:
        return date.fromisoformat(match[1]) if match[1] else None, match[2]
    except ValueError:
        return None


def format_days_later(departs_at: str | None, arrives_at: str | None) -> str:
    """` +1` for an arrival on the day after the departure, ` -1` for the day before; empty on the same day."""
    departure, arrival = _parse_local(departs_at), _parse_local(arrives_at)
    if not departure or not arrival or departure[0] is None or arrival[0] is None:
        return ""
    days = (arrival[0] - departure[0]).days
    return f" {days:+d}" if days else ""


def format_flight_times(departs_at: str | None, arrives_at: str | None, dash: str = "-") -> str:
    """`10:10-02:00 +1`; a single time where the other is not known, and empty without both."""
    times = [time for text in (departs_at, arrives_at) if (time := _parse_local(text))]
    if len(times) < 2:
        return "".join(time[1] for time in times)
    return f"{times[0][1]}{dash}{times[1][1]}{format_days_later(departs_at, arrives_at)}"
