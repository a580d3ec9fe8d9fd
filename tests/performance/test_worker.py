"""What the worker class that is warm before it forks saves on each job."""

import sys
import threading
import time
from pathlib import Path

from jobs import dispatcher
from jobs.queue import DELIVERIES, count_under_way, queue
from shared.db.messages import Delivery
from tests.jobs.conftest import Post, alice, post, rows  # noqa: F401 - fixtures
from tests.jobs.test_worker import WARM, started
from tests.support.settings_and_clock import Configure

JOBS = 6


def until_sent(count: int) -> None:
    """Waits, at most 30 s, until so many deliveries are sent, and no job continues that could take the next one too."""
    limit, pause = time.monotonic() + 30, threading.Event()
    while sum(row.status == "sent" for row in rows(Delivery)) < count or count_under_way(queue(DELIVERIES)):
        assert time.monotonic() < limit
        pause.wait(0.002)


def seconds_per_job(post: Post, *options: str) -> float:  # noqa: F811
    """One delivery after another, each its own job, from the wake-up to the recorded end."""
    with started(*options):
        done = len(rows(Delivery))
        for n in range(JOBS + 1):
            if n == 1:  # the first one waited for the worker to start
                begun = time.monotonic()
            post(f"{options}-{n}")
            dispatcher.step()
            until_sent(done + n + 1)
        return (time.monotonic() - begun) / JOBS


def test_the_warm_worker_is_at_least_three_times_as_fast_per_job(
    post: Post,  # noqa: F811
    configure: Configure,
    tmp_path: Path,
) -> None:
    configure(OUTBOX_DIR=tmp_path)
    stock, warm = seconds_per_job(post), seconds_per_job(post, *WARM)
    sys.stderr.write(f"seconds per job: stock {stock:.3f}, warm {warm:.3f}, ratio {stock / warm:.1f}\n")
    assert stock / warm >= 3
