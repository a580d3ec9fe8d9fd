"""`award-travel sheet`: a person's records as CSV, and a table from a file, previewed before its rows are added."""

import argparse
import sys
from typing import Any

from deploy.client.commands import BAD_USE, REFUSED, TOOLS, CommandEnded, load_login, read_text, request
from deploy.client.tables import sanitize
from deploy.terminal import open_console
from shared.db.sheets import ADDED, SHEETS
from shared.domain.plurals import pluralize
from shared.domain.sheets import UnreadTable, split_table

ROWS_OF_A_LOOK = 100


def run_sheet(options: argparse.Namespace) -> None:
    """Prints the sheet, or with a file adds each new row by a call of the tool that adds one."""
    if options.add is None:
        print(_look(sheet=options.name)["sheet"]["csv"], end="")
        return
    if options.name not in ADDED:
        raise CommandEnded(BAD_USE, f"Rows can be added to {', '.join(ADDED)}.")
    new = _judge(options.name, read_text(f"@{options.add}"))
    if not new:
        raise CommandEnded(REFUSED, "There is nothing to add.")
    if not options.yes and not _agrees(len(new)):
        raise CommandEnded(REFUSED, "Nothing was saved.")
    saved = sum(_save(SHEETS[options.name].tool, line, arguments) for line, arguments in new)
    print(f"{pluralize(saved, 'row')} saved, {len(new) - saved} not.")


def _look(**arguments: str) -> dict[str, Any]:
    answer: dict[str, Any] = request(load_login(), "POST", f"{TOOLS}/get_portfolio", arguments)[0]
    return answer


def _judge(name: str, text: str) -> list[tuple[int, dict[str, Any]]]:
    """Prints what would be added, is saved or is refused; returns the rows to add, each with its line."""
    try:
        parts = split_table(text, SHEETS[name].aliases, ROWS_OF_A_LOOK)
    except UnreadTable:
        parts = []
    if len(parts) < 2:
        parts = [(text, parts[0][1] if parts else [])]
    new, console = [], open_console()
    for part, lines in parts:
        answer = _look(sheet=name, pasted=part)
        console.print(sanitize(answer["message"]), markup=False)
        balance = answer["sheet"]["balance"]
        if balance and not balance["missing"]:
            new.append((1, balance["arguments"]))
        for row, line in zip(answer["sheet"]["rows"], lines, strict=False):
            if row["state"] == "new":
                new.append((line, row["arguments"]))
            elif row["state"] == "refused":
                words = f"Line {line}: {row['field']} {row['problem']}; expected {row['expected']}."
                console.print(sanitize(words), markup=False)
    return new


def _agrees(count: int) -> bool:
    if not sys.stdin.isatty():
        raise CommandEnded(BAD_USE, "Add --yes to save the rows without a question.")
    return input(f"Save {pluralize(count, 'row')}? [y/N] ").strip().lower() in ("y", "yes")


def _save(tool: str, line: int, arguments: dict[str, Any]) -> bool:
    try:
        answer = request(load_login(), "POST", f"{TOOLS}/{tool}", arguments)[0]
    except CommandEnded as no:
        print(f"Line {line}: {no}", file=sys.stderr)
        return False
    if answer.get("already_saved") or answer.get("status") not in ("ok", "partial"):
        print(f"Line {line}: {sanitize(answer.get('message'))}", file=sys.stderr)
        return False
    return True
