"""Proposals of the source watch: a difference as a changed row, for a person to accept or refuse."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, get_args, get_type_hints

from sqlalchemy.orm import Session

from shared.db.source_watch import FAULT, SourceItem, list_open_items
from shared.domain.source_files import read_number
from shared.reference.load import FOLDER
from shared.reference.overrides import list_columns, list_key_columns
from shared.reference.rows import FILES
from shared.reference.tables import read_raw_rows
from shared.services.operations import audit, facts


@dataclass(frozen=True)
class RowProposal:
    """The change of an item (D12): the file's row, and the cells that name and change it."""

    name: str
    file: str
    before: Mapping[str, str]
    cells: Mapping[str, str]
    source: str


def list_proposals(session: Session) -> Iterator[RowProposal]:
    """The open differences of one value, each as a change of its row; others need a person."""
    rows: dict[str, dict[str, dict[str, str]]] = {}
    for item in list_open_items(session):
        if item.field == FAULT or item.field not in list_columns(item.file):
            continue
        if item.file not in rows:
            rows[item.file] = {
                " ".join(row[name] or "-" for name in list_key_columns(item.file)): row
                for row in read_raw_rows(FOLDER, item.file)
            }
        before, value = rows[item.file].get(item.key), _read_value(item)
        if before is not None and value is not None:
            named = {name: before[name] for name in list_key_columns(item.file)}
            cells = named | {item.field: value, "source_url": item.link}
            yield RowProposal(f"D{item.id}", item.file, before, cells, item.source)


def _read_value(item: SourceItem) -> str | None:
    """The source's value in the column's form; None for several, or text in place of a number."""
    kind: Any = get_type_hints(FILES[item.file])[item.field]
    if not {int, Decimal} & {kind, *get_args(kind)}:
        return None if " or " in item.theirs else item.theirs  # a source with two values needs a person
    number = read_number(item.theirs)
    return None if number is None else f"{Decimal(number).normalize():f}"


def take(session: Session, proposal: RowProposal, who: str) -> None:
    """Makes the change a correction, which `fact export` writes as a patch, and closes the item. Raises BadFact."""
    facts.set_fact(session, proposal.file, proposal.cells, who, f"{proposal.name}, {proposal.source}")
    audit.close_item(session, proposal.name, who, "taken")
