"""Figures of calls equal a count of the calls, whatever was stored, moved or deleted."""

import random
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db import admin_figures
from shared.db.accounts import Account, absorb
from shared.db.base import Base, transaction
from shared.db.call_figures import FIGURES, take_out_calls
from shared.db.migrations import __name__ as _all_models  # noqa: F401 - absorbing goes over every table
from shared.db.usage import Note, ToolCall, store_calls
from shared.domain.call_times import find_step
from tests.support.people import account

DAYS = 33


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
    return _read(FIGURES)


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


def _count_each(calls: list[tuple[tuple[Any, ...], ToolCall]]) -> list[Counter[Any]]:
    return [
        Counter((*days, call.tool, call.outcome) for days, call in calls),
        Counter((*days, call.tool, find_step(call.milliseconds)) for days, call in calls),
        Counter((*days, "unknown" if call.client is None else call.client) for days, call in calls),
    ]


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
        tools = admin_figures.calls_by_tool(session, since)
        clients, _ = admin_figures.calls_by_client(session, since, 9)
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
    assert_windows_agree(*range(0, DAYS + 1, 3))


@pytest.fixture
def callers(clean: None) -> list[Caller]:
    return [account(f"caller{number}") for number in range(6)]


@pytest.mark.slow  # many generated changes
@pytest.mark.parametrize("seed", range(5))
def test_figures_equal_a_count_of_the_calls_after_any_changes(callers: list[Caller], seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(12):
        match draw.randrange(5):
            case 0 if len(callers) > 2:
                with transaction() as session:
                    gone = callers.pop().account_id
                    take_out_calls(session, gone)
                    session.execute(sa.delete(Account).where(Account.id == gone))
            case 1 if len(callers) > 2:
                with transaction() as session:
                    absorb(session, callers.pop().account_id, callers[0].account_id)
            case _:
                store(draw_notes(draw, callers, draw.randrange(1, 60)))
        assert read_figures() == count_plainly()
        assert_windows_agree(3, 17, DAYS)
    assert_all_agree()


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
    notes = [
        Note(callers[0].account_id, None, "mcp", "list_trips", "ok", 1, clock.now() - timedelta(days=back))
        for back in (0, 1)
    ]
    with ThreadPoolExecutor() as threads, transaction() as session:
        store_calls(session, notes[:1])
        threads.submit(store, notes[1:]).result()
    assert_all_agree()


def test_times_of_many_calls_are_estimates_near_the_exact_ones(
    callers: list[Caller], monkeypatch: pytest.MonkeyPatch
) -> None:
    store(draw_notes(random.Random(4), callers, 3000))
    with transaction() as session:
        since = clock.today() - timedelta(days=DAYS)
        exact = admin_figures.calls_by_tool(session, since)
        monkeypatch.setattr(admin_figures, "MAX_EXACT_TIMES", 2999)
        estimated = admin_figures.calls_by_tool(session, since)
    assert [(t.tool, t.calls, t.errors, t.paywalls) for t in exact] == [
        (t.tool, t.calls, t.errors, t.paywalls) for t in estimated
    ]
    assert [t.p95_ms for t in exact] != [t.p95_ms for t in estimated]
    for one, other in zip(exact, estimated, strict=True):
        assert abs(one.p50_ms - other.p50_ms) <= one.p50_ms / 8
        assert abs(one.p95_ms - other.p95_ms) <= one.p95_ms / 8
