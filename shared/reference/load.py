"""Loading of the reference data: one frozen, checked `Reference` per process."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.garbage_collection import pause_collection
from shared.reference import airports
from shared.reference.checks import find_faults as faults_across
from shared.reference.overrides import Override, apply_overrides
from shared.reference.provenance import check_provenance
from shared.reference.reference import Reference
from shared.reference.rows import FILES
from shared.reference.rows.fact import Fact
from shared.reference.tables import ReferenceError, read_rows

__all__ = ["FOLDER", "Reference", "ReferenceError", "load", "reference", "replace"]

FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Loaded:
    reference: Reference
    seconds: float


def read_tables(folder: Path, overrides: Sequence[Override] = ()) -> dict[str, list[Any]]:
    """Every file's rows, with the corrections laid over them. Raises ReferenceError naming all faults at once."""
    faults: list[str] = []
    lines: dict[str, dict[Any, Any]] = {}
    broken: set[str] = set()
    for name, row in FILES.items():
        before = len(faults)
        lines[name] = read_rows(folder, name, row, faults)
        if len(faults) > before:
            broken.add(name)
    apply_overrides(lines, overrides, faults)
    hosts = frozenset(row.host for row in lines["primary_hosts.csv"].values())
    for name, row in FILES.items():
        if issubclass(row, Fact):
            faults += check_provenance(name, lines[name], hosts)
    faults += faults_across(lines, airports.load_codes(), broken)
    if faults:
        raise ReferenceError(faults)
    return {name: list(rows.values()) for name, rows in lines.items()}


def load(folder: Path = FOLDER, overrides: Sequence[Override] = ()) -> Loaded:
    started = time.perf_counter()
    with pause_collection():
        tables = read_tables(folder, overrides)
        return Loaded(Reference(tables), time.perf_counter() - started)


_current: list[Reference] = []
_loading = threading.Lock()


def reference() -> Reference:
    """Loaded once per process and shared, read-only, by all calls."""
    if not _current:
        with _loading:
            if not _current:
                _current.append(load().reference)
    return _current[0]


def replace(new: Reference) -> None:
    """Replaces the reference data of the process; calls in progress keep the old object."""
    _current[:] = [new]
