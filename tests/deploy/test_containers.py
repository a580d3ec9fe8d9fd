"""deploy/Containerfile and deploy/compose.yaml: the programs, settings and names in them are those that exist."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import redis
import yaml

from deploy.cli import build_parser, list_files
from deploy.local.server_binaries import find_valkey
from shared.settings import VERSION, Settings, settings
from tests.support.service import wait_for

DEPLOY = Path(__file__).parents[2] / "deploy"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == f"award-travel:{VERSION}"}
PROGRAMS = {name: service for name, service in OURS.items() if service["command"][0] == "python"}
SETTINGS = {name.upper() for name in Settings.model_fields}


def test_all_programs_are_services_of_one_image() -> None:
    started = {" ".join(service["command"][2:4]).partition(" --")[0] for service in PROGRAMS.values()}
    assert started == {"auth_server", "mcp_server", "jobs dispatcher", "jobs worker", "jobs inbox"}
    commands = [
        build_parser().parse_args(service["command"][1:]).command
        for service in OURS.values()
        if service["command"][0] == "award-travel"
    ]
    assert sorted(commands) == ["backup", "migrate", "upgrade"]


def test_nothing_is_migrated_before_the_new_image_was_asked_what_is_to_be_done_first() -> None:
    done = "service_completed_successfully"
    assert OURS["check"]["command"] == ["award-travel", "upgrade", "--check"]
    assert (OURS["check"]["restart"], OURS["migrate"]["depends_on"]) == ("no", {"check": {"condition": done}})
    waiting = {name for name, one in OURS.items() if one["depends_on"].get("migrate", {}).get("condition") == done}
    assert waiting == set(PROGRAMS) | {"backup"}


@pytest.mark.slow  # starts programs
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_takes_the_options_of_its_service(name: str) -> None:
    words = [sys.executable, "-P", *PROGRAMS[name]["command"][1:], "--help"]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout[:6]) == (0, "usage:")


def test_every_setting_of_a_service_exists() -> None:
    named = {name for service in OURS.values() for name in service["environment"]}
    assert {"AUTH_INTERNAL_URL", "FORWARDED_ALLOW_IPS", "BACKUP_FOLDER"} <= named <= SETTINGS
    network = COMPOSE["networks"]["default"]["ipam"]["config"][0]["subnet"]
    assert {service["environment"]["FORWARDED_ALLOW_IPS"] for service in OURS.values()} == {network}


def test_every_program_of_ours_has_no_rights_and_time_to_stop() -> None:
    for service in OURS.values():
        assert (service["read_only"], service["tmpfs"], service["cap_drop"]) == (True, ["/tmp"], ["ALL"])
        assert service["stop_grace_period"] == f"{settings().job_lease_seconds:g}s"
    assert re.findall(r"^USER (\S+)$", CONTAINERFILE, re.M) == ["10001:10001"]


def test_the_servers_are_asked_where_they_listen() -> None:
    for name in ("web", "tools"):
        command, check = SERVICES[name]["command"], SERVICES[name]["healthcheck"]["test"][-1]
        port = command[command.index("--port") + 1]
        assert f"http://127.0.0.1:{port}/readyz" in check
        assert SERVICES["proxy"]["environment"][f"{name.upper()}_UPSTREAM"] == f"{name}:{port}"
    assert OURS["tools"]["environment"]["AUTH_INTERNAL_URL"] == "http://web:8000"


def test_the_programs_without_a_page_are_asked_for_signs_of_life() -> None:
    for name in ("dispatcher", "worker", "inbox"):
        assert SERVICES[name]["healthcheck"]["test"] == ["CMD", "award-travel", "alive", name]


def test_the_proxy_takes_the_addresses_that_compose_gives_it() -> None:
    taken = set(re.findall(r"\{\$(\w+):", (DEPLOY / "Caddyfile").read_text(encoding="utf-8")))
    assert taken == set(SERVICES["proxy"]["environment"])


def test_no_service_fills_the_disk_with_logs_or_takes_all_memory() -> None:
    assert [
        name for name, one in SERVICES.items() if one["logging"]["options"].keys() != {"max-size", "max-file"}
    ] == []
    assert [name for name, one in SERVICES.items() if not re.fullmatch(r"\d+[mg]", one["mem_limit"])] == []


@pytest.mark.slow  # starts the queue
def test_the_queue_asks_for_its_password_and_shows_it_in_no_list_of_processes(tmp_path: Path) -> None:
    """By the command of its service, with this machine's valkey-server listening at a socket."""
    shell, option, script = SERVICES["queue"]["command"]
    socket = tmp_path / "socket"
    script = script.replace("$$", "$").replace("valkey-server -", f"{find_valkey()} - --port 0 --unixsocket {socket}")
    with subprocess.Popen(
        [shell, option, script], env={"REDISCLI_AUTH": "s3cret", "PATH": os.environ["PATH"]}
    ) as queue:
        try:
            wait_for("the queue", socket.exists)
            words = Path(f"/proc/{queue.pid}/cmdline").read_bytes()  # it is the server itself, which a stop reaches
            assert b"valkey-server" in words
            assert b"s3cret" not in words
            with pytest.raises(redis.AuthenticationError):
                redis.Redis(unix_socket_path=str(socket)).ping()
            client = redis.Redis(unix_socket_path=str(socket), password="s3cret", decode_responses=True)
            taken = client.config_get("maxmemory-policy") | client.config_get("appendonly") | client.config_get("save")
            assert taken == {"maxmemory-policy": "noeviction", "appendonly": "no", "save": ""}
            client.shutdown()
        finally:
            queue.terminate()


def test_the_override_of_the_page_gives_every_program_its_secrets_in_files() -> None:
    page = (DEPLOY / "docs" / "containers.md").read_text(encoding="utf-8")
    override = yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0])
    assert override["services"].keys() == OURS.keys()
    for service in override["services"].values():
        files = {name: path for name, path in service["environment"].items() if name.endswith("_FILE")}
        assert files == {f"{name.upper()}_FILE": f"/run/secrets/{name}" for name in service["secrets"]}
        kept = {name: value for name, value in service["environment"].items() if name not in files}
        assert kept == OURS["web"]["environment"]
        assert set(service["secrets"]) == override["secrets"].keys() < {name.lower() for name in SETTINGS}


def test_whatever_a_service_waits_for_or_mounts_exists() -> None:
    for service in SERVICES.values():
        for other, how in service.get("depends_on", {}).items():
            assert how["condition"] == "service_completed_successfully" or "healthcheck" in SERVICES[other]
        volumes = {mount.partition(":")[0] for mount in service.get("volumes", ())}
        assert {name for name in volumes if not name.startswith(".")} <= set(COMPOSE["volumes"])


def test_the_folder_of_the_image_holds_what_is_copied_from_it() -> None:
    names = {file.name for file in list_files("image")}
    assert names == {"Containerfile", "requirements.txt"}
    assert OURS["check"]["build"] == {"context": "image", "dockerfile": "Containerfile"}
    assert "--require-hashes -r /build/requirements.txt" in CONTAINERFILE


def test_no_image_is_named_with_a_host() -> None:
    """So that each is taken from where the machine is set up to look; with a tag, so that there is a way back."""
    images = [service["image"] for service in SERVICES.values()] + re.findall(r"^ARG BASE=(.+)$", CONTAINERFILE, re.M)
    assert len(images) == len(SERVICES) + 1
    assert [image for image in images if ":" not in image] == []
    assert [image for image in images if "." in image.partition("/")[0].partition(":")[0]] == []
