"""deploy/Containerfile and deploy/compose.yaml: the programs, settings and names in them are those that exist."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.cli import build_parser, list_files
from shared.settings import Settings, settings

DEPLOY = Path(__file__).parents[2] / "deploy"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "award-travel"}
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
    assert sorted(commands) == ["backup", "migrate"]


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


def test_whatever_a_service_waits_for_or_mounts_exists() -> None:
    for service in SERVICES.values():
        for other, how in service.get("depends_on", {}).items():
            assert how["condition"] == "service_completed_successfully" or "healthcheck" in SERVICES[other]
        volumes = {mount.partition(":")[0] for mount in service.get("volumes", ())}
        assert {name for name in volumes if not name.startswith(".")} <= set(COMPOSE["volumes"])


def test_the_folder_of_the_image_holds_what_is_copied_from_it() -> None:
    names = {file.name for file in list_files("image")}
    assert names == {"Containerfile", "constraints.txt"}
    assert OURS["migrate"]["build"] == {"context": "image", "dockerfile": "Containerfile"}
    assert "-c /build/constraints.txt" in CONTAINERFILE


def test_no_image_is_named_with_a_host() -> None:
    """So that each is taken from where the machine is set up to look."""
    images = [service["image"] for service in SERVICES.values()] + re.findall(r"^ARG BASE=(.+)$", CONTAINERFILE, re.M)
    assert len(images) == len(SERVICES) + 1
    assert [image for image in images if "." in image.partition("/")[0].partition(":")[0]] == []
