"""What a production service refuses at its start: the secrets of the example, and those a program could guess."""

import os
import subprocess
import sys

import pytest

from shared.settings import SettingsError, settings
from tests.support.settings_and_clock import Configure

GOOD = "x" * 32
PRODUCTION = {"APP_ENV": "production", "SECRET_KEYS": GOOD, "SERVICE_CLIENT_SECRET": GOOD}


def _read_faults(configure: Configure, **values: str) -> dict[str, str]:
    """What is said of each setting that is refused."""
    configure(**(PRODUCTION | values))
    try:
        settings()
    except SettingsError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.startswith("  ")]
        return dict(line.split(": ", 1) for line in lines)
    return {}


def test_the_example_as_it_stands_is_refused_with_every_fault_in_one_answer(configure: Configure) -> None:
    faults = _read_faults(
        configure,
        SECRET_KEYS="CHANGE-ME",
        SERVICE_CLIENT_SECRET="CHANGE-ME",
        DATABASE_URL="postgresql://award:PASSWORD@db.internal:5432/award",
        REDIS_URL="redis://:PASSWORD@queue.internal:6379/0",
    )
    assert faults.keys() == {"SECRET_KEYS", "SERVICE_CLIENT_SECRET", "DATABASE_URL", "REDIS_URL"}
    assert "is still CHANGE-ME" in faults["SECRET_KEYS"]
    assert "token_urlsafe(32)" in faults["SERVICE_CLIENT_SECRET"]
    assert "the password PASSWORD of the example" in faults["REDIS_URL"]


@pytest.mark.parametrize("name", ["SECRET_KEYS", "SERVICE_CLIENT_SECRET"])
def test_each_value_of_a_list_is_looked_at_and_none_is_printed(configure: Configure, name: str) -> None:
    short = "y" * 31
    assert "at least 32 characters" in _read_faults(configure, **{name: f"{GOOD}, {short}"})[name]
    assert short not in _read_faults(configure, **{name: short})[name]
    assert "is still CHANGE-ME" in _read_faults(configure, **{name: f"{GOOD},CHANGE-ME"})[name]
    assert name in _read_faults(configure, **{name: ""})
    assert _read_faults(configure, **{name: f"{GOOD}, {'y' * 32},"}) == {}


def test_a_server_without_a_password_is_the_operators_business(configure: Configure) -> None:
    assert _read_faults(configure, DATABASE_URL="postgresql:///award", REDIS_URL="redis://queue.internal:6379/0") == {}


def test_in_development_nothing_is_refused(configure: Configure) -> None:
    assert _read_faults(configure, APP_ENV="development", SECRET_KEYS="k", SERVICE_CLIENT_SECRET="CHANGE-ME") == {}


@pytest.mark.slow  # starts programs
@pytest.mark.parametrize("program", [["auth_server"], ["mcp_server"], ["jobs", "dispatcher"]])
def test_no_program_starts_with_them(program: list[str]) -> None:
    env = os.environ | {"APP_ENV": "production", "SECRET_KEYS": "CHANGE-ME", "SERVICE_CLIENT_SECRET": "short"}
    ended = subprocess.run([sys.executable, "-m", *program], env=env, capture_output=True, text=True, timeout=90)
    assert ended.returncode == 1
    assert "SECRET_KEYS: is still CHANGE-ME" in ended.stderr
    assert "SERVICE_CLIENT_SECRET: needs at least 32 characters" in ended.stderr
    assert "Traceback" not in ended.stderr
