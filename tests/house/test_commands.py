"""The commands people paste: README, the continuous check and the package agree on them."""

import os
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CI = ROOT / ".ci" / "run"


def _commands() -> list[str]:
    """The single-line shell blocks of README, in order."""
    return [block.strip() for block in re.findall(r"```sh\n([^\n]+)\n```", README)]


def test_the_first_two_commands_install_with_the_constraints_and_then_start_and_test() -> None:
    start, test = _commands()[:2]
    install = "python3 -m venv .venv && .venv/bin/pip install -q -c deploy/constraints.txt -e '.[embedded,test]' && "
    assert start == install + ".venv/bin/award-travel up"
    assert test == install + ".venv/bin/pytest"


def test_the_continuous_check_runs_readmes_test_command_to_the_letter() -> None:
    lines = CI.read_text(encoding="utf-8").splitlines()
    assert _commands()[1] in lines
    assert os.access(CI, os.X_OK)
    assert os.access(ROOT / "deploy" / "check", os.X_OK)


def test_constraints_are_exact_versions_and_nothing_else() -> None:
    lines = (ROOT / "deploy" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line)] == []
    assert lines == sorted(lines, key=str.lower)


def test_every_direct_dependency_has_a_lower_bound_and_an_exact_version_that_meets_it() -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = about["dependencies"] + [line for extra in about["optional-dependencies"].values() for line in extra]
    lines = (ROOT / "deploy" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    exact = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    unbound = [line for line in wanted if ">=" not in line]
    names = [re.split(r"[\[>=<; ]", line)[0].lower() for line in wanted]
    assert unbound == []
    assert [name for name in names if name not in exact] == []


def test_the_command_is_installed_under_its_name() -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert about["project"]["scripts"] == {"award-travel": "deploy.cli:main"}
    assert about["dependency-groups"]["dev"] == ["award-travel[embedded,test]"]
