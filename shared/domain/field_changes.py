"""One sentence on a change, with the thing and its new values."""

from collections.abc import Collection, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from shared.domain.dates import format_day, format_moment

MAX_VALUE_CHARACTERS = 60  # only the result has a longer value


def describe_changes(thing: str, values: Mapping[str, Any], changed: Collection[str]) -> str:
    """`values` holds the present fields; a field that is not among them is only named."""
    if not changed:
        return "Nothing was different, so nothing was changed."
    return f"Changed {thing}: {'; '.join(_describe_field(name, values) for name in changed)}."


def _describe_field(name: str, values: Mapping[str, Any]) -> str:
    label = name.replace("_", " ")
    if name not in values:
        return label
    value = values[name]
    if value is None or value in ("", [], {}):
        return f"{label} removed"
    text = str(value) if name.endswith("_id") else _format_value(value)
    return f"{label} now {text}" if 0 < len(text) <= MAX_VALUE_CHARACTERS else label


def _format_value(value: Any) -> str:
    """Formats a value as people read it; empty where the value is not for a sentence."""
    match value:
        case bool():
            return "on" if value else "off"
        case int() | float() | Decimal():
            return f"{value:,.2f}".removesuffix(".00")
        case datetime():
            return format_moment(value)
        case date():
            return format_day(value)
        case time():
            return f"{value:%H:%M}"
        case str():
            return " ".join((value.replace("_", " ") if value.islower() else value).split())
        case list() if all(isinstance(part, str | int) for part in value):
            return ", ".join(_format_value(part) for part in value)
        case dict() if all(isinstance(part, str | int) for part in value.values()):
            return ", ".join(f"{name.replace('_', ' ')} {_format_value(part)}" for name, part in value.items())
    return ""
