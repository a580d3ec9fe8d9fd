"""Compact answers: what rows have in common stands once, and what is empty is left out.

A model reads each answer whole and pays for each word, so this is how tools with the parameter `detail` answer unless
asked for `full`. Thirty offers of one search said their source, its age and the sandbox's marks thirty times: a quarter
of 21 kB.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_json

# Of facts of the reference data (`Sourced`), and of what a source of seats, fares or rooms was seen to offer.
_FACT_FIELDS = ("source_url", "as_of", "unaudited", "confidence", "verified_on", "audited_on")
_SIGHTING_FIELDS = ("source", "mode", "provider_checked_at", "age_seconds", "synthetic", "live", "generated_at")
# Of published values of points, and of airlines that a source of seats is asked about.
_VALUE_FIELDS = ("unit", "basis")
_STANDING_FIELDS = ("endpoints", "state", "last_success_at")

_OPENING = ("data_mode", "notice", "status", "message")  # stand before what rows share, and that before the rows


def condense(data: dict[str, Any], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The JSON data of an answer, made compact, and all objects within it; what was given is used up.

    `provenance` holds the provenance its rows have in common: a row without such a field has the one that stands there.
    Rows leave out what is empty, and `bookable_with` where that is their programme alone. Coverage counts who was asked
    and who answered, and names only who did not.
    """
    facts = [row for row in rows if "source_url" in row and "unaudited" in row]
    sightings = [row for row in rows if "source" in row and "fetched_at" not in row and _is_sighting(row)]
    provenance = _share_fields(facts, _FACT_FIELDS) | _share_fields(sightings, _SIGHTING_FIELDS)
    provenance |= _share_fields([row for row in rows if "unit" in row and "basis" in row], _VALUE_FIELDS)
    provenance |= _share_fields([row for row in rows if "endpoints" in row and "state" in row], _STANDING_FIELDS)
    _leave_out_dates([row for row in rows if row.keys() == {"name", "value", "as_of"}], provenance)
    for value in data.values():
        if type(value) is list:
            _leave_out_empty(value, provenance)
    for row in rows:
        if "program" in row and row.get("bookable_with") == [row["program"]]:
            del row["bookable_with"]
    if type(coverage := data.get("coverage")) is dict:
        data["coverage"] = _count_coverage(coverage)
    opening = {name: data.pop(name) for name in _OPENING if name in data}
    return opening | {"detail": "compact"} | ({"provenance": provenance} if provenance else {}) | data


def _is_sighting(row: Mapping[str, Any]) -> bool:
    return "mode" in row or "synthetic" in row


def _share_fields(rows: list[dict[str, Any]], names: tuple[str, ...]) -> dict[str, Any]:
    """Takes out of the rows the most common value of each field that all of them have, and returns these values."""
    shared: dict[str, Any] = {}
    if len(rows) < 2:
        return shared
    for name in names:
        if all(name in row for row in rows):
            texts = [to_json(row[name]) for row in rows]  # a list cannot be counted, its text can
            text, count = Counter(texts).most_common(1)[0]
            if count > 1:
                shared[name] = rows[texts.index(text)][name]
    for row in rows:
        for name, value in shared.items():
            if row[name] == value:
                del row[name]
    return shared


def _leave_out_dates(opinions: list[dict[str, Any]], provenance: Mapping[str, Any]) -> None:
    """An opinion quoted within a row has the row's date unless it says another."""
    for opinion in opinions:
        if "as_of" in provenance and opinion["as_of"] == provenance["as_of"]:
            del opinion["as_of"]


def _leave_out_empty(rows: list[Any], provenance: Mapping[str, Any]) -> None:
    """Removes null fields of rows and of what they hold; not of provenance, where null differs from what is shared."""
    for row in rows:
        if type(row) is dict:
            for name in [name for name, value in row.items() if value is None and name not in provenance]:
                del row[name]
            _leave_out_empty(list(row.values()), provenance)
        elif type(row) is list:
            _leave_out_empty(row, provenance)


def _count_coverage(coverage: Mapping[str, Any]) -> dict[str, Any]:
    counts = {"asked_count": len(coverage["asked"]), "answered_count": len(coverage["answered"])}
    return counts | {"failed": coverage["failed"], "skipped": coverage["skipped"]}


def write_text(data: Mapping[str, Any]) -> str:
    """An answer as compact JSON without its null fields, for hosts that give a model the text alone."""
    return to_json(_without_nulls(data, frozenset(data.get("provenance") or ()))).decode()


def _without_nulls(value: Any, telling: frozenset[str]) -> Any:
    """`telling`: fields whose null says something, because rows leave out what they share."""
    if type(value) is dict:
        return {
            name: _without_nulls(part, telling) if type(part) in (dict, list) else part
            for name, part in value.items()
            if part is not None or name in telling
        }
    return [_without_nulls(part, telling) for part in value] if type(value) is list else value
