"""The page of figures about the files of facts: rows, sources, shares and ages of each file."""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.reference.provenance import GENERAL_KNOWLEDGE
from shared.reference.rows import FILES
from shared.reference.rows.fact import Fact

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
    lines = [_OPENING, *_write_table([*(_describe(name, tables[name]) for name in files), _describe("all", every_row)])]
    lines += ["", "Files whose rows carry no source of their own (lists of the service, or parts of another file):", ""]
    lines += [f"- {name}: {len(tables[name]):,} rows" for name in others]
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


def _write_table(rows: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(row) + " |" for row in (_HEADER, ["---"] * len(_HEADER), *rows)]
