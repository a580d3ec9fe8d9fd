"""The size limit of an answer: lists that make it too long are shortened, and the message says so.

A page becomes a page of a smaller size that begins at the same row, so that the next page misses nothing.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import to_json

from mcp_server.toolkit.results import Paging
from shared.errors import Fault, Invalid

MAX_CHARACTERS = 100_000  # of an answer's text: hosts cut longer ones, and a model pays for each
_NOTICE_CHARACTERS = 200  # reserve for the sandbox notice before the sentence
_KEPT_SHARE = 0.8  # of the longest list's rows, at each round


def count_characters(data: Mapping[str, Any]) -> int:
    """Characters of the texts made of it: the sentence, and all of it as JSON."""
    return len(to_json(data).decode()) + len(str(data.get("message", ""))) + _NOTICE_CHARACTERS


def fit_to_limit(data: dict[str, Any], *, reads: bool) -> dict[str, Any]:
    """Raises Invalid for a page of mixed lists that is too long and only read: no smaller page begins where it did."""
    if (length := count_characters(data)) <= MAX_CHARACTERS:
        return data
    if reads and (rows := _count_rows_on_page(data.get("paging"))) > 1:
        if smaller := _shrink_page(data, data["paging"], rows):
            return smaller
        fewer = max(1, int(rows * MAX_CHARACTERS * 0.9 / length))
        raise Invalid(
            Fault("per_page", f"makes a result longer than {MAX_CHARACTERS:,} characters", f"at most {fewer} here")
        )
    return _shorten_lists(data)


def _count_rows_on_page(paging: Mapping[str, int] | None) -> int:
    """Rows of this page: the last page is seldom full."""
    if not paging:
        return 1
    return min(paging["per_page"], paging["total"] - (paging["page"] - 1) * paging["per_page"])


def _shrink_page(data: dict[str, Any], paging: Mapping[str, Any], rows: int) -> dict[str, Any] | None:
    """A page with the same first row, of a size that divides the one asked for; None when no one list is the page."""
    name = next((name for name, value in data.items() if isinstance(value, list) and len(value) == rows), None)
    if name is None:
        return None
    per_page, total = paging["per_page"], paging["total"]
    summary = data["message"].replace(Paging(**paging).more, "")  # it names the next page of the size asked for
    for fewer in (n for n in range(rows - 1, 0, -1) if per_page % n == 0):
        page = (paging["page"] - 1) * (per_page // fewer) + 1
        smaller = {"page": page, "per_page": fewer, "total": total, "has_more": page * fewer < total}
        message = f"{summary} Too long to show whole: go on with page {page + 1} and per_page {fewer}."
        answer = data | {"message": message, name: data[name][:fewer], "paging": smaller}
        if count_characters(answer) <= MAX_CHARACTERS or fewer == 1:
            return answer
    return None


def _shorten_lists(data: dict[str, Any]) -> dict[str, Any]:
    whole_lengths: dict[str, int] = {}
    lists = {name: rows for name, rows in _find_lists("", data) if len(rows) > 1}
    while count_characters(data) > MAX_CHARACTERS and lists:
        longest = max(lists, key=lambda name: len(to_json(lists[name])))
        rows = lists[longest]
        whole_lengths.setdefault(longest, len(rows))
        del rows[max(1, int(len(rows) * _KEPT_SHARE)) :]
        if len(rows) == 1:
            del lists[longest]
    short = dict(_find_lists("", data))
    counts = [f"{len(short[name])} of {count} {name.replace('_', ' ')}" for name, count in whole_lengths.items()]
    if "has_more" in data:
        data["has_more"] = True
    return data | {"message": f"{data['message']} Too long to show whole: {', '.join(counts)}."} if counts else data


def _find_lists(prefix: str, part: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    """The lists of a result by name, those within its parts too, but none within another list."""
    for name, value in part.items():
        if isinstance(value, list):
            yield prefix + name, value
        elif isinstance(value, dict):
            yield from _find_lists(f"{prefix}{name}.", value)
