"""Programs that run in copies of the process that starts them, so that what they all load is in memory once.

Each of the five loaded the same 90 MB. One that crashed starts afresh, from what is on the disk.
"""

import atexit
import contextlib
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from shared.processes.garbage_collection import postpone_collections
from shared.processes.worker_processes import LIBC, die_with_parent

CAN_FORK = LIBC is not None  # elsewhere system libraries do not survive it
_PR_SET_NAME = 15
_LAST_THREAD_SECONDS = 10.0


class Gate:
    """Programs wait at it until it is opened; those that start later pass at once."""

    def __init__(self) -> None:
        self.way_in, self._bolt = os.pipe()

    def open(self) -> None:
        os.close(self._bolt)

    def wait(self) -> None:
        os.read(self.way_in, 1)
        os.close(self.way_in)


class ForkedProgram:
    """The methods of `subprocess.Popen` that a supervisor needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout: float) -> int:
        until = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.01)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def fork_program(
    command: Sequence[str], loads: Sequence[str], environment: Mapping[str, str], log: Path, gate: Gate
) -> ForkedProgram:
    """`command`: a module and its arguments, as behind `python -m`; `loads`: modules it loads before the gate.

    No other thread may run: its locks would stay locked in the copy.
    """
    _await_last_thread()
    if pid := os.fork():
        return ForkedProgram(pid)
    try:
        _leave_parent(environment, log, gate)
        postpone_collections()
        for module in loads:
            import_module(module)
        gate.wait()
        status = _run(command)
    except BaseException:
        traceback.print_exc()
        status = 1
    os._exit(status)


def _await_last_thread() -> None:
    """For Python a thread ends with its function; it then still leaves OpenSSL, and may have its lock.

    One of 3,000 copies found it locked, and its first thread to need a random number waited for ever.
    """
    until = time.monotonic() + _LAST_THREAD_SECONDS
    while (threads := len(os.listdir("/proc/self/task"))) > 1:
        if time.monotonic() > until:
            raise RuntimeError(f"{threads} threads run here: what they hold would stay locked in a copy")
        time.sleep(0.001)


def _leave_parent(environment: Mapping[str, str], log: Path, gate: Gate) -> None:
    """Takes a new session, signals, files and environment. The parent's exit handlers do not run here."""
    os.setsid()
    die_with_parent(signal.SIGTERM)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    atexit._clear()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    text: dict[str, Any] = {"buffering": 1, "encoding": "utf-8", "errors": "backslashreplace", "closefd": False}
    sys.stdout, sys.stderr = os.fdopen(1, "w", **text), os.fdopen(2, "w", **text)
    os.dup2(gate.way_in, 3)
    gate.way_in = 3
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    os.chdir(log.parent)
    os.environ.clear()
    os.environ.update({**environment, "PYTHONSAFEPATH": "1"})  # of what it starts; `-P` of others


def _run(command: Sequence[str]) -> int:
    """Runs it to its end, with its exit handlers."""
    sys.argv = list(command)
    if LIBC:
        LIBC.prctl(_PR_SET_NAME, command[-1 if command[0] == "jobs" else 0].encode(), 0, 0, 0)
    status = 1
    try:
        runpy.run_module(command[0], run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(Exception):
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    return status
