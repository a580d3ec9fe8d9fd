"""What the tests fetch: the same in both places that name it, and each under the licence that is written down."""

import json
import re
from pathlib import Path

import pytest

from tests.support.requirements import HERE, INSTALL

ROOT = Path(__file__).parents[2]
PACKAGES = re.findall(r"(?<= )(@?[a-z0-9/-]+)@[\w.-]+", INSTALL)


def read_licences() -> dict[str, str]:
    rows = re.findall(r"^\| (`.*) \| .* \| (.*) \|$", (ROOT / "tests/node/LICENSES.md").read_text("utf-8"), re.M)
    return {name: licence for names, licence in rows for name in re.findall("`([^`]+)`", names)}


def test_the_run_on_a_clean_clone_fetches_what_the_tests_name() -> None:
    run = (ROOT / ".ci/run").read_text("utf-8").replace("\\\n", " ")
    fetched = re.search(r"npm install [^|;]*?--loglevel=error((?: +@?[\w./-]+@[\w.-]+)+)", run)
    assert fetched is not None
    assert fetched[1].split() == [word for word in INSTALL.split() if re.search(r"\w@", word)]


def test_each_package_has_its_licence_written_down() -> None:
    assert len(PACKAGES) == sum("@" in word[1:] for word in INSTALL.split())
    assert set(PACKAGES) <= set(read_licences())


@pytest.mark.parametrize("name", sorted(read_licences()))
def test_the_licence_is_the_packages_own(name: str) -> None:
    package = HERE.parent / name / "package.json"
    if package.exists():
        assert read_licences()[name].split(",")[0] == json.loads(package.read_text("utf-8"))["license"]
