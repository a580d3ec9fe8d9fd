"""`award-travel roll`: a server's processes replaced by those of the release that is installed now."""

import argparse
import os
import signal
import time
from pathlib import Path

from deploy.errors import CommandError

_LOOK_SECONDS = 0.05
BEGIN_SECONDS = 10.0  # a server looks at its signals twice a second
MAX_SECONDS = 120.0  # it gives a release 60 seconds to serve, and the calls of the one before 15 to end


def run_roll(arguments: argparse.Namespace) -> None:
    before = _list_children(arguments.pid)
    try:
        os.kill(arguments.pid, signal.SIGHUP)
    except PermissionError:
        raise CommandError(f"Process {arguments.pid} is someone else's: run this as its user, or as root.") from None
    if arguments.wait:
        _await_release(arguments.pid, before)
        print("All workers are new.")


def _await_release(pid: int, before: set[int]) -> None:
    """A server starts the process of the new release, and ends that of the old one once all new workers serve."""
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
    """Of the process itself and none of its threads: proc_pid_task_children(5)."""
    try:
        return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()))
    except FileNotFoundError:
        raise CommandError(f"No process {pid} runs here, or this system does not show its children.") from None
