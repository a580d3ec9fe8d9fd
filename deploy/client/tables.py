"""Answers of tools on a terminal: the message, tables and lines of its width, without control characters."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from deploy.terminal import print_styled
from shared.domain.plurals import pluralize

EMPTY = "-"
HEAD = {"status", "message", "data_mode", "notice"}
# Provenance fills a screen and is for programs; the message names source and date.
LEFT_OUT = {"detail", "names", "provenance", "report_url", "source_url", "confidence", "unaudited", "verified_on"}
LEFT_OUT |= {"audited_on", "age_seconds", "generated_at", "live", "synthetic"}
OF_THE_SANDBOX = {"mode", "source"}  # the notice already says it
MAX_WORD, MAX_UNBROKEN = 24, 10  # longer words may be cut; shorter columns are never broken
MAX_LINES, MAX_COUNTED = 3, 40  # of a row, and characters at most that a cell counts for
MAX_BLOCKS = 5  # rows with nested rows that are shown whole; more become a table that counts the nested ones
_SLUG = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")
_WORDS = re.compile(r"[a-z]+(_[a-z]+)+")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
_GAP = 2
Names = dict[str, str]


def sanitize(value: Any) -> str:
    """One line without terminal control characters, no matter who wrote it."""
    if value is None or value == "":
        return EMPTY
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}" if abs(value) >= 10_000 else f"{value:g}" if isinstance(value, float) else str(value)
    return "".join(c if c.isprintable() else " " for c in str(value))


def print_answer(console: Console, answer: dict[str, Any]) -> None:
    """Prints the message first; for invented data a notice comes before anything else."""
    for name, style in (("notice", "yellow"), ("message", "bold")):
        if name in answer:
            console.print(Text(sanitize(answer[name]), style))
    body = {name: value for name, value in answer.items() if name not in HEAD}
    _print_fields(console, _simplify(body, names := _collect_names(answer)), names, 0)
    if console.is_terminal and (others := sorted(_list_left_out(answer))):
        console.print(Text(f"\nNot shown: {', '.join(map(_render_title, others))}; --json prints all.", "dim"))


def _list_records(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of an answer, itself first."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _list_records(item)


def _list_left_out(answer: dict[str, Any]) -> set[str]:
    """Names of fields with a value that the screen does not show."""
    fields = LEFT_OUT - {"detail", "names"}
    return {name for record in _list_records(answer) for name in fields & set(record) if record[name] is not None}


def _collect_names(answer: dict[str, Any]) -> Names:
    """The names of things whose ids are in the answer: `names`, and each `x` with an `x_name` next to it."""
    names: Names = {}
    for record in _list_records(answer):
        for name, content in record.items():
            label = record.get(f"{name}_name") or (record.get("name") if name == "program" else None)
            if isinstance(content, str) and isinstance(label, str) and _SLUG.fullmatch(content):
                names[content] = label
    listed = answer.get("names")
    listed = listed if isinstance(listed, dict) else {}
    return _spell_programs(answer) | names | {key: name for key, name in listed.items() if isinstance(name, str)}


def _spell_programs(answer: dict[str, Any]) -> Names:
    """Writes ids of programmes as words, for answers that do not name them."""
    fields = (item for record in _list_records(answer) for item in record.items())
    contents = (content for name, content in fields if "program" in name or name == "bookable_with")
    ids = (i for content in contents for i in (content if isinstance(content, list) else [content]))
    return {i: i.replace("-", " ").title() for i in ids if isinstance(i, str) and "-" in i and _SLUG.fullmatch(i)}


def _simplify(fields: dict[str, Any], names: Names) -> dict[str, Any]:
    """Drops fields of LEFT_OUT, the sandbox's mode and source, unknown values, and a name that replaces its id."""
    repeated = {f"{name}_name" for name, value in fields.items() if isinstance(value, str) and value in names}
    if isinstance(program := fields.get("program"), str) and fields.get("name") == names.get(program, 0):
        repeated.add("name")
    away = LEFT_OUT | repeated | {name for name in OF_THE_SANDBOX if fields.get(name) == "sandbox"}
    return {name: value for name, value in fields.items() if name not in away and value is not None}


def _print_fields(console: Console, fields: dict[str, Any], names: Names, pad: int) -> None:
    """Prints single values as aligned lines, then nested ones."""
    single = {name: _render_value(value, names) for name, value in fields.items() if _is_single(value)}
    if single:
        grid = Table.grid(padding=(0, _GAP, 0, 0))
        grid.add_column(style="dim", no_wrap=True)
        grid.add_column(overflow="fold")
        for name, value in single.items():
            grid.add_row(Text(_render_title(name)), Text(value))
        _print_indented(console, grid, pad)
    for name, value in fields.items():
        if name not in single:
            print_styled(console, "" if pad else "\n", " " * pad, (_render_title(name), "bold"))
            if isinstance(value, dict):
                _print_fields(console, _simplify(value, names), names, pad + _GAP)
            else:
                _print_rows(console, value, names, pad + _GAP)


def _print_indented(console: Console, content: Table | Text, pad: int) -> None:
    """Prints without the blanks that would fill each line to the table's edge."""
    with console.capture() as capture:
        console.print(Padding(content, (0, 0, 0, pad), expand=False))
    lines = (line.rstrip() for line in capture.get().splitlines())
    console.file.write("".join(f"{line}\n" for line in lines))
    console.file.flush()


def _render_title(name: str) -> str:
    return sanitize(name.replace("_", " "))


def _is_single(value: Any) -> bool:
    if isinstance(value, list):
        return all(not isinstance(item, dict | list) for item in value)
    return not isinstance(value, dict) or not value


def _render_value(value: Any, names: Names) -> str:
    if isinstance(value, list):
        texts = [_render_value(item, names) for item in value]
        return (" " if any(text.endswith(".") for text in texts) else ", ").join(texts) or "none"
    if isinstance(value, str) and value in names:
        return sanitize(names[value])
    if isinstance(value, str) and _WORDS.fullmatch(value):
        return value.replace("_", " ")
    if isinstance(value, str) and _MOMENT.match(value):
        return sanitize(value.replace("T", " ", 1))
    return sanitize(value or None if isinstance(value, dict) else value)


def _print_rows(console: Console, rows: list[Any], names: Names, pad: int) -> None:
    """Prints values common to all rows once, then a table if it fits the terminal, else a block for each row."""
    if not all(isinstance(row, dict) for row in rows):
        for row in rows:
            console.print(Text(" " * pad + sanitize(row)))
        return
    rows = [_simplify(row, names) for row in rows]
    alike = _find_common_values(rows)
    if alike:
        texts = (f"{_render_title(name)} {_render_value(value, names)}" for name, value in alike.items())
        _print_indented(console, Text(f"all with {', '.join(texts)}", "dim"), pad)
    rows = [{name: value for name, value in row.items() if name not in alike} for row in rows]
    _print_table_or_blocks(console, rows, names, pad)


def _find_common_values(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The single values that are the same in all of several rows, without empty ones."""
    first, *others = rows
    same = (name for name, value in first.items() if _is_single(value) and value not in (None, "", [], {}) and others)
    return {name: first[name] for name in same if all(name in row and row[name] == first[name] for row in others)}


def _print_table_or_blocks(console: Console, rows: list[dict[str, Any]], names: Names, pad: int) -> None:
    flat = [_flatten(row, names) for row in rows]
    titles = list(dict.fromkeys(name for row in flat for name in row))
    columns = {name: [row.get(name, (EMPTY, False)) for row in flat] for name in titles}
    columns = {name: cells for name, cells in columns.items() if any(text != EMPTY for text, _ in cells)}
    nested = any(not _is_single(value) for row in rows for value in row.values() if not isinstance(value, dict))
    widths = _fit_columns(columns, console.width - pad)
    if widths and not (nested and len(rows) <= MAX_BLOCKS):
        _print_indented(console, _build_table(columns, widths), pad)
        return
    for number, row in enumerate(rows):
        if number:
            console.print()
        _print_fields(console, {k: v for k, v in row.items() if v not in ("", [], {})}, names, pad)


Cell = tuple[str, bool]  # the text, and whether it is a number


def _fit_columns(columns: dict[str, list[Cell]], width: int) -> list[int] | None:
    """The column widths for that many characters; None where words would be cut or rows grow tall."""
    texts = [[_render_title(name), *(text for text, _ in cells)] for name, cells in columns.items()]
    widest = [max(map(cell_len, column)) for column in texts]
    least = [
        full if full <= MAX_UNBROKEN else min(MAX_WORD, _measure_longest_word(column))
        for full, column in zip(widest, texts, strict=True)
    ]
    free = width - _GAP * (len(columns) - 1)
    if sum(least) > free or sum(min(MAX_COUNTED, full) for full in widest) > MAX_LINES * free:
        return None
    spare = free - sum(least)
    for done, index in enumerate(sorted(range(len(widest)), key=lambda i: widest[i] - least[i])):
        more = min(widest[index] - least[index], spare // (len(widest) - done))
        least[index] += more
        spare -= more
    return least


def _measure_longest_word(texts: Iterable[str]) -> int:
    return max((cell_len(word) for text in texts for word in text.split()), default=0)


def _build_table(columns: dict[str, list[Cell]], widths: list[int]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for (name, cells), width in zip(columns.items(), widths, strict=True):
        numbers = any(is_number for _, is_number in cells) and all(len(text) <= MAX_UNBROKEN for text, _ in cells)
        justify: JustifyMethod = "right" if numbers else "left"
        table.add_column(Text(_render_title(name)), justify=justify, width=width, overflow="fold")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(Text(text) for text, _ in row))
    return table


def _flatten(row: dict[str, Any], names: Names, head: str = "") -> dict[str, Cell]:
    """A row's cells; titles of a nested record's cells begin with its name."""
    cells: dict[str, Cell] = {}
    for name, value in row.items():
        if isinstance(value, dict) and value:
            cells |= _flatten(_simplify(value, names), names, f"{head}{name} ")
        elif _is_single(value):
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            cells[head + name] = (_render_value(value, names), is_number)
        else:
            cells[head + name] = (pluralize(len(value), "row"), False)
    return cells


def build_tool_table(rows: Iterable[Sequence[str]], titles: Sequence[str] = ("Tool", "Plan", "What it does")) -> Table:
    """Builds a table whose last column wraps within itself."""
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for title in titles:
        is_last = title == titles[-1]
        table.add_column(title, no_wrap=not is_last, overflow="fold", style="cyan" if title == titles[0] else "")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
