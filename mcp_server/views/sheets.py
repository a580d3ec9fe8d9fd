"""Sheets of a person's records: as CSV, and pasted tables or statements as proposals to save."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any, Literal

from mcp_server.toolkit import TOOLS, Call, Part
from mcp_server.views.balance_proposals import BalanceProposal, describe_proposal, name_account, to_proposal
from shared.db.sheets import ADDED, SHEETS
from shared.domain.confirmations.model import to_plain_balance
from shared.domain.plurals import pluralize
from shared.domain.sheets import TableRow, UnreadTable, read_table, write_csv
from shared.errors import Fault, Invalid
from shared.reference.load import Reference

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


@dataclass(frozen=True)
class Pasted:
    """What a pasted text holds; its rows were compared with nothing that is saved. `balance`: plain, of a statement."""

    rows: list[SheetRow]
    balance: dict[str, Any] | None


def read_pasted(facts: Reference, kind: SheetName, pasted: str, own_day: date) -> Pasted:
    """Takes the processor for long and reads no rows. Raises Invalid."""
    if kind not in ADDED:
        raise Invalid(Fault("sheet", "only goes out", f"one of {', '.join(ADDED)}"))
    unread = ""
    try:
        table = read_table(pasted, SHEETS[kind].aliases)
    except UnreadTable as no:
        table, unread, expected = [], no.problem, no.expected
    is_table = any(TOOLS[SHEETS[kind].tool].arguments.required[0] in row.cells for row in table)
    if kind == "balances" and not is_table and (balances := _read_statement(facts, pasted, own_day)):
        if len(balances) == 1:
            return Pasted([], balances[0])
        return Pasted([_judge_stated(facts, line, stated) for line, stated in enumerate(balances, 1)], None)
    if unread:
        raise Invalid(Fault("pasted", unread, expected))
    return Pasted([_judge(facts, kind, row) for row in table], None)


def build_sheet(call: Call, name: SheetName | None, pasted: str | None) -> tuple[SheetPart, str]:
    """The sheet, or what was pasted, and a sentence about it. Raises Invalid."""
    kind = name or "balances"
    if pasted is None:
        return _write(call, kind)
    read = call.compute_apart(partial(read_pasted, call.reference, kind, pasted, call.own_day))
    tool = SHEETS[kind].tool
    if read.balance:
        stated = to_proposal(call, read.balance)
        sentence = f"{describe_proposal(call, stated)} Nothing was saved yet."
        return SheetPart(sheet=kind, csv=None, tool=tool, rows=[], balance=stated), sentence
    rows = _mark_saved(call, kind, read.rows)
    return SheetPart(sheet=kind, csv=None, tool=tool, rows=rows, balance=None), _describe_rows(rows, tool)


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


def _read_statement(facts: Reference, pasted: str, own_day: date) -> list[dict[str, Any]]:
    """The balance that a pasted statement names; those of several programmes where it leaves open which one."""
    # Imported here: what reads letters is seldom needed, and large.
    from shared.domain.confirmations.balance_letters import read_balance, read_overview
    from shared.domain.confirmations.forwarding import Text
    from shared.reference.name_lookup import TravelNames

    text, world = Text(pasted, "", "", False, own_day), TravelNames(facts)
    stated = read_balance([text], world)
    is_open = stated is None or stated.program is None or stated.points is None
    balances = (read_overview(text, world) if is_open else []) or ([stated] if stated else [])
    return [to_plain_balance(balance) for balance in balances]


def _judge_stated(facts: Reference, line: int, stated: Mapping[str, Any]) -> SheetRow:
    """The row of a balance in a list; refused where its name is that of several programmes."""
    cells = {name: str(stated[name]) for name in ("program", "balance", "as_of", "expires_on") if stated[name]}
    if "program" in cells:
        return _judge(facts, "balances", TableRow(line, cells))
    names = ", ".join(facts.programs[slug].name for slug in stated["programs"])
    faults = {"field": "program", "problem": "is the name of several", "expected": names[:300]}
    return SheetRow(line=line, state="refused", arguments=cells, **faults)


def _mark_saved(call: Call, name: str, judged: list[SheetRow]) -> list[SheetRow]:
    sheet = SHEETS[name]
    saved = {_key_of(sheet.key, row) for row in sheet.read(call.db)}
    rows = []
    for row in judged:
        key = _key_of(sheet.key, row.arguments)
        is_new = row.state == "new"
        rows.append(row.model_copy(update={"state": "saved"}) if is_new and key in saved else row)
        if is_new:
            saved.add(key)
    return rows


def _judge(facts: Reference, name: str, row: TableRow) -> SheetRow:
    """The row as a call of its tool, judged by the tool's own arguments."""
    checks = TOOLS[SHEETS[name].tool].arguments
    cells: dict[str, Any] = {n: v for n, v in row.cells.items() if n in checks.schema["properties"]}
    if name in ("balances", "statuses") and (programs := facts.find_programs(cells.get("program", ""))):
        cells |= name_account(facts, programs[0]) if len(programs) == 1 and name == "balances" else {}
        cells |= {"program": programs[0]} if len(programs) == 1 and name == "statuses" else {}
    if name == "flights" and len(codes := facts.find_airlines(cells.get("airline", ""))) == 1:
        cells["airline"] = codes[0]  # as it is saved, so that a flight saved already is known
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
    """The key of a row; a flag in it is true where a pasted row does not say."""
    cells = (row.get(name) for name in key)
    return tuple("" if cell in (None, True) else str(_to_json(cell)).casefold() for cell in cells)


def _describe_rows(rows: list[SheetRow], tool: str | None) -> str:
    counts = {state: sum(row.state == state for row in rows) for state in ("new", "saved", "refused")}
    first = next((row for row in rows if row.state == "refused"), None)
    why = f" Line {first.line}: {first.field} {first.problem}." if first else ""
    return (
        f"{pluralize(counts['new'], 'row')} to add, {counts['saved']} already saved, {counts['refused']} refused."
        f"{why} Nothing was saved yet{f': send the arguments of each new row to {tool}' if counts['new'] else ''}."
    )
