"""Nights of a trip at a glance: with a bed, in the air, or still open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import Any

from shared.domain.plurals import pluralize

WIDTH, GAP = 1000, 4
MAX_NIGHTS = 60  # a longer trip is described only by its days
_CHARACTER = 9  # of a label, in units of the picture
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Run:
    """Nights in a row in one bed, in the air, or open: `kind` is bed, air or open. Without words if none fit."""

    x: int
    width: int
    kind: str
    words: str


@dataclass(frozen=True)
class Nights:
    runs: tuple[Run, ...]
    open: int
    total: int
    sentence: str


def draw_nights(first: date | None, last: date | None, flights: Sequence[Row], stays: Sequence[Row]) -> Nights | None:
    """Draws the nights; None without both days, or for a day trip."""
    if first is None or last is None or not 0 < (last - first).days <= MAX_NIGHTS:
        return None
    days = [first + timedelta(days=n) for n in range((last - first).days)]
    nights = [_find_bed(day, flights, stays) for day in days]
    step, place, runs, words_of_runs = WIDTH / len(nights), 0, [], []
    for (kind, name), run in groupby(nights):
        count = len(list(run))
        words = {"air": "in the air", "open": "open"}.get(kind) or name
        counted = f"{words}, {pluralize(count, 'night')}" if kind != "air" else words
        width = round(step * count) - GAP
        fitting = next((text for text in (counted, words) if len(text) * _CHARACTER < width), "")
        runs.append(Run(round(step * place), width, kind, fitting))
        words_of_runs.append(counted)
        place += count
    return Nights(tuple(runs), nights.count(("open", "")), len(nights), f"Nights: {'; '.join(words_of_runs)}.")


def _find_bed(day: date, flights: Sequence[Row], stays: Sequence[Row]) -> tuple[str, str]:
    """What is booked for the night after this day: its kind and the place or name of the bed."""
    text = day.isoformat()
    for stay in stays:
        if stay["state"] != "cancelled" and stay["check_in_date"] <= text < stay["check_out_date"]:
            return "bed", stay["hotel"]["city"] or stay["hotel"]["name"]
    for flight in flights:
        lands = flight["arrival_date"] or ""
        if flight["state"] != "cancelled" and flight["departure_date"] <= text < lands:
            return "air", ""
    return "open", ""
