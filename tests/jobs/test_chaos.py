"""Programs and the queue's server are killed at random moments: nothing is lost and nothing is sent twice."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local.private_servers import Valkey
from tests.chaos.fault_injection import run_with_faults
from tests.chaos.watched_subjects import KINDS

ROUNDS, SEED = 16, 20261121


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[Valkey]:
    server = Valkey(tmp_path).start()
    yield server
    server.stop()


@pytest.mark.slow  # the faults themselves, and the time until the last lease is over
@pytest.mark.spec("s6.2.route_monitor_email")
def test_killed_programs_lose_nothing_and_send_nothing_twice(
    fresh_database: str, tmp_path: Path, valkey: Valkey
) -> None:
    def queue_server() -> bool:
        assert valkey.process
        valkey.process.kill()
        valkey.process.wait()
        valkey.start()
        return True

    report = run_with_faults(
        fresh_database, valkey.url, tmp_path, rounds=ROUNDS, seed=SEED, more_blows={"queue_server": queue_server}
    )
    sys.stderr.write(f"faults: {report.lines()}\n")
    assert sum(report.blows.values()) >= 5
    assert report.runs >= 3  # how many fit in depends on the machine
    assert (report.unfinished, report.failed, report.too_early, report.lost) == (0, 0, 0, 0)
    assert report.checks == report.runs
    assert set(report.notices) & set(KINDS)
    assert report.deliveries >= 3  # what stays open between two checks is silent
    assert report.sent + report.uncertain == report.deliveries
    assert report.uncertain_shown == report.uncertain
    assert (report.mailed_twice, report.mailed_unknown, report.sent_unseen) == (0, 0, 0)
