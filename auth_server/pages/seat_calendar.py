"""The heat-map of a month: award prices by day and cabin, from a search of the month or from what was seen before."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal

from shared.domain.dates import find_month_bounds
from shared.domain.plans import CABINS

OLD = timedelta(hours=24)
# The dearest of each shade, as a multiple of the best price of the cabin.
_SHADES = ((1.1, "c1"), (1.25, "c2"), (1.6, "c3"))
_Key = tuple[date, str]
State = Literal["none", "unknown", "past"]


@dataclass(frozen=True)
class Price:
    """The lowest of a day and cabin, per person."""

    points: int
    is_old: bool = False


@dataclass(frozen=True)
class Cell:
    """`kind` is a class of site.css; `words` the price in thousand points, or what the cell means without one."""

    cabin: str
    kind: str
    words: str
    points: int | None = None


@dataclass(frozen=True)
class Row:
    day: date
    cells: tuple[Cell, ...]

    @property
    def is_weekend(self) -> bool:
        return self.day.weekday() > 4

    @property
    def short_weekday(self) -> str:
        return f"{self.day:%a}"[:2]


def build_searched(answer: Mapping[str, Any], month: str, today: date) -> list[Row]:
    """From an answer of search_monthly_availability, which leaves out the days that are past."""
    prices: dict[_Key, Price] = {}
    states: dict[_Key, State] = {}
    has_failed = bool(answer["coverage"]["failed"])
    for row in answer["days"]:
        day = date.fromisoformat(row["date"])
        is_unknown = row["state"] == "unknown" or has_failed  # a source without an answer may have the other cabins
        for cabin in answer["asked"]["cabins"]:
            states[day, cabin] = "unknown" if is_unknown else "none"
            if cabin in row["cabins"]:
                prices[day, cabin] = Price(row["cabins"][cabin]["points"])
    return _build_rows(month, today, prices, states)


def build_seen(flights: Iterable[Mapping[str, Any]], month: str, passengers: int, now: datetime) -> list[Row]:
    """From rows of list_flights: a day without one was perhaps never looked at."""
    prices: dict[_Key, Price] = {}
    for flight in flights:
        if flight["seats"] is not None and flight["seats"] < passengers:
            continue
        place = (date.fromisoformat(flight["date"]), flight["cabin"])
        price = Price(flight["points"], now - datetime.fromisoformat(flight["seen_at"]) > OLD)
        if place not in prices or price.points < prices[place].points:
            prices[place] = price
    return _build_rows(month, now.date(), prices, {})


def _build_rows(month: str, today: date, prices: Mapping[_Key, Price], states: Mapping[_Key, State]) -> list[Row]:
    first, last = find_month_bounds(month)
    best = {cabin: min((p.points for (_, c), p in prices.items() if c == cabin), default=0) for cabin in CABINS}
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]

    def build_cell(day: date, cabin: str) -> Cell:
        price = prices.get((day, cabin))
        if price is not None:
            kind = "old" if price.is_old else _choose_shade(price.points, best[cabin])
            return Cell(cabin, kind, format_thousands(price.points), price.points)
        state = "past" if day < today else states.get((day, cabin), "unknown")
        return Cell(cabin, "c0" if state == "none" else "cu", state)

    return [Row(day, tuple(build_cell(day, cabin) for cabin in CABINS)) for day in days]


def _choose_shade(points: int, best: int) -> str:
    return next((shade for most, shade in _SHADES if points <= best * most), "c4")


def format_thousands(points: int) -> str:
    """`60`, `32.5`, `147`: in thousands, to the nearest hundred below 100,000, for a cell is four characters wide."""
    return f"{round(points / 1000, 1 if points < 99_950 else 0):g}"
