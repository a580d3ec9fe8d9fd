"""Clients pages of advisors: the people they work for are listed, added, changed and deleted, with points and notes."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

from auth_server.pages.member import Member, MemberFlow, redirect_back
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import Answer, ToolCall, prepare_change, prepare_look, read_faults, show_when_answered
from auth_server.pages.tool_forms import delete_by, read_page, read_typed, show_away, show_gone
from auth_server.web.outcomes import FlowResult, PageResult
from shared import clock
from shared.db import clients
from shared.domain.plans import Plan

# Lines of a client's form: points by programme and preferences, one a line, and the plain data they stand for.


class UnreadableLine(ValueError):
    """A line that does not say what it should; the text names it for the person who typed it."""


def write_points(balances: Mapping[str, int], names: Mapping[str, str]) -> str:
    """`United MileagePlus: 62,340`, a programme a line; `names` are those of programmes known here."""
    return "\n".join(f"{name}: {points:,}" for name, points in sort_by_name(balances, names))


def sort_by_name(balances: Mapping[str, int], names: Mapping[str, str]) -> list[tuple[str, int]]:
    return sorted(
        ((names.get(slug, slug), points) for slug, points in balances.items()), key=lambda row: row[0].lower()
    )


def read_points(text: str) -> dict[str, str]:
    """Points as they were typed, by the programme before the last colon. Raises UnreadableLine."""
    balances: dict[str, str] = {}
    for line in _list_lines(text):
        name, colon, points = (part.strip() for part in line.rpartition(":"))
        if not colon or not name or not points:
            raise UnreadableLine(f"“{line[:60]}” is no programme with points, such as “United MileagePlus: 62,340”.")
        if name in balances:
            raise UnreadableLine(f"“{name[:60]}” stands on two lines.")
        balances[name] = points.replace(" ", "")
    return balances


def write_preferences(preferences: Mapping[str, Any]) -> str:
    """`seat: aisle`, a preference a line. What is no plain text is written as JSON, so that it is read as it was."""
    return "\n".join(f"{_write_name(name)}: {_write_value(value)}" for name, value in preferences.items())


def read_preferences(text: str) -> dict[str, Any]:
    """Raises UnreadableLine."""
    preferences: dict[str, Any] = {}
    for line in _list_lines(text):
        name, rest = _split_name(line)
        if not name or not rest.startswith(":"):
            raise UnreadableLine(f"“{line[:60]}” is no preference with a colon, such as “seat: aisle”.")
        if name in preferences:
            raise UnreadableLine(f"“{name[:60]}” stands on two lines.")
        preferences[name] = _read_value(rest[1:].strip())
    return preferences


def _list_lines(text: str) -> list[str]:
    return [line for raw in text.split("\n") if (line := raw.strip())]


def _write_name(name: str) -> str:
    plain = name == name.strip() != "" and ":" not in name and not name.startswith('"') and name.isprintable()
    return name if plain else json.dumps(name, ensure_ascii=False)


def _split_name(line: str) -> tuple[str, str]:
    """The name, and what follows it."""
    if not line.startswith('"'):
        name, colon, rest = line.partition(":")
        return name.strip(), colon + rest
    try:
        name, end = json.JSONDecoder().raw_decode(line)
    except ValueError:
        return "", ""
    return name, line[end:].lstrip()


def _write_value(value: Any) -> str:
    if isinstance(value, str) and value == value.strip() and value.isprintable() and _read_value(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _read_value(text: str) -> Any:
    """JSON where the text is JSON that can be stored, else the text itself."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return text
    return value


PATH = "/dashboard/clients"
NEW, ONE = f"{PATH}/new", f"{PATH}/{{number}}"
CHANGE, DELETE = f"{ONE}/change", f"{ONE}/delete"
FIELDS = ("client_name", "client_email", "phone", "points", "preferences", "notes")
MESSAGES = {
    "saved": "The client is saved.",
    "deleted": "The client is deleted, and the links to their documents end.",
}
MAX_FORM_BYTES = 96 * 1024  # notes, preferences and a hundred programmes, as forms encode them
_AWAY = show_away("Your clients")
_GONE = show_gone("client", PATH, "Your clients")


def for_advisors(flow: MemberFlow) -> MemberFlow:
    """On other plans a sentence and the way to the plans; the tools refuse in any case."""

    def guarded_flow(member: Member) -> PageResult:
        if member.plan >= Plan.PRO:
            return flow(member)
        documents = len(clients.list_open_links(member.db, member.account.id, clock.now()))
        return member.show("clients_plan.html", 403 if member.data.method == "POST" else 200, documents=documents)

    return guarded_flow


def show(member: Member) -> PageResult:
    query = (member.data.query_value("q") or "").strip()[:80]
    call = prepare_look(member, "list_client_portfolios", page=read_page(member), **({"query": query} if query else {}))
    return show_when_answered({"clients": call}, partial(_show, member, query))


def _show(member: Member, query: str, answers: Mapping[str, Answer]) -> FlowResult:
    answer = answers["clients"]
    if not answer.is_good:
        return _AWAY
    paging = answer["paging"]
    pages = {
        words: f"{PATH}?{urlencode({'q': query, 'page': page})}"
        for words, page, is_there in (
            ("Previous page", paging["page"] - 1, paging["page"] > 1),
            ("Next page", paging["page"] + 1, paging["has_more"]),
        )
        if is_there
    }
    context = {"rows": answer["portfolios"], "total": paging["total"], "pages": pages, "query": query}
    return member.show("clients.html", **context, messages=MESSAGES)


def _look(member: Member) -> dict[str, ToolCall]:
    """A client, and what programmes are called."""
    return {
        "client": prepare_look(member, "get_client_portfolio", portfolio_id=member.data.path_number("number") or 0),
        "programs": _look_for_programs(member),
    }


def _look_for_programs(member: Member) -> ToolCall:
    return prepare_look(member, "list_points_balances", include_supported=True)


def _read_names(answers: Mapping[str, Answer]) -> dict[str, str]:
    return {row["program"]: row["name"] for row in answers["programs"].get("supported_programs") or ()}


def _when_read(member: Member, show_page: Any) -> PageResult:
    """`show_page` gets the client's file and the names of programmes by slug."""

    def show_result(answers: Mapping[str, Answer]) -> FlowResult:
        answer = answers["client"]
        if not answer.is_good:
            return _GONE if answer else _AWAY
        result: FlowResult = show_page(member, answer, _read_names(answers))
        return result

    return show_when_answered(_look(member), show_result)


def show_one(member: Member) -> PageResult:
    return _when_read(member, _show_one)


def _show_one(member: Member, answer: Answer, names: Mapping[str, str]) -> FlowResult:
    row = answer["portfolio"]
    valued = set(names.values())
    points = [(name, f"{points:,}", name in valued) for name, points in sort_by_name(row["balances"], names)]
    preferences = [line.partition(": ")[::2] for line in write_preferences(row["preferences"]).split("\n") if line]
    context = {"row": row, "points": points, "preferences": preferences, "total": answer["total_value"]}
    return member.show("client.html", **context, documents=answer["pdfs"], messages=MESSAGES)


def show_new(member: Member) -> FlowResult:
    return _show_fields(member, dict.fromkeys(FIELDS, ""), None)


def show_form(member: Member) -> PageResult:
    return _when_read(member, _show_stored)


def _show_stored(member: Member, answer: Answer, names: Mapping[str, str]) -> FlowResult:
    row = answer["portfolio"]
    typed = {name: row.get(name) or "" for name in FIELDS}
    typed |= {
        "points": write_points(row["balances"], names),
        "preferences": write_preferences(row["preferences"]),
    }
    return _show_fields(member, typed, row["portfolio_id"])


def _show_fields(
    member: Member, typed: Mapping[str, str], number: int | None, faults: Mapping[str, str] | None = None
) -> FlowResult:
    """`number`: of the client who is changed; None for one who is added."""
    context = {"typed": typed, "number": number, "faults": faults or {}, "fields": FIELDS}
    return member.show("client_form.html", 422 if faults else 200, **context)


def save(member: Member) -> PageResult:
    typed, number = read_typed(member, FIELDS), member.data.path_number("number")
    values: dict[str, Any] = {name: typed[name] for name in ("client_name", "client_email", "phone", "notes")}
    faults: dict[str, str] = {}
    for field, name, read in (("points", "balances", read_points), ("preferences", "preferences", read_preferences)):
        try:
            values[name] = read(typed[field])
        except UnreadableLine as line:
            faults[field] = str(line)
    if faults:
        return _show_fields(member, typed, number, faults)
    call = _prepare_saving(member, values, number)
    return show_when_answered({"saved": call}, partial(_finish_saving, member, typed, number))


def _prepare_saving(member: Member, values: Mapping[str, Any], number: int | None) -> ToolCall:
    """The whole form is sent: what stands in it takes the place of what was kept."""
    filled = {name: value for name, value in values.items() if value}
    if number is None:
        return prepare_change(member, "create_client_portfolio", **{"client_name": ""} | filled)
    cleared = [name for name in values if name not in filled and name != "client_name"]
    filled |= {"client_name": values["client_name"], "replace": True, "clear": cleared}
    return prepare_change(member, "update_client_portfolio", portfolio_id=number, **filled)


def _finish_saving(
    member: Member, typed: Mapping[str, str], number: int | None, answers: Mapping[str, Answer]
) -> FlowResult:
    saved = answers["saved"]
    if saved.status == "not_found":
        return _GONE
    if faults := read_faults(saved):
        named = {"points" if at.startswith("balances") else at: text for at, text in faults.items()}
        return _show_fields(member, typed, number, named)
    return redirect_back(f"{PATH}/{saved['portfolio']['portfolio_id']}", "saved")


def ask_delete(member: Member) -> PageResult:
    return _when_read(member, _ask_delete)


def _ask_delete(member: Member, answer: Answer, _names: Mapping[str, str]) -> FlowResult:
    documents = sum(pdf["url"] is not None for pdf in answer["pdfs"])
    return member.show("client_delete.html", row=answer["portfolio"], documents=documents)


def delete(member: Member) -> PageResult:
    number = member.data.path_number("number") or 0
    return delete_by(member, "delete_client_portfolio", PATH, _GONE, portfolio_id=number)


ROUTES = [
    get_for_member(PATH, for_advisors(show)),
    get_for_member(NEW, for_advisors(show_new)),
    post_for_member(NEW, for_advisors(save), max_bytes=MAX_FORM_BYTES),
    get_for_member(ONE, for_advisors(show_one)),
    get_for_member(CHANGE, for_advisors(show_form)),
    post_for_member(CHANGE, for_advisors(save), max_bytes=MAX_FORM_BYTES),
    get_for_member(DELETE, for_advisors(ask_delete)),
    post_for_member(DELETE, for_advisors(delete)),
]
