"""`python -m tests.chaos [SECONDS] [SEED]`: the long storm on servers of its own, with the queue's server and database
connections killed too; the report is printed, and the exit status says whether anything was lost or doubled."""

import os
import sys
import tempfile
from pathlib import Path

import psycopg

from deploy.embedded import Postgres, Valkey
from tests.chaos.storm import Report, storm
from tests.conftest import SETTINGS


def sound(report: Report) -> bool:
    bad = report.unfinished + report.failed + report.too_early
    bad += report.mailed_twice + report.mailed_unknown + report.sent_unseen
    return bad == 0 and report.checks == report.runs and report.sent + report.uncertain == report.deliveries


def main() -> int:
    from shared.db.schema import upgrade

    seconds, seed = (float(sys.argv[1:2][0]) if sys.argv[1:] else 60.0), int((sys.argv[2:3] or ["1"])[0])
    with tempfile.TemporaryDirectory(prefix="award_chaos_") as home:
        folder = Path(home)
        folder.chmod(0o755)
        postgres, valkey = Postgres(folder, durable=False).start(), Valkey(folder, durable=False).start()
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

            report = storm(
                postgres.url(),
                valkey.url,
                folder,
                seconds=seconds,
                seed=seed,
                monitors=40,
                more_blows={"connections": connections},
            )
        finally:
            valkey.stop()
            postgres.stop()
    sys.stdout.write(report.lines() + "\n")
    return 0 if sound(report) else 1


if __name__ == "__main__":
    sys.exit(main())
