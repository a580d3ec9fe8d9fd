"""Notices of an account's inbox: listed, marked as read and deleted."""

from datetime import UTC, datetime, time
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field
from sqlalchemy import ColumnElement, delete, select, update

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.parameters import Day, Page, PerPage
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Paging, Part, Result
from shared.db.messages import Notification
from shared.db.pagination import count, page_of
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid, NotFound

Kind = Literal["flight_alert", "route_monitor", "delay_alert", "standing_order", "hotel_price_drop", "inbox", "account"]


class Subject(Part):
    type: str
    id: str


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


class Marked(Result):
    marked: int
    unread: int
    not_found: list[str]


class RemovedNotice(Part):
    notification_id: str
    title: str


class DeletedNotice(Result):
    removed: RemovedNotice


def _to_notice(row: Notification) -> Notice:
    subject = Subject(type=row.subject_type, id=row.subject_id) if row.subject_type and row.subject_id else None
    return Notice(
        notification_id=str(row.id),
        kind=row.kind,
        title=row.title,
        body=row.body,
        read=row.read_at is not None,
        subject=subject,
        link=row.link,
        created_at=row.created_at,
    )


def _count_unread(call: Call) -> int:
    return count(call.db, Notification, Notification.read_at.is_(None))


@tool(area="notifications", tier=Tier.FREE, effect=Effect.READS)
def list_notifications(
    call: Call,
    unread_only: bool = False,
    kind: Kind | None = None,
    since: Day | None = None,
    page: Page = 1,
    per_page: PerPage = 20,
) -> Notices:
    """Lists inbox notices such as award seats found, price drops and standing-order results. Free."""
    conditions: list[ColumnElement[bool]] = [Notification.read_at.is_(None)] if unread_only else []
    if kind:
        conditions.append(Notification.kind == kind)
    if since:
        conditions.append(Notification.created_at >= datetime.combine(since, time(), UTC))
    newest = Notification.created_at.desc(), Notification.id
    rows, total = page_of(call.db, Notification, conditions, *newest, page=page, per_page=per_page)
    unread = _count_unread(call)
    return Notices(
        message=f"{pluralize(total, 'notice')}; {unread} unread in the whole inbox.",
        notifications=[_to_notice(row) for row in rows],
        unread=unread,
        paging=Paging.of(page, per_page, total),
    )


def _parse_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _mark(call: Call, ids: list[UUID] | None) -> int:
    """Marks these notices, or all when None, and returns how many were unread."""
    change = update(Notification).where(Notification.read_at.is_(None)).values(read_at=call.now)
    if ids is not None:
        change = change.where(Notification.id.in_(ids))
    result: Any = call.db.execute(change.execution_options(synchronize_session=False))
    return int(result.rowcount)


def _mark_named(call: Call, names: list[str]) -> tuple[int, list[str]]:
    ids = {name: id for name in names if (id := _parse_id(name))}
    existing = set(call.db.scalars(select(Notification.id).where(Notification.id.in_(ids.values()))))
    marked = _mark(call, list(existing))
    return marked, [name for name in dict.fromkeys(names) if ids.get(name) not in existing]


@tool(area="notifications", tier=Tier.FREE, effect=Effect.FILES)
def mark_notifications_read(
    call: Call,
    notification_ids: Annotated[list[str] | None, Field(max_length=200)] = None,
    all: bool = False,
) -> Marked:
    """Marks some or all notices as read and keeps them.

    Give either notification_ids, as list_notifications shows them, or all true. Free.
    """
    if bool(notification_ids) == all:
        raise Invalid(Fault("notification_ids", "or all has to be given, not both", "a list of ids, or all true"))
    marked, unknown = _mark_named(call, notification_ids) if notification_ids else (_mark(call, None), [])
    return Marked(
        message=f"{pluralize(marked, 'notice')} marked as read.",
        marked=marked,
        unread=_count_unread(call),
        not_found=unknown,
    )


@tool(area="notifications", tier=Tier.FREE, effect=Effect.CHANGES)
def delete_notification(
    call: Call,
    notification_id: Annotated[str, Field(max_length=64, description="From list_notifications.")],
) -> DeletedNotice:
    """Deletes one notice for good, read or unread.

    Confirm with the user first; mark_notifications_read keeps it. Free.
    """
    query = delete(Notification).where(Notification.id == _parse_id(notification_id)).returning(Notification.title)
    title = call.db.execute(query).scalar_one_or_none()
    if title is None:
        raise NotFound("notification", notification_id)
    return DeletedNotice(
        message=f"The notice {title!r} is deleted.",
        removed=RemovedNotice(notification_id=notification_id, title=title),
    )
