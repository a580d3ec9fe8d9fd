"""Figures of calls equal a count of the calls, whatever was stored, moved, deleted or left uncounted."""

import random
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from time import sleep
from typing import Any

import pytest
import sqlalchemy as sa

from jobs.handlers import retention
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db import admin_figures
from shared.db.accounts import Account, absorb
from shared.db.base import Base, engine, transaction
from shared.db.call_figures import CallCount, CallTime, ClientCount
from shared.db.call_recount import recount, take_out_calls
from shared.db.call_spans import SPAN_MODELS, read_cut, sum_spans
from shared.db.daily_calls import DailyCalls
from shared.db.migrations import __name__ as _all_models  # noqa: F401 - absorbing goes over every table
from shared.db.run_kinds import RunKind
from shared.db.runs import Claim
from shared.db.usage import Note, ToolCall, store_calls
from shared.domain.call_times import find_step
from shared.domain.day_spans import LONG, SHORT
from tests.support.people import account

DAYS = 33  # more than the longest span


def draw_notes(draw: random.Random, callers: list[Caller], number: int) -> list[Note]:
    """Calls of the last days, some of them of the last moment of one and the first of the next."""
    midnight = datetime.combine(clock.today(), time(), UTC)
    moments = [midnight - timedelta(days=day, microseconds=edge) for day in range(DAYS - 1) for edge in (0, 1)]
    moments += [clock.now() - timedelta(hours=draw.random() * 24 * (DAYS - 1)) for _ in range(20)]
    return [
        Note(
            draw.choice(callers).account_id,
            draw.choice(["Claude", "unknown", "", "it's", None]),
            "mcp",
            draw.choice(["list_trips", "get_usage", "add_card"]),
            draw.choice(["ok", "paywall", "invalid"]),
            int(draw.lognormvariate(4, 2)),
            draw.choice(moments),
        )
        for _ in range(number)
    ]


def store(notes: list[Note]) -> None:
    with transaction() as session:
        store_calls(session, notes)


def read_figures() -> list[Counter[Any]]:
    """Of each table the numbers that are not 0."""
    return _read((CallCount, CallTime, ClientCount))


def _read(models: Iterable[type[Base]]) -> list[Counter[Any]]:
    with transaction() as session:
        tables = [session.execute(sa.select(m.__table__)).all() for m in models]
    return [Counter({tuple(row[:-1]): row[-1] for row in rows if row[-1]}) for rows in tables]


def _read_calls() -> list[ToolCall]:
    with transaction() as session:
        return list(session.scalars(sa.select(ToolCall)))


def count_plainly() -> list[Counter[Any]]:
    """What the figures should be."""
    return _count_each([((call.at.date(),), call) for call in _read_calls()])


def assert_sums_are_right() -> int:
    """Of the spans that have one; returns how many there are."""
    sums = _read(SPAN_MODELS.values())
    spans = {key[:2] for key in sums[0]}
    of_span = [((first, days), call) for first, days in spans for call in _read_calls()]
    fits = [(key, call) for key, call in of_span if 0 <= (call.at.date() - key[0]).days < key[1]]
    assert sums == _count_each(fits)
    return len(spans)


def _count_each(calls: list[tuple[tuple[Any, ...], ToolCall]]) -> list[Counter[Any]]:
    return [
        Counter((*days, call.tool, call.outcome) for days, call in calls),
        Counter((*days, call.tool, find_step(call.milliseconds)) for days, call in calls),
        Counter((*days, "unknown" if call.client is None else call.client) for days, call in calls),
    ]


def wait_until_blocked() -> None:
    """Until some statement waits for a lock."""
    waiting = "wait_event_type = 'Lock' and datname = current_database()"
    blocked = sa.text(f"select count(*) from pg_stat_activity where {waiting}")
    with engine().connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while not connection.scalar(blocked):
            sleep(0.01)


Days = dict[date, tuple[int, int]]  # of each the calls and the accounts


def read_days(since: date) -> tuple[Days, int]:
    with transaction() as session:
        days, users = admin_figures.calls_by_day(session, since)
    return {of_day.day: (of_day.calls, of_day.users) for of_day in days}, users


def count_days(since: date) -> tuple[Days, int]:
    with transaction() as session:
        calls = [(c.at.date(), c.account_id) for c in session.scalars(sa.select(ToolCall)) if c.at.date() >= since]
    by_day, users = Counter(day for day, _ in calls), Counter(day for day, _ in set(calls))
    return {day: (number, users[day]) for day, number in by_day.items()}, len({who for _, who in calls})


def read_tools(since: date) -> list[Any]:
    with transaction() as session:
        tools = admin_figures.calls_by_tool(session, read_cut(session, since))
        clients, _ = admin_figures.calls_by_client(session, read_cut(session, since), 9)
    return [{t.tool: (t.calls, t.paywalls) for t in tools}, {c.client_name: c.calls for c in clients}]


def count_tools(since: date) -> list[Any]:
    with transaction() as session:
        calls = [call for call in session.scalars(sa.select(ToolCall)) if call.at.date() >= since]
    paywalls = Counter(call.tool for call in calls if call.outcome == "paywall")
    tools = Counter(call.tool for call in calls)
    return [
        {t: (n, paywalls[t]) for t, n in tools.items()},
        Counter("unknown" if call.client is None else call.client for call in calls),
    ]


def assert_windows_agree(*lengths: int) -> None:
    for back in lengths:
        since = clock.today() - timedelta(days=back)
        assert (read_days(since), read_tools(since)) == (count_days(since), count_tools(since))


def assert_all_agree() -> None:
    """Every table, and the answers for windows of any length."""
    assert read_figures() == count_plainly()
    assert_sums_are_right()
    assert_windows_agree(*range(0, DAYS + 1, 3))


@pytest.fixture
def callers(clean: None) -> list[Caller]:
    return [account(f"caller{number}") for number in range(6)]


@pytest.mark.slow  # many generated changes
@pytest.mark.parametrize("seed", range(5))
def test_figures_equal_a_count_of_the_calls_after_any_changes(callers: list[Caller], seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(12):
        match draw.randrange(6):
            case 0 if len(callers) > 2:
                with transaction() as session:
                    gone = callers.pop().account_id
                    take_out_calls(session, gone)
                    session.execute(sa.delete(Account).where(Account.id == gone))
            case 1 if len(callers) > 2:
                with transaction() as session:
                    absorb(session, callers.pop().account_id, callers[0].account_id)
            case 2:
                with transaction() as session:
                    sum_spans(session)
            case _:
                store(draw_notes(draw, callers, draw.randrange(1, 60)))
        assert read_figures() == count_plainly()
        assert_sums_are_right()
        assert_windows_agree(3, 17, DAYS)
    assert_all_agree()


def test_calls_that_nobody_counted_are_counted_by_the_sweep(
    callers: list[Caller], caplog: pytest.LogCaptureFixture
) -> None:
    store(draw_notes(random.Random(1), callers, 50))
    late = {"account_id": callers[0].account_id, "via": "mcp", "tool": "add_card", "outcome": "ok", "milliseconds": 77}
    with transaction() as session:
        for days in (0, 1):
            session.add(ToolCall(**late, at=clock.now() - timedelta(days=days)))
    assert read_figures() != count_plainly()
    retention.check(Claim(1, RunKind.RETENTION, 0, 1))
    assert read_figures() == count_plainly()
    assert "were counted again" in caplog.text
    with transaction() as session:
        assert recount(session, clock.today() - timedelta(days=DAYS)) == []


def test_figures_of_a_day_without_calls_go_when_it_is_counted_anew(callers: list[Caller]) -> None:
    notes = draw_notes(random.Random(2), callers, 50)
    store(notes)
    with transaction() as session:
        session.execute(sa.delete(ToolCall))
    with transaction() as session:
        days = recount(session, clock.today() - timedelta(days=DAYS))
    assert days == sorted({note.at.date() for note in notes})
    assert read_figures() == count_plainly()


def test_days_that_an_earlier_release_counted_are_counted_anew(callers: list[Caller]) -> None:
    """It knows no accounts of a day."""
    store(draw_notes(random.Random(5), callers, 50))
    with transaction() as session:
        session.execute(sa.text("truncate daily_calls"))
    retention.check(Claim(1, RunKind.RETENTION, 0, 1))
    assert_all_agree()


def test_what_an_earlier_release_deleted_goes_from_sums_and_accounts_of_any_day(callers: list[Caller]) -> None:
    """It takes the calls of an account out of the days alone."""
    for back in (30, 50, 64):
        at = clock.now() - timedelta(days=back)
        store([Note(who.account_id, None, "mcp", "add_card", "ok", 1, at) for who in callers])
    with transaction() as session:
        assert sum_spans(session)
        kept = {m: session.execute(sa.select(m.__table__)).all() for m in (*SPAN_MODELS.values(), DailyCalls)}
        take_out_calls(session, callers[5].account_id)
        session.execute(sa.delete(Account).where(Account.id == callers[5].account_id))
        for model, rows in kept.items():
            session.execute(sa.delete(model))
            session.execute(sa.insert(model), [row._asdict() for row in rows])
    assert read_tools(clock.today() - timedelta(days=64)) != count_tools(clock.today() - timedelta(days=64))
    retention.check(Claim(1, RunKind.RETENTION, 0, 1))
    assert_all_agree()
    assert_windows_agree(50, 64)


def test_sums_are_made_once_and_of_no_day_that_calls_are_still_stored_of(callers: list[Caller]) -> None:
    store([Note(callers[0].account_id, None, "mcp", "add_card", "ok", 1, _days_ago(back)) for back in range(DAYS)])
    with transaction() as session:
        made = sum_spans(session)
        assert sum_spans(session) == []
    assert assert_sums_are_right() == len(made) > 1
    assert {span.days for span in made} == {SHORT, LONG}
    assert max(span.end for span in made) <= clock.today() - timedelta(days=1)
    assert_all_agree()


def test_a_late_call_removes_the_sums_of_its_day_alone(callers: list[Caller]) -> None:
    store([Note(callers[0].account_id, None, "mcp", "add_card", "ok", 1, _days_ago(back)) for back in range(DAYS)])
    with transaction() as session:
        made = sum_spans(session)
    store([Note(callers[0].account_id, None, "mcp", "add_card", "ok", 1, _days_ago(back)) for back in (0, 1)])
    assert assert_sums_are_right() == len(made)
    late = min(made, key=lambda span: span.days).first
    moment = datetime.combine(late, time(12), UTC)
    store([Note(callers[0].account_id, None, "mcp", "add_card", "ok", 1, moment)])
    assert assert_sums_are_right() == sum(not span.first <= late < span.end for span in made) < len(made)
    assert_all_agree()


def _days_ago(number: int) -> datetime:
    return clock.now() - timedelta(days=number)


def test_a_late_call_that_is_stored_while_sums_are_made_is_in_none_that_stays(callers: list[Caller]) -> None:
    store([Note(callers[0].account_id, None, "mcp", "add_card", "ok", 1, _days_ago(back)) for back in range(DAYS)])
    late = [Note(callers[0].account_id, None, "mcp", "add_card", "ok", 1, _days_ago(DAYS // 2))]
    with ThreadPoolExecutor() as threads:
        with transaction() as session:
            sum_spans(session)
            other = threads.submit(store, late)
            wait_until_blocked()
        other.result()
    assert_all_agree()


def test_joined_accounts_of_an_earlier_release_are_one_on_every_day(callers: list[Caller]) -> None:
    for back in (40, 70):
        at = clock.now() - timedelta(days=back)
        store([Note(who.account_id, None, "mcp", "add_card", "ok", 1, at) for who in callers])
    with transaction() as session:
        days = session.execute(sa.select(DailyCalls.__table__)).all()
        absorb(session, callers[1].account_id, callers[0].account_id)
        session.execute(sa.delete(DailyCalls))
        session.execute(sa.insert(DailyCalls), [row._asdict() for row in days])
    retention.check(Claim(1, RunKind.RETENTION, 0, 1))
    since = clock.today() - timedelta(days=80)
    assert read_days(since) == count_days(since)


def test_the_last_day_of_an_account_is_right_whatever_order_its_days_are_stored_in(callers: list[Caller]) -> None:
    noon = clock.now()
    for back in (3, 1, 9, 0, 20):
        store([Note(callers[0].account_id, None, "mcp", "list_trips", "ok", 1, noon - timedelta(days=back))])
        assert_all_agree()
    late = [
        Note(callers[1].account_id, None, "mcp", "get_usage", "ok", 1, noon - timedelta(days=back)) for back in (5, 2)
    ]
    store(late)
    assert_all_agree()


def test_two_programs_that_store_first_calls_of_an_account_on_two_days_count_it_once(callers: list[Caller]) -> None:
    """The second waits for the first, and then sees its counter."""
    notes = [
        Note(callers[0].account_id, None, "mcp", "list_trips", "ok", 1, clock.now() - timedelta(days=back))
        for back in (0, 1)
    ]
    with ThreadPoolExecutor() as threads:
        with transaction() as session:
            store_calls(session, notes[:1])
            other = threads.submit(store, notes[1:])
            wait_until_blocked()
        other.result()
    assert_all_agree()


def test_times_of_many_calls_are_estimates_near_the_exact_ones(
    callers: list[Caller], monkeypatch: pytest.MonkeyPatch
) -> None:
    store(draw_notes(random.Random(4), callers, 3000))
    with transaction() as session:
        cut = read_cut(session, clock.today() - timedelta(days=DAYS))
        exact = admin_figures.calls_by_tool(session, cut)
        monkeypatch.setattr(admin_figures, "MAX_EXACT_TIMES", 2999)
        estimated = admin_figures.calls_by_tool(session, cut)
    assert [(t.tool, t.calls, t.errors, t.paywalls) for t in exact] == [
        (t.tool, t.calls, t.errors, t.paywalls) for t in estimated
    ]
    assert [t.p95_ms for t in exact] != [t.p95_ms for t in estimated]
    for one, other in zip(exact, estimated, strict=True):
        assert abs(one.p50_ms - other.p50_ms) <= one.p50_ms / 8
        assert abs(one.p95_ms - other.p95_ms) <= one.p95_ms / 8
