"""Comparison of a watched source with our corresponding rows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from shared.domain.source_files import READERS, CellMap, FindName, SourceRow, read_number
from shared.errors import Candidates, NotFound
from shared.reference.overrides import list_key_columns
from shared.reference.reference import Reference
from shared.reference.rows.travel import CatalogCard
from shared.reference.rows.watched import WatchedSource
from shared.reference.watched_sources import build_map, list_map_columns

Key = tuple[str, ...]
ROW = "row"  # the field of a difference of a whole row
_TERM = ("valid_from", "valid_to")
_MIN_PLACES = 2  # at least these decimals are compared: a source's program may drop zeros


@dataclass(frozen=True)
class SourceDifference:
    """A value that differs in a source, or a row that only one side has."""

    file: str
    key: str
    field: str
    ours: str
    theirs: str


def build_name_finder(reference: Reference, source: WatchedSource) -> FindName:
    """Finds the meaning of the source's names: from its word list, else like people's names; a card is named
    by its issuer's page, and one that is not ours is left out."""
    cards: Iterable[CatalogCard] = reference.rows("cards.csv")
    pages = {READERS["page"](card.issuer_url): card.slug for card in cards if card.issuer_url}
    words = {word.casefold(): slug for word, _, slug in (text.partition("=") for text in source.names)}

    def find_name(kind: str, text: str) -> str | None:
        if text.casefold() in words:
            return words[text.casefold()]
        if kind == "card":
            return pages.get(READERS["page"](text), "")
        try:
            return reference.program(text).slug if kind == "program" else reference.carrier(text).iata
        except (NotFound, Candidates):
            return None

    return find_name


def compare_source(
    reference: Reference, source: WatchedSource, entries: Iterable[SourceRow], today: date
) -> list[SourceDifference]:
    """The differences between the source and our rows in force. Rows of one key agree when any of them does."""
    mapping = build_map(source)
    cells = (*mapping.keys, *mapping.values)
    rows = [row for row in reference.rows(source.file) if _is_compared(row, cells, today)]
    our_rows: dict[Key, list[Any]] = defaultdict(list)
    for row in rows:
        our_rows[tuple(_write_key(_read_our_value(row, cell), cell) for cell in mapping.keys)].append(row)
    their_rows: dict[Key, list[SourceRow]] = defaultdict(list)
    for entry in entries:
        their_rows[tuple(_write_key(text, cell) for text, cell in zip(entry.key, mapping.keys, strict=True))].append(
            entry
        )
    differences = [
        *(
            d
            for key in their_rows
            if key in our_rows
            for d in _compare_values(source, mapping.values, our_rows[key], their_rows[key])
        ),
        *_list_missing(source, our_rows, their_rows, today),
        *_list_gone(source, our_rows, their_rows),
    ]
    return sorted(differences, key=lambda d: (d.key, d.field))


def _is_compared(row: Any, cells: Iterable[CellMap], today: date) -> bool:
    """Whether a row is compared: rows in force, or all if their term itself is compared."""
    if any(cell.column in _TERM for cell in cells):
        return True
    first, last = (getattr(row, name, None) for name in _TERM)
    return (first is None or first <= today) and (last is None or last >= today)


def _read_our_value(row: Any, cell: CellMap) -> Any:
    values = [getattr(row, column) for column in list_map_columns(cell)]
    if len(values) == 1:
        return values[0]
    return None if None in values or not values[1] else Fraction(values[0]) / Fraction(values[1])


def _write_key(value: Any, cell: CellMap) -> str:
    """A normalized part of a key, so that 1.0 and 1 are the same."""
    text = "" if value is None else str(value)
    number = read_number(text) if cell.reader == "number" else None
    if number is not None:
        return f"{Decimal(number).normalize():f}"
    return (READERS["page"](text) or "") if cell.reader == "page" else text


def _compare_values(
    source: WatchedSource, cells: Iterable[CellMap], rows: Sequence[Any], entries: Sequence[SourceRow]
) -> Iterator[SourceDifference]:
    for cell in cells:
        our_values = [value for row in rows if (value := _read_our_value(row, cell)) is not None]
        their_values = [entry.values[cell.column] for entry in entries if cell.column in entry.values]
        if our_values and their_values and not any(_agrees(mine, text) for mine in our_values for text in their_values):
            yield SourceDifference(
                source.file,
                _name_row(source.file, rows[0]),
                cell.column,
                _join_values(map(_write_value, our_values)),
                _join_values(their_values),
            )


def _agrees(ours: Any, theirs: str) -> bool:
    """Whether values agree; numbers if ours, rounded to the source's decimals, equals theirs."""
    if isinstance(ours, int | Decimal | Fraction) and not isinstance(ours, bool):
        text = read_number(theirs)
        if text is None:
            return False
        number = Decimal(text)
        places = max(_MIN_PLACES, -int(number.as_tuple().exponent))
        return abs(Fraction(ours) - Fraction(number)) <= Fraction(1, 2 * 10**places)
    return _write_value(ours).casefold() == theirs.casefold()


def _write_value(value: Any) -> str:
    if isinstance(value, Fraction):
        return f"{float(value):.4g}"
    if isinstance(value, tuple):
        return "|".join(value)
    return "" if value is None else str(value)


def _join_values(texts: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(texts))


def _name_row(file: str, row: Any) -> str:
    return " ".join(_write_value(getattr(row, name)) or "-" for name in list_key_columns(file))


def _list_missing(
    source: WatchedSource, ours: Mapping[Key, Any], theirs: Mapping[Key, Sequence[SourceRow]], today: date
) -> Iterator[SourceDifference]:
    """Rows of the source that we do not have and that have not ended."""
    if "missing" not in source.reports:
        return
    for key in theirs.keys() - ours.keys():
        current = [e for e in theirs[key] if e.values.get("valid_to", "9999") >= today.isoformat()]
        if current:
            entry_text = ", ".join(f"{name} {text}" for name, text in current[0].values.items()) or "a row"
            yield SourceDifference(source.file, " ".join(key), ROW, "no row", entry_text)


def _list_gone(
    source: WatchedSource, ours: Mapping[Key, Sequence[Any]], theirs: Mapping[Key, Any]
) -> Iterator[SourceDifference]:
    """Our rows whose first key the source lists, but not the whole key."""
    if "gone" not in source.reports:
        return
    file_keys = {key[0] for key in theirs}
    for key in ours.keys() - theirs.keys():
        if key[0] in file_keys:
            yield SourceDifference(source.file, _name_row(source.file, ours[key][0]), ROW, "a row", "no row")
