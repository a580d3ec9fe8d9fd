"""Worker processes of a server: they end with their parent, and are replaced one by one without a lost call."""

import contextlib
import ctypes
import logging
import multiprocessing
import os
import signal
import sys
import threading
from typing import Any

log = logging.getLogger(__name__)
_LIBC = ctypes.CDLL(None) if sys.platform.startswith("linux") else None
_PR_SET_PDEATHSIG = 1
_STARTUP_FAILURE = 3  # the status with which uvicorn ends where the application did not start


def die_with_parent(sign: int = signal.SIGINT) -> None:
    """Runs in the child: on Linux the kernel sends it the signal when its parent is gone, however that happened."""
    if _LIBC:
        _LIBC.prctl(_PR_SET_PDEATHSIG, sign, 0, 0, 0)


def end_with_parent() -> None:
    """Runs in a worker that `multiprocessing` started, nothing elsewhere: it ends in order once its parent is gone.

    Without this the workers of a parent that was killed live on and hold its port.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    if _LIBC is None:
        threading.Thread(target=_await_end_of_parent, args=(parent,), daemon=True).start()
    die_with_parent(signal.SIGTERM)
    if os.getppid() != parent.pid:  # it went before the kernel was asked
        os.kill(os.getpid(), signal.SIGTERM)


def _await_end_of_parent(parent: Any) -> None:
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


class WorkerConfig:
    """Mix-in before uvicorn's Config: what loads the application is a worker, which ends with its parent."""

    def load(self) -> None:
        end_with_parent()
        super().load()  # type: ignore[misc]


class RollingWorkers:
    """Mix-in before uvicorn's Multiprocess: SIGHUP replaces the workers one by one, and a roll that fails is an error.

    uvicorn starts the new worker, waits until it serves, and only then ends the old one. One that does not come up
    leaves the old workers where they are, with the old code.
    """

    processes: list[Any]

    def restart_all(self) -> None:
        before = [process.pid for process in self.processes]
        super().restart_all()  # type: ignore[misc]
        old = [process.pid for process in self.processes if process.pid in before]
        if old:
            log.error(
                "the roll failed: %d of %d workers still run what was installed before (%s); the cause stands above, "
                "and every call is answered meanwhile. Mend it and send SIGHUP again.",
                len(old),
                len(before),
                ", ".join(map(str, old)),
            )
        else:
            log.warning("rolled: %d of %d workers are new", len(before), len(before))


def run_server(config: Any, server: type[Any], workers: type[Any]) -> None:
    """Serves until a signal ends it: with uvicorn's own Server, or with workers where the configuration has several."""
    if config.workers > 1:
        workers(config, [config.bind_socket()]).run()
        return
    _refuse_rolls()
    single = server(config)
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn raises Ctrl-C again once it has stopped
        single.run()
    if not single.started:
        sys.exit(_STARTUP_FAILURE)


def _refuse_rolls() -> None:
    """A server of one worker answers SIGHUP, which would end it, with an error in the log."""

    def explain(_number: int, _frame: Any) -> None:
        log.error("SIGHUP: a server of one worker cannot be rolled and goes on as it is; start it with --workers 2")

    signal.signal(signal.SIGHUP, explain)
