"""The program itself: its commands, what it says when settings are missing, and one real start over a socket."""

import os
import socket
import subprocess
import sys
from typing import Any

import pytest

from shared.http import sync_client
from tests.support.service import wait_for


def run(*arguments: str, **changed: str | None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **{k: v for k, v in changed.items() if v is not None}}
    for name in [k for k, v in changed.items() if v is None]:
        env.pop(name, None)
    command = [sys.executable, "-m", "auth_server", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=90, check=False)


@pytest.mark.slow  # starts the program
def test_missing_settings_are_named_together_and_the_exit_is_1() -> None:
    done = run(DATABASE_URL=None, SECRET_KEYS=None)
    assert done.returncode == 1
    assert "DATABASE_URL: is not set" in done.stderr
    assert "SECRET_KEYS: is not set" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow  # starts the program
def test_unreadable_networks_are_named_before_anything_starts() -> None:
    done = run(DCR_TRUSTED_RANGES="160.79.104.0/21, everyone")
    assert (done.returncode, "DCR_TRUSTED_RANGES" in done.stderr, "Traceback" in done.stderr) == (1, True, False)


@pytest.mark.slow  # starts the program
def test_sweep_runs_once_and_says_what_went(clean: None) -> None:
    done = run("sweep")
    assert done.returncode == 0
    assert "0 of oauth_access_tokens" in done.stdout


@pytest.mark.slow  # starts a process
@pytest.mark.e2e
def test_the_program_serves_reports_ready_and_stops_on_sigterm(fresh_database: str, tmp_path: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    env = {**os.environ, "DATABASE_URL": fresh_database, "WEB_URL": base}
    command = [sys.executable, "-m", "auth_server", "--port", str(port)]
    with (tmp_path / "log").open("w") as log:
        program = subprocess.Popen(command, env=env, stdout=log, stderr=log)
    try:
        body = _wait_for(base + "/readyz", program)
        assert body == {
            "status": "ready",
            "version": "0.4.0",
            "ready": True,
            "checks": {"database": True, "schema": True},
        }
        with sync_client(base) as client:
            assert client.get("/.well-known/oauth-authorization-server").json()["issuer"] == base
    finally:
        program.terminate()
        code = program.wait(90)
    assert code in (0, -15)
    (line,) = (tmp_path / "log").read_text().splitlines()
    assert " INFO award_travel auth_server 0.4.0 starts: " in line


def _wait_for(url: str, program: subprocess.Popen[bytes]) -> Any:
    from httpx import TransportError

    def ask() -> Any:
        assert program.poll() is None
        try:
            answer = client.get(url)
        except TransportError:
            return None
        return answer.json() if answer.status_code == 200 else None

    with sync_client() as client:
        return wait_for("an answer of the program", ask)
