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
