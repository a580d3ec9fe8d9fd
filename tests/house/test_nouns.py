"""One noun, one name in every room: the table of nouns holds, and no file bears a name that a noun had before."""

import tomllib
from pathlib import Path

import pytest

from tests.house.source import ROOT, product_texts, suite_texts

NOUNS = tomllib.loads((Path(__file__).parent / "nouns.toml").read_text(encoding="utf-8"))


def _has(room: str, noun: str) -> bool:
    """A file of that name, or a folder with files; tests have `test_<noun>.py`, or a file for each part of it."""
    folder = ROOT / room
    if room.startswith("tests/"):
        return any(folder.glob(f"test_{noun}*.py")) or (folder / noun).is_dir()
    return (folder / f"{noun}.py").is_file() or (folder / noun / "__init__.py").is_file()


@pytest.mark.parametrize("noun", NOUNS)
def test_each_room_that_has_the_noun_calls_its_file_so(noun: str) -> None:
    assert [room for room in NOUNS[noun]["rooms"] if not _has(room, noun)] == []


def test_no_file_bears_a_name_that_a_noun_had_before() -> None:
    old = {name: noun for noun, entry in NOUNS.items() for name in entry["old"]}
    stems = {path: Path(path).stem.removeprefix("test_") for path in product_texts() | suite_texts()}
    assert [f"{path}: {old[stem]}" for path, stem in stems.items() if stem in old] == []


def test_an_old_name_is_no_noun_of_today() -> None:
    assert [name for entry in NOUNS.values() for name in entry["old"] if name in NOUNS] == []
