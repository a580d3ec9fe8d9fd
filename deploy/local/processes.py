"""Child programs of the supervisor: started in their own sessions, restarted when they crash, stopped in order."""

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from deploy.errors import CommandError
from deploy.local.forked_programs import ForkedProgram
from shared.processes.worker_processes import LIBC, die_with_parent

Say = Callable[[str], None]
Launch = Callable[[], "subprocess.Popen[bytes]"]
FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS = 0.5, 15.0
MAX_LOG_BYTES = 5_000_000
STEADY_SECONDS = 30  # a program that ran this long restarts with the shortest wait


def build_launcher(command: Sequence[str], environment: dict[str, str], log: Path) -> Launch:
    """A launcher of one program, in its own session, so that Ctrl-C reaches the supervisor alone."""

    def launch() -> "subprocess.Popen[bytes]":
        sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            return subprocess.Popen(
                command,
                env=environment,
                cwd=log.parent,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=functools.partial(die_with_parent, signal.SIGTERM),
            )
        finally:
            os.close(sink)

    return launch


@dataclass
class Child:
    """One watched program. `due` is the moment a crashed one is started again."""

    name: str
    launch: Launch
    log: Path
    process: "subprocess.Popen[bytes] | ForkedProgram | None" = None
    started: float = 0.0
    wait: float = FIRST_WAIT_SECONDS
    due: float | None = None

    @property
    def pid(self) -> int:
        return self.process.pid if self.process else 0

    @property
    def exit_status(self) -> int | None:
        """The exit status, once it has ended."""
        return self.process.poll() if self.process else None

    def start(self) -> None:
        self.started = time.monotonic()
        self.process = self.launch()

    def last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            return lines[-1][-300:] if lines else ""
        return ""


def bound_log(log: Path) -> None:
    """Copies a full log to the one before, and empties it; programs append to the same file. A line of that
    moment may be lost.
    """
    with contextlib.suppress(OSError):
        if log.stat().st_size > MAX_LOG_BYTES:
            shutil.copy(log, log.with_name(f"{log.name}.1"))
            os.truncate(log, 0)


def revive(child: Child, say: Say) -> bool:
    """Restarts a crashed child once its wait is over; returns whether there is a new process."""
    now = time.monotonic()
    if child.due is None:
        if child.exit_status is not None:
            child.wait = FIRST_WAIT_SECONDS if now - child.started > STEADY_SECONDS else child.wait
            child.due = now + child.wait
            exit_text = (
                signal.Signals(-child.exit_status).name if child.exit_status < 0 else f"exit status {child.exit_status}"
            )
            say(f"{child.name} ended ({exit_text}); it starts again in {child.wait:g} s. Its log: {child.log}")
        return False
    if now < child.due:
        return False
    child.due, child.wait = None, min(child.wait * 2, MAX_WAIT_SECONDS)
    try:
        child.start()
    except (CommandError, OSError) as error:
        child.due = time.monotonic() + child.wait
        say(f"{child.name} does not start: {error}")
        return False
    say(f"{child.name} started again (process {child.pid})")
    return True


def stop(children: Sequence[Child], *, seconds: float = 15) -> None:
    """Asks them all to end and waits; asks the rest again, then kills them."""
    for sign in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
        alive = [c.process for c in children if c.process and c.process.poll() is None]
        for process in alive:
            process.send_signal(sign)
        until = time.monotonic() + seconds
        for process in alive:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, until - time.monotonic()))


def adopt_orphans() -> None:
    """Adopts what a crashed child leaves behind (a worker's job), on Linux, so that nothing outlives us."""
    # Linux's prctl; nothing elsewhere.
    if LIBC:
        LIBC.prctl(36, 1, 0, 0, 0)


def kill_orphans(children: Sequence[Child]) -> None:
    own_pids = {str(os.getpid())}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            parent = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1]
            pid = int(stat.parent.name)
            if parent in own_pids and pid not in {c.pid for c in children}:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
