"""When flights of the sandbox leave and land: banks by direction, and airports closed at night.

A flight leaves at the same time every day. If summer time would move it into a closed hour, it leaves at another
time of its bank.
"""

from collections.abc import Hashable, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shared.providers.sandbox import draws
from shared.reference.load import reference

DAY = 1_440
STEP = 5
SHORT_MILES = 1_500
DEAD_HOURS = (0, 300)  # few flights land then: only if nothing else is left


class Flown(Hashable, Protocol):
    """The parts of a path that decide its times."""

    @property
    def airline(self) -> str: ...
    @property
    def origin(self) -> str: ...
    @property
    def destination(self) -> str: ...
    @property
    def miles(self) -> int: ...
    @property
    def stops(self) -> int: ...


def _minutes(clock: str) -> int:
    return int(clock[:2]) * 60 + int(clock[3:])


def _spans(text: str) -> tuple[tuple[int, int], ...]:
    """`17:00-22:30 23:00-23:55` as minutes after midnight."""
    return tuple((_minutes(part[:5]), _minutes(part[6:])) for part in text.split())


# Local hours in which nothing lands or leaves; one that ends before it starts spans midnight.
CURFEWS = {
    airport: _spans(hours)[0]
    for hours, airports in {
        "00:00-06:00": "NRT GVA LIS WLG",
        "23:00-06:00": "SYD ADL OOL HAM STR DUS",
        "23:30-04:45": "LHR",
        "23:30-06:00": "ORY ZRH",
        "23:30-05:30": "WAW VIE LGW",
        "23:00-05:00": "FRA BRU",
        "00:00-05:00": "MUC BUD",
        "21:00-07:00": "ITM",
        "22:00-06:30": "LCY SNA",
        "00:30-06:30": "YYZ YUL",
    }.items()
    for airport in airports.split()
}
# Departures of long flights by the continents of both ends; elsewhere by day and evening.
_BANKS = {
    key: _spans(hours)
    for hours, keys in {
        "17:00-22:55": "NA-EU NA-AF SA-EU SA-NA",
        "09:00-16:55": "EU-NA AF-EU",
        "10:30-14:25 23:00-23:55": "NA-AS",
        "10:00-17:55 21:00-23:25": "AS-NA AS-OC OC-AS",
        "11:00-14:25 18:30-22:25": "EU-AS EU-OC",
        "09:00-13:55 22:00-23:55": "AS-EU OC-EU",
        "19:30-23:25": "NA-SA NA-OC",
        "10:30-13:25 20:30-23:25": "EU-SA EU-AF",
        "09:00-14:55 19:00-22:55": "OC-NA",
    }.items()
    for key in keys.split()
}
_ELSEWHERE, _SHORT, _WHOLE_DAY = _spans("08:00-22:25"), _spans("06:30-20:55"), _spans("00:00-23:55")
# Hubs whose flights wait for each other in the middle of the night; none of them has summer time.
_NIGHT_HUBS = dict.fromkeys(("DXB", "DOH", "AUH"), _spans("02:00-03:55 07:30-10:25 14:00-16:25 21:00-22:55"))


def is_shut(airport: str, minute: int) -> bool:
    """Whether an airport has a curfew at this minute after midnight."""
    return airport in CURFEWS and _is_within(minute, CURFEWS[airport])


def _is_within(minute: int, hours: tuple[int, int]) -> bool:
    start, end = hours
    return start <= minute < end if start < end else minute >= start or minute < end


@lru_cache(maxsize=32_768)  # without: twice the time for a check of a route
def compute_times(path: Flown, day: date) -> tuple[str, str | None, int]:
    """Local times of the airports, and minutes under way. A flight leaves at the same time in every cabin."""
    # From gate to gate, including an hour and a half for each change.
    minutes = STEP * round((path.miles / 500 * 60 + 35 + 95 * path.stops) / STEP)
    midnight = datetime(day.year, day.month, day.day)  # noqa: DTZ001 - local
    zones = _find_zones(path.origin, path.destination)
    shift = _find_shift(zones, midnight + timedelta(hours=12), minutes) if zones else 0
    departure = midnight + timedelta(minutes=_pick_departure(path, minutes, shift))
    if zones is None:
        return f"{departure:%Y-%m-%dT%H:%M}", None, minutes
    if (changed := _find_shift(zones, departure, minutes)) != shift:  # a clock changes during the flight
        departure = midnight + timedelta(minutes=_pick_departure(path, minutes, shift, changed))
        changed = _find_shift(zones, departure, minutes)
    arrival = departure + timedelta(minutes=minutes + changed)
    return f"{departure:%Y-%m-%dT%H:%M}", f"{arrival:%Y-%m-%dT%H:%M}", minutes


@lru_cache(maxsize=4_096)
def _find_zones(origin: str, destination: str) -> tuple[ZoneInfo, ZoneInfo] | None:
    airports = reference().airports
    try:
        return ZoneInfo(airports[origin].tz), ZoneInfo(airports[destination].tz)
    except (ZoneInfoNotFoundError, ValueError):
        return None


def _find_shift(zones: tuple[ZoneInfo, ZoneInfo], departure: datetime, minutes: int) -> int:
    """How many minutes the clock of the landing is ahead of that of the departure."""
    start = departure.replace(tzinfo=zones[0])
    end = (start.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(zones[1])
    return int(((end.utcoffset() or timedelta()) - (start.utcoffset() or timedelta())).total_seconds() // 60)


@lru_cache(maxsize=32_768)
def _pick_departure(path: Flown, minutes: int, *shifts: int) -> int:
    """A minute of the bank at which both airports are open at each time shift, stable while the shifts are."""
    for bank in (_find_bank(path), _WHOLE_DAY):
        open_minutes = [
            minute
            for minute in _list_open(path, bank)
            if not any(is_shut(path.destination, (minute + minutes + shift) % DAY) for shift in shifts)
        ]
        decent = [m for m in open_minutes if not _is_within((m + minutes + shifts[0]) % DAY, DEAD_HOURS)]
        if choice := decent or open_minutes:
            place = draws.draw_fraction("departure", path.airline, path.origin, path.destination)
            return choice[int(place * len(choice))]
    return _minutes("12:00")


def _list_open(path: Flown, bank: Sequence[tuple[int, int]]) -> list[int]:
    minutes = (minute for start, end in bank for minute in range(start, end + 1, STEP))
    return [minute for minute in minutes if not is_shut(path.origin, minute)]


def _find_bank(path: Flown) -> Sequence[tuple[int, int]]:
    airports = reference().airports
    if path.origin in _NIGHT_HUBS:
        return _NIGHT_HUBS[path.origin]
    if path.miles < SHORT_MILES:
        return _SHORT
    return _BANKS.get(f"{airports[path.origin].continent}-{airports[path.destination].continent}", _ELSEWHERE)
