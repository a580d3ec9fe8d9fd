"""Activity page: what assistants and programs searched for the person, and the chats they saved, newest first."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from auth_server.pages.forms import read_page
from auth_server.pages.member import Member, get_for_member
from auth_server.pages.tool_calls import Subject, look
from auth_server.pages.watch_lines import read_moment
from auth_server.web.outcomes import FlowResult

PATH = "/dashboard/activity"
PER_PAGE = 10
MAX_SUMMARY, MAX_ASKED = 300, 150  # characters, each up to five bytes: ten of both stay below 30 kB
KINDS = {"all": "Everything", "search": "Searches", "chat": "Saved chats"}
OUTCOMES = {
    "ok": "",
    "partial": "some sources were silent",
    "no_data": "nothing found",
    "backend_unavailable": "no source answered",
}
_OF_LISTS = {"page", "per_page", "sort", "detail"}
_FIRST = ("origin", "destination")
_ACTIVITY = Subject("activity", PATH, "Your activity")
Row = Mapping[str, Any]


async def show(member: Member) -> FlowResult:
    kind = member.data.query_value("kind") or ""
    kind = kind if kind in KINDS else "all"
    answer = await look(member, "list_recent_activity", kind=kind, page=read_page(member), per_page=PER_PAGE)
    if not answer.is_good:
        return _ACTIVITY.show_away()
    rows = [*map(_describe_search, answer["searches"]), *map(_describe_chat, answer["chats"])]
    rows.sort(key=lambda row: row["at"], reverse=True)
    links = {
        step: f"{PATH}?{urlencode({'kind': kind, 'page': answer['paging']['page'] + change})}"
        for step, change in (("newer", -1), ("older", 1))
    }
    return member.show(
        "activity.html", rows=rows, paging=answer["paging"], kind=kind, kinds=KINDS, links=links, path=PATH
    )


def _describe_search(search: Row) -> dict[str, Any]:
    return {
        "kind": OUTCOMES.get(search["outcome"], search["outcome"].replace("_", " ")),
        "title": search["tool"].replace("_", " ").capitalize(),
        "about": _shorten(_describe_asked(search["arguments"]), MAX_ASKED),
        "summary": _shorten(search["summary"], MAX_SUMMARY),
        "trip": search["trip_id"],
        "at": read_moment(search["created_at"]),
        "link": None,
        "host": "",
    }


def _describe_asked(arguments: Row) -> str:
    """`origin LHR, destination JFK, cabin business`: without empty arguments and those on listing."""
    named = [name for name in arguments if name not in _OF_LISTS]
    names = sorted(named, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    values = [(name.replace("_", " "), arguments[name]) for name in names]
    return ", ".join(f"{name} {_write(value)}" for name, value in values if value not in (None, "", [], {}, False))


def _write(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "yes" if value is True else str(value)


def _describe_chat(chat: Row) -> dict[str, Any]:
    return {
        "kind": "saved chat",
        "title": chat["title"],
        "about": "",
        "summary": _shorten(chat["summary"] or "", MAX_SUMMARY),
        "trip": chat["trip_id"],
        "at": read_moment(chat["created_at"]),
        "link": chat["url"],
        "host": urlsplit(chat["url"] or "").hostname or "",
    }


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


ROUTES = [get_for_member(PATH, show)]
