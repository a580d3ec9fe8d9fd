"""python -m auth_server: runs the web host, or sweeps the token vault once; settings come from the environment."""

import argparse
import copy
import sys

import uvicorn
from uvicorn.config import LOGGING_CONFIG

from auth_server.sweep import sweep
from auth_server.web.rate_limit import parse_trusted_ranges
from shared.settings import SettingsError, settings


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m auth_server", description=__doc__)
    parser.add_argument("command", nargs="?", choices=["serve", "sweep"], default="serve")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=1)
    return parser.parse_args()


def _serve(host: str, port: int, workers: int) -> None:
    level = settings().log_level.upper()
    logs = copy.deepcopy(LOGGING_CONFIG)
    logs["root"] = {"handlers": ["default"], "level": level}
    uvicorn.run(
        "auth_server.app:create_app",
        factory=True,
        http="auth_server.web.uvicorn_protocol:HttpProtocol",
        host=host,
        port=port,
        workers=workers,
        proxy_headers=True,
        forwarded_allow_ips=settings().forwarded_allow_ips,
        access_log=False,
        log_config=logs,
        log_level=level.lower(),
        server_header=False,
        timeout_graceful_shutdown=10,
    )


def main() -> None:
    arguments = _parse_arguments()
    try:
        settings()
        parse_trusted_ranges()
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
