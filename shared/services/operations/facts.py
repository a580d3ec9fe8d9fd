"""Corrections of reference data by the operator: checked, stored, and loaded by every running process."""

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

from redis.exceptions import RedisError
from sqlalchemy.orm import Session

from shared import clock
from shared.db import overrides as store
from shared.db.base import transaction
from shared.redis import FACTS, connect
from shared.reference import load
from shared.reference.load import FOLDER, ReferenceError
from shared.reference.overrides import Override, build_key, list_columns, list_key_columns
from shared.reference.provenance import is_proof
from shared.reference.rows import FILES
from shared.reference.tables import is_optional, read_raw_rows

log = logging.getLogger(__name__)
Cells = Mapping[str, str]
_loaded_version = [0]  # the version of corrections in the facts of this process
_refreshing = threading.Lock()
_MAX_LOGGED = 20  # faults in one line of the log


def announce_change() -> None:
    """Announces a change after commit: servers check at once. Without Redis they check within seconds anyway."""
    try:
        connect().publish(FACTS, "changed")
    except (RedisError, OSError):
        log.warning("facts: Redis is down; servers find the correction by themselves")


class BadFact(Exception):
    """A correction that cannot be accepted; the text names all its faults."""


def list_corrections(session: Session) -> list[Override]:
    """Every correction in force."""
    return [
        Override(r.id, r.file, r.cells, r.removed, r.entered_at, r.entered_by, r.reason)
        for r in store.overrides(session)
    ]


def refresh() -> bool:
    """Loads newer corrections, if any; whether the facts were replaced.

    A process keeps its facts if the new ones would be inconsistent.
    """
    with _refreshing:
        with transaction() as session:
            version = store.latest_change(session)
            if version == _loaded_version[0]:
                return False
            corrections = list_corrections(session)
        _loaded_version[0] = version  # even with faults: the next correction is the next try
        try:
            load.replace(_apply_corrections(corrections))
        except ReferenceError as error:
            log.error("facts: the ones in use stay, the files have faults: %s", "; ".join(error.faults[:_MAX_LOGGED]))
            return False
        return True


def _apply_corrections(corrections: Sequence[Override]) -> load.Reference:
    """The facts with the corrections. One that no longer fits a newer release is left out and logged."""
    try:
        return load.load(overrides=corrections).reference
    except ReferenceError:
        fitting: list[Override] = []
    for override in corrections:
        try:
            load.read_tables(FOLDER, [*fitting, override])
        except ReferenceError as error:
            log.error("correction %s is left out: %s", override.id, "; ".join(error.faults))
        else:
            fitting.append(override)
    return load.load(overrides=fitting).reference


def require_file(file: str) -> None:
    """Raises BadFact if no file of facts has this name."""
    if file not in FILES:
        raise BadFact(f"There is no file {file}. The files: {', '.join(FILES)}.")


def _check_cells(file: str, cells: Cells) -> None:
    require_file(file)
    faults = [f"{file} has no column {name}" for name in cells if name not in list_columns(file)]
    kinds = get_type_hints(FILES[file])
    faults += [
        f"{name} is missing: it names the row"
        for name in list_key_columns(file)
        if name not in cells and not is_optional(kinds[name])
    ]
    if faults:
        raise BadFact("; ".join(faults) + f". The columns: {', '.join(list_columns(file))}.")


def _required_texts(file: str) -> list[str]:
    """Columns of text that every row of the file has; the row's checks see to all other kinds."""
    return [name for name, kind in get_type_hints(FILES[file]).items() if kind is str and name != "confidence"]


def _find_row(session: Session, file: str, key: str) -> tuple[Cells | None, Cells | None]:
    """The row in force, and the file's row."""
    filed = next((r for r in read_raw_rows(FOLDER, file) if build_key(file, r) == key), None)
    correction = next(
        (o for o in list_corrections(session) if o.file == file and build_key(file, o.cells) == key), None
    )
    now = (None if correction.removed else correction.cells) if correction else filed
    return now, filed


def set_fact(session: Session, file: str, cells: Cells, who: str, reason: str) -> tuple[Cells | None, Cells]:
    """Corrects or adds the row these cells name; returns it before and after. Raises BadFact with every fault."""
    _check_cells(file, cells)
    store.lock_corrections(session)
    key = build_key(file, cells)
    before, _ = _find_row(session, file, key)
    if "source_url" in list_columns(file) and not cells.get("source_url"):
        raise BadFact("source_url is missing: a correction says where it is from.")
    if before is None and (missing := [n for n in _required_texts(file) if n not in cells]):
        raise BadFact(f"This row is new and lacks {', '.join(missing)}; NAME= leaves one empty on purpose.")
    # What a correction of today may say of itself: one source that is no one's own page is not yet an audit.
    today = clock.today().isoformat()
    hosts = frozenset(row.host for row in load.reference().rows("primary_hosts.csv"))
    second = cells.get("second_source_url", "")
    proof = is_proof(cells.get("source_url", ""), second, hosts)
    provenance = {
        "second_source_url": second,
        "as_of": today,
        "audited_on": today if proof else "",
        "confidence": "high" if proof else "medium",
    }
    if before and before.get("source_url") != cells.get("source_url"):
        provenance["note"] = ""  # it was about another source
    new_cells = {name: value for name, value in (provenance | dict(cells)).items() if name in list_columns(file)}
    after = dict(before or dict.fromkeys(list_columns(file), "")) | new_cells
    _store_correction(session, file, key, after, False, who, reason)
    _log_change(session, file, key, "set", before, after, who, reason)
    return before, after


def remove_fact(session: Session, file: str, cells: Cells, who: str, reason: str) -> Cells:
    """Removes the row: a file's row is hidden, an added one deleted. Raises BadFact."""
    _check_cells(file, cells)
    store.lock_corrections(session)
    key = build_key(file, cells)
    before, filed = _find_row(session, file, key)
    if before is None:
        raise BadFact(f"{file} has no row {key}.")
    if filed is None:
        store.delete_override(session, file, key)
        _check_all(session, None)
    else:
        _store_correction(session, file, key, filed, True, who, reason)
    _log_change(session, file, key, "removed", before, None, who, reason)
    return before


def undo_fact(session: Session, file: str, cells: Cells, who: str, reason: str) -> Cells | None:
    """Undoes a correction; returns the file's row, which is in force again. Raises BadFact."""
    _check_cells(file, cells)
    store.lock_corrections(session)
    key = build_key(file, cells)
    if not any(o.file == file and build_key(file, o.cells) == key for o in list_corrections(session)):
        raise BadFact(f"No correction of {file} {key} is in force.")
    before, filed = _find_row(session, file, key)
    store.delete_override(session, file, key)
    _check_all(session, None)
    _log_change(session, file, key, "undone", before, filed, who, reason)
    return filed


def _store_correction(
    session: Session, file: str, key: str, cells: Cells, removed: bool, who: str, reason: str
) -> None:
    _check_all(session, Override(0, file, cells, removed, clock.now(), who, reason))
    row = {"file": file, "key": key, "cells": dict(cells), "removed": removed, "entered_by": who, "reason": reason}
    store.store_override(session, row)


def _check_all(session: Session, new: Override | None) -> None:
    """Checks all facts with the change, by the same checks as the files. Raises BadFact with all faults."""
    others = [
        o
        for o in list_corrections(session)
        if new is None or (o.file, build_key(o.file, o.cells)) != (new.file, build_key(new.file, new.cells))
    ]
    try:
        load.read_tables(FOLDER, [*others, new] if new else others)
    except ReferenceError as error:
        raise BadFact("\n  ".join(["This would not hold together:", *error.faults])) from None


def _log_change(
    session: Session, file: str, key: str, action: str, before: Any, after: Any, who: str, reason: str
) -> None:
    session.add(
        store.ReferenceChange(
            made_by=who,
            file=file,
            key=key,
            action=action,
            before=None if before is None else dict(before),
            after=None if after is None else dict(after),
            reason=reason,
        )
    )
