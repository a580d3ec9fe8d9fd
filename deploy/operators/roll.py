"""`award-travel roll`: replaces a server's processes by those of the installed release."""

import argparse
import os
import re
import signal
import time
from pathlib import Path

from deploy.errors import CommandError

_LOOK_SECONDS = 0.05
BEGIN_SECONDS = 10.0  # a server looks at its signals twice a second
MAX_SECONDS = 120.0  # it gives a release 60 seconds to serve, and the calls of the one before 15 to end
SERVERS = ("mcp_server", "auth_server")
# Options of Python may stand before its module.
_STARTED = re.compile(r"(?:[^\0]*/)?python[^/\0]*\0(?:-[^cm\0][^\0]*\0)*-m\0(\w+)\0")


def run_roll(arguments: argparse.Namespace) -> None:
    before = _list_children(arguments.pid)
    if not _is_server(arguments.pid):
        raise CommandError(f"Process {arguments.pid} is no server started as python -m {' or '.join(SERVERS)}.")
    try:
        os.kill(arguments.pid, signal.SIGHUP)
    except PermissionError:
        raise CommandError(f"Process {arguments.pid} is someone else's: run this as its user, or as root.") from None
    if arguments.wait:
        _await_release(arguments.pid, before)
        print("All workers are new.")


def _is_server(pid: int) -> bool:
    """SIGHUP ends most other programs."""
    try:
        line = Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has ended, or may not be looked at
        return False
    module = _STARTED.match(line)
    return module is not None and module[1] in SERVERS


def _await_release(pid: int, before: set[int]) -> None:
    """Waits until the server has replaced its process, which it does once all new workers serve."""
    start, began = time.monotonic(), False
    while time.monotonic() - start < (MAX_SECONDS if began else BEGIN_SECONDS):
        now = _list_children(pid)
        if before - now:
            return
        if began and now == before:
            raise CommandError(f"The roll failed: process {pid} still runs what it ran before. Its log says why.")
        began = began or now != before
        time.sleep(_LOOK_SECONDS)
    if began:
        raise CommandError(f"The roll of process {pid} has not ended after {MAX_SECONDS:.0f} s. Its log says more.")
    raise CommandError(f"Process {pid} did not begin to roll: name that of a server with two workers or more.")


def _list_children(pid: int) -> set[int]:
    """Children of the process itself, not of its threads: proc_pid_task_children(5)."""
    try:
        return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()))
    except FileNotFoundError:
        raise CommandError(f"No process {pid} runs here, or this system does not show its children.") from None
