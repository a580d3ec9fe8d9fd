"""Marks of invented rows: a client shows rows without their envelope, so each says itself that it was invented.

A row is any object with the field `generated_at`, which is null in real rows.
"""

from typing import Any

_MARKS: dict[str, Any] = {
    "source": {"type": "string"},
    "generated_at": {"type": "string", "format": "date-time"},
    "synthetic": {"type": "boolean"},
    "live": {"type": "boolean"},
}


def mark_rows(node: Any) -> Any:
    """Changes the data of an answer in place: invented rows get their marks, real ones lose the empty field."""
    if isinstance(node, list):
        for item in node:
            mark_rows(item)
    elif isinstance(node, dict):
        for value in node.values():
            if isinstance(value, dict | list):
                mark_rows(value)
        if "generated_at" in node:
            generated_at = node.pop("generated_at")
            if generated_at is not None:
                node |= {"source": "sandbox", "synthetic": True, "live": False, "generated_at": generated_at}
    return node


def describe_marks(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a row as it is sent: the marks are there in invented rows alone."""
    if "generated_at" in schema.get("properties", ()):
        schema["properties"] |= _MARKS
        schema["required"].remove("generated_at")
    return schema
