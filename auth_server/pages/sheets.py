"""Sheets pages: what a person keeps as CSV files, and tables from elsewhere, looked at before their rows are added."""

from asyncio import gather
from collections import Counter
from functools import partial
from typing import Any

from auth_server.pages.member import Member, begin, get_for_member, post_for_member
from auth_server.pages.tool_calls import Answer, change, look, read_faults
from auth_server.web.outcomes import FlowResult, JsonResponse, show_problem
from shared import clock
from shared.db.base import own
from shared.db.sheets import ADDED, SHEETS, write_sheet
from shared.documents.text_decoding import NoText, decode_text
from shared.domain.sheets import BOM, MAX_ROWS, UnreadTable, split_table
from shared.limits.heavy_work import run_heavy
from shared.settings import settings

PATH = "/dashboard/sheets"
UPLOAD, SAVE, FILE = f"{PATH}/upload", f"{PATH}/save", f"{PATH}/{{name}}"
MAX_FILE_BYTES, MAX_CHARACTERS = 1 << 20, 200_000
MAX_FORM_BYTES = 3 * MAX_CHARACTERS + 4096  # each character of a form may take three
AT_ONCE, ROWS_OF_A_LOOK = 8, 100
_SAVE_SECONDS = 30.0
_TITLES = {name: sheet.title for name, sheet in SHEETS.items()}


async def show(member: Member) -> FlowResult:
    return _show(member)


def _show(member: Member, *, status: int = 200, fault: str = "", **context: Any) -> FlowResult:
    kind = member.data.form_value("kind") or member.data.query_value("kind")
    kinds = [(name, _TITLES[name]) for name in ADDED]
    empty: dict[str, Any] = {
        "rows": (),
        "counts": Counter[str](),
        "balance": None,
        "sheet": "",
        "results": (),
        "saved": 0,
        "is_done": False,
    }
    most = {"most_rows": MAX_ROWS, "columns": {name: SHEETS[name].columns for name in ADDED}}
    return member.show(
        "sheets.html", status, titles=_TITLES, kinds=kinds, kind=kind, fault=fault, **(empty | most | context)
    )


async def download(member: Member) -> FlowResult:
    name = member.data.path_values["name"].removesuffix(".csv")
    if name not in SHEETS:
        return show_problem("There is no such sheet", "Choose one of the list.", 404, links=((PATH, "Sheets"),))
    account = member.account.id
    text = await member.transact(lambda db: write_sheet(own(db, account, settings().data_mode), name))
    file = f"award-travel-{name}-{clock.today().isoformat()}.csv"
    headers = {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": f'attachment; filename="{file}"',
        "Cache-Control": "no-store",
    }
    return JsonResponse(200, (BOM + text).encode(), headers)


async def look_at_file(member: Member) -> FlowResult:
    if not member.data.file:
        return _show(member, status=422, fault="Choose a file first.")
    try:
        text = await run_heavy(decode_text, member.data.file)
    except NoText as no:
        return _show(member, status=422, fault=f"This file cannot be read: it is {no}.")
    return await _look_at(member, text)


async def show_too_large(member: Member) -> FlowResult:
    return _show(member, status=413, fault=f"The file is larger than {MAX_FILE_BYTES >> 20} MiB. Nothing was saved.")


async def look_at_text(member: Member) -> FlowResult:
    return await _look_at(member, member.data.form_value("sheet"))


async def _look_at(member: Member, text: str) -> FlowResult:
    """Previews what would be added, what is already saved, and what is refused and why."""
    kind = member.data.form_value("kind")
    if kind not in ADDED or not text.strip():
        return _show(member, status=422, fault="Choose what it is, and paste a table or choose a file.")
    if len(text) > MAX_CHARACTERS:
        return _show(member, status=422, fault=f"It is longer than {MAX_CHARACTERS:,} characters. Split it.")
    rows, balance, fault = await _judge(member, kind, text)
    if fault:
        return _show(member, status=422, fault=fault, sheet=text)
    counts = Counter(row["state"] for row in rows)
    return _show(member, rows=rows, counts=counts, balance=balance, sheet=text)


async def _judge(member: Member, kind: str, text: str) -> tuple[list[dict[str, Any]], dict[str, Any] | None, str]:
    """Reads the rows, or the balance that a statement names, and the faults of the whole."""
    try:
        parts = split_table(text, SHEETS[kind].aliases, ROWS_OF_A_LOOK)
    except UnreadTable:
        parts = [(text, [])]
    if len(parts) == 1:
        parts = [(text, parts[0][1])]  # as it came: it may be no table
    # One after the other: of an account only one text at a time is read.
    answers = [await look(member, "get_portfolio", sheet=kind, pasted=part) for part, _ in parts]
    if wrong := next((answer for answer in answers if answer.status != "ok"), None):
        return [], None, " ".join(read_faults(wrong).values())
    rows = []
    for answer, (_, lines) in zip(answers, parts, strict=True):
        rows += [row | {"line": line} for row, line in zip(answer["sheet"]["rows"], lines, strict=False)]
    return rows, answers[0]["sheet"]["balance"], ""


async def save(member: Member) -> FlowResult:
    """Saves each new row by a separate call: a refused one says why, and the others stay saved."""
    kind, text = member.data.form_value("kind"), member.data.form_value("sheet")
    if kind not in ADDED:
        return _show(member, status=422, fault="Choose what it is.")
    rows, balance, fault = await _judge(member, kind, text)
    if fault:
        return _show(member, status=422, fault=fault, sheet=text)
    if balance and not balance["missing"]:
        rows = [{"line": 1, "state": "new", "arguments": balance["arguments"]}]
    new = [row for row in rows if row["state"] == "new"]
    results: list[tuple[int, str]] = []
    saved = 0
    for first in range(0, len(new), AT_ONCE):
        batch = new[first : first + AT_ONCE]
        call = partial(change, member, SHEETS[kind].tool, _SAVE_SECONDS)
        answers = await gather(*(call(**row["arguments"]) for row in batch))
        saved += sum(answer.is_good for answer in answers)
        results += [(row["line"], _explain(a)) for row, a in zip(batch, answers, strict=True) if not a.is_good]
    return _show(member, status=200 if saved or not new else 422, results=results, saved=saved, is_done=True)


def _explain(answer: Answer) -> str:
    if answer.get("already_saved"):
        return "This is already saved."
    return " ".join(f"{name}: {words}" if name else words for name, words in read_faults(answer).items())


ROUTES = [
    get_for_member(PATH, show),
    get_for_member(FILE, download),
    post_for_member(PATH, look_at_text, max_bytes=MAX_FORM_BYTES),
    post_for_member(SAVE, save, page=PATH, max_bytes=MAX_FORM_BYTES),
]
UPLOAD_FLOW = partial(begin, look_at_file)
