"""`award-travel facts`: the files of facts checked and described in figures, without a database."""

import argparse
from pathlib import Path

from deploy.errors import CommandError
from deploy.fact_page import build_page
from shared.domain.plurals import pluralize
from shared.reference.load import FOLDER, ReferenceError, read_tables
from shared.reference.rows import FILES


def run_facts(arguments: argparse.Namespace) -> None:
    if arguments.action == "check":
        check_files(arguments.folder)
    else:
        write_page(arguments.output)


def check_files(folder: Path) -> None:
    """Prints every fault with file and line; raises CommandError when there is one."""
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder.")
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.csv"))
    faults = [f"{name}: is no file of facts" for name in names if name not in FILES]
    tables = {}
    try:
        tables = read_tables(folder)
    except ReferenceError as error:
        faults += error.faults
    if faults:
        print("\n".join(faults))
        raise CommandError(f"{pluralize(len(faults), 'fault')} in {folder}.")
    rows = sum(map(len, tables.values()))
    print(f"{pluralize(len(tables), 'file')}, {rows:,} rows, no faults.")


def write_page(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(build_page(read_tables(FOLDER)), encoding="utf-8")
    print(f"{path} is written.")
