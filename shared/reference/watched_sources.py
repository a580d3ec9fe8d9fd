"""Public files that are compared with our rows each week: their mappings, and checks of the list."""

from collections.abc import Iterator
from dataclasses import fields

from shared.domain.source_files import FORMATS, CellMap, SourceMap, parse_cell_map
from shared.reference.keys import Tables, list_rows
from shared.reference.rows import FILES
from shared.reference.rows.watched import WatchedSource

TABLE = "watched_sources.csv"
MAX_SOURCES = 16
REPORTS = ("missing", "gone")
QUOTIENT = "/"


def build_map(source: WatchedSource) -> SourceMap:
    return SourceMap(
        source.format,
        source.rows,
        tuple(parse_cell_map(text) for text in source.keys),
        tuple(parse_cell_map(text) for text in source.values),
    )


def list_map_columns(cell: CellMap) -> list[str]:
    return cell.column.split(QUOTIENT)


def find_faults(tables: Tables) -> Iterator[str]:
    """Faults of the list, each with its line."""
    for where, row in list_rows(tables, TABLE):
        if not row.url.startswith("https://"):
            yield f"{where}: url {row.url!r} is not an https address"
        if row.format not in FORMATS:
            yield f"{where}: format {row.format!r} is not one of {', '.join(FORMATS)}"
        for word in set(row.reports) - set(REPORTS):
            yield f"{where}: reports {word!r} is not one of {', '.join(REPORTS)}"
        for name in row.names:
            if "=" not in name:
                yield f"{where}: names {name!r} is not of the form word=slug"
        if not row.keys or not row.values:
            yield f"{where}: keys and values are both needed"
        yield from _find_map_faults(row, where)
    rows = tables[TABLE]
    if len(rows) > MAX_SOURCES:
        yield f"{TABLE}:{max(rows)}: {len(rows)} sources, one run reads at most {MAX_SOURCES}"


def _find_map_faults(row: WatchedSource, where: str) -> Iterator[str]:
    if row.file not in FILES:
        yield f"{where}: file {row.file!r} is no file of facts"
        return
    columns = {f.name for f in fields(FILES[row.file])}
    for name, texts in (("keys", row.keys), ("values", row.values)):
        for text in texts:
            try:
                cell = parse_cell_map(text)
            except ValueError as error:
                yield f"{where}: {name} {text!r} {error}"
                continue
            if unknown := [column for column in list_map_columns(cell) if column not in columns]:
                yield f"{where}: {name} {text!r} names {', '.join(unknown)}, which {row.file} does not have"
