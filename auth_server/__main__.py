"""python -m auth_server: runs the web host, or sweeps the token vault once; settings come from the environment."""

import argparse
import sys

from uvicorn import Server

from auth_server.sweep import sweep
from auth_server.workers import ServerConfig, Worker
from shared.db.metrics import collect_database
from shared.limits import parse_trusted_ranges
from shared.processes.garbage_collection import postpone_collections
from shared.processes.worker_releases import run_server
from shared.redis import refuse_cluster
from shared.settings import SettingsError, settings
from shared.telemetry.logs import announce, configure_logging
from shared.telemetry.metrics_address import serving_metrics


def _serve(host: str, port: int, workers: int) -> None:
    configure_logging()
    postpone_collections()
    announce("auth_server", listens=f"{host}:{port}", web=settings().web_url, workers=workers)
    with serving_metrics("auth_server", collect_database()):
        _run(host, port, workers)


def _run(host: str, port: int, workers: int) -> None:
    config = ServerConfig(
        "auth_server.app:create_app",
        factory=True,
        http="auth_server.web.uvicorn_protocol:HttpProtocol",
        host=host,
        port=port,
        workers=workers,
        proxy_headers=True,
        forwarded_allow_ips=settings().forwarded_allow_ips,
        access_log=False,
        log_config=None,  # its lines go to the same log as all others
        log_level=settings().log_level.lower(),
        server_header=False,
        timeout_graceful_shutdown=10,
        timeout_worker_healthcheck=60,  # for a new release to load and answer, on a busy machine too
    )
    run_server(config, Server, Worker)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m auth_server", description=__doc__)
    parser.add_argument("command", nargs="?", choices=["serve", "sweep"], default="serve")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    try:
        settings()
        parse_trusted_ranges()
        refuse_cluster()
    except SettingsError as error:
        sys.exit(str(error))
    if arguments.command == "sweep":
        counts = sweep()
        rows = ", ".join(f"{n} of {table}" for table, n in counts.items()) or "nothing: another program is sweeping"
        sys.stdout.write(f"Removed {rows}.\n")
        return
    _serve(arguments.host, arguments.port, arguments.workers)


if __name__ == "__main__":
    main()
