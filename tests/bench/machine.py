"""The machine and the programs a result was measured with."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tests.bench.load import tool
from tests.bench.stage import CORES, NODE, PEER, ROOT, TYPESCRIPT_SDK

PACKAGES = ("mcp", "uvicorn", "starlette", "pydantic", "sqlalchemy", "psycopg")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _say(*command: str | Path) -> str | None:
    """What a program answers; None where it is not there or fails."""
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def describe() -> dict[str, Any]:
    """With the load of the last minute: above the number of cores, figures move."""
    return {
        "cores": len(CORES),
        "processor": _processor(),
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "fastmcp": _say(PEER, "-c", "import fastmcp; print(fastmcp.__version__)") if PEER.exists() else None,
        "node": _say(NODE, "--version") if NODE.exists() else None,
        "typescript_sdk": TYPESCRIPT_SDK.exists(),
        "commit": _say("git", "rev-parse", "--short", "HEAD"),
        "changed": bool(_say("git", "status", "--porcelain")),
        "load_tool": tool(),
        "load_average": round(os.getloadavg()[0], 2),
    }
