"""`award-travel facts`: checks the files of facts and describes them in figures, without a database."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deploy.errors import CommandError
from shared import clock
from shared.domain.plurals import pluralize
from shared.reference.audit import AGE_LIMITS, USUAL_DAYS, count_old
from shared.reference.known_prices import LEAST, list_unproved
from shared.reference.load import FOLDER, Reference, ReferenceError, read_tables
from shared.reference.provenance import GENERAL_KNOWLEDGE
from shared.reference.rows import FILES
from shared.reference.rows.fact import Fact

# The page of figures about the files of facts: rows, sources, shares and ages of each file.

_OPENING = """# The facts in figures

Written by `award-travel facts page` from the files in `shared/reference/data`. Do not edit it.

- **Sources**: how many different addresses the rows of a file name.
- **Audited**: rows whose value someone saw in a page of the issuer or carrier, or in two independent sources.
- **General knowledge**: rows from memory. Their confidence is low and they carry no day.
- **Source days**: the oldest and the newest day that a source of the file carries.
- **Last check**: the oldest and the newest audit.
"""
_HEADER = ("File", "Rows", "Sources", "Audited", "General knowledge", "Source days", "Last check")


def build_page(tables: Mapping[str, Sequence[Any]]) -> str:
    files = [name for name, kind in FILES.items() if issubclass(kind, Fact)]
    others = [name for name in FILES if name not in files]
    every_row = [row for name in files for row in tables[name]]
    table = [_HEADER, ["---"] * len(_HEADER), *(_describe(name, tables[name]) for name in files)]
    lines = [_OPENING, *("| " + " | ".join(row) + " |" for row in (*table, _describe("all", every_row)))]
    lines += ["", "Files whose rows have no separate source (lists of the service, or parts of another file):", ""]
    lines += [f"- {name}: {len(tables[name]):,} rows" for name in others]
    unproved = list_unproved(Reference({name: list(rows) for name, rows in tables.items()}))
    lines += ["", f"{len(unproved)} charts of which fewer than {LEAST} prices are known by another source:", ""]
    lines += [f"- {chart}: {count}" for chart, count in unproved.items()]
    return "\n".join(lines) + "\n"


def _describe(name: str, rows: Sequence[Any]) -> tuple[str, ...]:
    sources = {url for row in rows for url in (row.source_url, row.second_source_url) if url} - {GENERAL_KNOWLEDGE}
    audits = [row.audited_on for row in rows if row.audited_on]
    memory = sum(row.source_url == GENERAL_KNOWLEDGE for row in rows)
    days = [row.as_of for row in rows if row.as_of]
    return (
        name,
        f"{len(rows):,}",
        f"{len(sources):,}",
        _write_share(len(audits), len(rows)),
        _write_share(memory, len(rows)),
        _write_span(days),
        _write_span([day.isoformat() for day in audits]),
    )


def _write_share(part: int, whole: int) -> str:
    return f"{part:,} ({100 * part / whole:.0f} %)" if whole else "0"


def _write_span(days: Sequence[str]) -> str:
    first, last = (min(days), max(days)) if days else ("", "")
    return first if first == last else f"{first} to {last}"


def run_facts(arguments: argparse.Namespace) -> None:
    if arguments.action == "check":
        check_files(arguments.folder)
    else:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(build_page(read_tables(FOLDER)), encoding="utf-8")
        print(f"{arguments.output} is written.")


def check_files(folder: Path) -> None:
    """Prints every fault with file and line; raises CommandError if there are any."""
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
    for name, count in count_old(tables, clock.today()).items():
        days = AGE_LIMITS.get(name, USUAL_DAYS)
        print(f"{name}: {count:,} of {len(tables[name]):,} rows ended or are older than {days} days")
    rows = sum(map(len, tables.values()))
    print(f"{pluralize(len(tables), 'file')}, {rows:,} rows, no faults.")
