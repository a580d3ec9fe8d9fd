"""`python -m mcp_server`: serves the tools until SIGTERM."""

import argparse

import uvicorn

from shared.services.operations.data_mode import hold_data_mode
from shared.settings import SettingsError, settings


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m mcp_server", description="Serve the tools over MCP.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    try:
        config = settings()
        hold_data_mode()
    except SettingsError as error:
        raise SystemExit(str(error)) from None
    uvicorn.run(
        "mcp_server.app:build",
        factory=True,
        host=options.host,
        port=options.port,
        workers=options.workers,
        loop="uvloop",
        http="mcp_server.transport.uvicorn_protocol:HttpProtocol",
        ws="none",
        proxy_headers=True,
        forwarded_allow_ips=config.forwarded_allow_ips,
        access_log=False,
        server_header=False,
        log_level=config.log_level.lower(),
        timeout_graceful_shutdown=15,
    )


if __name__ == "__main__":
    main()
