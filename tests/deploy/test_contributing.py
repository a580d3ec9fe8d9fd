"""What contributors are told: the commands and files exist, and the table of columns is that of the row type."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from deploy.cli import build_parser
from shared.reference.load import FOLDER
from shared.reference.rows.fact import Dated, Fact

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_every_column_of_provenance_is_explained() -> None:
    columns = re.findall(r"^\| `(\w+)` \|", TEXT, re.M)
    assert columns == [f.name for f in (*fields(Fact),) if f.name in columns]
    assert set(columns) == {f.name for f in fields(Fact)}
    assert all(f"`{f.name}`" in TEXT for f in fields(Dated))


def test_every_file_it_names_exists() -> None:
    paths = re.findall(r"`((?:shared|tests|deploy)/[\w/.]+)`", TEXT)
    links = re.findall(r"\]\(\.\./([\w/.]+)\)", TEXT)
    tables = [f"{FOLDER.relative_to(ROOT)}/{name}" for name in re.findall(r"`(\w+\.csv)`", TEXT)]
    assert len(paths) > 4
    assert [path for path in (*paths, *links, *tables) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("words", [("facts", "check"), ("facts", "page"), ("fact", "export")])
def test_the_commands_it_names_are_commands(words: tuple[str, ...]) -> None:
    assert f"award-travel {' '.join(words)}" in TEXT
    assert build_parser().parse_args(words).action == words[1]
