"""Pseudo-random draws of the sandbox: the same for everyone who names the same cell.

Pure functions of their arguments and of VERSION: no global generator, no hash seed. Changing anything below means a new
VERSION, because monitors, screenshots and tests rely on the draws.
"""

from datetime import date
from functools import lru_cache
from hashlib import blake2b

from shared.domain.plans import CABINS

VERSION = b"sandbox/2"
BASE = {"economy": 0.55, "premium_economy": 0.34, "business": 0.16, "first": 0.05}
DAYS_PER_DRAW = 5  # then it changes, so that monitors have something to notice
_WEEKDAY = (0.95, 1.15, 1.15, 1.05, 0.85, 1.0, 0.85)  # from Monday
PEAK_WEEKS = 0.28
_TWO_64 = 2**64
_SEAT_COUNTS = [1 + int(9 * (n / 256) ** 2.5) for n in range(256)]  # one to nine, mostly few


def _digest(text: str, size: int) -> bytes:
    return blake2b(text.encode(), digest_size=size, key=VERSION).digest()


def draw_fraction(*parts: object) -> float:
    """A number from 0 up to 1 for these words."""
    return int.from_bytes(_digest("|".join(map(str, parts)), 8), "big") / _TWO_64


@lru_cache(maxsize=1024)  # without: a third more time for a check of a route
def _open_thresholds(day: date, looked_on: date) -> tuple[int, ...]:
    """How often each cabin is open, in parts of 2**64: seats are released early, become rare, and return late."""
    ahead = (day - looked_on).days
    shape = 1.35 if ahead <= 7 else 1.05 if ahead <= 21 else 0.65 if ahead <= 200 else 0.8 if ahead <= 300 else 1.25
    return tuple(int(_TWO_64 * min(0.97, BASE[cabin] * shape * _WEEKDAY[day.weekday()])) for cabin in CABINS)


def draw_seats(place: str, day: date, looked_on: date) -> dict[str, int]:
    """How many seats each open cabin of a place and day has.

    One digest serves all cabins: eight bytes of each decide whether it is open, one byte how many seats it has. A fifth
    of all days are drawn again each day.
    """
    departure_day = day.toordinal()
    period = (looked_on.toordinal() + departure_day) // DAYS_PER_DRAW
    digest = _digest(f"{place}|{departure_day}|{period}", 9 * len(CABINS))
    return {
        cabin: _SEAT_COUNTS[digest[8 * len(CABINS) + i]]
        for i, (cabin, threshold) in enumerate(zip(CABINS, _open_thresholds(day, looked_on), strict=True))
        if int.from_bytes(digest[8 * i : 8 * i + 8], "big") < threshold
    }


@lru_cache(maxsize=4096)
def is_peak(program: str, day: date) -> bool:
    """Whether the day counts as peak for a programme without a known calendar: some whole weeks of a year."""
    year, week, _ = day.isocalendar()
    return draw_fraction("peak", program, year, week) < PEAK_WEEKS


def invent_flight_number(airline: str, origin: str, destination: str, leg: int = 0) -> str:
    """Invents one in a form that no airline uses."""
    return f"{airline}-SBX-{100 + int(900 * draw_fraction('flight', airline, origin, destination, leg))}"
