"""Tools for saved chats and the list of recent activity."""

from datetime import UTC, datetime, time
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field
from sqlalchemy import delete

from mcp_server.toolkit import Added, Call, Effect, Paging, Part, Result, Tier, tool
from mcp_server.toolkit.own_rows import Again, find_saved
from mcp_server.toolkit.parameters import Day, Page, PerPage, RowId, TripId, line
from mcp_server.toolkit.wording import tell_rows
from mcp_server.views.trips import ChatLink, SearchRecord, get_own_trip, to_chat_link, to_search_record
from shared.db.trips import ChatLink as Row
from shared.db.trips import newest_activity, open_trip
from shared.errors import NotFound


def _web_address(value: str) -> str:
    try:
        parts = urlsplit(value)
        plain = bool(parts.hostname) and parts.username is None and value.isprintable() and " " not in value
    except ValueError:
        plain = False
    if not plain:
        raise ValueError("is not a web address")
    return value


ChatUrl = Annotated[str, Field(max_length=500, pattern="^https://"), AfterValidator(_web_address)]


class SavedChat(Added):
    chat: ChatLink
    created: bool


class Gone(Part):
    chat_id: int
    title: str


class RemovedChat(Result):
    removed: Gone


class Activity(Result):
    searches: list[SearchRecord]
    chats: list[ChatLink]
    paging: Paging


@tool("trips", Tier.FREE, Effect.REPLACES, "Save a link to a chat")
def save_chat_link(
    call: Call,
    title: Annotated[str, line(160)],
    url: ChatUrl | None = None,
    summary: Annotated[str, Field(max_length=1000)] | None = None,
    trip_id: TripId | None = None,
    chat_id: Annotated[RowId | None, Field(description="Replaces that entry.")] = None,
    again: Again = None,
) -> SavedChat:
    """Saves a bookmark of this chat or conversation: title, link, summary of what was decided, optionally with a trip.

    For "Remember what we talked about." Only when the user asks; no transcript. Free.
    """
    trip = None if trip_id is None else open_trip(call.db, trip_id)
    row = Row() if chat_id is None else call.db.get(Row, chat_id, with_for_update=True)
    if row is None:
        raise NotFound("saved chat", chat_id)
    if trip is not None:
        row.trip_id = trip.id
    row.title, row.url, row.summary, row.updated_at = title, url, summary or None, call.now
    if chat_id is None and (saved := find_saved(call, row, "saved chat", again=again)):
        return SavedChat(message=saved.message, chat=to_chat_link(saved.row), created=False, already_saved=True)
    call.db.add(row)
    call.db.flush()
    message = f"{title} is saved as chat {row.id}."
    return SavedChat(message=message, chat=to_chat_link(row), created=chat_id is None, already_saved=False)


@tool("trips", Tier.FREE, Effect.CHANGES, "Remove a saved chat link")
def remove_chat_link(
    call: Call, chat_id: Annotated[RowId, Field(description="From list_recent_activity.")]
) -> RemovedChat:
    """Removes the saved bookmark of a chat or conversation, which itself stays.

    For "Forget that chat we saved." Free.
    """
    title = call.db.execute(delete(Row).where(Row.id == chat_id).returning(Row.title)).scalar_one_or_none()
    if title is None:
        raise NotFound("saved chat", chat_id)
    return RemovedChat(message=f"{title} is no longer kept.", removed=Gone(chat_id=chat_id, title=title))


@tool("trips", Tier.FREE, Effect.READS, "List recent searches and chats")
def list_recent_activity(
    call: Call,
    kind: Literal["search", "chat", "all"] = "all",
    trip_id: TripId | None = None,
    since: Day | None = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Activity:
    """Lists the user's past searches, as of yesterday or last week, with results, and saved chats or conversations.

    For "What did we look at last week?" Free.
    """
    if trip_id is not None:
        get_own_trip(call, trip_id)
    start = datetime.combine(since, time(), UTC) if since else None
    activity = newest_activity(call.db, kind, trip_id, start, page, per_page)
    entries = [*(row.summary for row in activity.searches), *(row.title for row in activity.chats)]
    return Activity(
        message=tell_rows(activity.total, "entry", entries, "entries"),
        searches=[to_search_record(row) for row in activity.searches],
        chats=[to_chat_link(row) for row in activity.chats],
        paging=Paging.of(page, per_page, activity.total),
    )
