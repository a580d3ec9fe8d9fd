"""Clients pages of advisors: the people they work for are listed, added, changed and deleted, with points and notes."""

import json
from asyncio import gather
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from auth_server.pages.forms import Field, Form, ToolForm, mark_values, read_page, show_form
from auth_server.pages.member import Member, get_for_member, post_for_member, redirect_back
from auth_server.pages.tool_calls import Answer, Subject, change, look
from auth_server.web.outcomes import FlowResult
from shared import clock
from shared.db import clients
from shared.domain.plans import Plan

# Lines of a client's form: points by programme and preferences, one a line, and the plain data they stand for.


class UnreadableLine(ValueError):
    """A malformed line; the text quotes it for the person who typed it."""


def write_points(balances: Mapping[str, int], names: Mapping[str, str]) -> str:
    """`United MileagePlus: 62,340`, one programme a line; `names` are those of known programmes."""
    return "\n".join(f"{name}: {points:,}" for _, name, points in sort_by_name(balances, names))


def sort_by_name(balances: Mapping[str, int], names: Mapping[str, str]) -> list[tuple[str, str, int]]:
    """Slug, name and points of each."""
    rows = [(slug, names.get(slug, slug), points) for slug, points in balances.items()]
    return sorted(rows, key=lambda row: row[1].lower())


def read_points(text: str) -> dict[str, str]:
    """Points as they were typed, by the programme before the last colon. Raises UnreadableLine."""
    balances: dict[str, str] = {}
    for line in _list_lines(text):
        name, colon, points = (part.strip() for part in line.rpartition(":"))
        if not colon or not name or not points:
            raise UnreadableLine(f"“{line[:60]}” is no programme with points, such as “United MileagePlus: 62,340”.")
        if name in balances:
            raise UnreadableLine(f"“{name[:60]}” stands on two lines.")
        balances[name] = points
    return balances


def write_preferences(preferences: Mapping[str, Any]) -> str:
    """`seat: aisle`, a preference a line. Other values than plain text are JSON, so that reading restores them."""
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
    """The value of storable JSON, else the text itself."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return text
    return value


PATH = "/dashboard/clients"
NEW, ONE = f"{PATH}/new", f"{PATH}/{{number}}"
CHANGE, DELETE = f"{ONE}/change", f"{ONE}/delete"
FORM = ToolForm(
    (
        Field("client_name", "Name"),
        Field("client_email", "Email", type="email", half=True),
        Field("phone", type="tel", half=True),
        Field("balances", "Points, a programme a line", "Such as: United MileagePlus: 62,340", type="textarea", rows=6),
        Field("preferences", "What they like, a wish a line", "Such as: seat: aisle", type="textarea", rows=5),
        Field("notes", rows=5),
    ),
    add="create_client_portfolio",
    change="update_client_portfolio",
)
MESSAGES = {
    "saved": "The client is saved.",
    "deleted": "The client is deleted, and the links to their documents end.",
}
MAX_FORM_BYTES = 96 * 1024  # notes, preferences and a hundred programmes, as forms encode them
CLIENTS = Subject("client", PATH, "Your clients")
Handler = Callable[[Member], Awaitable[FlowResult]]


def for_advisors(handler: Handler) -> Handler:
    """Shows other plans a sentence and the way to the plans; the tools refuse anyway."""

    async def show_to_advisor(member: Member) -> FlowResult:
        if member.plan >= Plan.PRO:
            return await handler(member)
        rows = await member.transact(lambda db: clients.list_open_links(db, member.account.id, clock.now()))
        return member.show("clients_plan.html", 403 if member.data.method == "POST" else 200, documents=len(rows))

    return show_to_advisor


async def show(member: Member) -> FlowResult:
    query = (member.data.query_value("q") or "").strip()[:80]
    query_argument = {"query": query} if query else {}
    answer = await look(member, "list_client_portfolios", page=read_page(member), **query_argument)
    if not answer.is_good:
        return CLIENTS.show_away()
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


async def _look(member: Member) -> Answer:
    return await look(member, "get_client_portfolio", portfolio_id=member.data.path_number("number") or 0)


async def _look_with_names(member: Member) -> tuple[Answer, dict[str, str]]:
    """Fetches a client, and the names of programmes."""
    answer, balances = await gather(_look(member), look(member, "list_points_balances", include_supported=True))
    return answer, {row["program"]: row["name"] for row in balances.get("supported_programs") or ()}


async def show_one(member: Member) -> FlowResult:
    answer, names = await _look_with_names(member)
    if not answer.is_good:
        return CLIENTS.show_missing(answer)
    row = answer["portfolio"]
    points = sort_by_name(row["balances"], names)
    preferences = [line.partition(": ")[::2] for line in write_preferences(row["preferences"]).split("\n") if line]
    context = {"row": row, "points": points, "names": names, "preferences": preferences, "total": answer["total_value"]}
    context["worth"] = {slug: {"amount": value, "currency": "USD"} for slug, value in answer["values"].items()}
    return member.show("client.html", **context, documents=answer["pdfs"], messages=MESSAGES)


async def show_new(member: Member) -> FlowResult:
    form = await FORM.load(member, is_new=True)
    return _show(member, form, form.begin(), {})


async def show_change(member: Member) -> FlowResult:
    form, (answer, names) = await gather(FORM.load(member, is_new=False), _look_with_names(member))
    if not answer.is_good:
        return CLIENTS.show_missing(answer)
    row = answer["portfolio"]
    lines = {
        "balances": write_points(row["balances"], names),
        "preferences": write_preferences(row["preferences"]),
    }
    typed = form.write(row | lines)
    return _show(member, form, typed, mark_values(typed))


def _show(
    member: Member,
    form: Form,
    typed: Mapping[str, str],
    before: Mapping[str, str],
    saved: Answer | None = None,
    faults: Mapping[str, str] | None = None,
) -> FlowResult:
    return show_form(
        member,
        form,
        typed,
        before,
        title="Add a client" if form.is_new else "Change a client",
        heading="Who it is",
        back=(PATH, "Clients") if form.is_new else (member.data.path.rpartition("/")[0], "Back to the client"),
        answer=saved,
        faults=faults,
    )


async def save(member: Member) -> FlowResult:
    number = member.data.path_number("number")
    form = await FORM.load(member, is_new=number is None)
    typed, before = form.read(member), form.read_before(member)
    values = form.list_filled(typed) if form.is_new else form.list_changes(typed, before)
    faults: dict[str, str] = {}
    for name, read in (("balances", read_points), ("preferences", read_preferences)):
        try:
            values |= {name: read(typed[name])} if name in values else {}
        except UnreadableLine as line:
            faults[name] = str(line)
    if faults:
        return _show(member, form, typed, before, faults=faults)
    if form.is_new:
        saved = await change(member, "create_client_portfolio", **{"client_name": ""} | values)
    else:  # the lines replace all that was saved
        saved = await change(member, "update_client_portfolio", portfolio_id=number, replace=True, **values)
    if saved.status == "not_found":
        return CLIENTS.show_gone()
    if not saved.is_good:
        return _show(member, form, typed, before, saved)
    return redirect_back(f"{PATH}/{saved['portfolio']['portfolio_id']}", "saved")


async def ask_delete(member: Member) -> FlowResult:
    answer = await _look(member)
    if not answer.is_good:
        return CLIENTS.show_missing(answer)
    documents = sum(pdf["url"] is not None for pdf in answer["pdfs"])
    return member.show("client_delete.html", row=answer["portfolio"], documents=documents)


async def delete(member: Member) -> FlowResult:
    number = member.data.path_number("number") or 0
    return await CLIENTS.delete(member, "delete_client_portfolio", portfolio_id=number)


ROUTES = [
    get_for_member(PATH, for_advisors(show)),
    get_for_member(NEW, for_advisors(show_new)),
    post_for_member(NEW, for_advisors(save), max_bytes=MAX_FORM_BYTES),
    get_for_member(ONE, for_advisors(show_one)),
    get_for_member(CHANGE, for_advisors(show_change)),
    post_for_member(CHANGE, for_advisors(save), max_bytes=MAX_FORM_BYTES),
    get_for_member(DELETE, for_advisors(ask_delete)),
    post_for_member(DELETE, for_advisors(delete)),
]
