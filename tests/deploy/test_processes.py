"""Watched programs: what crashes is named and comes back ever later; what is stopped is gone."""

import errno
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.errors import CommandError
from deploy.local import processes
from deploy.local.private_servers import is_free
from deploy.local.processes import Child, bound_log, build_launcher, revive, stop
from tests.support.service import wait_for

WAITS = "import signal; signal.pause()"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"


def _child(folder: Path, code: str) -> Child:
    log = folder / "log"
    child = Child("watchman", build_launcher([sys.executable, "-c", code], dict(os.environ), log), log)
    child.start()
    return child


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_crashed_child_is_named_and_started_again(tmp_path: Path) -> None:
    child, said = _child(tmp_path, WAITS), []
    before = child.pid
    os.kill(before, signal.SIGKILL)
    wait_for("the new process", lambda: revive(child, said.append))
    stop([child])
    assert child.pid != before
    assert "watchman ended (SIGKILL); it starts again in 0.5 s" in said[0]
    assert str(child.pid) in said[1]


def test_each_crash_doubles_the_wait_up_to_fifteen_seconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child, waits = _child(tmp_path, "raise SystemExit(3)"), []
    now = [1000.0]
    monkeypatch.setattr(processes.time, "monotonic", lambda: now[0])
    child.started = now[0]
    for _ in range(8):
        child.process.wait(90)  # type: ignore[union-attr]
        revive(child, lambda _: None)
        waits.append(child.wait)
        now[0] += child.wait
        revive(child, lambda _: None)
    child.process.wait(90)  # type: ignore[union-attr]
    assert waits == [0.5, 1, 2, 4, 8, 15, 15, 15]


def test_a_log_that_is_full_is_kept_once_and_written_from_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "MAX_LOG_BYTES", 10)
    log = tmp_path / "worker.log"
    for words in ("first, and full", "second, and full", "third"):
        with log.open("a", encoding="utf-8") as sink:
            sink.write(words)
            sink.flush()
            bound_log(log)
    assert (log.read_text(encoding="utf-8"), (tmp_path / "worker.log.1").read_text(encoding="utf-8")) == (
        "third",
        "second, and full",
    )
    assert len(list(tmp_path.iterdir())) == 2


def test_only_a_port_in_use_is_called_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without 127.0.0.1 refuses each port of it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert not is_free(listener.getsockname()[1])

    def refuse(*_: object) -> None:
        raise OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(CommandError, match=r"of 127\.0\.0\.1 cannot be opened \(Cannot assign requested address\)"):
        is_free(8000)


def test_a_child_that_ran_steadily_starts_again_at_once(tmp_path: Path) -> None:
    child = _child(tmp_path, "pass")
    child.process.wait(90)  # type: ignore[union-attr]
    child.wait, child.started = 15, child.started - processes.STEADY_SECONDS - 1
    revive(child, lambda _: None)
    assert child.wait == processes.FIRST_WAIT_SECONDS


def test_a_child_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    child = _child(tmp_path, STUBBORN)
    wait_for("its start", lambda: (tmp_path / "log").read_text(encoding="utf-8"))
    stop([child], seconds=0.3)
    assert child.exit_status == -signal.SIGKILL


@pytest.mark.slow  # starts a supervisor that starts a child
def test_a_child_dies_with_a_killed_supervisor(tmp_path: Path) -> None:
    code = (
        "import os, sys, signal; from pathlib import Path; from deploy.local.processes import Child, build_launcher;"
        f"log = Path({str(tmp_path / 'log')!r});"
        f"child = Child('x', build_launcher([sys.executable, '-c', {WAITS!r}], dict(os.environ), log), log);"
        "child.start(); print(child.pid, flush=True); signal.pause()"
    )
    supervisor = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert supervisor.stdout is not None
    pid = int(supervisor.stdout.readline())
    assert _alive(pid)
    supervisor.kill()
    supervisor.communicate()
    wait_for("the end of the child", lambda: not _alive(pid))
    assert not _alive(pid)


_FORKS = """
import atexit, os, sys
from pathlib import Path
from deploy.local.forked_programs import Gate, fork_program
from tests.support.service import wait_for
atexit.register(print, "the parent ends")
sys.path.insert(0, ".")
gate, log = Gate(), Path("log").absolute()
one = fork_program(["program", "3"], ["loaded"], {"PATH": "", "OWN": "yes"}, log, gate)


def await_word(word):
    wait_for(word, lambda: log.exists() and word in log.read_text())


await_word("loaded")
assert one.poll() is None, "it did not wait"
gate.open()
status = one.wait(60)
fork_program(["program", "wait"], [], {}, log, gate)
late = fork_program(["program", "fault"], [], {}, log, gate)
await_word("pid")
print(status, late.wait(60), os.environ.get("OWN"), flush=True)
os.kill(os.getpid(), 9)
"""
_PROGRAM = """
import atexit, os, signal, sys
atexit.register(print, "its end")
print(__name__, os.environ.get("OWN"), os.getsid(0) == os.getpid(), sorted(os.listdir("/proc/self/fd"))[:3], flush=True)
if sys.argv[1] == "wait":
    print("pid", os.getpid(), flush=True)
    signal.pause()
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.slow  # starts a supervisor that forks programs
def test_a_forked_program_waits_at_the_gate_and_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(_PROGRAM, encoding="utf-8")
    (tmp_path / "loaded.py").write_text("print('loaded', flush=True)", encoding="utf-8")
    supervisor = subprocess.run(
        [sys.executable, "-c", _FORKS],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.getcwd()},
        stdout=-1,
        check=False,
    )
    assert (supervisor.returncode, supervisor.stdout) == (-signal.SIGKILL, b"3 1 None\n")
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert log.startswith("loaded\n__main__ yes True ['0', '1', '2']\nits end\n")
    assert "ValueError: invalid literal for int() with base 10: 'fault'" in log
    assert "the parent ends" not in log
    (pid,) = (int(line.split()[1]) for line in log.splitlines() if line.startswith("pid "))
    wait_for("its end with that of the supervisor", lambda: not _alive(pid))


_FORKS_BESIDE_A_THREAD = """
import _thread, os, sys, time
from pathlib import Path
from deploy.local import forked_programs
from deploy.local.forked_programs import Gate, fork_program

gate, log = Gate(), Path("log").absolute()
gate.open()
_thread.start_new_thread(time.sleep, (0.5,))  # none that Python waits for or lists, like one that is being taken down
one = fork_program(["program"], [], {}, log, gate)
print(len(os.listdir("/proc/self/task")), one.wait(60), flush=True)
forked_programs._LAST_THREAD_SECONDS = 0.1
_thread.start_new_thread(time.sleep, (60,))
try:
    fork_program(["program"], [], {}, log, gate)
except RuntimeError as error:
    print(error, flush=True)
"""


@pytest.mark.slow  # starts a supervisor that forks a program
def test_nothing_is_forked_while_the_system_has_another_thread(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("", encoding="utf-8")
    supervisor = subprocess.run(
        [sys.executable, "-c", _FORKS_BESIDE_A_THREAD],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{os.getcwd()}:{tmp_path}"},
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = supervisor.stdout.splitlines()
    assert first == "1 0", supervisor.stderr
    assert second.startswith("2 threads run here")
