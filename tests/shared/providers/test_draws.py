"""The sandbox's dice: the same for everybody, on every machine, for ever, until the version changes."""

import subprocess
import sys
from datetime import date, timedelta

import pytest

from shared.domain.plans import CABINS
from shared.providers.sandbox import draws

LOOKED = date(2026, 11, 21)
PRINT = """
from datetime import date, timedelta
from hashlib import sha256
from shared.providers.sandbox import draws
day = date(2026, 11, 21)
days = (day + timedelta(n) for n in range(356))
marks = ((draws.draw_fraction("fare", d), draws.draw_seats("BA_p_LHR_JFK", d, day)) for d in days)
print(sha256(repr(list(marks)).encode()).hexdigest()[:16])
"""


def places(count: int = 356) -> list[tuple[str, date]]:
    return [(f"BA_p{n}_LHR_JFK", LOOKED + timedelta(ahead)) for n in range(5) for ahead in range(count)]


def spaces(place: str, day: date, looked_on: date = LOOKED) -> dict[str, bool]:
    seats = draws.draw_seats(place, day, looked_on)
    return {cabin: cabin in seats for cabin in CABINS}


def opened(cabin: str) -> float:
    return sum(spaces(place, day)[cabin] for place, day in places()) / len(places())


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
    assert seen == {"73dea96cc0347f32"}


@pytest.mark.parametrize(
    ("cabin", "low", "high"),
    [("economy", 0.40, 0.50), ("premium_economy", 0.24, 0.32), ("business", 0.10, 0.16), ("first", 0.02, 0.06)],
)
def test_the_better_the_cabin_the_rarer_the_seat(cabin: str, low: float, high: float) -> None:
    assert low < opened(cabin) < high


@pytest.mark.parametrize(("days", "low", "high"), [(1, 0.03, 0.08), (2, 0.07, 0.14), (7, 0.2, 0.32)])
def test_seats_come_and_go_as_days_pass(days: int, low: float, high: float) -> None:
    later = LOOKED + timedelta(days)
    known = [(spaces(*cell), spaces(*cell, later)) for cell in places() if cell[1] >= later]
    differ = sum(before[cabin] != after[cabin] for before, after in known for cabin in CABINS)
    assert low < differ / len(known) / len(CABINS) < high


def test_a_day_is_drawn_anew_every_fifth_day_of_looking() -> None:
    of_a_day = [spaces("BA_p_LHR_JFK", date(2027, 3, 1), LOOKED + timedelta(n)) for n in range(60)]
    anew = [n for n in range(1, 60) if of_a_day[n] != of_a_day[n - 1]]
    assert anew
    assert len({n % draws.DAYS_PER_DRAW for n in anew}) == 1


def test_looking_on_other_days_in_between_changes_nothing() -> None:
    once = [draws.draw_seats(*cell, LOOKED) for cell in places(60)]
    assert once != [draws.draw_seats(*cell, LOOKED + timedelta(3)) for cell in places(60)]
    assert once == [draws.draw_seats(*cell, LOOKED) for cell in places(60)]


def test_seats_are_one_to_nine_and_mostly_few() -> None:
    counts = [count for cell in places() for count in draws.draw_seats(*cell, LOOKED).values()]
    assert (min(counts), max(counts)) == (1, 9)
    assert sum(n <= 3 for n in counts) > len(counts) * 0.5


def test_more_than_a_quarter_of_the_weeks_are_peak_and_a_week_is_so_whole() -> None:
    monday = date(2027, 1, 4)
    weeks = [draws.is_peak("p", monday + timedelta(weeks=n)) for n in range(400)]
    assert 0.2 < sum(weeks) / len(weeks) < 0.36
    assert {draws.is_peak("p", monday + timedelta(n)) for n in range(7)} == {weeks[0]}


def test_a_flight_number_is_one_no_airline_can_have() -> None:
    number = draws.invent_flight_number("BA", "LHR", "JFK")
    carrier, mark, digits = number.split("-")
    assert (carrier, mark) == ("BA", "SBX")
    assert 100 <= int(digits) <= 999


# Cells as seen on 2026-11-21; they change with a new version only.
GOLDEN = {
    "economy": "1.4.........7.",
    "premium_economy": ".1.5....1.....",
    "business": ".............3",
    "first": "..............",
}


@pytest.mark.parametrize("cabin", CABINS)
def test_the_cells_of_this_version_stay_as_they_are(cabin: str) -> None:
    days = [date(2027, 3, 1) + timedelta(n) for n in range(14)]
    row = [draws.draw_seats("BA_british-airways-club_LHR_JFK", day, LOOKED).get(cabin, ".") for day in days]
    assert "".join(map(str, row)) == GOLDEN[cabin]
