"""The programs as processes: what crashes comes back, what is stopped leaves nothing, a home has one owner."""

import os
import platform
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from shared.settings import VERSION
from tests.e2e.conftest import Call
from tests.support.oauth_browser import get, post
from tests.support.service import (
    PASSWORD,
    READY_SECONDS,
    ROOT,
    Service,
    command,
    environment,
    wait_for,
)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.spec("s9.2.server_version", "s9.2.status_online")
def test_both_servers_report_version_status_and_data_mode(service: Service) -> None:
    for base in (service.web_url, service.mcp_url.removesuffix("/mcp")):
        told = get(f"{base}/healthz").json()
        assert (told["version"], told["status"], told["data_mode"]) == ("0.4.0", "Online", "sandbox")
        assert get(f"{base}/readyz").status_code == 200


def test_the_ready_file_is_private_and_complete(service: Service) -> None:
    assert service.ready_file.stat().st_mode & 0o777 == 0o600
    assert {"web_url", "mcp_url", "database_url", "redis_url", "outbox_dir", "pids"} <= set(service.facts)
    assert service.mcp_url.endswith("/mcp")


def test_a_second_start_on_the_same_home_says_so_and_ends(service: Service) -> None:
    line = [sys.executable, "-m", "deploy.cli", "up", "--home", str(service.home), "--web-port", "0", "--mcp-port", "0"]
    second = subprocess.run(
        line, capture_output=True, text=True, timeout=90, cwd=ROOT, env=environment(service.home), check=False
    )
    assert second.returncode == 1
    assert "already" in (second.stdout + second.stderr).lower()
    assert "Traceback" not in second.stdout + second.stderr


def _killed(service: Service, name: str) -> int:
    pid = service.pids[name]
    os.kill(pid, signal.SIGKILL)
    wait_for("the end of the child", lambda: not _alive(pid))
    return pid


@pytest.mark.slow  # a new process has to start and to be found healthy
def test_a_crashed_server_is_named_and_started_again(service: Service) -> None:
    name = next(n for n in service.pids if "mcp" in n)
    before = _killed(service, name)

    def back() -> bool:
        try:
            return get(service.mcp_url.replace("/mcp", "/readyz")).status_code == 200
        except httpx.TransportError:
            return False

    wait_for("the server", back, READY_SECONDS)  # as long as its first start may take on a busy machine
    wait_for("its name in the log", lambda: name.split("_")[0] in service.words)
    assert wait_for("the new process id", lambda: service.pids[name] != before and service.pids[name])


def test_the_logs_hold_no_secret_and_no_surprise(service: Service, traveller: dict[str, Any]) -> None:
    logs = {p.name: p.read_text(encoding="utf-8", errors="replace") for p in (service.home / "logs").glob("*.log")}
    assert len(logs) >= 4
    for name, words in (logs | {"up": service.words}).items():
        assert [n for n in ("access_token", "refresh_token") if traveller[n] in words] == [], name
        assert PASSWORD not in words, name
        assert "Traceback" not in words, name


_LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (DEBUG|INFO|WARNING|ERROR|CRITICAL) [\w.]+ .+")


def test_every_log_begins_with_a_line_of_its_program_and_has_one_format(service: Service) -> None:
    listens = {"auth_server": service.web_url, "mcp_server": service.mcp_url, "inbox": service.facts["inbound_smtp"]}
    for name in ("auth_server", "mcp_server", "worker", "dispatcher", "inbox"):
        first, *rest = (service.home / "logs" / f"{name}.log").read_text(encoding="utf-8").splitlines()
        assert f" INFO award_travel {name} {VERSION} starts: mode=sandbox " in first
        assert listens.get(name, "").removeprefix("http://").removesuffix("/mcp") in first
        assert [line for line in (first, *rest) if not _LINE.fullmatch(line)] == [], name


def test_one_address_shows_the_metrics_of_all_programs(service: Service, call: Call) -> None:
    call("list_my_cards")
    assert get(service.facts["metrics_url"]).status_code == 401  # any user of the machine can connect
    text = get(service.facts["metrics_url"], headers={"Authorization": f"Bearer {service.facts['metrics_token']}"}).text
    for line in (
        'award_tool_calls_total{outcome="ok",tool="list_my_cards"}',
        'award_http_responses_total{program="auth_server",status="2xx"}',
        'award_database_pool_size{pool="main",program="mcp_server"} 10.0',
        f'award_build_info{{mode="sandbox",program="up",python="{platform.python_version()}",version="{VERSION}"}} 1.0',
        "award_database_up 1.0",
        "award_dispatchers 1.0",
        'award_workers{queue="mail"} 1.0',
        "award_oldest_due_delivery_seconds ",
    ):
        assert line in text, text


def test_the_command_line_prints_a_token_that_works(service: Service) -> None:
    email = service.person("walker")
    token = command(service.home, "token", email, "--password-stdin", given=PASSWORD + "\n").strip()
    told = {"Authorization": f"Bearer {token}"}
    listed = post(service.mcp_url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers=told)
    assert listed.json()["result"]["tools"]


def test_the_doctor_finds_a_running_service_well(service: Service) -> None:
    words = command(service.home, "doctor").lower()
    for part in ("database", "queue", "auth server", "reference", "clock", "mode"):
        assert part in words


def test_up_on_given_servers_starts_none_of_its_own(equipped: Service) -> None:
    assert set(equipped.pids) == {"auth_server", "mcp_server", "dispatcher", "inbox", "worker"}
    for name in ("DATABASE_URL", "REDIS_URL"):
        assert equipped.facts[name.lower()] == equipped.settings[name]
    assert not (equipped.home / "pg").exists()
