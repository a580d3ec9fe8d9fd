"""The sandbox's dice: the name of a cell and a day of looking go in, the same draw for everybody comes out.

A pure function of its arguments and of VERSION; no global generator, no hash seed. Changing anything below means a new
VERSION, because monitors, screenshots and tests rely on the draws.
"""

from datetime import date
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from struct import Struct

from shared.domain.plans import CABINS

VERSION = b"sandbox/2"
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
_WHOLE = 2**64
_COUNTS = [1 + int(9 * (n / 256) ** 2.5) for n in range(256)]  # seats: one to nine, mostly few
_CELLS = Struct(f">{len(CABINS)}Q{len(CABINS)}B")
_KEYED, _CELL = blake2b(digest_size=8, key=VERSION), blake2b(digest_size=_CELLS.size, key=VERSION)  # begun, and copied


def u(*parts: object) -> float:
    """A number from 0 up to 1 for these words."""
    made = _KEYED.copy()
    made.update("|".join(map(str, parts)).encode())
    return int.from_bytes(made.digest(), "big") / _WHOLE


@lru_cache(maxsize=1024)
def _likely(day: date, looked_on: date) -> tuple[int, ...]:
    """Of each cabin, in parts of 2**64. Space is released far out, dries up, and comes back before departure."""
    ahead = (day - looked_on).days
    shape = 1.35 if ahead <= 7 else 1.05 if ahead <= 21 else 0.65 if ahead <= 200 else 0.8 if ahead <= 300 else 1.25
    return tuple(int(_WHOLE * min(0.97, BASE[cabin] * shape * _WEEKDAY[day.weekday()])) for cabin in CABINS)


def seats(place: str, day: date, looked_on: date) -> dict[str, int]:
    """How many seats each open cabin of a place and day has.

    One draw for all of them, since a window is thousands; a fifth of all days are drawn anew each day.
    """
    flies = day.toordinal()
    made = _CELL.copy()
    made.update(f"{place}|{flies}|{(looked_on.toordinal() + flies) // HOLDS}".encode())
    drawn = _CELLS.unpack(made.digest())
    cells = zip(CABINS, drawn, _likely(day, looked_on), drawn[len(CABINS) :], strict=False)
    return {cabin: _COUNTS[count] for cabin, number, likely, count in cells if number < likely}


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
