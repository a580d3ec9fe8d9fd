"""Which delays are worth a message: thresholds, levels, episodes."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.delay_alerts import STANDSTILL, Episode, find_level, follow_episode, sort_by_severity

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Seen:
    kind: str = "departure"
    minutes: int | None = None


def messages(minimum: int, *seen: int | str | None) -> list[bool]:
    """Whether each check of a series sends one: minutes, `stop`, or None for no delay."""
    episode: Episode | None = None
    message = []
    for n, one in enumerate(seen):
        delays = [] if one is None else [Seen("ground_stop") if one == "stop" else Seen(minutes=int(one))]
        episode, fires = follow_episode(episode, delays, minimum, NOW + timedelta(minutes=5 * n))
        message.append(fires)
    return message


@pytest.mark.spec("s4.4.create_delay_alert.threshold")
@pytest.mark.parametrize(
    ("minimum", "minutes", "fires"), [(30, 29, False), (30, 30, True), (0, 1, True), (0, 0, False), (600, 600, True)]
)
def test_a_delay_counts_from_the_threshold_on_that_value_included(minimum: int, minutes: int, fires: bool) -> None:
    assert messages(minimum, minutes) == [fires]


def test_one_episode_is_one_message() -> None:
    assert messages(30, 45, 45, 50, 40) == [True, False, False, False]


def test_a_message_comes_again_when_it_gets_much_worse() -> None:
    assert messages(30, 45, 60, 90, 120, 130, 240, 300, "stop", "stop") == [
        *(True, True, False, True, False),
        *(True, False, True, False),
    ]


def test_a_message_comes_again_after_it_was_over() -> None:
    assert messages(30, 45, None, 45, 10, 45) == [True, False, True, False, True]


def test_what_was_told_at_its_worst_is_not_told_on_its_way_down_and_up_again() -> None:
    assert messages(30, 130, 45, 130, 250) == [True, False, False, True]


def test_a_number_that_swings_around_the_threshold_is_one_message() -> None:
    assert messages(30, 31, 28, 31, 25, 33) == [True, False, False, False, False]
    assert messages(30, 31, 19, 31) == [True, False, True]


def test_a_ground_stop_and_a_closure_count_whatever_the_threshold() -> None:
    assert messages(600, "stop", "stop", None, "stop") == [True, False, False, True]
    assert find_level([Seen("closure")], 600) == STANDSTILL


def test_a_delay_without_a_number_reaches_no_threshold() -> None:
    assert follow_episode(None, [Seen("departure"), Seen("ground_delay")], 0, NOW) == (None, False)


def test_an_episode_keeps_the_moment_it_began() -> None:
    first, _ = follow_episode(None, [Seen(minutes=45)], 30, NOW)
    later, _ = follow_episode(first, [Seen(minutes=90)], 30, NOW + timedelta(hours=1))
    assert first is not None
    assert later == replace(first, level=1)
    assert first.since == NOW


def test_the_worst_delay_is_named_first() -> None:
    stop, long, short = Seen("ground_stop"), Seen(minutes=90), Seen(minutes=20)
    assert sort_by_severity([short, long, stop]) == [stop, long, short]
