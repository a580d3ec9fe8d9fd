"""The workers of a server, forked from one process that has loaded a release, and the roll from one to the next.

Three kinds of processes. The first one has the port and answers SIGHUP. Below it one process without
threads loads the release, so that its workers, which are forked from it, share the pages of all that is loaded. A
reload starts such a process from what is installed then, and ends the old one with its workers once the new ones serve.
"""

import contextlib
import gc
import logging
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

from shared.processes.garbage_collection import freeze_startup_objects, postpone_collections
from shared.processes.worker_processes import ENDS, STARTUP_FAILURE, end_with_parent
from shared.telemetry.logs import configure_logging
from shared.telemetry.metrics import WORKERS_REPLACED, count

log = logging.getLogger(__name__)
_SPAWN = multiprocessing.get_context("spawn")
_FIRST_PASSED = 3  # SD_LISTEN_FDS_START
_LOOK_SECONDS = 0.5  # between two looks at signals and workers
_PING_SECONDS = 1.0
HUNG_SECONDS = (
    10.0  # without an answer of a worker that has served; one is forked with all it needs, and imports nothing
)
# libuv accepts one connection of a socket in each turn of the event loop, and in a turn all that are open are answered:
# of 64 that came at once the last waited 0.55 to 0.68 s. With eight handles of the socket eight are accepted: 0.1 s. A
# connection costs 30 us more of the processor then, of 260 with its first request.
_ACCEPTED_A_TURN = 8
# A thread that computes keeps the interpreter for so long while others wait; Python's own 5 ms are asked for at each
# answer of the database. Ten steps of one thread next to two that compute: 127 ms with 5, 21 with 0.5, and all of it
# takes 2 % more processor.
TURN_SECONDS = 0.0005


def open_listeners(config: Any) -> list[socket.socket]:
    """The socket of a server, several times: the one that systemd has opened and hands over, or a new one.

    One of systemd stays open while the program is started again, and connections wait in it.
    """
    bound = _take_socket() or config.bind_socket()
    # Whether it blocks is a flag of the socket itself, which `dup` sets as this object has it: workers of the program
    # before, which still end, would stay in `accept` with what they have begun.
    bound.setblocking(False)
    return [bound, *(bound.dup() for _ in range(_ACCEPTED_A_TURN - 1))]


def _take_socket() -> socket.socket | None:
    """Takes it as sd_listen_fds(3) describes; sockets for another process of this environment are ignored."""
    offer = os.environ.pop("LISTEN_FDS", "0"), os.environ.pop("LISTEN_PID", "")  # noqa: TID251 - systemd's, no settings
    if offer != ("1", str(os.getpid())):
        return None
    listener = socket.socket(fileno=_FIRST_PASSED)
    listener.set_inheritable(False)
    return listener


def run_server(config: Any, server: type[Any], worker: type[Any]) -> None:
    """Serves until a signal ends it: with uvicorn's own Server, or with workers where the configuration has several."""
    sys.setswitchinterval(TURN_SECONDS)
    if config.workers > 1:
        Rolling(config, worker, open_listeners(config)).run()
        return
    _refuse_rolls()
    single = server(config)
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn raises Ctrl-C again once it has stopped
        single.run(open_listeners(config))
    if not single.started:
        sys.exit(STARTUP_FAILURE)


def _refuse_rolls() -> None:
    """A server of one worker answers SIGHUP, which would end it, with an error in the log."""

    def explain(_number: int, _frame: Any) -> None:
        log.error("SIGHUP: a server of one worker cannot be rolled and continues as it is; start it with --workers 2")

    signal.signal(signal.SIGHUP, explain)


class Rolling:
    """The main process: one release at a time, the next one at SIGHUP, the end at SIGTERM."""

    def __init__(self, config: Any, worker: Callable[..., Any], sockets: list[socket.socket]) -> None:
        self.config, self.worker, self.sockets = config, worker, sockets
        self.signals: list[int] = []

    def run(self) -> None:
        for number in (*ENDS, signal.SIGHUP):
            signal.signal(number, lambda sent, _frame: self.signals.append(sent))
        release = Release(self)
        while not self.is_ending():
            if signal.SIGHUP in self.signals:
                self.signals.remove(signal.SIGHUP)
                release = self._roll(release)
            wait([release.process.sentinel], _LOOK_SECONDS)
            release = self._keep_alive(release)
        release.end()

    def is_ending(self) -> bool:
        return any(number in self.signals for number in ENDS)

    def _keep_alive(self, release: "Release") -> "Release":
        if release.process.is_alive() or self.is_ending():
            return release
        if release.process.exitcode == STARTUP_FAILURE:
            log.error("the application did not start; the cause stands above")
            sys.exit(STARTUP_FAILURE)
        log.error("the process that supervises the workers ended with %s; a new one starts", release.process.exitcode)
        return Release(self)

    def _roll(self, old: "Release") -> "Release":
        count, new = self.config.workers, Release(self)
        if new.await_ready(self.config.timeout_worker_healthcheck):
            old.end()
            log.warning("rolled: %d of %d workers are new", count, count)
            return new
        new.kill()
        if not self.is_ending():
            log.error(
                "the roll failed: %d of %d workers still run what was installed before; the cause stands above, "
                "and every call is answered in the meantime. Mend it and send SIGHUP again.",
                count,
                count,
            )
        return old


class Release:
    """The process that has loaded a release, as the one that started it sees it."""

    def __init__(self, rolling: Rolling) -> None:
        self.rolling = rolling
        self.ready, report = _SPAWN.Pipe(duplex=False)
        arguments = (rolling.config, rolling.worker, rolling.sockets, report)
        self.process = _SPAWN.Process(target=run_release, args=arguments)
        self.process.start()
        report.close()

    def await_ready(self, seconds: float) -> bool:
        """Whether all its workers serve within the time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.process.is_alive() and not self.rolling.is_ending():
            if self.ready.poll(0.1):
                break
        try:
            return self.ready.poll() and bool(self.ready.recv())
        except EOFError:
            return False

    def end(self) -> None:
        """Ends it; its workers finish their requests."""
        self.process.terminate()
        self.process.join()

    def kill(self) -> None:
        self.process.kill()
        self.process.join()


def run_release(config: Any, worker: Callable[..., Any], sockets: list[socket.socket], report: Connection) -> None:
    """Runs that process: loads, forks the workers, and replaces those that die, until SIGTERM."""
    end_with_parent()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a terminal that is closed: the process that was started decides
    postpone_collections()
    sys.setswitchinterval(TURN_SECONDS)
    config.configure_logging()
    if config.log_config is None:
        configure_logging()
    try:
        config.load_release()
    except Exception as error:  # the edge of this process: it would fail the same way again
        # Its words are the operator's own: nothing of a person has been read yet.
        log.exception("the application does not load: %s: %s", type(error).__name__, error)
        sys.exit(STARTUP_FAILURE)
    gc.collect()  # once for all workers: each of them would copy pages that garbage shares with other objects
    freeze_startup_objects()
    Workers(config, worker, sockets).run(report)


class Workers:
    """The workers of this process."""

    def __init__(self, config: Any, worker: Callable[..., Any], sockets: list[socket.socket]) -> None:
        self.config, self.worker, self.sockets = config, worker, sockets
        self.ending: list[int] = []
        self.all: list[Any] = []

    def run(self, report: Connection) -> None:
        for number in ENDS:
            signal.signal(number, lambda sent, _frame: self.ending.append(sent))
        self.all = [self._fork() for _ in range(self.config.workers)]
        if self._await_ready():
            report.send(True)
            while not self.ending:
                wait([worker.process.sentinel for worker in self.all], _LOOK_SECONDS)
                self._replace_dead()
        self._end()

    def _fork(self) -> Any:
        worker = self.worker(self.config, self.sockets)
        worker.start()
        return worker

    def _await_ready(self) -> bool:
        """Until all serve. One that ends before makes the release fail: others would end the same way."""
        while not self.ending:
            if not all(worker.process.is_alive() for worker in self.all):
                self._end()
                sys.exit(STARTUP_FAILURE)
            if all(worker.is_ready(_PING_SECONDS) for worker in self.all):
                return True
            wait([worker.process.sentinel for worker in self.all], 0.02)
        return False

    def _replace_dead(self) -> None:
        for place, worker in enumerate(self.all):
            if self.ending or not worker.is_lost(HUNG_SECONDS):
                continue
            fate = f"did not answer for {HUNG_SECONDS:.0f} s" if worker.process.is_alive() else "died"
            worker.kill()
            worker.join()
            log.error("worker %s %s; a new one starts", worker.pid, fate)
            count(WORKERS_REPLACED, self.config.app.partition(".")[0])
            self.all[place] = self._fork()

    def _end(self) -> None:
        for bound in self.sockets:
            bound.close()  # the port is free when the last worker is gone
        for worker in self.all:
            worker.terminate()
        for worker in self.all:
            worker.join()
