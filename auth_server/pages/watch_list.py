"""Page of all watches by kind: route watches, alerts of one airline, delays at airports, and standing orders."""

from asyncio import gather
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from auth_server.pages.flight_drawings import draw_ways
from auth_server.pages.member import Member, get_for_member
from auth_server.pages.tool_calls import Answer, look
from auth_server.pages.watch_lines import WatchLine
from auth_server.pages.watch_pages import Kind
from auth_server.web.outcomes import FlowResult
from shared.domain.watch_kinds import LIMITED_KINDS
from shared.outbox.links import WATCHES_PAGE

PER_PAGE = 8  # of each kind: four full lists stay far below 30 kB
MAX_PAGE = 100_000
MESSAGES = {"deleted": "The alert is deleted."}
_MODULES = [import_module(f"auth_server.pages.{kind.files}") for kind in LIMITED_KINDS]
KINDS: list[Kind] = [module.KIND for module in _MODULES]


def _read_page(member: Member, name: str) -> int:
    text = member.data.query_value(name) or ""
    return min(int(text), MAX_PAGE) if text.isascii() and text.isdecimal() and 0 < len(text) < 9 and int(text) else 1


async def show(member: Member) -> FlowResult:
    """Shows all kinds, each with its own page number: `?routes=2`."""
    listings = [kind.listing for kind in KINDS]
    answers = await gather(
        *(look(member, of.tool, page=_read_page(member, of.name), per_page=PER_PAGE, **of.arguments) for of in listings)
    )
    lists = [(kind, *_read_lines(answer, kind)) for kind, answer in zip(KINDS, answers, strict=True)]
    drawing = await draw_ways(member, [way for answer in answers for way in _list_ways(answer)])
    return member.show("watch_list.html", lists=lists, map=drawing, path=WATCHES_PAGE, messages=MESSAGES)


def _list_ways(answer: Answer) -> list[tuple[str, str]]:
    """The routes of what is watched and still goes on, as far as it is of a route."""
    rows = [*answer.get("monitors", ()), *answer.get("alerts", ())] if answer.is_good else []
    live = [row for row in rows if row.get("state", "active") == "active" and row.get("active", True)]
    ways = [(row.get("origin") or row.get("departure"), row.get("destination")) for row in live]
    return [(start, end) for start, end in ways if start and end]


def _read_lines(answer: Answer, kind: Kind) -> tuple[list[WatchLine] | None, Mapping[str, Any]]:
    """The lines and the paging; None without an answer."""
    if not answer.is_good:
        return None, {}
    return [kind.describe(row) for row in answer[kind.listing.rows]], answer["paging"]


ROUTES = [get_for_member(WATCHES_PAGE, show), *(route for module in _MODULES for route in module.ROUTES)]
