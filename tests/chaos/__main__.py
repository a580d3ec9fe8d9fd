"""`python -m tests.chaos [ROUNDS] [SEED]`: the long chaos test, on its own servers; `month` is a test of its own.

The queue's server and database connections are killed too. The report is printed, and the exit status says whether
anything was lost or doubled.
"""

import os
import random
import sys
import tempfile
import threading
from pathlib import Path

import psycopg

from deploy.local.private_servers import Postgres, Valkey
from tests.chaos.fault_injection import Report, run_with_faults
from tests.conftest import SETTINGS


def sound(report: Report) -> bool:
    bad = report.unfinished + report.failed + report.too_early
    bad += report.mailed_twice + report.mailed_unknown + report.sent_unseen + report.lost
    told = report.sent + report.uncertain == report.deliveries and report.uncertain_shown == report.uncertain
    return bad == 0 and told and report.checks == report.runs


def main() -> int:
    from shared.db.schema import upgrade

    if sys.argv[1:2] == ["month"]:
        from tests.chaos.month.run import main as run_month

        return run_month(sys.argv[2:])
    rounds, seed = int((sys.argv[1:2] or ["200"])[0]), int((sys.argv[2:3] or ["1"])[0])
    with tempfile.TemporaryDirectory(prefix="award_chaos_") as home:
        folder = Path(home)
        folder.chmod(0o755)
        postgres, valkey = Postgres(folder, durable=False).start(), Valkey(folder).start()
        try:
            postgres.create_database("award")
            os.environ.update(SETTINGS, DATABASE_URL=postgres.url(), REDIS_URL=valkey.url)
            upgrade(postgres.url().replace("postgresql://", "postgresql+psycopg://"))

            def connections() -> bool:
                with psycopg.connect(postgres.url("postgres"), autocommit=True) as admin:
                    admin.execute(
                        "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'award'"
                        " and application_name = 'award-travel' order by random() limit 2"
                    )
                return True

            def queue_server() -> bool:
                """Shot, away for a moment, and back with what it had written down."""
                assert valkey.process
                valkey.process.kill()
                valkey.process.wait()
                threading.Event().wait(random.uniform(0, 2))
                valkey.start()
                return True

            report = run_with_faults(
                postgres.url(),
                valkey.url,
                folder,
                rounds=rounds,
                seed=seed,
                number=10,
                calm=(0.5, 3.0),
                more_blows={"connections": connections, "queue_server": queue_server},
            )
        finally:
            valkey.stop()
            postgres.stop()
    sys.stdout.write(report.lines() + "\n")
    return 0 if sound(report) else 1


if __name__ == "__main__":
    sys.exit(main())
