"""The rows of a run, read once it is quiet, and what the oracle makes of them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
from psycopg.rows import namedtuple_row

from shared.domain.watch_kinds import DELAY_ALERT, FLIGHT_ALERT, HOTEL_PRICE, ROUTE_MONITOR, WATCH_KINDS
from tests.chaos.month import oracle
from tests.chaos.month.oracle import Look, Message, Outage, Slot

Database = psycopg.Connection[Any]
MAILED = sorted({kind.notice for kind in WATCH_KINDS})  # notices of which a mail goes out; and of deadlines

_RUNS = """
select s.subject_id, s.every, r.id, r.due_at, r.started_at, r.finished_at, r.status
from job_runs r join schedules s on s.id = r.schedule_id where s.kind = %s order by s.subject_id, r.due_at, r.id"""
_FAILED = """
select s.kind, s.subject_id, r.id, r.due_at, r.finished_at, r.error
from job_runs r join schedules s on s.id = r.schedule_id where r.status = 'failed'"""
_MAILED = "select id::text, kind from notifications where kind = any(%s) or starts_with(dedupe_key, 'deadlines:')"
_NOTICES = "select subject_id, created_at from notifications where kind = %s"
_MESSAGES = """
select d.id::text, d.status, d.event, d.notification_id::text as notice, d.error,
  exists (select from notifications n where n.dedupe_key = 'delivery:' || d.id || ':uncertain') as is_shown
from deliveries d"""
_DEADLINES = """
select a.email, b.expires_on, coalesce(p.timezone, 'UTC') as zone,
  (b.updated_at at time zone coalesce(p.timezone, 'UTC'))::date as known_on,
  array(select (n.created_at at time zone coalesce(p.timezone, 'UTC'))::date from notifications n
        where n.account_id = a.id and starts_with(n.dedupe_key, 'deadlines:') order by n.created_at) as told
from points_balances b join accounts a on a.id = b.account_id left join profiles p on p.account_id = a.id
where b.expires_on is not null"""


@dataclass
class Findings:
    """Faults by what was owed, and how much there was to judge."""

    faults: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    counts: Counter[str] = field(default_factory=Counter)
    lateness: list[timedelta] = field(default_factory=list)  # from due to done, of checks that met no outage

    @property
    def is_sound(self) -> bool:
        return not any(self.faults.values())


def judge(database: Database, received: Sequence[str], outages: Sequence[Outage], end: datetime) -> Findings:
    """`outages` were made on purpose; `end` is when the last check could fall due."""
    database.execute("set time zone 'UTC'")
    findings = Findings()
    _judge_messages(database, received, findings)
    _judge_failures(database, outages, findings)
    for kind in WATCH_KINDS:
        if kind.has_own_runs:
            _judge_slots(database, kind.run, outages, end, findings)
    findings.faults["news"] += _follow_seats(database, ROUTE_MONITOR, findings)
    findings.faults["news"] += _follow_seats(database, FLIGHT_ALERT, findings)
    findings.faults["news"] += _follow_prices(database, findings)
    findings.faults["news"] += _follow_delays(database, outages, findings)
    findings.faults["news"] += _follow_deadlines(database, outages, end, findings)
    findings.faults["news"] += _compare_orders(database, findings)
    return findings


def _fetch(database: Database, question: str, *values: object) -> list[Any]:
    with database.cursor(row_factory=namedtuple_row) as cursor:
        return cursor.execute(question, values).fetchall()


def _judge_messages(database: Database, received: Sequence[str], findings: Findings) -> None:
    messages = {row.id: Message(*row[1:]) for row in _fetch(database, _MESSAGES)}
    notices = {row.id: row.kind for row in _fetch(database, _MAILED, MAILED)}
    fates = oracle.judge_mails(messages, received, notices)
    counts = {"events": len(notices), "messages": len(messages), "mails": len(received), "uncertain": fates.uncertain}
    findings.counts.update(counts)
    findings.counts["too late"] = sum(m.error == oracle.TOO_LATE for m in messages.values())
    findings.faults["lost"] += fates.lost
    findings.faults["twice"] += fates.twice
    findings.faults["without an event"] += fates.unknown
    findings.faults["unfinished"] += fates.open
    question = "select count(*) as number from job_runs where status in ('pending', 'running')"
    if waiting := _fetch(database, question)[0].number:
        findings.faults["unfinished"].append(f"{waiting} runs")


def _judge_failures(database: Database, outages: Sequence[Outage], findings: Findings) -> None:
    """Retries last some hours; of what was away for longer runs may fail for good, and the next one makes up for it."""
    for row in _fetch(database, _FAILED):
        if oracle.is_excused(outages, row.due_at, row.finished_at):
            findings.counts["runs failed in an outage"] += 1
        else:
            findings.faults["checks"].append(f"{row.kind} {row.subject_id}: run {row.id} failed: {row.error}")


def _judge_slots(database: Database, kind: str, outages: Sequence[Outage], end: datetime, findings: Findings) -> None:
    by_subject: dict[int, list[Any]] = defaultdict(list)
    for row in _fetch(database, _RUNS, kind):
        by_subject[row.subject_id].append(row)
    for subject, rows in by_subject.items():
        slots = [Slot(row.due_at, row.finished_at) for row in rows]
        findings.faults["checks"] += oracle.find_missed(f"{kind} {subject}", slots, rows[0].every, outages, end)
        done = [slot for slot in slots if slot.done and not oracle.is_excused(outages, slot.due, slot.done)]
        findings.lateness += [slot.done - slot.due for slot in done if slot.done]
    findings.counts[f"{kind} checks"] = sum(map(len, by_subject.values()))


def _list_looks(database: Database, run_kind: str, notice: str, findings: Findings) -> dict[int, list[Look]]:
    """The checks of each watch of a kind in the order of their end, which is the moment of what they told."""
    told = {(int(row.subject_id), row.created_at) for row in _fetch(database, _NOTICES, notice)}
    looks: dict[int, list[Look]] = defaultdict(list)
    for row in _fetch(database, _RUNS, run_kind):
        if row.status in ("done", "failed"):
            name, is_told = f"{run_kind} {row.subject_id}, run {row.id}", (row.subject_id, row.finished_at) in told
            looks[row.subject_id].append(Look(name, row.started_at, row.finished_at, is_told, row.status == "done"))
            told.discard((row.subject_id, row.finished_at))
    for its in looks.values():
        its.sort(key=lambda look: look.ended)
    findings.faults["news"] += [f"{notice} {id} was told at no check's end" for id, _ in told]
    findings.counts[f"{run_kind} news"] = sum(look.told for its in looks.values() for look in its)
    return looks


_SEAT_TERMS = {
    ROUTE_MONITOR.name: "select id, origin, destination, earliest_date, latest_date, airlines[1], cabin"
    " from route_monitors",
    FLIGHT_ALERT.name: "select id, departure, destination, date_range_start, date_range_end, airline, cabin_class"
    " from flight_alerts",
}


def _follow_seats(database: Database, kind: Any, findings: Findings) -> Iterator[str]:
    looks = _list_looks(database, kind.run, kind.notice, findings)
    see = lru_cache(maxsize=None)(oracle.see_seats)
    for row in _fetch(database, _SEAT_TERMS[kind.name]):
        terms = tuple(row[1:])
        yield from oracle.follow(
            looks[row.id], lambda moment, terms=terms: see(terms, moment.date()), oracle.step_seats, oracle.DAY
        )


def _follow_prices(database: Database, findings: Findings) -> Iterator[str]:
    looks = _list_looks(database, HOTEL_PRICE.run, HOTEL_PRICE.notice, findings)
    question = "select id, hotel_code, check_in_date, check_out_date, original_pay_rate_usd from hotel_bookings"
    for row in _fetch(database, question):
        yield from oracle.follow(looks[row.id], _watch_stay(*row[1:]), oracle.step_price, oracle.DAY)


def _watch_stay(code: str, check_in: date, check_out: date, booked: Any) -> Callable[[datetime], Any]:
    from shared.providers.contract import StaysQuestion
    from shared.providers.sandbox.client import find_stays
    from shared.reference import hotels
    from shared.reference.load import reference
    from shared.services.search.hotel_prices import GUESTS, spot

    hotel = hotels.find_stored(reference(), code)
    assert hotel is not None
    question = StaysQuestion((spot(hotel),), check_in, check_in, (check_out - check_in).days, GUESTS, "USD")

    @cache
    def see(day: date) -> Any:
        (offer,) = find_stays(question, day, {})
        return offer.cash if offer.available and offer.cash is not None and offer.cash < booked else None

    return lambda moment: see(moment.date())


def _follow_delays(database: Database, outages: Sequence[Outage], findings: Findings) -> Iterator[str]:
    """One run looks at all airports; the notice of an alert is of the moment at which the run ended."""
    told = {(int(row.subject_id), row.created_at) for row in _fetch(database, _NOTICES, DELAY_ALERT.notice)}
    runs = sorted(_fetch(database, _RUNS, DELAY_ALERT.run), key=lambda row: row.finished_at or row.due_at)
    ended = {row.finished_at for row in runs}
    for alert in _fetch(database, "select id, airport, created_at from delay_alerts"):
        looks = [
            Look(
                f"delay_alert {alert.id}, run {run.id}",
                run.started_at,
                run.finished_at,
                (alert.id, run.finished_at) in told,
                run.started_at > alert.created_at and not oracle.is_excused(outages, run.started_at, run.finished_at),
            )
            for run in runs
            if run.status == "done" and run.finished_at > alert.created_at
        ]
        see = lru_cache(maxsize=None)(oracle.see_delay)
        yield from oracle.follow(
            looks, lambda moment, at=alert.airport, see=see: see(at, moment), oracle.step_delay, oracle.DELAY_SPAN
        )
    yield from (f"delay_alert {id} was told at no run's end" for id, moment in told if moment not in ended)
    findings.counts["delay_alert checks"], findings.counts["delay_alert news"] = len(runs), len(told)


def _follow_deadlines(
    database: Database, outages: Sequence[Outage], end: datetime, findings: Findings
) -> Iterator[str]:
    """Each person's day is looked at once, from its morning on: what became known later is told on the next one."""
    rows = _fetch(database, _DEADLINES)
    for row in rows:
        looks = []
        for ahead in range((end.date() - row.known_on).days + 1):
            day = row.known_on + ahead * oracle.DAY
            morning = datetime.combine(day, time(8), ZoneInfo(row.zone))
            night = morning + timedelta(hours=16)
            is_sure = ahead > 0 and night < end and not oracle.is_excused(outages, morning, night)
            noon = datetime.combine(day, time(12), UTC)
            looks.append(Look(f"deadline of {row.email} on {day}", noon, noon, day in row.told, is_sure))
        yield from oracle.follow(
            looks, lambda noon, due=row.expires_on: (due - noon.date()).days, oracle.step_deadline, oracle.DAY
        )
    findings.counts["deadline news"] = sum(len(row.told) for row in rows)


def _compare_orders(database: Database, findings: Findings) -> Iterator[str]:
    """Each run that came to its end told its result once."""
    looks = _list_looks(database, "standing_order", "standing_order", findings)
    for its in looks.values():
        yield from (f"{look.name} told no result" for look in its if not look.told)
