"""The command line of the background programs: `python -m jobs dispatcher`, `worker` or `inbox`."""

import argparse

from jobs.startup import start
from shared.db.metrics import collect_database
from shared.processes.garbage_collection import freeze_startup_objects, postpone_collections
from shared.services.operations.metrics import collect_queue
from shared.settings import settings
from shared.telemetry.logs import announce
from shared.telemetry.metrics_address import serving_metrics


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m jobs", description="Background programs of the service.")
    programs = parser.add_subparsers(dest="program", required=True)
    programs.add_parser("dispatcher", help="finds due rows and wakes the workers")
    programs.add_parser("inbox", help="takes forwarded mail by SMTP")
    worker_options = programs.add_parser("worker", help="checks, watches and delivers")
    worker_options.add_argument(
        "-n", "--processes", type=int, default=2, help="how many work at once (2); half as many more read mail"
    )
    options = parser.parse_args()
    postpone_collections()
    start()
    s = settings()
    addresses = {"listens": f"{s.inbound_smtp_host}:{s.inbound_smtp_port}"} if options.program == "inbox" else {}
    announce(options.program, processes=getattr(options, "processes", None), **addresses)
    with serving_metrics(options.program, collect_database(), collect_queue()):
        _run(options)


def _run(options: argparse.Namespace) -> None:
    if options.program == "worker":
        from jobs import worker

        worker.run(options.processes)  # it loads more before it forks, and freezes then
    elif options.program == "inbox":
        from jobs import smtp_listener

        freeze_startup_objects()
        smtp_listener.run()
    else:
        from jobs import dispatcher

        freeze_startup_objects()
        dispatcher.run()


if __name__ == "__main__":
    main()
