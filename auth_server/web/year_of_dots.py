"""What ends in twelve months as dots on a year: larger dots for higher worth."""

from calendar import month_abbr
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from shared.domain.dates import add_months, format_day

WIDTH, HEIGHT = 1000, 150
LEFT, BASE = 10, HEIGHT - 58
SMALLEST, LARGEST = 5, 24
HOT_DAYS, WARM_DAYS = 30, 90
_CHARACTER = 6.8  # of a label, in units of the picture
_ROWS = 3


@dataclass(frozen=True)
class Ending:
    """What ends on a day; `worth` in the person's currency, and `words` at the dot, or nothing for small ones."""

    day: date
    worth: float
    words: str = ""


@dataclass(frozen=True)
class Dot:
    x: int
    radius: int
    kind: str  # hot, warm or cool


@dataclass(frozen=True)
class Label:
    """A label on a thin stem: `x` is its middle, `stem` the middle of the dot."""

    x: int
    y: int
    stem: int
    words: str


@dataclass(frozen=True)
class Year:
    months: tuple[tuple[int, str], ...]
    dots: tuple[Dot, ...]
    labels: tuple[Label, ...]
    sentence: str


def draw_year(endings: Sequence[Ending], today: date) -> Year | None:
    """Draws the year from this month; None if nothing of worth ends in it."""
    first = today.replace(day=1)
    rows = sorted((e for e in endings if first <= e.day < add_months(first, 12) and e.worth > 0), key=lambda e: e.day)
    if not rows:
        return None
    dots = tuple(_draw_dot(ending, first, today) for ending in rows)
    months = tuple((LEFT + round(n * _month_width()), month_abbr[add_months(first, n).month]) for n in range(12))
    named = ", ".join(f"{ending.words} on {format_day(ending.day)}" for ending in rows if ending.words)
    sentence = f"Ends within twelve months: {named}." if named else f"{len(rows)} things end within twelve months."
    return Year(months, dots, _place_labels(rows, dots), sentence)


def _month_width() -> float:
    return (WIDTH - 2 * LEFT) / 12


def _draw_dot(ending: Ending, first: date, today: date) -> Dot:
    months = (ending.day.year - first.year) * 12 + ending.day.month - first.month + (ending.day.day - 1) / 31
    days = (ending.day - today).days
    kind = "hot" if days <= HOT_DAYS else "warm" if days <= WARM_DAYS else "cool"
    radius = max(SMALLEST, min(LARGEST, round(ending.worth**0.5 / 2.1)))  # the area grows with the worth
    return Dot(LEFT + round(months * _month_width()), radius, kind)


def _place_labels(endings: Sequence[Ending], dots: Sequence[Dot]) -> tuple[Label, ...]:
    """Moves labels that would touch a neighbour up a row; one that fits in no row is only in the sentence."""
    ends, labels = [0.0] * _ROWS, []
    for ending, dot in zip(endings, dots, strict=True):
        half = len(ending.words) * _CHARACTER / 2
        middle = min(max(dot.x, half + 2), WIDTH - half - 2)
        row = next((n for n, end in enumerate(ends) if middle - half > end + 8), None)
        if ending.words and row is not None:
            ends[row] = middle + half
            labels.append(Label(round(middle), BASE - 32 - 19 * row, dot.x, ending.words))
    return tuple(labels)
