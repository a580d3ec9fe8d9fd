"""deploy/constraints.txt: what a supported Python and system brings has an exact version, and that runs there."""

import tomllib
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
SYSTEMS = [("linux", "Linux", "x86_64"), ("linux", "Linux", "aarch64"), ("darwin", "Darwin", "arm64")]
PYTHONS = ["3.11.0", "3.11.2", "3.11.14", "3.12.0", "3.13.0", "3.14.0"]  # before 3.11.3 more is needed
ABOUT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXACT = {
    canonicalize_name(line.partition("==")[0])
    for line in (ROOT / "deploy" / "constraints.txt").read_text(encoding="utf-8").splitlines()
}
INSTALLED = {canonicalize_name(package.name): package for package in distributions() if package.name}


def list_needs(environment: dict[str, str]) -> Iterator[str]:
    """The names of all that the package and its extras bring there, as far as it is installed here."""
    extras = ABOUT["optional-dependencies"].values()
    waiting = [
        (Requirement(line), ("",)) for line in [*ABOUT["dependencies"], *(one for ours in extras for one in ours)]
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


def describe(python: str, system: tuple[str, str, str]) -> dict[str, str]:
    return {
        "python_full_version": python,
        "python_version": python.rpartition(".")[0],
        "sys_platform": system[0],
        "platform_system": system[1],
        "platform_machine": system[2],
        "os_name": "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: f"{system[0]}-{system[2]}")
def test_everything_that_is_brought_has_an_exact_version(python: str, system: tuple[str, str, str]) -> None:
    needs = set(list_needs(describe(python, system)))
    assert {"pydantic", "psycopg-binary", "pytest"} <= needs
    assert needs - EXACT == set()
    assert ("async-timeout" in needs) == (python in ("3.11.0", "3.11.2"))


@pytest.mark.slow  # starts programs
def test_every_exact_version_is_brought_somewhere() -> None:
    needs = {name for system in SYSTEMS for python in PYTHONS for name in list_needs(describe(python, system))}
    assert EXACT - needs == set()


def test_every_exact_version_runs_on_every_python() -> None:
    assert ABOUT["requires-python"] == f">={PYTHONS[0].removesuffix('.0')}"
    wanted = {name: INSTALLED[name].metadata["Requires-Python"] for name in EXACT & INSTALLED.keys()}
    assert len(wanted) > 100
    refused = [
        (name, spec, python)
        for name, spec in sorted(wanted.items())
        for python in PYTHONS
        if spec and python not in SpecifierSet(spec)
    ]
    assert refused == []
