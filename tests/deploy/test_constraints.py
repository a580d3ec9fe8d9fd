"""deploy/constraints.txt: whatever a supported Python and system brings, it is brought at an exact version."""

import tomllib
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
SYSTEMS = [("linux", "Linux", "x86_64"), ("linux", "Linux", "aarch64"), ("darwin", "Darwin", "arm64")]
PYTHONS = ["3.11.2", "3.11.14", "3.12.0", "3.13.0", "3.14.0"]  # Debian 12 has 3.11.2, which needs more than 3.11.3
INSTALLED = {canonicalize_name(package.name): package for package in distributions() if package.name}


def list_needs(environment: dict[str, str]) -> Iterator[str]:
    """The names of all that the package and its extras bring there, as far as it is installed here."""
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = about["optional-dependencies"].values()
    waiting = [
        (Requirement(line), ("",)) for line in [*about["dependencies"], *(one for ours in extras for one in ours)]
    ]
    seen = set[tuple[str, tuple[str, ...]]]()
    while waiting:
        need, chosen = waiting.pop()
        if need.marker and not any(need.marker.evaluate(environment | {"extra": extra}) for extra in chosen):
            continue
        name = canonicalize_name(need.name)
        yield name
        theirs = ("", *sorted(need.extras))
        if (name, theirs) not in seen and name in INSTALLED:
            seen.add((name, theirs))
            waiting += [(Requirement(line), theirs) for line in INSTALLED[name].requires or ()]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: f"{system[0]}-{system[2]}")
def test_everything_that_is_brought_has_an_exact_version(python: str, system: tuple[str, str, str]) -> None:
    lines = (ROOT / "deploy" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    exact = {canonicalize_name(line.partition("==")[0]) for line in lines}
    environment = {
        "python_full_version": python,
        "python_version": python.rpartition(".")[0],
        "sys_platform": system[0],
        "platform_system": system[1],
        "platform_machine": system[2],
        "os_name": "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    needs = set(list_needs(environment))
    assert {"pydantic", "psycopg-binary", "pytest"} <= needs
    assert needs - exact == set()
    assert ("async-timeout" in needs) == (python == "3.11.2")
