"""Notices of an account's inbox: listing, marking as read and deleting."""

from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from pydantic import Field
from sqlalchemy import delete, select, update

from mcp_server.toolkit import Call, Effect, Paging, Part, Result, Tier, tool
from mcp_server.toolkit.parameters import Day, Page, PerPage
from mcp_server.toolkit.wording import tell_rows
from mcp_server.views.deadlines import Subject
from shared.db.messages import Notification, load_notice_page
from shared.db.pagination import count
from shared.domain.plurals import pluralize
from shared.domain.short_ids import read_uuid, shorten_uuid
from shared.domain.watch_kinds import FLIGHT_ALERT, WATCH_KINDS
from shared.errors import Fault, Invalid, NotFound
from shared.outbox.links import find_subject_path
from shared.settings import settings

_NEWER_KINDS = dict.fromkeys(kind.notice for kind in WATCH_KINDS if kind is not FLIGHT_ALERT)
if TYPE_CHECKING:
    Kind = str
else:  # in the order that was published
    Kind = Literal[FLIGHT_ALERT.notice, *_NEWER_KINDS, "inbox", "account"]


class Notice(Part):
    notification_id: str
    kind: str
    title: str
    body: str
    read: bool
    subject: Subject | None
    link: str | None
    created_at: datetime


class Notices(Result):
    notifications: list[Notice]
    unread: int
    paging: Paging


class MarkedNotices(Result):
    marked: int
    unread: int
    not_found: list[str]


class RemovedNotice(Part):
    notification_id: str
    title: str


class DeletedNotice(Result):
    removed: RemovedNotice


def _to_notice(row: Notification) -> Notice:
    return Notice.from_row(
        row,
        notification_id=shorten_uuid(row.id),
        read=row.read_at is not None,
        subject=_to_subject(row),
        link=_find_link(row),
    )


def _find_link(row: Notification) -> str | None:
    """The address of the page about its subject."""
    path = row.link or find_subject_path(row.subject_type, row.subject_id)
    return f"{settings().web_url}{path}" if path else None


def _to_subject(row: Notification) -> Subject | None:
    """The id in the form of its subject's tools: mails have random ones, all others numbers or names."""
    if not (row.subject_type and row.subject_id):
        return None
    mail = read_uuid(row.subject_id) if row.subject_type == "inbox_message" else None
    return Subject(type=row.subject_type, id=shorten_uuid(mail) if mail else row.subject_id)


@tool("notifications", Tier.FREE, Effect.READS, "List notifications")
def list_notifications(
    call: Call,
    unread_only: bool = False,
    kind: Kind | None = None,
    since: Day | None = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Notices:
    """Lists the user's notifications, new or unread: award seats found, price drops, delays, missed messages.

    For "Anything new for me?" Free.
    """
    midnight = datetime.combine(since, time(), UTC) if since else None
    only = {"unread_only": unread_only or None, "kind": kind, "since": midnight}
    notices = load_notice_page(call.db, only, page, per_page)
    return Notices(
        message=f"{tell_rows(notices.total, 'notice', (row.title for row in notices.rows))}"
        f" {notices.unread} unread in the whole inbox.",
        notifications=[_to_notice(row) for row in notices.rows],
        unread=notices.unread,
        paging=Paging.of(page, per_page, notices.total),
    )


def _mark(call: Call, ids: list[UUID] | None) -> int:
    """Marks these notices, or all when None, and returns how many were unread."""
    change = update(Notification).where(Notification.read_at.is_(None)).values(read_at=call.now)
    if ids is not None:
        change = change.where(Notification.id.in_(ids))
    result: Any = call.db.execute(change.execution_options(synchronize_session=False))
    return int(result.rowcount)


def _mark_named(call: Call, names: list[str]) -> tuple[int, list[str]]:
    ids = {name: id for name in names if (id := read_uuid(name))}
    existing = set(call.db.scalars(select(Notification.id).where(Notification.id.in_(ids.values()))))
    marked = _mark(call, list(existing))
    return marked, [name for name in dict.fromkeys(names) if ids.get(name) not in existing]


@tool("notifications", Tier.FREE, Effect.FILES, "Mark notifications as read")
def mark_notifications_read(
    call: Call,
    notification_ids: Annotated[list[str] | None, Field(max_length=200)] = None,
    all: bool = False,
) -> MarkedNotices:
    """Marks some or all notifications or notices as read, which clears the badge and keeps them.

    For "I have seen them all." Send notification_ids or all true. Free.
    """
    if bool(notification_ids) == all:
        raise Invalid(Fault("notification_ids", "or all has to be given, not both", "a list of ids, or all true"))
    marked, unknown = _mark_named(call, notification_ids) if notification_ids else (_mark(call, None), [])
    return MarkedNotices(
        message=f"{pluralize(marked, 'notice')} marked as read.",
        marked=marked,
        unread=count(call.db, Notification, Notification.read_at.is_(None)),
        not_found=unknown,
    )


@tool("notifications", Tier.FREE, Effect.CHANGES, "Delete a notification")
def delete_notification(
    call: Call,
    notification_id: Annotated[str, Field(max_length=64, description="From list_notifications.")],
) -> DeletedNotice:
    """Deletes one notification, notice or message from the list for good.

    For "Get rid of that message." Confirm with the user first; mark_notifications_read keeps it. Free.
    """
    query = delete(Notification).where(Notification.id == read_uuid(notification_id))
    row = call.db.execute(query.returning(Notification.id, Notification.title)).one_or_none()
    if row is None:
        raise NotFound("notification", notification_id)
    return DeletedNotice(
        message=f"The notice {row.title!r} is deleted.",
        removed=RemovedNotice(notification_id=shorten_uuid(row.id), title=row.title),
    )
