"""Maintenance: its sentence, when to try again, and what a program knows of it while the database is down."""

import threading
from datetime import timedelta
from typing import cast

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import OperationalError

from shared import clock
from shared.db import health
from shared.db.base import engine, transaction
from shared.db.maintenance import WATCH, Maintenance, MaintenanceWatch, end_maintenance, find_maintenance
from tests.support.maintenance import Maintain, maintain
from tests.support.settings_and_clock import StandingClock

__all__ = ["maintain"]


@pytest.mark.parametrize(
    ("message", "minutes", "sentence", "seconds"),
    [
        ("", None, "This service is under maintenance.", 60),
        ("", 30, "This service is under maintenance until about {end}.", 1800),
        ("We move house", None, "We move house.", 60),
        ("We move house!", 600, "We move house! Expected until about {end}.", 3600),
        ("", -5, "This service is under maintenance.", 60),  # the end that was named is over
    ],
)
def test_the_sentence_and_when_to_try_again(message: str, minutes: int | None, sentence: str, seconds: int) -> None:
    until = None if minutes is None else clock.now() + timedelta(minutes=minutes)
    told = Maintenance(clock.now(), message, until)
    end = f"{until:%a} {until.day} {until:%b %Y, %H:%M} UTC" if until else ""
    assert (told.sentence, told.retry_after) == (sentence.format(end=end), seconds)


def test_a_second_begin_changes_the_words_and_keeps_the_beginning(
    maintain: Maintain, standing_clock: StandingClock
) -> None:
    first = maintain()
    standing_clock.advance(timedelta(minutes=5))
    second = maintain("Longer than we thought.")
    assert (second.since, second.message) == (first.since, "Longer than we thought.")
    with transaction() as session:
        assert (end_maintenance(session), end_maintenance(session)) == (True, False)


class Away:
    """An engine whose database is gone."""

    def connect(self) -> None:
        raise OperationalError("select", {}, Exception("gone"))


def test_a_program_keeps_what_it_knew_while_the_database_is_away(maintain: Maintain) -> None:
    maintain("Kept.")
    watch = MaintenanceWatch()
    watch.refresh(engine())
    watch.refresh(cast("sa.Engine", Away()))
    assert watch.current is not None
    assert watch.current.message == "Kept."


def test_the_database_is_asked_again_once_a_second_is_over(maintain: Maintain) -> None:
    watch = MaintenanceWatch()
    watch._read_at = float("inf")  # asked right now
    maintain()
    assert watch.read() is None
    watch._read_at = float("-inf")
    assert watch.read() is not None


def test_a_state_that_was_read_earlier_never_replaces_a_later_one(
    maintain: Maintain, monkeypatch: pytest.MonkeyPatch
) -> None:
    maintain("Earlier.")
    watch, has_read, may_go_on = MaintenanceWatch(), threading.Event(), threading.Event()

    def read_and_wait(connection: sa.Connection) -> Maintenance | None:
        state = find_maintenance(connection)
        if threading.current_thread() is slow:
            has_read.set()
            assert may_go_on.wait(30)
        return state

    monkeypatch.setattr("shared.db.maintenance.find_maintenance", read_and_wait)
    slow = threading.Thread(target=watch.refresh, args=(engine(),))
    quick = threading.Thread(target=watch.refresh, args=(engine(),))
    slow.start()
    assert has_read.wait(30)
    maintain("Later.")
    quick.start()
    quick.join(0.2)  # without an order it would have finished by now, and the slow one would write after it
    may_go_on.set()
    for thread in (slow, quick):
        thread.join()
    assert watch.current is not None
    assert watch.current.message == "Later."


def test_readiness_says_maintenance_and_stays_200_so_that_a_proxy_goes_on_asking(
    maintain: Maintain, monkeypatch: pytest.MonkeyPatch
) -> None:
    maintain("We move house.", minutes=10)
    readiness = health.check_readiness()
    assert (readiness.status, readiness.document["status"], readiness.document["ready"]) == (200, "maintenance", True)
    assert readiness.document["maintenance"]["message"].startswith("We move house.")
    monkeypatch.setattr(health, "_find_database_fault", lambda: health._NO_DATABASE)
    away = health.check_readiness()
    assert (away.status, away.document["ready"], away.document["checks"]["database"]) == (200, False, False)
    assert WATCH.current is not None
