"""What commands print to: a terminal with its colours and width, or a pipe with plain text."""

import shutil

from rich.console import Console
from rich.table import Table
from rich.text import Text

PIPE_COLUMNS = 120  # of what no terminal shows; COLUMNS says otherwise


class TerminalConsole(Console):
    """Leaves a reader that stopped reading to the command line, which ends without a fault."""

    def on_broken_pipe(self) -> None:
        raise  # the error under way: this is called while it is handled


def open_console(*, stderr: bool = False) -> Console:
    """Colour follows the terminal, NO_COLOR and FORCE_COLOR. Texts are printed as they are: they may be others'."""
    console = TerminalConsole(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = shutil.get_terminal_size((PIPE_COLUMNS, 24)).columns
    return console


def print_styled(console: Console, *parts: tuple[str, str] | str) -> None:
    """One line from texts and (text, style) pairs; it is never broken, so that it can be copied whole."""
    console.print(Text.assemble(*parts), soft_wrap=True)


def print_row(console: Console, *parts: tuple[str, str] | str) -> None:
    """Labels, then a text that on a terminal continues below itself; in a pipe it stays one line."""
    *labels, text = parts
    if not console.is_terminal:
        print_styled(console, *parts)
        return
    row = Table.grid()
    for _ in parts:
        row.add_column(overflow="fold")
    row.add_row(*(Text.assemble(label) for label in labels), Text.assemble(text))
    console.print(row)
