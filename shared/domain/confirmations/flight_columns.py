"""Tables with one column for each flight and one row for each fact, turned so that each flight has its own lines."""

import re

_NUMBER = re.compile(r"^[^\d\t]{0,30}?(?<![A-Za-z0-9])(?:[A-Z][A-Z0-9]|[0-9][A-Z])[ -]{0,2}\d{1,4}\s*$")
_MOST_ROWS = 25  # of one table, above and below the row of the numbers
_FEWEST_ROWS = 3


def turn_columns(lines: list[str]) -> list[str]:
    """The lines, with each table whose flights stand side by side written flight after flight: "Departure	10:55"."""
    out: list[str] = []
    at = 0
    while at < len(lines):
        flights = _count_flights(lines[at])
        rows = _collect_rows(lines, at, flights) if flights else []
        if sum(len(row) == flights + 1 for row in rows) < _FEWEST_ROWS:
            out.append(lines[at])
            at += 1
            continue
        heads = _take_heads(out, flights)
        for column in range(flights):
            out.append("")
            out += [head[column] for head in heads]
            out += [f"{row[0]}\t{row[column + 1]}" for row in rows]
        out.append("")
        at += _measure_rows(lines, at, flights)
    return out


def _split_cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else [line.strip()]


def _count_flights(line: str) -> int:
    """How many flights a row of nothing but their numbers and its label names; 0 for other lines."""
    if "\t" not in line or len(line) > 300:
        return 0
    cells = [cell for cell in _split_cells(line) if cell]
    numbers = sum(bool(_NUMBER.match(cell)) for cell in cells)
    return numbers if numbers > 1 and len(cells) == numbers + 1 and not _NUMBER.match(cells[0]) else 0


def _collect_rows(lines: list[str], at: int, flights: int) -> list[list[str]]:
    reach = _measure_rows(lines, at, flights)
    return [_split_cells(line) for line in lines[at : at + reach] if line.strip()]


def _measure_rows(lines: list[str], at: int, flights: int) -> int:
    """The lines from the row of the numbers to the last that has a label and a cell for each flight."""
    last = at
    for n in range(at, min(len(lines), at + 2 * _MOST_ROWS)):
        if lines[n].strip():
            if len(_split_cells(lines[n])) != flights + 1:
                break
            last = n
    return last - at + 1


def _take_heads(out: list[str], flights: int) -> list[list[str]]:
    """The rows above the numbers, taken from `out`: with a label ("Date", ...) or without ("Outbound", "Return")."""
    heads: list[list[str]] = []
    first = len(out)
    for n in range(len(out) - 1, max(-1, len(out) - _MOST_ROWS), -1):
        if not out[n].strip():
            continue
        cells = _split_cells(out[n])
        if len(cells) == flights + 1:
            heads.insert(0, [f"{cells[0]}\t{cell}" for cell in cells[1:]])
        elif len(cells) == flights and flights > 1:
            heads.insert(0, cells)
        else:
            break
        first = n
    del out[first:]
    return heads
