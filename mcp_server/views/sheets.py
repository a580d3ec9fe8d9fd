"""Sheets of what a person keeps: as CSV, and a pasted table or statement as proposals of what would be saved."""

from collections.abc import Mapping
from typing import Any, Literal

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.registry import TOOLS
from mcp_server.toolkit.results import Part
from mcp_server.views.balance_proposals import BalanceProposal, describe_proposal, name_account, to_proposal
from shared.db.sheets import ADDED, SHEETS
from shared.domain.confirmations.model import to_plain_balance
from shared.domain.plurals import pluralize
from shared.domain.sheets import TableRow, UnreadTable, read_table, write_csv
from shared.errors import Fault, Invalid

MAX_CSV = 60_000  # characters in an answer; the page has the whole
SheetName = Literal["balances", "cards", "flights", "stays", "statuses", "vouchers", "trips", "watches", "spending"]


class SheetRow(Part):
    """A row of a pasted table: `new`, already `saved`, or `refused` for what its field, problem and expected say.

    `arguments` are those of the sheet's tool.
    """

    line: int
    state: Literal["new", "saved", "refused"]
    arguments: dict[str, Any]
    field: str | None
    problem: str | None
    expected: str | None


class SheetPart(Part):
    """`csv`: what is saved. Of what was pasted nothing is saved: `tool` saves each new row, once the user agrees."""

    sheet: str
    csv: str | None
    tool: str | None
    rows: list[SheetRow]
    balance: BalanceProposal | None


def build_sheet(call: Call, name: SheetName | None, pasted: str | None) -> tuple[SheetPart, str]:
    """The sheet, or what was pasted, and a sentence about it. Raises Invalid."""
    kind = name or "balances"
    if pasted is None:
        return _write(call, kind)
    if kind not in ADDED:
        raise Invalid(Fault("sheet", "only goes out", f"one of {', '.join(ADDED)}"))
    unread = ""
    try:
        table = read_table(pasted, SHEETS[kind].aliases)
    except UnreadTable as no:
        table, unread, expected = [], no.problem, no.expected
    is_table = any(TOOLS[SHEETS[kind].tool].arguments.required[0] in row.cells for row in table)
    stated = _read_statement(call, pasted) if kind == "balances" and not is_table else None
    if stated:
        sentence = f"{describe_proposal(call, stated)} Nothing was saved yet."
        return SheetPart(sheet=kind, csv=None, tool=SHEETS[kind].tool, rows=[], balance=stated), sentence
    if unread:
        raise Invalid(Fault("pasted", unread, expected))
    rows = _judge_rows(call, kind, table)
    part = SheetPart(sheet=kind, csv=None, tool=SHEETS[kind].tool, rows=rows, balance=None)
    return part, _describe_rows(rows)


def _write(call: Call, name: str) -> tuple[SheetPart, str]:
    sheet = SHEETS[name]
    rows = list(sheet.read(call.db))
    part_rows = rows
    while len(text := write_csv(sheet.columns, part_rows)) > MAX_CSV:
        part_rows = part_rows[: len(part_rows) * MAX_CSV // len(text) - 1]
    cut = (
        f" The first {len(part_rows):,} are here; your account page has the whole file."
        if len(part_rows) < len(rows)
        else ""
    )
    part = SheetPart(sheet=name, csv=text, tool=sheet.tool or None, rows=[], balance=None)
    return part, f"{sheet.title}: {pluralize(len(rows), 'row')} as CSV.{cut}"


def _read_statement(call: Call, pasted: str) -> BalanceProposal | None:
    """The balance that a pasted statement of a programme names."""
    # Imported here: what reads letters is seldom needed, and large.
    from shared.domain.confirmations.balance_letters import read_balance
    from shared.domain.confirmations.forwarding import Text
    from shared.reference.name_lookup import TravelNames

    text = Text(pasted, "", "", False, call.own_day)
    stated = read_balance([text], TravelNames(call.reference))
    return to_proposal(call, to_plain_balance(stated)) if stated else None


def _judge_rows(call: Call, name: str, table: list[TableRow]) -> list[SheetRow]:
    sheet = SHEETS[name]
    saved = {_key_of(sheet.key, row) for row in sheet.read(call.db)}
    rows = []
    for row in table:
        judged = _judge(call, name, row)
        if judged.state == "new":
            key = _key_of(sheet.key, judged.arguments)
            if key in saved:
                judged = judged.model_copy(update={"state": "saved"})
            saved.add(key)
        rows.append(judged)
    return rows


def _judge(call: Call, name: str, row: TableRow) -> SheetRow:
    """The row as a call of its tool, judged by the tool's own arguments."""
    checks = TOOLS[SHEETS[name].tool].arguments
    cells: dict[str, Any] = {n: v for n, v in row.cells.items() if n in checks.schema["properties"]}
    if name in ("balances", "statuses") and (programs := call.reference.find_programs(cells.get("program", ""))):
        cells |= name_account(call, programs[0]) if len(programs) == 1 and name == "balances" else {}
        cells |= {"program": programs[0]} if len(programs) == 1 and name == "statuses" else {}
    try:
        arguments = checks.check(cells)
    except Invalid as no:
        first = no.facts["errors"][0]
        return SheetRow(
            line=row.line,
            state="refused",
            arguments=cells,
            field=first["field"],
            problem=first["problem"],
            expected=str(first["expected"])[:300],
        )
    values = {n: _to_json(arguments[n]) for n in cells}
    return SheetRow(line=row.line, state="new", arguments=values, field=None, problem=None, expected=None)


def _to_json(value: Any) -> Any:
    if hasattr(value, "quantize"):
        return float(value)
    return value.isoformat() if hasattr(value, "isoformat") else value


def _key_of(key: tuple[str, ...], row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(_to_json(row.get(name)) or "").casefold() for name in key)


def _describe_rows(rows: list[SheetRow]) -> str:
    counts = {state: sum(row.state == state for row in rows) for state in ("new", "saved", "refused")}
    first = next((row for row in rows if row.state == "refused"), None)
    why = f" Line {first.line}: {first.field} {first.problem}." if first else ""
    return (
        f"{pluralize(counts['new'], 'row')} to add, {counts['saved']} already saved, {counts['refused']} refused."
        f"{why} Nothing was saved yet."
    )
