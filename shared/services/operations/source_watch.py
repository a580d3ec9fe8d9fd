"""The weekly watch of public files of facts: each difference from our rows becomes an item for a person.

It changes no row.
"""

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

from sqlalchemy.orm import Session

from shared import clock
from shared.db import source_watch as store
from shared.db.source_watch import FAULT, SourceReading
from shared.domain.dates import format_day
from shared.domain.plurals import pluralize
from shared.domain.source_files import SourceContent, SourceRow, SourceUnreadable, read_source
from shared.reference.audit import FactDoubt
from shared.reference.load import reference
from shared.reference.rows.watched import WatchedSource
from shared.reference.source_comparison import SourceDifference, build_name_finder, compare_source
from shared.reference.watched_sources import build_map
from shared.services.operations.source_fetch import SourceAnswer, SourceRequest
from shared.settings import settings

log = logging.getLogger(__name__)
MAX_ITEMS = 300  # of one source
_MIN_ROWS = 10  # a shorter list may shrink to any size
_MAX_NAMES = 20  # in one sentence


@dataclass(frozen=True)
class _Comparison:
    """A source's state after a run: differences, or None without data to compare."""

    differences: list[SourceDifference] | None
    fault: str | None


def list_sources() -> Sequence[WatchedSource]:
    return reference().rows("watched_sources.csv")


def plan_requests(session: Session) -> list[SourceRequest]:
    """All watched files, with the tag of each that is stored by today's mapping and was understood whole."""
    readings = store.list_readings(session)
    return [SourceRequest(source, _find_tag(source, readings.get(source.name))) for source in list_sources()]


def _find_tag(source: WatchedSource, reading: SourceReading | None) -> str | None:
    if reading is None or reading.mapping != _fingerprint(source) or reading.content["unknown_names"]:
        return None
    return reading.etag


def _fingerprint(source: WatchedSource) -> str:
    return hashlib.sha256(json.dumps(astuple(source)).encode()).hexdigest()


def store_answers(session: Session, answers: Sequence[SourceAnswer]) -> None:
    """Compares the answers with our rows and stores items. A source with a fault keeps its items."""
    readings, today = store.list_readings(session), clock.today()
    store.end_sources(session, [answer.source.name for answer in answers], today)
    counts: dict[str, int] = {"differences": 0, "faults": 0}
    for answer in answers:
        result = _compare_answer(session, answer, readings.get(answer.source.name))
        store.end_items(session, answer.source.name, today, faults_only=result.differences is None)
        items = [_describe_fault(answer.source, result.fault)] if result.fault else []
        items += [_describe_difference(answer.source, d) for d in (result.differences or [])[:MAX_ITEMS]]
        store.store_items(session, items, today)
        counts["differences"] += len(result.differences or [])
        counts["faults"] += bool(result.fault)
    log.info("sources: %s read, %s", len(answers), ", ".join(f"{n} {name}" for name, n in counts.items()))


def _compare_answer(session: Session, answer: SourceAnswer, reading: SourceReading | None) -> _Comparison:
    source = answer.source
    if answer.fault:
        return _Comparison(None, answer.fault)
    if answer.body is None:
        assert reading is not None, "only a stored tag can be confirmed"
        store.mark_checked(session, source.name, clock.now())
        entries = [SourceRow(tuple(key), values) for key, values in reading.content["entries"]]
        return _compare_content(source, SourceContent(entries, tuple(reading.content["unknown_names"])))
    try:
        content = read_source(answer.body, build_map(source), build_name_finder(reference(), source))
    except SourceUnreadable as error:
        return _Comparison(None, str(error))
    _store_reading(session, answer, content)
    before = len(reading.content["entries"]) if reading else 0
    if before >= _MIN_ROWS and len(content.entries) < before / 2:
        text = f"holds {pluralize(len(content.entries), 'row')} where it held {before}; it is compared in the next run"
        return _Comparison(None, text)
    return _compare_content(source, content)


def _store_reading(session: Session, answer: SourceAnswer, content: SourceContent) -> None:
    values = {
        "name": answer.source.name,
        "mapping": _fingerprint(answer.source),
        "etag": answer.etag,
        "content": {
            "entries": [[list(entry.key), entry.values] for entry in content.entries],
            "unknown_names": list(content.unknown_names),
        },
        "read_at": clock.now(),
        "checked_at": clock.now(),
    }
    store.store_reading(session, values)


def _compare_content(source: WatchedSource, content: SourceContent) -> _Comparison:
    differences = compare_source(reference(), source, content.entries, clock.today())
    faults = []
    if len(differences) > MAX_ITEMS:
        faults.append(f"differs in {len(differences)} places, of which the first {MAX_ITEMS} are listed")
    if names := content.unknown_names:
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        faults.append(f"has names that nothing here bears: {', '.join(names[:_MAX_NAMES])}{more}")
    return _Comparison(differences, "; ".join(faults) or None)


def _describe_fault(source: WatchedSource, fault: str) -> dict[str, Any]:
    key = {"source": source.name, "file": source.file, "key": "", "field": FAULT}
    return key | {"ours": "", "theirs": fault, "link": source.url}


def _describe_difference(source: WatchedSource, difference: SourceDifference) -> dict[str, Any]:
    key = {"source": source.name, "file": difference.file, "key": difference.key, "field": difference.field}
    return key | {"ours": difference.ours, "theirs": difference.theirs, "link": source.url}


def describe_watch(session: Session) -> str:
    """One line for the operator: how many files are watched, when they were last read, and which could not be."""
    if not settings().watch_sources:
        return "none, as WATCH_SOURCES says"
    readings = store.list_readings(session)
    items = store.list_open_items(session)
    faults = [f"{item.source} {item.theirs}" for item in items if item.field == FAULT]
    days = [reading.checked_at.date() for reading in readings.values()]
    last = f"last read on {format_day(max(days))}" if days else "none read yet"
    differences = pluralize(sum(item.field != FAULT for item in items), "difference")
    return "; ".join([f"{pluralize(len(list_sources()), 'file')}, {last}, {differences} open", *faults])


def list_findings(session: Session) -> list[FactDoubt]:
    """The open items for the audit."""
    return [_to_finding(item) for item in store.list_open_items(session)]


def _to_finding(item: store.SourceItem) -> FactDoubt:
    number = f"D{item.id}"
    if item.field == FAULT:
        text = f"{item.source} {item.theirs}: {item.link} ({number})"
        return FactDoubt("unread", item.file, f"source {item.source}", item.first_seen_on, text)
    text = f"{item.field} here: {item.ours}; in {item.source}: {item.theirs}: {item.link} ({number})"
    key = f"{item.key} {item.field} {item.source}"
    return FactDoubt("differs", item.file, key, item.first_seen_on, text)
