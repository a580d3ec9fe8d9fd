"""The month's oracle notices a lost mail, one that came twice, a check that was missed and a process that grows."""

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.chaos.month.fast_clock import FastClock
from tests.chaos.month.memory import LEAST_SAMPLES, compare_thirds
from tests.chaos.month.oracle import (
    DAY,
    DELAY_SPAN,
    TOO_LATE,
    Look,
    Message,
    Outage,
    Slot,
    Step,
    find_missed,
    follow,
    judge_mails,
    step_deadline,
    step_delay,
    step_price,
    step_seats,
)

START, HOUR = datetime(2027, 1, 4, tzinfo=UTC), timedelta(hours=1)
SENT = Message("sent", "route_monitor_match", "n1", None, False)


def _judge(received: Sequence[str], notices: dict[str, str] | None = None, **message: Any) -> tuple[int, int, int]:
    """How many of one message are lost, came twice, or came without an event."""
    known = {"n1": "route_monitor"} if notices is None else notices
    fates = judge_mails({"m1": SENT._replace(**message)}, received, known)
    return len(fates.lost), len(fates.twice), len(fates.unknown)


def test_every_event_has_one_mail_and_every_mail_one_event() -> None:
    late, shown = {"status": "failed", "error": TOO_LATE}, {"status": "uncertain", "is_shown": True}
    assert _judge(["m1"]) == (0, 0, 0)
    assert _judge([]) == (1, 0, 0)
    assert _judge(["m1", "m1"]) == (0, 1, 0)
    assert _judge(["m1", "m2"]) == (0, 0, 1)
    assert _judge(["m1"], {"n1": "route_monitor", "n2": "flight_alert"}) == (1, 0, 0)
    assert _judge([], status="failed", error="refused") == (1, 0, 0)
    assert _judge([], **late) == (0, 0, 0)
    assert _judge(["m1"], **late) == (0, 0, 1)
    assert _judge(["m1"], **shown) == _judge([], **shown) == (0, 0, 0)
    assert _judge(["m1"], status="uncertain") == (1, 0, 0)
    two = judge_mails({"m1": SENT, "m2": SENT}, ["m1", "m2"], {"n1": "route_monitor"})
    assert two.twice == ["n1 has 2 messages"]
    waiting = judge_mails({"m1": SENT._replace(status="pending")}, [], {"n1": "route_monitor"})
    assert waiting.open == ["route_monitor_match m1 is pending"]


def _draw_sights(step: Step, dice: random.Random) -> list[Any]:
    if step is step_seats:
        return [frozenset(dice.sample("abcdef", dice.randrange(5))) for _ in range(60)]
    return [dice.choice((None, *range(1, 300))) if step is step_price else dice.randrange(300) for _ in range(60)]


@pytest.mark.parametrize(("step", "span"), [(step_seats, DAY), (step_price, DAY), (step_delay, DELAY_SPAN)])
def test_what_is_told_against_the_world_is_a_fault_and_nothing_else_is(step: Step, span: timedelta) -> None:
    """Checks of a world that changes, told as they should be, and then with one of them told otherwise."""
    for seed in range(20):
        dice = random.Random(seed)
        sights = _draw_sights(step, dice)
        state, looks = None, list[Look]()
        for number, sight in enumerate(sights):
            state, tells = step(state, sight)
            began = START + number * span + span / 2
            looks.append(Look(f"check {number}", began, began + timedelta(minutes=5), tells))

        def see(moment: datetime, sights: list[Any] = sights) -> Any:
            return sights[int((moment - START) / span)]

        assert follow(looks, see, step, span) == []
        number = dice.randrange(len(looks))
        wrong = Look(looks[number].name, looks[number].began, looks[number].ended, not looks[number].told)
        faults = follow([*looks[:number], wrong, *looks[number + 1 :]], see, step, span)
        assert [fault.split(",")[0].startswith(wrong.name) for fault in faults][:1] == [True], (seed, faults)


def test_a_check_between_two_days_may_have_seen_either() -> None:
    sights = [frozenset("a"), frozenset("ab")]
    night = START + DAY - timedelta(minutes=1)
    for told in (True, False):
        looks = [
            Look("first", START + HOUR, START + HOUR, True),
            Look("at midnight", night, night + 2 * timedelta(minutes=1), told),
            Look("next", START + DAY + 2 * HOUR, START + DAY + 2 * HOUR, not told),
        ]
        assert follow(looks, lambda moment: sights[(moment - START).days], step_seats, DAY) == []


def test_a_missed_check_is_a_fault_unless_something_was_away() -> None:
    every, end = 6 * HOUR, START + 24 * HOUR
    slots = [Slot(START + n * every, START + n * every + HOUR) for n in range(4)]
    outage = [Outage("crash", START + 11 * HOUR, START + 13 * HOUR)]
    assert list(find_missed("watch", slots, every, [], end)) == []
    missing = [slots[0], slots[1], slots[3]]
    assert len(list(find_missed("watch", missing, every, [], end))) == 1
    assert list(find_missed("watch", missing, every, outage, end)) == []
    assert len(list(find_missed("watch", [*slots[:3], Slot(slots[3].due, None)], every, outage, end))) == 1
    late = [*slots[:3], Slot(slots[3].due, slots[3].due + 7 * HOUR)]
    assert len(list(find_missed("watch", late, every, [], end))) == 1
    assert len(list(find_missed("watch", [slots[0], *slots], every, [], end))) == 1
    assert len(list(find_missed("watch", slots, every, [], end + 12 * HOUR))) == 1


@pytest.mark.parametrize(("told", "faults"), [((0, 7, 30), 0), ((1, 7, 30), 0), ((0, 30), 1), ((0, 1, 7, 30), 1)])
def test_a_deadline_is_told_at_each_step_once(told: Sequence[int], faults: int) -> None:
    """It is known in the course of the first day, 37 days ahead of it."""
    days = [START + n * DAY + DAY / 2 for n in range(32)]
    looks = [Look(f"day {n}", day, day, n in told, n > 0) for n, day in enumerate(days)]
    found = follow(looks, lambda moment: 37 - (moment - START).days, step_deadline, DAY)
    assert len(found) == faults, found


def test_a_process_that_grows_is_found_and_one_that_warms_up_is_not() -> None:
    number = 10 * LEAST_SAMPLES
    warming = [min(90_000, 40_000 + 5_000 * n) + n % 3 for n in range(number)]
    assert compare_thirds(("worker", 1), warming).is_flat
    assert not compare_thirds(("worker", 1), [90_000 + 300 * n for n in range(number)]).is_flat


def test_programs_and_database_take_the_same_clock() -> None:
    clock = FastClock.begin(datetime(2030, 5, 6, 7, tzinfo=UTC), 700)
    before = clock.now()
    asked = "from shared import clock; print(clock.now().isoformat())"
    told = subprocess.run(
        [sys.executable, "-c", asked], env=os.environ | clock.environment, capture_output=True, text=True, check=True
    )
    with psycopg.connect(os.environ["DATABASE_URL"]) as database:
        row = database.execute(f"select {clock.sql.format(name='now')}").fetchone()
    assert row is not None
    assert before <= datetime.fromisoformat(told.stdout.strip()) <= row[0] + timedelta(seconds=1) <= clock.now() + DAY
    assert FastClock.parse(str(clock)) == clock
