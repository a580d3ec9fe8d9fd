"""LICENSES.md names every public repository that the facts cite."""

import re

from shared.reference.load import FOLDER, reference
from shared.reference.rows import FILES
from shared.reference.rows.fact import Fact

_REPOSITORY = re.compile(r"https://(?:raw\.githubusercontent|github)\.com/([\w.-]+/[\w.-]+)")


def test_each_repository_a_row_cites_is_named_with_its_licence() -> None:
    text = (FOLDER / "LICENSES.md").read_text(encoding="utf-8")
    cited = {
        match[1]: file
        for file, kind in FILES.items()
        if issubclass(kind, Fact)
        for row in reference().rows(file)
        for url in (row.source_url, row.second_source_url or "")
        if (match := _REPOSITORY.match(url))
    }
    assert cited
    missing = {repository: file for repository, file in cited.items() if f"com/{repository})" not in text}
    assert not missing, "add a line to LICENSES.md for each"


def test_licences_are_shipped_with_the_facts() -> None:
    pyproject = (FOLDER.parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert '"LICENSES.md"' in pyproject
