"""The output of commands: a terminal with its colours and width, or a pipe with plain text."""

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from deploy.errors import CommandError

# Rows that a command lists: a line each for people, or JSON for programs.


def print_rows(rows: Sequence[Any], describe: Callable[[Any], str], *, empty: str, as_json: bool) -> None:
    """`rows` are dataclass instances; JSON is one list of objects, moments as ISO 8601."""
    if as_json:
        print(json.dumps([asdict(row) for row in rows], default=_encode))
        return
    for row in rows:
        print(describe(row).rstrip())
    if not rows:
        print(empty)


def _encode(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


# Input of commands from stdin: a password as one line, and the word yes.


def read_password() -> str:
    """One line. A line break added by a terminal or a file is not part of the password."""
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise CommandError("No password came on stdin: pass it as one line, for example with < FILE.")
    return password


def confirm(question: str) -> bool:
    print(question, end="", flush=True)
    return sys.stdin.readline().strip() == "yes"


PIPE_COLUMNS = 120  # without a terminal, unless COLUMNS is set


class TerminalConsole(Console):
    """Raises if the reader stopped reading: the command line then ends without a fault."""

    def on_broken_pipe(self) -> None:
        raise  # the error under way: this is called while it is handled


def open_console(*, stderr: bool = False) -> Console:
    """Colour follows the terminal, NO_COLOR and FORCE_COLOR. Texts are printed raw: they may be others'."""
    console = TerminalConsole(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = shutil.get_terminal_size((PIPE_COLUMNS, 24)).columns
    return console


def print_styled(console: Console, *parts: tuple[str, str] | str) -> None:
    """One line from texts and (text, style) pairs; never wrapped, so that it can be copied whole."""
    console.print(Text.assemble(*parts), soft_wrap=True)


def print_row(console: Console, *parts: tuple[str, str] | str) -> None:
    """Labels, then a text that a terminal wraps below itself; in a pipe it stays one line."""
    *labels, text = parts
    if not console.is_terminal:
        print_styled(console, *parts)
        return
    row = Table.grid()
    for _ in parts:
        row.add_column(overflow="fold")
    row.add_row(*(Text.assemble(label) for label in labels), Text.assemble(text))
    console.print(row)
