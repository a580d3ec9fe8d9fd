"""Clients of an advisor: validation of contact data, balances and free-form preferences."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from shared.domain.parsing.numbers import UnreadNumber, read_number
from shared.errors import Fault, Invalid, NotFound

MAX_BALANCES = 100
MAX_POINTS = 1_000_000_000
MAX_NAME_CHARACTERS = 120
MAX_PREFERENCES_BYTES = 16 * 1024
MAX_PREFERENCES_DEPTH = 5
_EMAIL = re.compile(r"[^@\s\x00-\x1f\x7f]{1,64}@[^@\s\x00-\x1f\x7f]+")
_PHONE = re.compile(r"\+?[0-9][0-9 ()./x-]{3,}")


def check_email(text: str) -> str:
    """Checks a field: ValueError says what is wrong. Empty stays empty."""
    text = text.strip()
    if text and not _EMAIL.fullmatch(text):
        raise ValueError("is not an email address")
    return text


def check_phone(text: str) -> str:
    text = text.strip()
    if text and not _PHONE.fullmatch(text):
        raise ValueError("is not a telephone number")
    return text


def parse_balances(
    raw_balances: Mapping[str, Any], resolve: Callable[[str], str], *, may_remove: bool
) -> tuple[dict[str, int | None], list[str]]:
    """Points by slug, or by the given name if it is no programme, and those names; None = remove."""
    out: dict[str, int | None] = {}
    unknown: list[str] = []
    if len(raw_balances) > MAX_BALANCES:
        raise Invalid(Fault("balances", "has too many entries", f"at most {MAX_BALANCES} programmes"))
    for raw, value in raw_balances.items():
        name = " ".join(raw.split())
        if not name or len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
            raise Invalid(
                Fault("balances", "has a name that names no programme", f"names of 1 to {MAX_NAME_CHARACTERS} letters")
            )
        points = None if value is None and may_remove else _parse_points(name, value)
        try:
            key = resolve(name)
        except NotFound:
            key = name
            unknown.append(name)
        if key in out:
            raise Invalid(Fault(f"balances.{name}", f"means {key}, which is given twice", "each programme once"))
        out[key] = points
    return out, unknown


def _parse_points(name: str, value: Any) -> int:
    try:
        value = read_number(value, is_whole=True)
    except UnreadNumber:
        value = None
    whole = isinstance(value, (int, float)) and not isinstance(value, bool) and value == value // 1
    if not whole or not 0 <= value <= MAX_POINTS:
        expected = f"a whole number from 0 to {MAX_POINTS}"
        raise Invalid(Fault(f"balances.{name}", "is not a number of points", expected))
    return int(value)


def check_preferences(values: dict[str, Any]) -> dict[str, Any]:
    """Free-form JSON within limits of size and depth. Raises Invalid."""
    # Iterative, because deep nesting from a stranger would exceed the recursion limit.
    depth, level = 0, [values]
    while level and depth <= MAX_PREFERENCES_DEPTH:
        level = [c for v in level if isinstance(v, (dict, list)) for c in (v.values() if isinstance(v, dict) else v)]
        depth += 1
    if depth > MAX_PREFERENCES_DEPTH:
        raise Invalid(Fault("preferences", "is nested too deeply", f"at most {MAX_PREFERENCES_DEPTH} levels"))
    try:
        size = len(json.dumps(values, ensure_ascii=False, allow_nan=False).encode())
    except ValueError:  # NaN or a lone surrogate: PostgreSQL accepts neither
        raise Invalid(Fault("preferences", "holds a value that cannot be stored", "plain JSON")) from None
    if size > MAX_PREFERENCES_BYTES:
        raise Invalid(Fault("preferences", "is too large", f"at most {MAX_PREFERENCES_BYTES // 1024} KiB"))
    return values


def merge_fields(old: Mapping[str, Any], new: Mapping[str, Any], *, replace: bool) -> dict[str, Any]:
    """New entries over the old ones, or instead of them; an entry of None is removed."""
    whole = dict(new) if replace else {**old, **new}
    return {name: value for name, value in whole.items() if value is not None}


def check_bounds(fields: Mapping[str, Any]) -> None:
    """Checks that the merged whole keeps the bounds of a single change. Raises Invalid."""
    if len(fields.get("balances") or ()) > MAX_BALANCES:
        raise Invalid(Fault("balances", "would have too many entries", f"at most {MAX_BALANCES} programmes"))
    check_preferences(fields.get("preferences") or {})
