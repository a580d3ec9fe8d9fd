"""Readers in their own processes: ended when over their budget, with a plain reason, and never left over."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from shared.processes.bounded_process import TOO_LARGE, TOO_LONG, Budget, ReaderEnded, ReaderFailed, read_bounded

SMALL = Budget(processor_seconds=1, seconds=30, memory_bytes=64 << 20)
SHORT = Budget(processor_seconds=1, seconds=1, memory_bytes=64 << 20)
HOW = pytest.mark.parametrize("inherit", [True, False])


@pytest.fixture(autouse=True)
def _tests_on_path(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """The readers below are imported again by the processes."""
    monkeypatch.syspath_prepend(pytestconfig.rootpath)


def count_letters(text: str) -> int:
    return len(text)


def never_end() -> None:
    for _ in count():
        pass


def wait_for_ever() -> None:
    threading.Event().wait()


def fill_memory() -> None:
    len([bytes(1_000_000) for _ in count()])


def ask_for_all_memory_at_once() -> int:
    return len(bytearray(1 << 40))


def fill_the_answer() -> list[str]:
    return ["x" * 1_000_000 + str(number) for number in range(500)]


def end_without_a_word() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def be_faulty() -> None:
    raise LookupError("a bug of the reader")


@HOW
def test_a_reader_answers_from_a_process_of_its_own(inherit: bool) -> None:
    assert read_bounded(SMALL, count_letters, "x" * 3_000_000, inherit=inherit) == 3_000_000
    assert read_bounded(SMALL, os.getpid, inherit=inherit) != os.getpid()


@pytest.mark.slow  # a second of the processor, or of the clock
@HOW
@pytest.mark.parametrize(("reader", "budget"), [(never_end, SMALL), (wait_for_ever, SHORT)])
def test_a_reader_that_takes_too_long_is_ended(reader: Callable[[], None], budget: Budget, inherit: bool) -> None:
    with pytest.raises(ReaderEnded, match=TOO_LONG):
        read_bounded(budget, reader, inherit=inherit)


@HOW
@pytest.mark.parametrize("reader", [fill_memory, ask_for_all_memory_at_once, fill_the_answer, end_without_a_word])
def test_a_reader_that_needs_too_much_memory_is_ended(reader: Callable[[], None], inherit: bool) -> None:
    with pytest.raises(ReaderEnded, match=TOO_LARGE):
        read_bounded(SMALL, reader, inherit=inherit)


@HOW
def test_a_bug_of_a_reader_comes_with_its_traceback(inherit: bool) -> None:
    with pytest.raises(ReaderFailed, match=r"be_faulty[\s\S]+LookupError: a bug of the reader"):
        read_bounded(SMALL, be_faulty, inherit=inherit)


@pytest.mark.slow  # one reader waits for its deadline
def test_others_are_served_while_a_reader_takes_its_time() -> None:
    reasons: list[str] = []

    def read() -> None:
        with pytest.raises(ReaderEnded) as ended:
            read_bounded(replace(SHORT, seconds=4), wait_for_ever)
        reasons.append(str(ended.value))

    thread = threading.Thread(target=read)
    thread.start()
    assert read_bounded(SMALL, count_letters, "abc") == 3
    assert reasons == []
    thread.join()
    assert reasons == [TOO_LONG]


def test_no_process_stays_when_its_program_is_killed(pytestconfig: pytest.Config) -> None:
    code = f"import {__name__} as t; print(flush=True); t.read_bounded(t.SMALL, t.never_end)"
    root = pytestconfig.rootpath
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=root) as program:
        assert program.stdout is not None
        program.stdout.readline()
        program.kill()
        program.communicate(timeout=60)  # ends when no one has the pipe any longer
