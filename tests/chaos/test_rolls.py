"""Both servers are rolled under load without a lost call, say so when they were not, and end with their parents."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.cli import main
from deploy.local.private_servers import free_port
from shared.processes.worker_processes import STARTUP_FAILURE
from tests.chaos.programs import Load, Program, roll, serving, sign_in, start
from tests.support.service import ROOT, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.e2e]  # starts both programs with two workers each, twice over


@pytest.fixture
def redis_url(pytestconfig: Any) -> str:
    return os.environ["REDIS_URL"]


def test_sighup_replaces_every_worker_and_no_call_is_lost(
    fresh_database: str, redis_url: str, tmp_path: Path, clean: None
) -> None:
    with serving(tmp_path, fresh_database, redis_url, workers=2) as servers:
        token = sign_in(servers, fresh_database)
        web, tools = servers.web[0], servers.tools[0]
        urls = [servers.mcp_url, f"{web.url}/mcp"]  # straight, and through the web host
        with Load(urls, token, [("list_trips", {}), ("list_my_cards", {}), ("get_profile", {})]) as load:
            load.settle(20)
            for program in (tools, web):
                before, after = roll(program)
                assert len(before) == len(after) == 2
                assert before & after == set()
                assert "rolled: 2 of 2 workers are new" in program.words
            load.settle(20)
        assert dict(load.outcomes) == {"ok": len(load.calls)}
        assert len(load.calls) > 100


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


@pytest.fixture
def two_workers(fresh_database: str, tmp_path: Path) -> Any:
    """A web host of two workers, the lighter of the two programs."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = os.environ | {"DATABASE_URL": fresh_database, "WEB_URL": url}
    program = start(tmp_path, "web", ["auth_server", "--workers", "2", "--port", str(port)], environment, url)
    try:
        wait_for("the web host", lambda: program.is_ready() and len(program.workers()) == 2)
        yield program
    finally:
        if program.process.poll() is None:
            program.stop()


def test_workers_end_with_a_parent_that_was_killed_and_the_port_is_free(two_workers: Program) -> None:
    workers, port = two_workers.workers(), int(two_workers.url.rpartition(":")[2])
    os.kill(two_workers.process.pid, signal.SIGKILL)
    two_workers.process.wait()
    wait_for("the end of its workers", lambda: not [pid for pid in workers if Path(f"/proc/{pid}").exists()])
    assert _is_free(port)


SMALL_APPLICATION = """
import os, pathlib
def create():
    if pathlib.Path("broken").exists():
        raise RuntimeError("the new release does not start")
    async def answer(scope, receive, send):
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            return await send({"type": "lifespan.shutdown.complete"})
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(os.getpid()).encode()})
    return answer
"""
# With the protocol of both servers: uvicorn's own closes a connection whose request is on its way when it ends.
SERVE = """
import pathlib, sys
from uvicorn import Server
from auth_server.workers import ServerConfig, Worker
from shared.processes.worker_releases import Workers, run_server
replace_dead = Workers._replace_dead
def watch(workers):
    pathlib.Path("watched").touch()  # all were ready: a worker that dies from now on is forked again
    replace_dead(workers)
Workers._replace_dead = watch
if __name__ == "__main__":
    protocol = "auth_server.web.uvicorn_protocol:HttpProtocol"
    port, workers = int(sys.argv[1]), int(sys.argv[2])
    config = ServerConfig("small:create", factory=True, http=protocol, port=port, workers=workers)
    run_server(config, Server, Worker)
"""


def _start_small_application(
    folder: Path, workers: int, more: str = "", listener: socket.socket | None = None
) -> Program:
    """What starts the two servers, around an application that loads at once, and not where a file `broken` stands."""
    (folder / "small.py").write_text(SMALL_APPLICATION + more)
    (folder / "serve.py").write_text(SERVE)
    port = free_port()
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    url = f"http://127.0.0.1:{listener.getsockname()[1] if listener else port}"
    return start(folder, "small", ["serve", str(port), str(workers)], environment, url, folder, listener)


@contextmanager
def _starting_small_application(folder: Path, workers: int, more: str = "") -> Iterator[Program]:
    program = _start_small_application(folder, workers, more)
    try:
        yield program
    finally:
        if program.process.poll() is None:
            program.stop()


@contextmanager
def _serving_small_application(folder: Path, workers: int, more: str = "") -> Iterator[Program]:
    with _starting_small_application(folder, workers, more) as program:
        wait_for("the small application", program.is_ready)
        yield program


def test_a_roll_to_what_does_not_start_keeps_the_old_workers_and_is_an_error_in_the_log(tmp_path: Path) -> None:
    with _serving_small_application(tmp_path, workers=2) as program:
        wait_for("both workers", lambda: program.words.count("Application startup complete") == 2)
        (tmp_path / "broken").touch()
        before, after = roll(program)
        assert before == after
        assert "the roll failed: 2 of 2 workers still run what was installed before" in program.words
        assert int(httpx.get(program.url, timeout=30).text) in before
        (tmp_path / "broken").unlink()
        before, after = roll(program)
        assert not before & after


def test_the_command_waits_for_the_new_workers_and_ends_with_1_when_the_roll_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deploy.operators.roll.SERVERS", ("serve",))
    with _serving_small_application(tmp_path, workers=2) as program:
        wait_for("both workers", lambda: program.words.count("Application startup complete") == 2)
        command = ["roll", str(program.process.pid), "--wait"]
        (tmp_path / "broken").touch()
        before = program.workers()
        assert main(command) == 1
        assert "The roll failed" in capsys.readouterr().err
        assert program.workers() == before
        (tmp_path / "broken").unlink()
        assert main(command) == 0
        assert capsys.readouterr().out == "All workers are new.\n"
        assert not program.workers() & before


def test_the_command_names_a_process_that_cannot_be_rolled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deploy.operators.roll.SERVERS", ("serve",))
    monkeypatch.setattr("deploy.operators.roll.BEGIN_SECONDS", 1.0)
    with _serving_small_application(tmp_path, workers=1) as program:
        assert main(["roll", str(program.process.pid), "--wait"]) == 1
        assert "name that of a server with two workers or more" in capsys.readouterr().err
    assert main(["roll", str(program.process.pid), "--wait"]) == 1
    assert f"No process {program.process.pid} runs here" in capsys.readouterr().err


def test_a_roll_serves_the_release_that_was_installed_meanwhile(tmp_path: Path) -> None:
    with _serving_small_application(tmp_path, workers=2) as program:
        wait_for("both workers", lambda: program.words.count("Application startup complete") == 2)
        (tmp_path / "small.py").write_text(
            SMALL_APPLICATION.replace("str(os.getpid()).encode()", "b'the next release'")
        )
        roll(program)
        assert httpx.get(program.url, timeout=30).text == "the next release"


def test_a_server_of_one_worker_says_that_it_cannot_be_rolled_and_goes_on(tmp_path: Path) -> None:
    with _serving_small_application(tmp_path, workers=1) as program:
        program.process.send_signal(signal.SIGHUP)
        wait_for("its word", lambda: "a server of one worker cannot be rolled" in program.words)
        assert int(httpx.get(program.url, timeout=30).text) == program.process.pid


def test_a_server_whose_application_does_not_start_ends_with_a_status(tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    with pytest.raises(AssertionError, match="does not start"), _serving_small_application(tmp_path, workers=1):
        pass


def test_a_worker_that_is_killed_is_forked_anew_and_a_killed_release_is_loaded_again(tmp_path: Path) -> None:
    with _serving_small_application(tmp_path, workers=2) as program:
        wait_for("both workers to be ready", (tmp_path / "watched").exists)  # one that dies earlier ends the program
        before = wait_for("both workers", lambda: len(program.workers()) == 2 and program.workers())
        killed, kept = before
        release = _parent(killed)
        os.kill(killed, signal.SIGKILL)
        wait_for("its successor", lambda: len(program.workers() - {killed}) == 2)
        assert kept in program.workers()
        assert {_parent(pid) for pid in program.workers()} == {release}
        old = program.workers()
        os.kill(release, signal.SIGKILL)
        wait_for("the next two", lambda: len(program.workers() - old) == 2)
        wait_for("the end of the old ones", lambda: not [pid for pid in old if Path(f"/proc/{pid}").exists()])
        wait_for("an answer", lambda: int(httpx.get(program.url, timeout=30).text) in program.workers())


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])


def test_workers_share_what_was_loaded_before_them(tmp_path: Path) -> None:
    """Each counts half of 40 MB of one object that both have; loaded by each itself it would count whole."""
    large = "\nTEXT = bytes(range(256)) * 160_000\n"
    with _serving_small_application(tmp_path, workers=2, more=large) as program:
        pids = wait_for("both workers", lambda: len(program.workers()) == 2 and program.workers())
        for pid in pids:
            told = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
            kept = {line.split(":")[0]: int(line.split()[1]) for line in told.splitlines()[1:]}
            assert kept["Rss"] - kept["Pss"] > 20_000


def test_a_server_that_is_told_to_stop_while_it_loads_leaves_nothing(tmp_path: Path) -> None:
    loads = "\nimport threading; pathlib.Path('loading').touch(); threading.Event().wait(5)\n"
    with _starting_small_application(tmp_path, workers=2, more=loads) as program:
        wait_for("its loading", (tmp_path / "loading").exists)
        below = _below(program.process.pid)
        assert program.stop() == 0
        wait_for("the end of all", lambda: not [pid for pid in below if Path(f"/proc/{pid}").exists()])


def _below(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    return [int(child) for child in listed]


def test_several_workers_of_an_application_that_does_not_start_end_with_a_status(tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    with _starting_small_application(tmp_path, workers=2) as program:
        assert program.process.wait(60) == STARTUP_FAILURE
        assert "does not start" in program.words
        assert "the application did not start" in program.words


def test_a_worker_that_hangs_is_replaced_and_the_other_one_is_not(tmp_path: Path) -> None:
    soon = "\nfrom shared.processes import worker_releases\nworker_releases.HUNG_SECONDS = 1.0\n"
    with _serving_small_application(tmp_path, workers=2, more=soon) as program:
        hung, kept = wait_for("both workers", lambda: len(program.workers()) == 2 and program.workers())
        wait_for("both at work", lambda: program.words.count("Application startup complete") == 2)
        os.kill(hung, signal.SIGSTOP)
        wait_for("its successor", lambda: len(program.workers() - {hung}) == 2)
        assert f"worker {hung} did not answer for 1 s; a new one starts" in program.words
        assert kept in program.workers()


def _ask_again_and_again(url: str, stop: threading.Event, answers: list[int]) -> None:
    """Each time on a new connection, and never a second time."""
    while not stop.is_set():
        answers.append(httpx.get(url, timeout=30, trust_env=False).status_code)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_no_request_is_lost_while_a_program_on_a_socket_of_systemd_starts_again(tmp_path: Path, sign: int) -> None:
    """After a change of settings, and after a crash of the process that was started."""
    stop, answers = threading.Event(), list[int]()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        program = _start_small_application(tmp_path, 2, listener=listener)
        wait_for("the first start", program.is_ready)
        caller = threading.Thread(target=_ask_again_and_again, args=(program.url, stop, answers))
        caller.start()
        try:
            wait_for("a few answers", lambda: len(answers) > 20)
            program.process.send_signal(sign)
            program.process.wait(60)
            program = _start_small_application(tmp_path, 2, listener=listener)
            before = len(answers)
            wait_for("answers of the next", lambda: len(answers) > before + 20 or not caller.is_alive())
            assert program.workers()
        finally:
            stop.set()
            caller.join(60)
            program.stop()
    assert set(answers) == {200}
    assert len(answers) > 40
