"""Notices page: what was told to a person, each with the way to what it is about, marked as read and deleted."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from auth_server.pages.member import Member
from auth_server.pages.member_routes import get_for_member, post_for_member
from auth_server.pages.tool_calls import Answer, Subject, change, look
from auth_server.pages.watch_lines import read_moment
from auth_server.web.outcomes import FlowResult, Redirect
from shared.domain.watch_kinds import WATCH_KINDS

PATH = "/dashboard/notices"
READ, DELETE = f"{PATH}/read", f"{PATH}/delete"
PER_PAGE = 15
MAX_PAGE = 100_000
BODY_CHARACTERS = 500  # of a notice: fifteen of them stay below 30 kB
MESSAGES = {
    "read": "The notice is marked as read.",
    "all_read": "All notices are marked as read.",
    "deleted": "The notice is deleted.",
}
KINDS = {kind.notice: kind.label for kind in WATCH_KINDS} | {"inbox": "Forwarded mail", "account": "Account"}
NOTICES = Subject("notice", PATH, "Your notices")


def _read_place(member: Member) -> tuple[int, bool]:
    """Which page of the list, and whether only what is unread: of the query, or of the form that came from there."""
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
        rows=[_describe(notice) for notice in answer["notifications"]],
        unread=answer["unread"],
        paging=answer["paging"],
        page=page,
        only_unread=only_unread,
        filter="&unread=1" if only_unread else "",
        messages=MESSAGES,
    )


def _describe(notice: Mapping[str, Any]) -> dict[str, Any]:
    body = str(notice["body"])
    cut = body if len(body) <= BODY_CHARACTERS else f"{body[: BODY_CHARACTERS - 1].rstrip()}…"
    return {
        "id": notice["notification_id"],
        "kind": KINDS.get(notice["kind"], notice["kind"]),
        "title": notice["title"],
        "body": cut,
        "read": notice["read"],
        "page": find_page(notice),
        "at": read_moment(notice["created_at"]),
    }


def find_page(notice: Mapping[str, Any]) -> str | None:
    """The path of the page a notice is about; None where it has none."""
    return urlsplit(notice["link"]).path if notice["link"] else None


async def mark_read(member: Member) -> FlowResult:
    """The one that the button names, or all."""
    notice_id = member.data.form_value("notification_id")
    arguments: dict[str, Any] = {"notification_ids": [notice_id]} if notice_id else {"all": True}
    marked = await change(member, "mark_notifications_read", **arguments)
    return _return_to_list(member, marked, "read" if notice_id else "all_read")


def _return_to_list(member: Member, answer: Answer, done: str) -> FlowResult:
    if not answer.is_good:
        return NOTICES.refuse(answer)
    page, only_unread = _read_place(member)
    place = {"page": page} if page > 1 else {}
    return Redirect(f"{PATH}?{urlencode(place | ({'unread': 1} if only_unread else {}) | {'done': done})}")


async def ask_delete(member: Member) -> FlowResult:
    """The notice stands on the page of the list its link came from."""
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
