"""Partial updates of a row: which fields were sent, which are cleared, and which changed."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from inspect import signature
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from shared.domain import field_changes
from shared.errors import Fault, Invalid

F = TypeVar("F", bound=Callable[..., Any])


def clears(table: Any) -> Callable[[F], F]:
    """Publishes the choices of a tool's parameter `clear`: its parameters whose columns may be empty."""

    def decorate(function: F) -> F:
        columns = table.__table__.columns
        names = tuple(name for name in signature(function).parameters if name in columns and columns[name].nullable)
        function.__annotations__["clear"] = list[Literal[names]] | None  # type: ignore[valid-type]
        return function

    return decorate


def mark_cleared(fields: Mapping[str, Any], clear: Collection[str] | None) -> dict[str, Any]:
    """Sets the fields that `clear` names to empty text. Raises Invalid for one that is also sent."""
    conflicts = [name for name in clear or () if fields.get(name) not in (None, "")]
    if conflicts:
        raise Invalid(
            *(Fault("clear", f"names {n}, which is sent as well", "fields that are not sent") for n in conflicts)
        )
    return {**fields, **dict.fromkeys(clear or (), "")}


def edit(row: Any, now: datetime, fields: Mapping[str, Any], clear: Collection[str] | None = None) -> list[str]:
    """Stores the fields (None: not sent; empty text: cleared), clears those `clear` names; returns what changed."""
    fields = mark_cleared(fields, clear)
    values = {name: None if value == "" else value for name, value in fields.items() if value is not None}
    changed = [name for name, value in values.items() if getattr(row, name) != value]
    for name in changed:
        setattr(row, name, values[name])
    if changed and getattr(row, "created_at", now) is not None:  # a new row gets both from the database
        row.updated_at = now  # set here to avoid reading it back
    return changed


def pick_columns(table: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The columns out of a tool function's `locals()`, taken before it binds its own names, without the member."""
    return {name: value for name, value in arguments.items() if name in table.__table__.columns and name != "member"}


def edit_member(row: Any, now: datetime, member: str | None) -> list[str]:
    """Stores the owner of a row (None: not sent; empty: the account holder); returns what changed."""
    if member in (None, row.member):
        return []
    row.member, row.updated_at = member, now
    return ["member"]


def describe_changes(thing: str, part: BaseModel, changed: Collection[str], **values: Any) -> str:
    """One sentence that names the thing and its new values, as the result part shows them, or from `values`."""
    return field_changes.describe_changes(thing, part.model_dump(include=set(changed)) | values, changed)
