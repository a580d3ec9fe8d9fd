"""deploy/env.example and the settings class say the same."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import PydanticUndefined

from deploy.backups.postgres_programs import Server
from deploy.database.direct_database import read_direct_url
from deploy.local.home import Home
from deploy.local.service import is_set_by_environment
from deploy.local.stack import Stack, build_environment, start_private_servers
from deploy.service_name import read_service_name
from shared.settings import Settings, SettingsError, settings
from shared.variables import name_file, unquote
from tests.support.settings_and_clock import Configure

EXAMPLE = (Path(__file__).parents[2] / "deploy" / "env.example").read_text(encoding="utf-8")
LINES = dict(re.findall(r"^(#?[A-Z][A-Z0-9_]+)=(.*)$", EXAMPLE, re.M))


def _default(name: str) -> Any:
    return Settings.model_fields[name].default


def test_every_setting_is_documented_and_every_documented_one_exists() -> None:
    assert sorted(name.lstrip("#").lower() for name in LINES) == sorted(Settings.model_fields)


def test_required_settings_are_written_out() -> None:
    required = [name.upper() for name in Settings.model_fields if _default(name) is PydanticUndefined]
    assert [name for name in required if name not in LINES] == []
    assert "DATABASE_URL" in required


def test_a_commented_setting_shows_its_true_default() -> None:
    shown = {line.lstrip("#"): unquote(value) for line, value in LINES.items() if line.startswith("#")}
    defaults = {name: _default(name.lower()) for name in shown}
    true = {name: "" if default is None else str(default) for name, default in defaults.items()}
    assert [f"{name}={shown[name]}, not {true[name]}" for name in shown if shown[name] != true[name]] == []


def _source(path: Path) -> dict[str, str]:
    """What a program started by a shell that sourced the file sees."""
    words = f"set -ae; . {shlex.quote(str(path))}; env -0"
    answer = subprocess.run(["/usr/bin/env", "-i", "/bin/sh", "-c", words], capture_output=True, text=True, check=True)
    assert answer.stderr == ""
    return dict(pair.split("=", 1) for pair in answer.stdout.split("\0") if pair)


def _read_for_units(path: Path) -> dict[str, str]:
    """As systemd.exec(5) reads an EnvironmentFile: quotes are taken off, nothing is expanded, # begins a line only."""
    pairs = (line.split("=", 1) for line in _list_assignments(path))
    return {name: "".join(shlex.split(value)) if value[:1] in ("'", '"') else value for name, value in pairs}


def _read_for_containers(path: Path) -> dict[str, str]:
    """As --env-file reads it: all behind the first = is the value, quotes too."""
    return dict(line.split("=", 1) for line in _list_assignments(path))


def _list_assignments(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]


SECRETS = {
    "DATABASE_URL": "postgresql://a:b@c/d",
    "REDIS_URL": "redis://c/0",
    "SECRET_KEYS": "x" * 32,
    "SERVICE_CLIENT_SECRET": "y" * 32,
}


def _load(configure: Configure, values: dict[str, str]) -> dict[str, Any]:
    """The settings of a program with these variables, without the secrets of the example."""
    configure(**(values | dict.fromkeys(("DATABASE_URL",), "postgresql://a:b@c/d")))
    configure(REDIS_URL="redis://c/0", SECRET_KEYS="x" * 32, SERVICE_CLIENT_SECRET="x" * 32)
    return settings().model_dump()


def test_shell_units_and_containers_read_the_same_settings(tmp_path: Path, configure: Configure) -> None:
    """Of the file as it is, of each default written out, and of values that need quotes."""
    lines = EXAMPLE.splitlines() + [
        re.sub("^#", "", line) for line in EXAMPLE.splitlines() if re.match(r"#[A-Z][A-Z0-9_]+=.", line)
    ]
    providers = {"acme": {"title": "A & B", "issuer": "https://acme.example", "client_id": "a", "client_secret": "$x"}}
    lines += ["MAIL_FROM='Desk <desk@travel.example>'", f"OIDC_PROVIDERS='{json.dumps(providers)}'"]
    path = tmp_path / "env"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    shell, units, containers = _source(path), _read_for_units(path), _read_for_containers(path)
    loaded = [_load(configure, {name: text[name] for name in units}) for text in (shell, units, containers)]
    assert loaded[0] == loaded[1] == loaded[2]
    assert loaded[0]["mail_from"] == "Desk <desk@travel.example>"
    assert loaded[0]["service_name"] == "Award Travel"
    assert settings().oidc_providers["acme"].title == "A & B"


def test_the_example_as_it_stands_needs_no_quotes(tmp_path: Path) -> None:
    path = tmp_path / "env"
    path.write_text(EXAMPLE, encoding="utf-8")
    shell = _source(path)
    assert _read_for_units(path) == _read_for_containers(path) == {name: shell[name] for name in _read_for_units(path)}
    assert shell["MAIL_FROM"] == "noreply@travel.example.com"
    assert shell["SMTP_HOST"] == "mail.internal"  # what stands behind the sender is read too


def test_programs_that_read_before_the_settings_take_off_quotes_too(configure: Configure) -> None:
    configure(SERVICE_NAME="'Miles & More'", DATABASE_URL="'postgresql://a:b@c/d?application_name=x&connect_timeout=2'")
    assert read_service_name() == "Miles & More"
    assert Server.from_environment() == Server.from_url("postgresql://a:b@c/d?application_name=x&connect_timeout=2")


def _load_from_files(configure: Configure, folder: Path, values: dict[str, str]) -> dict[str, Any]:
    for name, value in values.items():
        (folder / name).write_text(f"{value}\n", encoding="utf-8")
    configure(**dict.fromkeys(values, ""), **{name_file(name): str(folder / name) for name in values})
    return settings().model_dump()


def test_any_setting_can_stand_in_a_file(tmp_path: Path, configure: Configure) -> None:
    lines = {name.lstrip("#"): unquote(value) for name, value in LINES.items()}
    values = {name: value for name, value in lines.items() if value} | SECRETS
    configure(**values)
    expected = settings().model_dump()
    assert _load_from_files(configure, tmp_path, values) == expected
    assert read_direct_url() == SECRETS["DATABASE_URL"]
    assert is_set_by_environment()


def test_a_setting_next_to_its_file_and_files_that_cannot_be_read_are_named_at_once(
    tmp_path: Path, configure: Configure
) -> None:
    _load_from_files(configure, tmp_path, SECRETS)
    (tmp_path / "empty").write_text("\n", encoding="utf-8")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    configure(SECRET_KEYS="x" * 32, SMTP_PASSWORD_FILE=str(tmp_path / "none"))
    configure(DUFFEL_API_KEY_FILE=str(tmp_path / "empty"), LITEAPI_KEY_FILE=str(tmp_path / "bytes"))
    with pytest.raises(SettingsError) as refused:
        settings()
    assert sorted(str(refused.value).splitlines()) == [
        f"DUFFEL_API_KEY_FILE names {tmp_path}/empty, which is empty.",
        f"LITEAPI_KEY_FILE names {tmp_path}/bytes, which cannot be read: it is no text.",
        "SECRET_KEYS and SECRET_KEYS_FILE are both set: set one of them.",
        f"SMTP_PASSWORD_FILE names {tmp_path}/none, which cannot be read: No such file or directory.",
    ]


def test_no_setting_has_the_name_of_the_file_of_another() -> None:
    names = Settings.model_fields.keys()
    assert [name for name in names if name_file(name) in names] == []


def test_programs_of_up_get_a_secret_of_a_file_once(tmp_path: Path, configure: Configure) -> None:
    _load_from_files(configure, tmp_path, SECRETS)
    stack = Stack(Home(tmp_path / "home").prepare(), 8000, 8001, 8025, lambda _: None)
    given = build_environment(stack, start_private_servers(stack))
    assert {name: given[name] for name in SECRETS} == SECRETS
    assert [name for name in SECRETS if name_file(name) in given] == []


def test_what_no_program_could_work_with_is_named_by_its_setting(configure: Configure) -> None:
    servers = {"http": ("foo", "ftp://host", "http://", "http://host:99999", "http://[::1")}
    refused = {
        "LOG_LEVEL": ("chatty",),
        "DATABASE_URL": ("foo", "postgresql://host:port/name", "mysql://host/name"),
        "REDIS_URL": ("foo", "redis://host:x", "http://host"),
        "MCP_URL": tuple(f"{url}/mcp" for url in servers["http"]),
        **dict.fromkeys(("WEB_URL", "MCP_UPSTREAM_URL", "AUTH_INTERNAL_URL"), servers["http"]),
        **dict.fromkeys(("CHANNEL_NETWORKS", "DCR_TRUSTED_RANGES"), ("office", "10.0.0.0/8;::1")),
    }
    taken = {
        "LOG_LEVEL": ("info",),
        "DATABASE_URL": ("postgres:///name?host=/run", "postgresql://u:a#b/c[d@[::1]:5/n", "postgresql://u@a:1,b:2/n"),
        "REDIS_URL": ("unix:///run/valkey.sock", "rediss://:a#b@host/1"),
        "MCP_UPSTREAM_URL": ("", "http://[fd00::1]:8001"),
        "CHANNEL_NETWORKS": ("", "10.0.0.0/8, fd00::/8"),
    }
    faults = []
    for name, value in [(name, value) for name, values in refused.items() for value in values]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(name, value)
            settings.cache_clear()
            try:
                settings()
                faults.append((name, value, "taken"))
            except SettingsError as fault:
                faults += [] if f"  {name}: " in str(fault) else [(name, value, str(fault))]
    for name, values in taken.items():
        for value in values:
            configure(**{name: value})
            settings()
    assert faults == []
