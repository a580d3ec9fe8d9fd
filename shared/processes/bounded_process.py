"""Readers of what strangers sent, each run in a process that is ended when it takes too long or too much memory."""

import multiprocessing
import os
import resource
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from threading import BoundedSemaphore
from time import monotonic
from typing import Any, TypeVar

from shared.processes.plain_answers import NotPlain, read_answer, write_answer

R = TypeVar("R")

TOO_LONG, TOO_LARGE = "reading it took too long", "reading it needs too much memory"
_GRACE_SECONDS = 2.0  # the process ends itself at its deadline; one that could not even do that is killed
_AT_ONCE = BoundedSemaphore(4)  # in one program, so that their total memory is bounded too
_MAPPED = Path("/proc/self/statm")
_ANSWERED, _OUT_OF_MEMORY, _FAILED = b"a", b"m", b"f"  # the first byte of what the process sends
_MAX_ANSWER_BYTES = 64 << 20


@dataclass(frozen=True)
class Budget:
    """The limits of one reading: seconds of the processor and of the clock, and memory beyond what is loaded."""

    processor_seconds: int
    seconds: float
    memory_bytes: int


class ReaderEnded(Exception):
    """The reading went over its budget; the text is a plain clause, `TOO_LONG` or `TOO_LARGE`."""


class ReaderFailed(Exception):
    """A bug of the reader: the traceback of its process."""


def prepare(*modules: str) -> None:
    """Starts the single-threaded program that readers are forked from, with the modules they need.

    A program that never calls this has it started, without modules, by its first reading. It ends with its caller.
    """
    multiprocessing.set_forkserver_preload(["__main__", __name__, *modules])
    forkserver.ensure_running()


def read_bounded(budget: Budget, reader: Callable[..., R], *arguments: Any, inherit: bool = False) -> R:
    """What `reader` returns: a function of a module, with a result of plain values and records (`plain_answers`).

    `inherit`: forked from this program itself, with all it has loaded; only for programs of one thread, because
    others may hold locks. On two cores a call costs about 10 ms either way. Raises ReaderEnded and ReaderFailed.
    """
    context: Any = multiprocessing.get_context("fork" if inherit else "forkserver")
    with _AT_ONCE:
        start = monotonic()
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_read, args=(sender, budget, reader, arguments), daemon=True)
        with receiver:
            with sender:
                process.start()
            answer = _receive(receiver, process, budget)
        process.join()
    kind, value = answer[:1], answer[1:]
    if kind == _ANSWERED:
        try:
            return read_answer(value)  # type: ignore[no-any-return]
        except NotPlain as fault:
            raise ReaderFailed(f"its answer is none: {fault}") from None
    if kind == _FAILED:
        raise ReaderFailed(value.decode("utf-8", "replace"))
    # A process that ended silently before its time ran out of memory where Python could not report it.
    over_time = not kind and monotonic() - start >= budget.processor_seconds
    raise ReaderEnded(TOO_LONG if over_time else TOO_LARGE)


def _receive(receiver: Connection, process: Any, budget: Budget) -> bytes:
    try:
        if receiver.poll(budget.seconds + _GRACE_SECONDS):
            return receiver.recv_bytes(_MAX_ANSWER_BYTES)
    except (EOFError, OSError):
        return b""
    process.kill()
    return b""


def _read(sender: Connection, budget: Budget, reader: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """What the process does; whatever becomes of its parent, it ends at its deadline."""
    # Readers give way to anyone who waits for an answer.
    os.nice(5)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, budget.seconds)
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_CPU, budget.processor_seconds)
    if _MAPPED.exists():  # on Linux; no other system enforces the limit of memory
        pages = int(_MAPPED.read_text("ascii").split()[0])
        _set_limit(resource.RLIMIT_AS, pages * resource.getpagesize() + budget.memory_bytes)
    try:
        sender.send_bytes(_ANSWERED + write_answer(reader(*arguments)))
    except MemoryError:
        _set_limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)  # room to say so
        sender.send_bytes(_OUT_OF_MEMORY)
    except Exception:  # the edge of this process: its parent raises it again
        sender.send_bytes(_FAILED + traceback.format_exc().encode("utf-8", "replace"))


def _set_limit(limit: int, most: int) -> None:
    """A soft limit: a reader may start programs that set their own limits."""
    hard = resource.getrlimit(limit)[1]
    resource.setrlimit(limit, (most if hard == resource.RLIM_INFINITY or 0 <= most < hard else hard, hard))
