"""Notices page: what a person was told, each with a link to its subject, and marked as read or deleted."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any
from urllib.parse import urlencode, urlsplit

from auth_server.pages.member import Member, get_for_member, post_for_member
from auth_server.pages.tool_calls import Answer, Subject, change, look
from auth_server.pages.watch_lines import read_moment
from auth_server.web.outcomes import FlowResult, Redirect
from shared.domain.watch_kinds import WATCH_KINDS

PATH = "/dashboard/notices"
READ, DELETE = f"{PATH}/read", f"{PATH}/delete"
PER_PAGE = 15
MAX_PAGE = 100_000
MAX_LINES = 2  # of a notice: the finds of a watch are on its page
BODY_CHARACTERS = 500  # of a notice: fifteen of them stay below 30 kB
MESSAGES = {
    "read": "The notice is marked as read.",
    "all_read": "All notices are marked as read.",
    "deleted": "The notice is deleted.",
}
KINDS = {kind.notice: kind.label for kind in WATCH_KINDS} | {"inbox": "Forwarded mail", "account": "Account"}
_WORDS = ("title", "body", "link")
NOTICES = Subject("notice", PATH, "Your notices")


def _read_place(member: Member) -> tuple[int, bool]:
    """The page of the list and whether only unread ones, from the query or the form."""
    data = member.data
    text = data.query_value("page") or data.form_value("page")
    page = int(text) if text.isascii() and text.isdecimal() and len(text) < 7 else 1
    return min(max(page, 1), MAX_PAGE), bool(data.query_value("unread") or data.form_value("unread"))


async def _look(member: Member) -> Answer:
    page, unread = _read_place(member)
    return await look(member, "list_notifications", page=page, per_page=PER_PAGE, unread_only=unread)


async def show(member: Member) -> FlowResult:
    answer = await _look(member)
    if not answer.is_good:
        return NOTICES.show_away()
    page, only_unread = _read_place(member)
    return member.show(
        "notices.html",
        rows=_list_rows(answer["notifications"]),
        unread=answer["unread"],
        paging=answer["paging"],
        page=page,
        only_unread=only_unread,
        filter="&unread=1" if only_unread else "",
        messages=MESSAGES,
    )


def _list_rows(notices: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Consecutive unread notices with the same words are one row, marked as read as a whole."""
    runs = groupby(notices, key=lambda row: row["notification_id"] if row["read"] else (*map(row.get, _WORDS),))
    groups = [list(run) for _, run in runs]
    return [
        _describe(group[0]) | {"ids": ",".join(row["notification_id"] for row in group), "alike": len(group) - 1}
        for group in groups
    ]


def _describe(notice: Mapping[str, Any]) -> dict[str, Any]:
    lines = str(notice["body"]).splitlines()
    most = len(lines) if len(lines) <= MAX_LINES + 1 else MAX_LINES
    body = "\n".join(lines[:most])
    cut = body if len(body) <= BODY_CHARACTERS else f"{body[: BODY_CHARACTERS - 1].rstrip()}…"
    return {
        "id": notice["notification_id"],
        "kind": KINDS.get(notice["kind"], notice["kind"]),
        "drawing": {"inbox": "mail", "account": "account"}.get(notice["kind"], "watches"),
        "title": notice["title"],
        "body": cut,
        "more": len(lines) - most,
        "read": notice["read"],
        "page": find_page(notice),
        "at": read_moment(notice["created_at"]),
    }


def find_page(notice: Mapping[str, Any]) -> str | None:
    """The path of the page a notice is about; None where it has none."""
    return urlsplit(notice["link"]).path if notice["link"] else None


async def mark_read(member: Member) -> FlowResult:
    """Marks those that the button names, or all."""
    notice_id = member.data.form_value("notification_id")
    arguments: dict[str, Any] = {"notification_ids": notice_id.split(",")} if notice_id else {"all": True}
    marked = await change(member, "mark_notifications_read", **arguments)
    return _return_to_list(member, marked, "read" if notice_id else "all_read")


def _return_to_list(member: Member, answer: Answer, done: str) -> FlowResult:
    if not answer.is_good:
        return NOTICES.refuse(answer)
    page, only_unread = _read_place(member)
    place = {"page": page} if page > 1 else {}
    return Redirect(f"{PATH}?{urlencode(place | ({'unread': 1} if only_unread else {}) | {'done': done})}")


async def ask_delete(member: Member) -> FlowResult:
    """Asks on the page of the list that the link came from."""
    answer, notice_id = await _look(member), member.data.query_value("id")
    if not answer.is_good:
        return NOTICES.show_away()
    notice = next((row for row in answer["notifications"] if row["notification_id"] == notice_id), None)
    if notice is None:
        return NOTICES.show_gone()
    page, only_unread = _read_place(member)
    place = {"notification_id": notice_id, "page": page} | ({"unread": "1"} if only_unread else {})
    return member.show("notice_delete.html", notice=_describe(notice), place=place)


async def delete(member: Member) -> FlowResult:
    deleted = await change(member, "delete_notification", notification_id=member.data.form_value("notification_id"))
    return _return_to_list(member, deleted, "deleted")


ROUTES = [
    get_for_member(PATH, show),
    post_for_member(READ, mark_read),
    get_for_member(DELETE, ask_delete),
    post_for_member(DELETE, delete),
]
