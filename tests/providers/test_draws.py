"""The sandbox's dice: the same for everybody, on every machine, for ever, until the version changes."""

import subprocess
import sys
from datetime import date, timedelta

import pytest

from shared.domain.plans import CABINS
from shared.providers.sandbox import draw

LOOKED = date(2026, 11, 21)
PRINT = """
from datetime import date, timedelta
from hashlib import sha256
from shared.providers.sandbox import draw
day = date(2026, 11, 21)
cells = (f"p|BA|LHR|JFK|{day + timedelta(n)}|business" for n in range(356))
marks = ((draw.u("space", c), draw.seats(c), draw.spaces(c[:-9], ["business"], day, day)[0]) for c in cells)
print(sha256(repr(list(marks)).encode()).hexdigest()[:16])
"""


def cells(count: int = 356) -> list[tuple[str, str, date]]:
    days = [LOOKED + timedelta(n) for n in range(count)]
    return [(f"p{n}|BA|LHR|JFK|{day}|{cabin}", cabin, day) for n in range(5) for day in days for cabin in CABINS]


def space(cell: str, cabin: str, day: date, looked_on: date) -> bool:
    return draw.spaces(cell.removesuffix(f"|{cabin}"), [cabin], day, looked_on)[0]


def opened(cabin: str, looked: date = LOOKED) -> float:
    mine = [c for c in cells() if c[1] == cabin]
    return sum(space(cell, cabin, day, looked) for cell, _, day in mine) / len(mine)


@pytest.mark.slow  # starts three interpreters
def test_the_draws_do_not_depend_on_the_hash_seed() -> None:
    seen = {
        subprocess.run(
            [sys.executable, "-c", PRINT],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("0", "1", "4711")
    }
    assert seen == {"231f865ba47c1c26"}


@pytest.mark.parametrize(
    ("cabin", "low", "high"),
    [("economy", 0.40, 0.50), ("premium_economy", 0.24, 0.32), ("business", 0.10, 0.16), ("first", 0.02, 0.06)],
)
def test_the_better_the_cabin_the_rarer_the_seat(cabin: str, low: float, high: float) -> None:
    assert low < opened(cabin) < high


@pytest.mark.parametrize(("days", "low", "high"), [(1, 0.03, 0.08), (2, 0.07, 0.14), (7, 0.2, 0.32)])
def test_seats_come_and_go_as_days_pass(days: int, low: float, high: float) -> None:
    later = LOOKED + timedelta(days)
    known = [c for c in cells() if c[2] >= later]
    differ = sum(space(n, c, d, LOOKED) != space(n, c, d, later) for n, c, d in known)
    assert low < differ / len(known) < high


def test_within_a_day_nothing_changes() -> None:
    once = [space(n, c, d, LOOKED) for n, c, d in cells(60)]
    assert once == [space(n, c, d, LOOKED) for n, c, d in cells(60)]


def test_seats_are_one_to_nine_and_mostly_few() -> None:
    counts = [draw.seats(name) for name, _, _ in cells()]
    assert (min(counts), max(counts)) == (1, 9)
    assert sum(n <= 3 for n in counts) > len(counts) * 0.5


def test_more_than_a_quarter_of_the_weeks_are_peak_and_a_week_is_so_whole() -> None:
    monday = date(2027, 1, 4)
    weeks = [draw.peak("p", monday + timedelta(weeks=n)) for n in range(400)]
    assert 0.2 < sum(weeks) / len(weeks) < 0.36
    assert {draw.peak("p", monday + timedelta(n)) for n in range(7)} == {weeks[0]}


def test_a_flight_number_is_one_no_airline_can_have() -> None:
    number = draw.flight_number("BA", "LHR", "JFK")
    carrier, mark, digits = number.split("-")
    assert (carrier, mark) == ("BA", "SBX")
    assert 100 <= int(digits) <= 999


# Cells of sandbox/1 for 2026-11-21; they change with a new version only.
GOLDEN = {
    "economy": ".3.7.21.11..11",
    "premium_economy": "..32....14..8.",
    "business": "3...7.........",
    "first": "..............",
}


@pytest.mark.parametrize("cabin", CABINS)
def test_the_cells_of_this_version_stay_as_they_are(cabin: str) -> None:
    days = [date(2027, 3, 1) + timedelta(n) for n in range(14)]
    row = [f"british-airways-club|BA|LHR|JFK|{day}|{cabin}" for day in days]
    shown = "".join(str(draw.seats(c)) if space(c, cabin, d, LOOKED) else "." for c, d in zip(row, days, strict=True))
    assert shown == GOLDEN[cabin]
