"""The program: it reads its command line and serves the tools until SIGTERM."""

import argparse

from uvicorn import Server

from mcp_server.workers import ServerConfig, Worker
from shared.processes.garbage_collection import freeze_startup_objects, postpone_collections
from shared.processes.worker_releases import run_server
from shared.settings import SettingsError, settings
from shared.telemetry.logs import announce, configure_logging
from shared.telemetry.metrics_address import serving_metrics


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m mcp_server", description="Serve the tools over MCP.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    postpone_collections()
    # Imported here, once collections wait: 700 modules.
    from shared.db.metrics import collect_database
    from shared.providers import registry
    from shared.redis import refuse_cluster
    from shared.services.operations.data_mode import hold_data_mode
    from shared.services.operations.metrics import collect_queue

    try:
        config = settings()
        configure_logging()
        announce("mcp_server", listens=f"{options.host}:{options.port}", mcp=config.mcp_url, workers=options.workers)
        registry.providers()
        refuse_cluster()
        hold_data_mode()
    except SettingsError as error:
        raise SystemExit(str(error)) from None
    with serving_metrics("mcp_server", collect_database(), collect_queue()):
        _serve(options.host, options.port, options.workers)


def _serve(host: str, port: int, workers: int) -> None:
    config = ServerConfig(
        "mcp_server.app:build",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        loop="uvloop",
        http="mcp_server.transport.uvicorn_protocol:HttpProtocol",
        ws="none",
        proxy_headers=True,
        forwarded_allow_ips=settings().forwarded_allow_ips,
        access_log=False,
        log_config=None,  # its lines go to the same log as all others
        server_header=False,
        log_level=settings().log_level.lower(),
        timeout_graceful_shutdown=15,
        timeout_worker_healthcheck=60,  # for a new release to load and answer, on a busy machine too
    )
    if workers > 1:
        freeze_startup_objects()  # a server of one worker does so once it has loaded the application
    run_server(config, Server, Worker)
