"""`award-travel alive`: what a probe is told of a program that works, hangs, or waits for what it stands on."""

import os
import re
import socket
import time
from collections.abc import Iterator

import pytest

from deploy.cli import main
from deploy.local.private_servers import free_port
from shared.redis import connect, key
from shared.services.operations.workers import REMEMBERED_SECONDS, record_sign
from shared.settings import settings


@pytest.fixture(autouse=True)
def no_signs() -> Iterator[None]:
    yield
    connect().delete(key("programs"))


def _tell_sign(seconds_ago: int) -> None:
    record_sign("dispatcher", os.getpid())
    name = f"dispatcher:{socket.gethostname()}:{os.getpid()}"
    assert connect().expire(key("program", name), REMEMBERED_SECONDS - seconds_ago)


def test_a_sign_of_this_machine_counts_for_half_a_minute(capfd: pytest.CaptureFixture[str]) -> None:
    begin = time.monotonic()
    _tell_sign(seconds_ago=3)
    assert main(["alive", "dispatcher"]) == 0
    age = re.fullmatch(r"dispatcher: a sign of life (\d+) s ago\n", capfd.readouterr().out)
    assert age
    assert 3 <= int(age[1]) <= 4 + time.monotonic() - begin  # Valkey's clock goes on while the command loads
    _tell_sign(seconds_ago=31)
    assert main(["alive", "dispatcher"]) == 1
    assert "no dispatcher on this machine gave a sign of life for 30 s" in capfd.readouterr().err


def test_a_sign_of_another_machine_or_program_counts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    _tell_sign(seconds_ago=1)
    assert main(["alive", "worker"]) == 1
    monkeypatch.setattr(socket, "gethostname", lambda: "another")
    assert main(["alive", "dispatcher"]) == 1


def test_what_it_stands_on_is_down_and_nothing_is_started_again(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    nowhere = f"postgresql://award@127.0.0.1:{free_port()}/award"
    with monkeypatch.context() as patch:
        patch.setitem(settings().__dict__, "database_url", nowhere)
        assert main(["alive", "dispatcher"]) == 0
    assert "the database is down" in capfd.readouterr().out
    with monkeypatch.context() as patch:
        patch.setitem(settings().__dict__, "redis_url", f"redis://127.0.0.1:{free_port()}/0")
        connect.cache_clear()
        assert main(["alive", "dispatcher"]) == 0
    connect.cache_clear()
    assert "the queue is down" in capfd.readouterr().out


def test_an_inbox_that_takes_connections_and_does_not_greet_is_not_alive(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """So does the kernel for a process that is stopped."""
    monkeypatch.setattr("deploy.doctor.alive.CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        monkeypatch.setitem(settings().__dict__, "inbound_smtp_port", listener.getsockname()[1])
        assert main(["alive", "inbox"]) == 1
    assert "does not greet" in capfd.readouterr().err
