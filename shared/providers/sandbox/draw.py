"""The sandbox's dice: the name of a cell and a day of looking go in, the same draw for everybody comes out.

A pure function of its arguments and of VERSION; no global generator, no hash seed. Changing anything below means a new
VERSION, because monitors, screenshots and tests rely on the draws.
"""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b

VERSION = b"sandbox/1"
BASE = {"economy": 0.55, "premium_economy": 0.34, "business": 0.16, "first": 0.05}
HOLDS = 5  # days a draw stays before it is made again, so that monitors have something to notice
_TAXES = {  # dollars, and dollars a mile
    "economy": (5.6, 0.012),
    "premium_economy": (15.0, 0.03),
    "business": (30.0, 0.055),
    "first": (40.0, 0.075),
}
_WEEKDAY = (0.95, 1.15, 1.15, 1.05, 0.85, 1.0, 0.85)  # from Monday
PEAK_WEEKS = 0.28
_KEYED = blake2b(digest_size=8, key=VERSION)  # copied for each draw: a window is thousands of them
_PHASE, _SPACE = _KEYED.copy(), _KEYED.copy()
_PHASE.update(b"phase|")  # what all those draws begin with is hashed once
_SPACE.update(b"space|")
_number, _WHOLE = int.from_bytes, 2**64


def u(*parts: object) -> float:
    """A number from 0 up to 1 for these words."""
    return _u(_KEYED, "|".join(map(str, parts)).encode())


def _u(begun: blake2b, words: bytes) -> float:
    made = begun.copy()
    made.update(words)
    return _number(made.digest(), "big") / _WHOLE


@lru_cache(maxsize=1024)
def chances(day: date, looked_on: date) -> dict[str, float]:
    """Of each cabin. Space is released far out, dries up, and comes back shortly before departure."""
    ahead = (day - looked_on).days
    shape = 1.35 if ahead <= 7 else 1.05 if ahead <= 21 else 0.65 if ahead <= 200 else 0.8 if ahead <= 300 else 1.25
    return {cabin: min(0.97, base * shape * _WEEKDAY[day.weekday()]) for cabin, base in BASE.items()}


def spaces(place: str, cabins: Iterable[str], day: date, looked_on: date) -> list[bool]:
    """Whether each cabin of a place and day is open. Each cell is drawn anew every five days, on a day of its own.

    A window is thousands of cells, so the draws of `u` stand here in a row.
    """
    found, today, likely = [], looked_on.toordinal(), chances(day, looked_on)
    for cabin in cabins:
        name = f"{place}|{cabin}".encode()
        phase = _PHASE.copy()
        phase.update(name)
        turn = (today + int(_number(phase.digest(), "big") / _WHOLE * HOLDS)) // HOLDS
        space = _SPACE.copy()
        space.update(b"%b|%d" % (name, turn))
        found.append(_number(space.digest(), "big") / _WHOLE < likely[cabin])
    return found


def seats(cell: str) -> int:
    """One to nine, mostly few."""
    return 1 + int(9 * _u(_KEYED, f"seats|{cell}".encode()) ** 2.5)


@lru_cache(maxsize=4096)
def peak(program: str, day: date) -> bool:
    """Whether a programme calls this day peak where its calendar is not known: some weeks of a year, whole."""
    year, week, _ = day.isocalendar()
    return u("peak", program, year, week) < PEAK_WEEKS


@lru_cache(maxsize=4096)
def taxes(cabin: str, miles: float) -> Decimal:
    flat, per_mile = _TAXES[cabin]
    return Decimal(round(flat + per_mile * miles)).quantize(Decimal("0.01"))


def flight_number(airline: str, origin: str, destination: str, leg: int = 0) -> str:
    """In a form no airline uses."""
    return f"{airline}-SBX-{100 + int(900 * u('flight', airline, origin, destination, leg))}"


def departure(cell: str) -> int:
    """Minutes after midnight, from 06:00 to 21:55 in steps of five."""
    return 360 + 5 * int(192 * u("departure", cell))
