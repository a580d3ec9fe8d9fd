"""Worker processes of a server: forked from what has loaded the application, and ended with their parent."""

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from importlib import import_module
from typing import Any

LIBC = ctypes.CDLL(None) if sys.platform.startswith("linux") else None
_PR_SET_PDEATHSIG = 1
_FORK = multiprocessing.get_context("fork")
ENDS = (signal.SIGTERM, signal.SIGINT)
STARTUP_FAILURE = 3  # the status with which uvicorn ends where the application did not start


def die_with_parent(sign: int = signal.SIGINT) -> None:
    """Runs in the child: on Linux the kernel sends it the signal when its parent is gone, however that happened."""
    if LIBC:
        LIBC.prctl(_PR_SET_PDEATHSIG, sign, 0, 0, 0)


def end_with_parent() -> None:
    """Runs in a worker that `multiprocessing` started, nothing elsewhere: it ends in order once its parent is gone.

    Without this the workers of a parent that was killed live on and keep its port.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    if LIBC is None:
        threading.Thread(target=_await_end_of_parent, args=(parent,), daemon=True).start()
    die_with_parent(signal.SIGTERM)
    if os.getppid() != parent.pid:  # it went before the kernel was asked
        os.kill(os.getpid(), signal.SIGTERM)


def _await_end_of_parent(parent: Any) -> None:
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


class WorkerConfig:
    """Mix-in before uvicorn's Config: what loads the application is a worker, which ends with its parent."""

    app: Any

    def load_release(self) -> None:
        """Loads what workers share, before they are forked. It may leave no thread, connection or event loop."""
        import_module(self.app.partition(":")[0])

    def load(self) -> None:
        end_with_parent()
        super().load()  # type: ignore[misc]


class ForkedWorker:
    """Mix-in before uvicorn's Process: it is forked from this process, with all that this one has loaded."""

    target: Any
    process: Any
    parent_conn: Any
    _asked_at: float | None = None  # and it has not answered since

    def __init__(self, config: Any, sockets: list[Any]) -> None:
        super().__init__(config, sockets)  # type: ignore[call-arg]
        self.process = _FORK.Process(target=self._begin, args=(sockets,))

    def start(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # one sent before the child has its own handlers is kept for it
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)

    def is_lost(self, seconds: float) -> bool:
        """Whether it has ended, or has not answered for so long. Asks and returns: an answer is read at the next call,
        so that one that hangs delays no one.
        """
        try:
            while self.parent_conn.poll():
                self.parent_conn.recv()
                self._asked_at = None
            if self._asked_at is None:
                self.parent_conn.send(b"ping")
                self._asked_at = time.monotonic()
        except (OSError, EOFError):
            return True
        return not self.process.is_alive() or time.monotonic() - self._asked_at > seconds

    def _begin(self, sockets: list[Any]) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
        with contextlib.suppress(KeyboardInterrupt):  # uvicorn raises Ctrl-C again once it has stopped
            self.target(sockets=sockets)
