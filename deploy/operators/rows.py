"""Rows that a command lists: a line each for people, or JSON for programs."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any


def print_rows(rows: Sequence[Any], describe: Callable[[Any], str], *, empty: str, as_json: bool) -> None:
    """`rows` are dataclass instances; JSON is one list of objects, moments as ISO 8601."""
    if as_json:
        print(json.dumps([asdict(row) for row in rows], default=_encode))
        return
    for row in rows:
        print(describe(row).rstrip())
    if not rows:
        print(empty)


def _encode(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
