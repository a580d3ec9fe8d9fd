"""deploy/constraints.txt: what a supported Python and system brings has an exact version, and that runs there.

And the same versions stand wherever pip, uv, a wheel alone and the image read them.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from deploy.releases.pins import list_requirements

ROOT = Path(__file__).parents[2]
SYSTEMS = [("linux", "Linux", "x86_64"), ("linux", "Linux", "aarch64"), ("darwin", "Darwin", "arm64")]
PYTHONS = ["3.11.0", "3.11.2", "3.11.14", "3.12.0", "3.13.0", "3.14.0"]  # before 3.11.3 more is needed
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ABOUT = PROJECT["project"]
CONSTRAINTS = (ROOT / "deploy" / "constraints.txt").read_text(encoding="utf-8").splitlines()
VERSIONS = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in CONSTRAINTS)}
EXACT = VERSIONS.keys()
HASHED = (ROOT / "deploy" / "requirements.txt").read_text(encoding="utf-8")
INSTALLED = {canonicalize_name(package.name): package for package in distributions() if package.name}


EXTRAS = ABOUT["optional-dependencies"].keys() - {"pinned"}


def list_needs(environment: dict[str, str], extras: Iterable[str] = EXTRAS) -> Iterator[str]:
    """The names of all that the package and its extras bring there, as far as it is installed here."""
    ours = [line for extra in extras for line in ABOUT["optional-dependencies"][extra]]
    waiting = [(Requirement(line), ("",)) for line in [*ABOUT["dependencies"], *ours]]
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


def test_uv_and_a_wheel_alone_bring_the_versions_that_pip_does() -> None:
    assert PROJECT["tool"]["uv"]["constraint-dependencies"] == CONSTRAINTS
    assert ABOUT["optional-dependencies"]["pinned"] == list_requirements(HASHED)


def test_the_image_installs_the_same_versions_of_all_that_a_server_needs_by_their_hashes() -> None:
    pinned = [Requirement(line) for line in list_requirements(HASHED)]
    assert {canonicalize_name(one.name): str(one.specifier) for one in pinned} == {
        name: f"=={VERSIONS[name]}"
        for system in SYSTEMS
        for python in PYTHONS
        for name in list_needs(describe(python, system), ("embedded", "telemetry"))
    }
    for part in re.split(r"\n(?! )", HASHED.rstrip()):
        _, *hashes = part.split(" \\\n")
        assert hashes, part
        assert [line for line in hashes if not re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}", line)] == []


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: f"{system[0]}-{system[2]}")
def test_what_is_hashed_is_installed_where_it_is_needed_alone(python: str, system: tuple[str, str, str]) -> None:
    there = describe(python, system)
    lines = [Requirement(line) for line in list_requirements(HASHED)]
    taken = {canonicalize_name(one.name) for one in lines if not one.marker or one.marker.evaluate(there)}
    assert taken == set(list_needs(there, ("embedded", "telemetry")))


def test_no_list_of_versions_names_a_registry() -> None:
    assert [text for text in (HASHED, *CONSTRAINTS) if "://" in text or "index" in text.split()] == []
