"""Programs are killed and the queue is emptied at random moments: nothing is lost and nothing is sent twice."""

import sys
from pathlib import Path

import pytest

from shared.settings import settings
from tests.chaos.storm import storm

SECONDS, SEED = 12, 20261121


@pytest.mark.slow  # the storm itself, and the time until the last lease is over
@pytest.mark.spec("s6.2.route_monitor_email")
def test_a_storm_loses_nothing_and_sends_nothing_twice(fresh_database: str, tmp_path: Path) -> None:
    queue = settings().redis_url.rsplit("/", 1)[0] + "/15"
    report = storm(fresh_database, queue, tmp_path, seconds=SECONDS, seed=SEED)
    sys.stderr.write(f"storm: {report.lines()}\n")
    assert sum(report.blows.values()) >= 5
    assert report.runs >= 5  # how many fit in depends on the machine
    assert (report.unfinished, report.failed, report.too_early) == (0, 0, 0)
    assert report.checks == report.runs
    assert report.runs >= report.notices == report.deliveries >= 3  # what stays open between two checks is silent
    assert report.sent + report.uncertain == report.deliveries
    assert (report.mailed_twice, report.mailed_unknown, report.sent_unseen) == (0, 0, 0)
