"""Audit of the facts: stale, ended, contradicted, corrected and doubtful rows for a person to check."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal

from shared.domain.plurals import pluralize
from shared.errors import NotFound
from shared.reference.ages import UNDATED, find_last_check, find_source_day
from shared.reference.known_prices import LEAST, list_unproved, list_unreached
from shared.reference.overrides import Override, list_key_columns
from shared.reference.reference import Reference
from shared.reference.rows import FILES
from shared.reference.rows.fact import Fact

Kind = Literal["contradicted", "over", "override", "queue", "stale", "differs", "unread", "reported"]
_DOUBT = re.compile(r"re-?check|\bcheck(?:ed)?\b|conflict|disagree|contradict|doubt|not proved|unclear", re.IGNORECASE)
_NOTE_LENGTH = 300
MIN_OBSERVATIONS = 3  # observations against a chart before it is reported
OBSERVATION_AGE = timedelta(days=14)
USUAL_DAYS = 365
# Days after which the facts of a file are stale.
AGE_LIMITS: dict[str, int] = {
    "transfer_bonuses.csv": 7,
    "points_sales.csv": 7,
    "buy_points.csv": 30,
    "status_matches.csv": 30,
    "welcome_offers.csv": 30,
    "award_charts.csv": 90,
    "award_chart_bands.csv": 90,
    "award_chart_zones.csv": 90,
    "award_zone_members.csv": 90,
    "cards.csv": 90,
    "card_credits.csv": 90,
    "issuer_rules.csv": 180,
    "hotel_categories.csv": 180,
    "hotel_lists.csv": 90,
    "hyatt_award_chart.csv": 90,
    "transfer_partners.csv": 90,
    "cancellation_fees.csv": 180,
    "card_earn.csv": 180,
    "carrier_surcharges.csv": 180,
    "programs.csv": 180,
    "voucher_types.csv": 180,
}


@dataclass(frozen=True)
class FactDoubt:
    """One thing to check. `since` is the day it began, UNDATED where that is unknown."""

    kind: Kind
    file: str
    key: str
    since: date
    text: str


@dataclass(frozen=True)
class ObservedPrice:
    """An award price that a provider showed, how often recently, and when last."""

    program: str
    airline: str
    origin: str
    destination: str
    cabin: str
    points: int
    times: int
    last: date


def audit_facts(
    reference: Reference, today: date, prices: Iterable[ObservedPrice] = (), corrections: Sequence[Override] = ()
) -> list[FactDoubt]:
    """All findings, the oldest first."""
    findings = [
        *_find_stale(reference, today),
        *_find_ended(reference, today),
        *_find_contradictions(reference, prices),
        *_list_corrections(corrections),
        *_list_queue(reference),
    ]
    return sorted(findings, key=lambda f: (f.since, f.kind, f.file, f.key))


def _list_facts(reference: Reference) -> Iterator[tuple[str, Any]]:
    for file, kind in FILES.items():
        if issubclass(kind, Fact):
            yield from ((file, row) for row in reference.rows(file))


def _name_row(file: str, row: Any) -> str:
    return " ".join("-" if (v := getattr(row, n)) in (None, ()) else _to_text(v) for n in list_key_columns(file))


def _to_text(value: Any) -> str:
    return "|".join(value) if isinstance(value, tuple) else str(value)


def count_old(tables: Mapping[str, Sequence[Any]], today: date) -> dict[str, int]:
    """Counts outdated or ended facts by file, for files with any; undated ones do not count.

    Checking does not renew them: their age is that of the page.
    """
    ages = {
        file: sum(_find_end(row) < today or _is_past_limit(file, find_source_day(row), today) for row in tables[file])
        for file, kind in FILES.items()
        if issubclass(kind, Fact)
    }
    return {file: count for file, count in ages.items() if count}


def _is_past_limit(file: str, day: date, today: date) -> bool:
    return day != UNDATED and (today - day).days > AGE_LIMITS.get(file, USUAL_DAYS)


def _find_stale(reference: Reference, today: date) -> Iterator[FactDoubt]:
    """Rows past the age limit of their file, together for each source and day: one check covers them all."""
    groups: dict[tuple[str, str, date], list[Any]] = defaultdict(list)
    for file, row in _list_facts(reference):
        day = find_last_check(row)
        if _find_end(row) < today:
            continue  # ended facts are reported by _find_ended
        if day == UNDATED or _is_past_limit(file, day, today):
            groups[file, row.source_url, day].append(row)
    for (file, source, day), rows in groups.items():
        age = "undated" if day == UNDATED else f"last dated {day}"
        text = f"{pluralize(len(rows), 'row')} {age}, first {_name_row(file, rows[0])}"
        yield FactDoubt("stale", file, f"{source} {day}", day, text)


def _find_ended(reference: Reference, today: date) -> Iterator[FactDoubt]:
    for file, row in _list_facts(reference):
        if (day := _find_end(row)) < today:
            yield FactDoubt("over", file, _name_row(file, row), day, f"ended on {day}")


def _find_end(row: Any) -> date:
    """The last day a fact is valid; `date.max` without one."""
    return getattr(row, "valid_to", None) or date.max


def _find_contradictions(reference: Reference, prices: Iterable[ObservedPrice]) -> Iterator[FactDoubt]:
    """Charts whose recent observations mostly differ from all of their seasons' prices."""
    against: dict[tuple[str, str, str], list[ObservedPrice]] = defaultdict(list)
    confirmations: Counter[tuple[str, str, str]] = Counter()
    for one in prices:
        expected = _list_chart_points(reference, one)
        key = (one.program, one.airline, one.cabin)
        if expected and one.points in expected:
            confirmations[key] += one.times
        elif expected:
            against[key].append(one)
    for key, observations in against.items():
        times = sum(s.times for s in observations)
        if times >= MIN_OBSERVATIONS and times > confirmations[key]:
            most = max(observations, key=lambda s: s.times)
            chart_points = ", ".join(f"{p:,}" for p in sorted(_list_chart_points(reference, most)))
            text = (
                f"{times} fresh observations against {confirmations[key]}: {most.origin}-{most.destination} asked"
                f" {most.points:,}, the chart says {chart_points}"
            )
            yield FactDoubt("contradicted", "award_charts.csv", " ".join(key), min(s.last for s in observations), text)


def _list_chart_points(reference: Reference, one: ObservedPrice) -> set[int]:
    """The chart's prices for it, in any season; empty if it has none."""
    try:
        price = reference.route_price(one.program, one.airline, one.origin, one.destination)
    except NotFound:
        return set()
    cabin = price.cabins.get(one.cabin) if price else None
    return set(cabin.points.values()) if cabin else set()


def _list_corrections(corrections: Iterable[Override]) -> Iterator[FactDoubt]:
    for o in corrections:
        key = " ".join(o.cells.get(name, "") or "-" for name in list_key_columns(o.file)) if o.file in FILES else "?"
        what = "removal" if o.removed else "correction"
        text = f"{what} by {o.entered_by} not yet in the file: {o.reason}"
        yield FactDoubt("override", o.file, key, o.entered_at.date(), text)


def _list_queue(reference: Reference) -> Iterator[FactDoubt]:
    """Doubts noted when the facts were gathered, in the queue or in the row, until the row is audited."""
    yield from _find_doubtful_notes(reference)
    yield from _list_rejected_cells(reference)
    yield from _list_unproved_charts(reference)
    rows: Mapping[tuple[str, str], Any] = {(f, _first_key(f, row)): row for f, row in _list_facts(reference)}
    for item in reference.rows("audit_queue.csv"):
        row = rows.get((item.file, item.key))
        if row is not None and row.audited_on is not None:
            continue
        since = UNDATED if row is None else find_last_check(row)
        text = f"priority {item.priority}, {item.field}: {item.reason}"
        yield FactDoubt("queue", item.file, f"{item.key} {item.field}", since, text)


def _list_unproved_charts(reference: Reference) -> Iterator[FactDoubt]:
    """Charts with fewer than two prices known by another source, and those with zones that none of them reaches."""
    charts = {row.chart_id: row for row in reference.rows("award_charts.csv")}
    unproved = {c: f"{n} of {LEAST} prices are known by another source" for c, n in list_unproved(reference).items()}
    unreached = {c: f"no known price reaches {', '.join(zones)}" for c, zones in list_unreached(reference).items()}
    for chart, text in (unreached | unproved).items():
        yield FactDoubt("queue", "award_charts.csv", f"{chart} known prices", find_last_check(charts[chart]), text)


def _list_rejected_cells(reference: Reference) -> Iterator[FactDoubt]:
    """Cells of charts that were left out because their source contradicts itself, until the chart is audited."""
    charts = {row.chart_id: row for row in reference.rows("award_charts.csv")}
    for cell in reference.rows("award_chart_rejected.csv"):
        chart = charts.get(cell.chart_id)
        if chart is None or chart.audited_on is None:
            since = UNDATED if chart is None else find_last_check(chart)
            key = f"{cell.chart_id} {cell.cabin or '-'} {cell.reason.split(':')[0]}"
            yield FactDoubt("queue", "award_charts.csv", key, since, f"left out, {cell.reason}")


def _find_doubtful_notes(reference: Reference) -> Iterator[FactDoubt]:
    """Rows whose own note says that something is to be checked or that sources disagree."""
    for file, row in _list_facts(reference):
        if row.audited_on is None and row.note and (doubt := _DOUBT.search(row.note)):
            text = f"its note says {doubt.group().lower()!r}: {row.note[:_NOTE_LENGTH]}"
            yield FactDoubt("queue", file, f"{_name_row(file, row)} note", find_last_check(row), text)


def _first_key(file: str, row: Any) -> str:
    return _to_text(getattr(row, list_key_columns(file)[0]))
