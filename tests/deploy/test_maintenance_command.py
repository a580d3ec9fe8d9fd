"""`award-travel maintenance`: on, off and status, what it refuses, the trail, and what doctor says."""

import json
from datetime import timedelta

import pytest

from deploy.doctor import stores
from deploy.doctor.stores import SwitchedOff
from deploy.errors import CommandError
from deploy.operators.maintenance import parse_until
from shared import clock
from tests.deploy.test_commands import Say, say
from tests.support.maintenance import Maintain, maintain
from tests.support.settings_and_clock import StandingClock

__all__ = ["maintain", "say"]


def test_on_and_off_with_a_trail(say: Say, maintain: Maintain) -> None:
    status, text, _ = say("maintenance", "on", "--message", "We move house", "--until", "30m", "--reason", "new tables")
    assert (status, "everybody is told: We move house. Expected until about" in text) == (0, True)
    document = json.loads(say("maintenance", "status", "--json")[1])
    assert (document["on"], document["until"]) == (True, (clock.now() + timedelta(minutes=30)).isoformat())
    assert say("maintenance", "off")[0] == 0
    assert say("maintenance", "off") == (1, "", "award-travel: Maintenance is off already.\n")
    assert say("maintenance", "status")[1] == "Maintenance is off.\n"
    trail = json.loads(say("trail", "--json")[1])
    assert [(row["action"], row["target"], row["reason"]) for row in trail] == [
        ("maintenance off", "service", None),
        ("maintenance on", "service", "new tables"),
    ]


@pytest.mark.parametrize("text", ["soon", "30", "2020-01-01T00:00", "99999m99"])
def test_an_end_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="--until"):
        parse_until(text)


def test_an_end_is_a_span_or_a_moment_of_any_zone() -> None:
    assert parse_until("2h") == clock.now() + timedelta(hours=2)
    assert parse_until("2100-01-31T22:30").isoformat() == "2100-01-31T22:30:00+00:00"
    assert parse_until("2100-01-31T22:30+02:00").isoformat() == "2100-01-31T20:30:00+00:00"


def test_a_message_of_several_lines_becomes_one_and_a_long_one_is_refused(say: Say, maintain: Maintain) -> None:
    assert "told: one two." in say("maintenance", "on", "--message", "one\n two")[1]
    assert "at most 300 characters" in say("maintenance", "on", "--message", "x" * 301)[2]


def test_doctor_says_that_it_is_on_and_calls_it_a_fault_once_it_should_have_ended(
    maintain: Maintain, standing_clock: StandingClock
) -> None:
    assert isinstance(stores.check_maintenance(), SwitchedOff)
    maintain("We move house.", minutes=10)
    assert "We move house." in stores.check_maintenance()
    standing_clock.advance(timedelta(minutes=11))
    with pytest.raises(CommandError, match=r"was to end at .*: award-travel maintenance off"):
        stores.check_maintenance()
