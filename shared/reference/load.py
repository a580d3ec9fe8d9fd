"""The reference data of this process: the files go in, one frozen, checked `Reference` comes out."""

import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from shared.reference import world
from shared.reference.answers import Reference
from shared.reference.checks import faults as faults_across
from shared.reference.rows import FILES
from shared.reference.rows.fact import Fact
from shared.reference.tables import ReferenceError, provenance_faults, read_rows

__all__ = ["FOLDER", "Reference", "ReferenceError", "load", "reference"]

FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Loaded:
    reference: Reference
    seconds: float


def read(folder: Path) -> dict[str, list[Any]]:
    """Every file's rows. Raises ReferenceError naming all faults of all files at once."""
    faults: list[str] = []
    lines: dict[str, dict[int, Any]] = {}
    broken: set[str] = set()
    for name, row in FILES.items():
        before = len(faults)
        lines[name] = read_rows(folder, name, row, faults)
        if len(faults) > before:
            broken.add(name)
        if issubclass(row, Fact):
            faults += provenance_faults(name, lines[name])
    faults += faults_across(lines, world.codes(), broken)
    if faults:
        raise ReferenceError(faults)
    return {name: list(rows.values()) for name, rows in lines.items()}


def load(folder: Path = FOLDER) -> Loaded:
    started = time.perf_counter()
    tables = read(folder)
    return Loaded(Reference(tables), time.perf_counter() - started)


@lru_cache(maxsize=1)
def reference() -> Reference:
    """Loaded once per process and shared, read-only, by all calls."""
    return load().reference
