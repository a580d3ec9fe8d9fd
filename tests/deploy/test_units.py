"""deploy/units: systemd takes them, they start programs that exist, and each gets the time it needs to stop."""

import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from deploy.cli import COMMANDS, build_parser, list_files
from deploy.operators.roll import MAX_SECONDS
from shared.settings import Settings, settings

UNITS = {file.name: file.read_text(encoding="utf-8") for file in list_files("units")}
SERVICES = {name: text for name, text in UNITS.items() if name.endswith(".service")}
STARTS = {name: re.findall(r"^ExecStart=(.+)$", text, re.M) for name, text in SERVICES.items()}
PYTHON = "/opt/award-travel/bin/python -P -m "
PROGRAMS = {"auth_server", "mcp_server", "jobs dispatcher", "jobs worker", "jobs inbox"}
STAYING = {name: text for name, text in SERVICES.items() if "\nType=exec\n" in text}


def _read_hardening(text: str) -> set[str]:
    return set(text.partition("# What the program may touch")[2].partition("\n\n")[0].splitlines()[1:])


def test_every_program_has_one_service() -> None:
    words = [shlex.split(start.removeprefix(PYTHON)) for (start,) in STARTS.values()]
    commands = [call[1] for call in words if call[0] == "deploy.cli"]
    programs = [" ".join(call[:2]) if call[0] == "jobs" else call[0] for call in words if call[0] != "deploy.cli"]
    assert Counter(programs) == Counter(PROGRAMS)
    assert sorted(commands) == ["backup", "migrate"]
    assert set(commands) < set(COMMANDS)
    assert all(start.startswith(PYTHON) for (start,) in STARTS.values())


@pytest.mark.slow  # starts programs
@pytest.mark.parametrize("name", STARTS)
def test_the_program_takes_the_options_of_its_service(name: str) -> None:
    words = shlex.split(STARTS[name][0].removeprefix(PYTHON))
    done = subprocess.run(
        [sys.executable, "-P", "-m", *words, "--help"], capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stdout[:6]) == (0, "usage:")


def test_a_stop_asks_the_program_alone_and_waits_for_the_longest_run() -> None:
    assert len(STAYING) == len(PROGRAMS)
    for text in STAYING.values():
        assert "\nKillMode=mixed\n" in text
        assert f"\nTimeoutStopSec={settings().job_lease_seconds:g}\n" in text
        assert "\nRestart=always\n" in text


def test_only_the_servers_reload_with_processes_that_can_be_replaced() -> None:
    """And a reload that failed is known by its status, because the command waits."""
    command = f"\nExecReload={PYTHON}deploy.cli roll --wait $MAINPID\n"
    reloading = {name for name, text in SERVICES.items() if command in text}
    assert reloading == {"award-travel-web.service", "award-travel-tools.service"}
    assert build_parser().parse_args(["roll", "--wait", "1"]).wait
    waits = {int(wait) for name in reloading for wait in re.findall(r"\nTimeoutStartSec=(\d+)\n", SERVICES[name])}
    assert min(waits) > MAX_SECONDS
    assert [name for name in reloading if "--workers 2" not in STARTS[name][0]] == []


def test_each_server_stands_on_a_socket_of_its_own_port() -> None:
    for name in ("web", "tools"):
        unit = f"award-travel-{name}"
        port = re.findall(r"--host (\S+) --port (\d+)", STARTS[f"{unit}.service"][0])[0]
        assert f"\nListenStream={':'.join(port)}\n" in UNITS[f"{unit}.socket"]
        assert f"\nRequires={unit}.socket\n" in UNITS[f"{unit}.service"]
        assert re.search(rf"^After=.* {unit}\.socket$", UNITS[f"{unit}.service"], re.M)
        assert f"{unit}.socket" in UNITS["award-travel.target"]


def test_all_services_are_hardened_alike() -> None:
    first, *others = (_read_hardening(text) for text in SERVICES.values())
    assert {"NoNewPrivileges=yes", "ProtectSystem=strict", "PrivateTmp=yes", "CapabilityBoundingSet="} < first
    differing = {line for other in others for line in other ^ first}
    assert differing <= {"CapabilityBoundingSet=", "CapabilityBoundingSet=CAP_NET_BIND_SERVICE"}
    assert [name for name, text in SERVICES.items() if "\nUser=award-travel\n" not in text] == []


def test_the_target_and_the_page_name_every_unit() -> None:
    page = (Path(__file__).parents[2] / "deploy" / "docs" / "units.md").read_text(encoding="utf-8")
    assert [name for name in UNITS if f"`{name}`" not in page] == []
    target = UNITS["award-travel.target"]
    optional = {"award-travel-inbox.service", "award-travel-backup.service"}
    assert set(re.findall(r"award-travel-\w+\.service", target)) == set(SERVICES) - optional
    assert {name for name, text in UNITS.items() if "WantedBy=award-travel.target" in text} < set(UNITS)


def _read_drop_in() -> str:
    """That of the page, by which secrets are files."""
    page = (Path(__file__).parents[2] / "deploy" / "docs" / "units.md").read_text(encoding="utf-8")
    return page.partition("<<'END'\n")[2].partition("END\n")[0]


def test_the_drop_in_of_the_page_names_the_file_of_each_credential() -> None:
    names = re.findall(r"^LoadCredential=(\w+):/etc/award-travel/(\w+)$", _read_drop_in(), re.M)
    files = re.findall(r"(\w+)_FILE=%d/(\w+)", _read_drop_in())
    assert {"SECRET_KEYS", "DATABASE_URL"} <= dict(names).keys()
    assert names == files == [(name, name) for name, _ in names if name.lower() in Settings.model_fields]


@pytest.mark.systemd
def test_systemd_finds_nothing_to_say(tmp_path: Path) -> None:
    """With a program that exists here in place of the one that the reader installs, and the drop-in of the page."""
    (tmp_path / "award-travel-.service.d").mkdir()
    (tmp_path / "award-travel-.service.d" / "secrets.conf").write_text(_read_drop_in(), encoding="utf-8")
    for name, text in UNITS.items():
        (tmp_path / name).write_text(text.replace("/opt/award-travel/bin/python", sys.executable), encoding="utf-8")
    words = ["systemd-analyze", "verify", *(str(tmp_path / name) for name in UNITS)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    about_ours = [line for line in done.stderr.splitlines() if "award-travel" in line]
    assert (done.returncode, about_ours) == (0, [])


@pytest.mark.systemd
def test_systemd_refuses_a_unit_it_cannot_read(tmp_path: Path) -> None:
    """So that the test before can fail."""
    text = UNITS["award-travel-web.service"].replace("Type=exec", "Type=exce")
    (tmp_path / "award-travel-web.service").write_text(text.replace("User=", "Usr="), encoding="utf-8")
    words = ["systemd-analyze", "verify", str(tmp_path / "award-travel-web.service")]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    assert "Usr" in done.stderr
