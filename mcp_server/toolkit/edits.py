"""Updates: a row, the fields sent and the names to empty go in; the names of what is now different come out."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from shared.errors import Fault, Invalid


def edit(row: Any, now: datetime, sent: Mapping[str, Any], clear: Collection[str] | None = None) -> list[str]:
    """Stores what was sent (None was not sent, empty text empties) and empties what `clear` names."""
    both = [name for name in clear or () if sent.get(name) not in (None, "")]
    if both:
        raise Invalid(*(Fault("clear", f"names {n}, which is sent as well", "fields that are not sent") for n in both))
    wanted = {name: None if value == "" else value for name, value in sent.items() if value is not None}
    wanted |= dict.fromkeys(clear or ())
    changed = [name for name, value in wanted.items() if getattr(row, name) != value]
    for name in changed:
        setattr(row, name, wanted[name])
    if changed and getattr(row, "created_at", now) is not None:  # a new row takes both from the database
        row.updated_at = now  # said here, so that it need not be read back
    return changed


def describe_changes(changed: Collection[str]) -> str:
    """The changed fields in one sentence."""
    return f"Changed: {', '.join(changed)}." if changed else "Nothing was different, so nothing was changed."
