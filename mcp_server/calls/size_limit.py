"""How long an answer may be: a result's data goes in; the same comes out, its longest lists cut if they must be.

A page is cut to a page of a smaller size that begins where it began, so that going on from it misses nothing.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import to_json

from shared.errors import Fault, Invalid

MOST = 100_000  # characters of an answer's text
_TEXT_BESIDE = 200  # the notice that leads the sentence
_CUT = 0.8  # of a list's rows stay each time


def size(data: Mapping[str, Any]) -> int:
    """Characters of the texts made of it: the sentence, and all of it as JSON."""
    return len(to_json(data).decode()) + len(str(data.get("message", ""))) + _TEXT_BESIDE


def fit_to_limit(data: dict[str, Any], *, reads: bool) -> dict[str, Any]:
    """Raises Invalid for a page of mixed lists that is too long and only read: no smaller page begins where it did."""
    if (length := size(data)) <= MOST:
        return data
    if reads and (rows := _on_this_page(data.get("paging"))) > 1:
        if smaller := _smaller_page(data, data["paging"], rows):
            return smaller
        fewer = max(1, int(rows * MOST * 0.9 / length))
        raise Invalid(Fault("per_page", f"makes a result longer than {MOST:,} characters", f"at most {fewer} here"))
    return _cut(data)


def _on_this_page(paging: Mapping[str, int] | None) -> int:
    """How many rows it has; the last page is seldom full."""
    if not paging:
        return 1
    return min(paging["per_page"], paging["total"] - (paging["page"] - 1) * paging["per_page"])


def _smaller_page(data: dict[str, Any], paging: Mapping[str, int], rows: int) -> dict[str, Any] | None:
    """The same beginning as a page of a size that divides the one asked for; None when no one list is the page."""
    name = next((name for name, value in data.items() if isinstance(value, list) and len(value) == rows), None)
    if name is None:
        return None
    asked = paging["per_page"]
    for fewer in (n for n in range(rows - 1, 0, -1) if asked % n == 0):
        page = (paging["page"] - 1) * (asked // fewer) + 1
        now = {"page": page, "per_page": fewer, "total": paging["total"], "has_more": page * fewer < paging["total"]}
        told = f"{data['message']} Too long to show whole: go on with page {page + 1} and per_page {fewer}."
        made = data | {"message": told, name: data[name][:fewer], "paging": now}
        if size(made) <= MOST or fewer == 1:
            return made
    return None


def _cut(data: dict[str, Any]) -> dict[str, Any]:
    before: dict[str, int] = {}
    lists = {name: rows for name, rows in _lists("", data) if len(rows) > 1}
    while size(data) > MOST and lists:
        longest = max(lists, key=lambda name: len(to_json(lists[name])))
        rows = lists[longest]
        before.setdefault(longest, len(rows))
        del rows[max(1, int(len(rows) * _CUT)) :]
        if len(rows) == 1:
            del lists[longest]
    kept = dict(_lists("", data))
    shown = [f"{len(kept[name])} of {count} {name.replace('_', ' ')}" for name, count in before.items()]
    if "has_more" in data:
        data["has_more"] = True
    return data | {"message": f"{data['message']} Too long to show whole: {', '.join(shown)}."} if shown else data


def _lists(prefix: str, part: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """The lists of a result by name, those within its parts too, but none within another list."""
    for name, value in part.items():
        if isinstance(value, list):
            yield prefix + name, value
        elif isinstance(value, dict):
            yield from _lists(f"{prefix}{name}.", value)
