"""Delay alerts: when a delay at an airport is worth a message.

Levels tell how bad it is: 0 from the alert's own threshold on, one more at each of STEPS, and the highest for a ground
stop or a closure, which have no number of minutes. One message opens an episode, and one more each time the level
rises above the highest told so far. An episode ends when the delay is clearly below the threshold, so that swings
around it cause no series of messages.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

STEPS = (60, 120, 240)
STANDSTILL = len(STEPS) + 1
ALWAYS = ("ground_stop", "closure")


class Delay(Protocol):
    """The parts of a reported delay that an alert compares."""

    @property
    def kind(self) -> str: ...
    @property
    def minutes(self) -> int | None: ...


D = TypeVar("D", bound=Delay)


@dataclass(frozen=True)
class Episode:
    """Start of a delay, and the highest level a message was sent for."""

    since: datetime
    level: int


def reaches(delay: Delay, minimum: int) -> bool:
    """Whether it alone is worth a message. A minimum of 0 means any number above it; no number reaches nothing."""
    return delay.kind in ALWAYS or (delay.minutes is not None and delay.minutes >= max(minimum, 1))


def sort_by_severity(delays: Iterable[D]) -> list[D]:
    return sorted(delays, key=lambda one: (one.kind not in ALWAYS, -(one.minutes or 0)))


def find_level(delays: Sequence[Delay], minimum: int) -> int | None:
    """How bad the delays are; None if nothing reaches the threshold."""
    there = [one for one in delays if reaches(one, minimum)]
    if any(one.kind in ALWAYS for one in there):
        return STANDSTILL
    most = max((one.minutes or 0 for one in there), default=None)
    return None if most is None else sum(most >= step > minimum for step in STEPS)


def lasts(delays: Sequence[Delay], minimum: int) -> bool:
    """Whether an episode continues, which takes two thirds of the threshold."""
    return any(one.minutes is not None and one.minutes >= max(1, minimum * 2 // 3) for one in delays)


def follow_episode(
    before: Episode | None, delays: Sequence[Delay], minimum: int, now: datetime
) -> tuple[Episode | None, bool]:
    """The episode from now on, and whether to send a message."""
    level = find_level(delays, minimum)
    if level is None:
        return (before if before and lasts(delays, minimum) else None), False
    if before is None:
        return Episode(now, level), True
    return Episode(before.since, max(before.level, level)), level > before.level
