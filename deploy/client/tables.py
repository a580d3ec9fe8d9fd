"""Answers of tools as text for a terminal: the message, tables and lines, without control characters."""

import shutil
from typing import Any

HIDDEN = {"status", "message", "data_mode", "notice"}
EMPTY = "-"


def sanitize(value: Any) -> str:
    """One line that cannot steer a terminal, whoever wrote it."""
    if value is None or value == "":
        return EMPTY
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}" if abs(value) >= 10_000 else f"{value:g}" if isinstance(value, float) else str(value)
    return "".join(c if c.isprintable() else " " for c in str(value))


def render(answer: dict[str, Any]) -> str:
    """The message first; an answer made of invented data says so before anything else."""
    head = [sanitize(answer[name]) for name in ("notice", "message") if name in answer]
    body = _render_fields({name: value for name, value in answer.items() if name not in HIDDEN}, "")
    return "\n".join([*head, *body])


def _render_fields(fields: dict[str, Any], pad: str) -> list[str]:
    """Single values as aligned lines, then everything that has a shape of its own."""
    single = {name: _render_value(value) for name, value in fields.items() if _is_single(value)}
    width = max((len(name) for name in single), default=0)
    lines = [f"{pad}{_render_title(name):<{width}}  {value}" for name, value in single.items()]
    for name, value in fields.items():
        if name in single:
            continue
        lines += ["", f"{pad}{_render_title(name)}"] if not pad else [f"{pad}{_render_title(name)}"]
        lines += _render_fields(value, pad + "  ") if isinstance(value, dict) else _render_rows(value, pad + "  ")
    return lines


def _render_title(name: str) -> str:
    return sanitize(name.replace("_", " "))


def _is_single(value: Any) -> bool:
    if isinstance(value, list):
        return all(not isinstance(item, dict | list) for item in value)
    return not isinstance(value, dict) or not value


def _render_value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(sanitize, value)) or "none"
    return sanitize(value or None if isinstance(value, dict) else value)


def _render_rows(rows: list[Any], pad: str) -> list[str]:
    """What all rows have alike once, then a table where it fits the terminal, else one block for each row."""
    if not all(isinstance(row, dict) for row in rows):
        return [f"{pad}{sanitize(row)}" for row in rows]
    alike = _find_common_values(rows)
    rows = [{name: value for name, value in row.items() if name not in alike} for row in rows]
    head = [*_render_fields(alike, f"{pad}all: "), ""] if alike else []
    return head + _render_table_or_blocks(rows, pad)


def _find_common_values(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The single values that are the same in every row of several."""
    first, *others = rows
    same = (name for name, value in first.items() if _is_single(value) and others)
    return {name: first[name] for name in same if all(name in row and row[name] == first[name] for row in others)}


def _render_table_or_blocks(rows: list[dict[str, Any]], pad: str) -> list[str]:
    flat = [_flatten(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    names = [name for name in names if any(row.get(name, EMPTY) != EMPTY for row in flat)]
    if not names:
        return []
    table = [[_render_title(name) for name in names], *([row.get(name, EMPTY) for name in names] for row in flat)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    if len(pad) + sum(widths) + 2 * len(widths) <= shutil.get_terminal_size((120, 24)).columns:
        return [pad + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in table]
    blocks = [line for row in rows for line in ["", *_render_fields(row, pad)]]
    return blocks[1:]


def _flatten(row: dict[str, Any], head: str = "") -> dict[str, str]:
    """A row's cells; those of a record within it carry its name."""
    cells: dict[str, str] = {}
    for name, value in row.items():
        if isinstance(value, dict) and value:
            cells |= _flatten(value, f"{head}{name} ")
        else:
            cells[head + name] = _render_value(value) if _is_single(value) else f"{len(value)} rows"
    return cells
