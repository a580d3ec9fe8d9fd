"""Reads environment variables: without quotes, or from the file that NAME_FILE names."""

import os
from collections.abc import Mapping
from pathlib import Path


class SettingsError(Exception):
    """The environment does not describe a service; the text names each setting and its remedy."""


def unquote(value: str) -> str:
    """The value without the quotes around it: a shell and systemd remove them, --env-file of containers does not."""
    is_quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if is_quoted else value


def read_variable(name: str, variables: Mapping[str, str | None] = os.environ) -> str:  # noqa: TID251 - it is read here
    """Empty if neither NAME nor NAME_FILE is set. Raises SettingsError if both are, or the file is unreadable."""
    value, place = (unquote(variables.get(key) or "") for key in (name, name_file(name)))
    if not place:
        return value
    title = name.upper()
    if value:
        raise SettingsError(f"{title} and {title}_FILE are both set: set one of them.")
    try:
        value = Path(place).read_text(encoding="utf-8").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise SettingsError(f"{title}_FILE names {place}, which cannot be read: {reason}.") from None
    if not value:
        raise SettingsError(f"{title}_FILE names {place}, which is empty.")
    return value


def name_file(name: str) -> str:
    return name + ("_FILE" if name.isupper() else "_file")
