"""The tasks as they are written down, with days counted from today and numbers kept from earlier answers."""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from shared import clock

HERE = Path(__file__).parent
_DAY = re.compile(r"day([+-]\d+)")


@dataclass(frozen=True)
class Step:
    """One call of a tool, or the arrival of a forwarded mail where `tool` is "mail"."""

    tool: str
    arguments: dict[str, Any]
    status: str = "ok"
    keep: dict[str, str] = field(default_factory=dict)  # name -> where in the answer its value stands
    person: str | None = None  # someone else than the task's own person


@dataclass(frozen=True)
class Task:
    name: str
    request: str
    calls: tuple[Step, ...]
    stand: dict[str, list[dict[str, Any]]]  # "table" or "person.table" -> all rows that stand there afterwards
    says: tuple[str, ...]  # words that must be told
    before: tuple[Step, ...] = ()
    never: tuple[str, ...] = ()  # words that must not be told
    tells: tuple[str, ...] = ()  # what a person must hear of a model instead of `says`: "one way|or another"
    person: str = "alice"


def _read_step(row: dict[str, Any]) -> Step:
    settings = {"status", "keep", "person"}
    (tool,) = row.keys() - settings
    return Step(tool, row[tool] or {}, **{name: row[name] for name in settings & row.keys()})


def _read_task(row: dict[str, Any]) -> Task:
    before, calls = (tuple(_read_step(step) for step in row.get(name, ())) for name in ("before", "calls"))
    words = {name: tuple(row.get(name, ())) for name in ("says", "never", "tells")}
    person = row.get("person", "alice")
    return Task(row["name"], row["request"], calls, row["stand"], before=before, person=person, **words)


@cache
def load_tasks() -> tuple[Task, ...]:
    rows = [row for path in sorted(HERE.glob("*.yaml")) for row in yaml.safe_load(path.read_text(encoding="utf-8"))]
    return tuple(_read_task(row) for row in rows)


def fill_in(value: Any, kept: dict[str, Any]) -> Any:
    """The value with "day+60" turned into that day (ISO 8601) and "$name" into what was kept under the name."""
    if isinstance(value, dict):
        return {name: fill_in(part, kept) for name, part in value.items()}
    if isinstance(value, list):
        return [fill_in(part, kept) for part in value]
    if not isinstance(value, str):
        return value
    if value.startswith("$"):
        return kept[value[1:]]
    return _DAY.sub(lambda match: (clock.today() + timedelta(days=int(match[1]))).isoformat(), value)


def list_unknown(value: Any, kept: dict[str, Any]) -> set[str]:
    """The names in the value that nothing was kept under."""
    if isinstance(value, dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return set().union(*(list_unknown(part, kept) for part in parts))
    return {value[1:]} - kept.keys() if isinstance(value, str) and value.startswith("$") else set()


def pick(answer: Any, place: str) -> Any:
    """What stands at a place such as "bookings.0.booking_id" of an answer."""
    for part in place.split("."):
        answer = answer[int(part)] if isinstance(answer, list) else answer[part]
    return answer
