"""Looks at something as bars in a row, the newest last: what each found, or that no one answered."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared.domain.plurals import pluralize

STEP, HEIGHT = 10, 36
# How tall a bar of each kind is. What is still to come, or was never looked at, is a line on the ground.
_TALL = {"find": 36, "done": 16, "part": 26, "fail": 36, "due": 3}


@dataclass(frozen=True)
class LookBar:
    """`kind` is a class of site.css: find, done, part, fail or due."""

    x: int
    y: int
    tall: int
    kind: str


@dataclass(frozen=True)
class LookBars:
    width: int
    bars: tuple[LookBar, ...]
    legend: tuple[tuple[str, str], ...]
    sentence: str


def draw_looks(kinds: Sequence[str], noun: str, words: Mapping[str, str], places: int = 40) -> LookBars | None:
    """The newest last, at most as many as there are places; `words` say what each kind of look means. None of none."""
    newest = list(kinds)[-places:]
    if not newest:
        return None
    places_of_kinds = ["due"] * (places - len(newest)) + newest
    bars = (LookBar(STEP * n, HEIGHT - _TALL[kind], _TALL[kind], kind) for n, kind in enumerate(places_of_kinds))
    numbers = Counter(newest)
    legend = tuple((kind, meaning) for kind, meaning in words.items() if numbers[kind])
    counted = ", ".join(f"{numbers[kind]} {meaning}" for kind, meaning in legend)
    return LookBars(STEP * places, tuple(bars), legend, f"The last {pluralize(len(newest), noun)}: {counted}.")
