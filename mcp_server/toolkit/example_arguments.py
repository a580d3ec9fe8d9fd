"""Examples of calls: plausible values by an argument's name, else by its format, pattern or type."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from mcp_server.toolkit.registry import Tool
from shared import clock

Schema = dict[str, Any]

EXAMPLES_BY_NAME: dict[str, Any] = {
    "airline": "BA",
    "airport": "LHR",
    "card": "Chase Sapphire Preferred",
    "destination": "JFK",
    "flight_number": "BA117",
    "from_program": "chase-ultimate-rewards",
    "home_airport": "LHR",
    "name": "Japan in spring",
    "origin": "LHR",
    "points_needed": 60000,
    "program": "flying-blue",
    "target_program": "flying-blue",
}


def example_arguments(tool: Tool) -> dict[str, Any]:
    """The required arguments with values the tool accepts."""
    properties = tool.arguments.schema["properties"]
    return {name: _example_value(name, properties[name]) for name in tool.arguments.required}


def _example_value(name: str, schema: Schema) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if name in EXAMPLES_BY_NAME:
        return EXAMPLES_BY_NAME[name]
    if form := schema.get("format"):
        return _EXAMPLES_BY_FORMAT[form]()
    if pattern := schema.get("pattern"):
        day = _example_day()
        # The forms parameters have: codes, days, months, times.
        texts = ("LHR", "BA", "BA117", day, day[:7], "07:30", "#0055aa", "2027")
        return next((text for text in texts if re.fullmatch(pattern, text)), "Something")
    kind = schema.get("type", "string")
    if kind == "array":
        return [_example_value(name, schema.get("items", {}))] * schema.get("minItems", 0)
    plain = {"integer": schema.get("minimum", 1), "number": 100, "boolean": True, "object": {}}
    return plain.get(kind if isinstance(kind, str) else kind[0], "Something")


def _example_day() -> str:
    return (clock.today() + timedelta(days=60)).isoformat()


_EXAMPLES_BY_FORMAT: dict[str, Callable[[], str]] = {
    "date": _example_day,
    "uuid": lambda: "3f2a64c8-7a3e-4d7a-9c40-2f0d5b9c1e11",
}
