"""Local times of flights as people read them, with the days an arrival is later than its departure."""

import re
from datetime import date, datetime, time, timedelta

from shared.domain import time_zones
from shared.domain.dates import format_weekday

EARLY, LATE = "09:00", "21:00"
NIGHT = time(1), timedelta(hours=4)  # the hour sleep starts, and its least length
_LOCAL = re.compile(r"(?:(\d{4}-\d{2}-\d{2})[T ])?(\d{2}:\d{2})", re.ASCII)


def _parse_local(text: str | None) -> tuple[date | None, str] | None:
    """The day, if given, and the time of an ISO local time; None for anything else."""
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
    """`10:10-02:00 +1`; a single time if only one is known, else empty."""
    times = [time for text in (departs_at, arrives_at) if (time := _parse_local(text))]
    if len(times) < 2:
        return "".join(time[1] for time in times)
    return f"{times[0][1]}{dash}{times[1][1]}{format_days_later(departs_at, arrives_at)}"


def leaves_early(departs_at: str | None) -> bool | None:
    """Whether a flight leaves before one can get to it from elsewhere on the same day; None where that is not known."""
    departure = _parse_local(departs_at)
    return departure[1] < EARLY if departure else None


def lands_late(arrives_at: str | None) -> bool | None:
    """Whether a flight lands after the last trains and flights to elsewhere; None where that is not known."""
    arrival = _parse_local(arrives_at)
    return arrival[1] >= LATE if arrival else None


def is_over_night(lands: datetime, leaves: datetime) -> bool:
    """Whether a wait between two moments in one place includes the hours in which people sleep."""
    night = datetime.combine(lands.date() + timedelta(days=lands.time() > NIGHT[0]), NIGHT[0], lands.tzinfo)
    return leaves >= night + NIGHT[1]


def count_flight_minutes(departs_at: str | None, leaves: str, arrives_at: str | None, lands: str) -> int | None:
    """Minutes between two ISO local times in their IANA zones; None where a day, a time or a zone is not known."""
    zones = time_zones.find_zone(leaves), time_zones.find_zone(lands)
    ends = _parse_local(departs_at), _parse_local(arrives_at)
    moments = []
    for end, zone in zip(ends, zones, strict=True):
        if end is None or end[0] is None or zone is None:
            return None
        moments.append(datetime.combine(end[0], time.fromisoformat(end[1]), zone).timestamp())
    minutes = round((moments[1] - moments[0]) / 60)
    return minutes if minutes > 0 else None


def describe_times(departs_on: date, departs: time | None, arrives_on: date | None, arrives: time | None) -> str:
    """`, 22:10 to 06:30 +1, Fri 22 Jan 2027` after the day of departure; unknown parts are left out."""
    leaves = f", {departs:%H:%M}" if departs else ""
    if arrives is None:
        return leaves
    lands = f"{' to' if departs else ', arrives'} {arrives:%H:%M}"
    days = (arrives_on - departs_on).days if arrives_on else 0
    later = f" {days:+d}, {format_weekday(arrives_on)}" if arrives_on and days else ""
    return f"{leaves}{lands}{later}"
