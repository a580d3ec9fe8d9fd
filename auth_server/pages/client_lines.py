"""Lines of a client's form: points by programme and preferences, one a line, and the plain data they stand for."""

import json
from collections.abc import Mapping
from typing import Any


class UnreadableLine(ValueError):
    """A line that does not say what it should; the text names it for the person who typed it."""


def write_points(balances: Mapping[str, int], names: Mapping[str, str]) -> str:
    """`United MileagePlus: 62,340`, a programme a line; `names` are those of programmes known here."""
    return "\n".join(f"{name}: {points:,}" for name, points in sort_by_name(balances, names))


def sort_by_name(balances: Mapping[str, int], names: Mapping[str, str]) -> list[tuple[str, int]]:
    return sorted(
        ((names.get(slug, slug), points) for slug, points in balances.items()), key=lambda row: row[0].lower()
    )


def read_points(text: str) -> dict[str, str]:
    """Points as they were typed, by the programme before the last colon. Raises UnreadableLine."""
    balances: dict[str, str] = {}
    for line in _list_lines(text):
        name, colon, points = (part.strip() for part in line.rpartition(":"))
        if not colon or not name or not points:
            raise UnreadableLine(f"“{line[:60]}” is no programme with points, such as “United MileagePlus: 62,340”.")
        if name in balances:
            raise UnreadableLine(f"“{name[:60]}” stands on two lines.")
        balances[name] = points.replace(" ", "")
    return balances


def write_preferences(preferences: Mapping[str, Any]) -> str:
    """`seat: aisle`, a preference a line. What is no plain text is written as JSON, so that it is read as it was."""
    return "\n".join(f"{_write_name(name)}: {_write_value(value)}" for name, value in preferences.items())


def read_preferences(text: str) -> dict[str, Any]:
    """Raises UnreadableLine."""
    preferences: dict[str, Any] = {}
    for line in _list_lines(text):
        name, rest = _split_name(line)
        if not name or not rest.startswith(":"):
            raise UnreadableLine(f"“{line[:60]}” is no preference with a colon, such as “seat: aisle”.")
        if name in preferences:
            raise UnreadableLine(f"“{name[:60]}” stands on two lines.")
        preferences[name] = _read_value(rest[1:].strip())
    return preferences


def _list_lines(text: str) -> list[str]:
    return [line for raw in text.split("\n") if (line := raw.strip())]


def _write_name(name: str) -> str:
    plain = name == name.strip() != "" and ":" not in name and not name.startswith('"') and name.isprintable()
    return name if plain else json.dumps(name, ensure_ascii=False)


def _split_name(line: str) -> tuple[str, str]:
    """The name, and what follows it."""
    if not line.startswith('"'):
        name, colon, rest = line.partition(":")
        return name.strip(), colon + rest
    try:
        name, end = json.JSONDecoder().raw_decode(line)
    except ValueError:
        return "", ""
    return name, line[end:].lstrip()


def _write_value(value: Any) -> str:
    if isinstance(value, str) and value == value.strip() and value.isprintable() and _read_value(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _read_value(text: str) -> Any:
    """JSON where the text is JSON that can be stored, else the text itself."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return text
    return value
