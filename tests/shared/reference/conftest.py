"""Spoiled copies of the reviewed files, of which only what differs is read again."""

import filecmp
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from shared.reference import load
from shared.reference.load import FOLDER
from shared.reference.rows import FILES
from shared.reference.tables import read_rows


@cache
def _read_reviewed(name: str) -> dict[int, Any]:
    faults: list[str] = []
    rows = read_rows(FOLDER, name, FILES[name], faults)
    assert faults == []
    return rows


@pytest.fixture
def reviewed_files_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a file that equals the reviewed one, byte for byte, are kept: to read all takes half of such a test."""

    def read(folder: Path, name: str, row: type[Any], faults: list[str]) -> dict[int, Any]:
        path = folder / name
        if path.exists() and filecmp.cmp(path, FOLDER / name, shallow=False):
            return dict(_read_reviewed(name))
        return read_rows(folder, name, row, faults)

    monkeypatch.setattr(load, "read_rows", read)
