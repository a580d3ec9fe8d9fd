"""Figures of calls equal a count of the calls, whatever was stored, moved, deleted or left uncounted."""

import importlib
import random
from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

from jobs.handlers import retention
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db import admin_figures
from shared.db.accounts import Account, absorb
from shared.db.base import engine, transaction
from shared.db.call_figures import CallCount, CallTime, ClientCount, recount, take_out_calls
from shared.db.migrations import __name__ as _all_models  # noqa: F401 - absorbing goes over every table
from shared.db.run_kinds import RunKind
from shared.db.runs import Claim
from shared.db.usage import Note, ToolCall, store_calls
from shared.domain.call_times import find_step
from tests.support.people import account

DAYS = 4


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
    with transaction() as session:
        tables = [session.execute(sa.select(m.__table__)).all() for m in (CallCount, CallTime, ClientCount)]
    return [Counter({tuple(row[:-1]): row[-1] for row in rows if row[-1]}) for rows in tables]


def count_plainly() -> list[Counter[Any]]:
    """From the rows of the calls."""
    with transaction() as session:
        calls = list(session.scalars(sa.select(ToolCall)))
    counted = [(c.at.date(), c) for c in calls]
    return [
        Counter((day, call.tool, call.outcome) for day, call in counted),
        Counter((day, call.tool, find_step(call.milliseconds)) for day, call in counted),
        Counter((day, "unknown" if call.client is None else call.client) for day, call in counted),
    ]


def read_users() -> tuple[dict[date, int], int]:
    since = clock.today() - timedelta(days=DAYS)
    with transaction() as session:
        days, users = admin_figures.calls_by_day(session, since)
    return {of_day.day: of_day.users for of_day in days}, users


def count_users() -> tuple[dict[date, int], int]:
    with transaction() as session:
        pairs = {(call.at.date(), call.account_id) for call in session.scalars(sa.select(ToolCall))}
    return dict(Counter(day for day, _ in pairs)), len({who for _, who in pairs})


@pytest.fixture
def callers(clean: None) -> list[Caller]:
    return [account(f"caller{number}") for number in range(6)]


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
        assert read_users() == count_users()


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
    assert "were counted anew" in caplog.text
    with transaction() as session:
        assert recount(session, clock.today() - timedelta(days=DAYS)) == []


def test_figures_of_a_day_without_calls_go_when_it_is_counted_anew(callers: list[Caller]) -> None:
    store(draw_notes(random.Random(2), callers, 50))
    with transaction() as session:
        session.execute(sa.delete(ToolCall))
    with transaction() as session:
        assert len(recount(session, clock.today() - timedelta(days=DAYS))) == DAYS
    assert read_figures() == count_plainly()


def test_an_upgrade_counts_the_calls_there_are(callers: list[Caller]) -> None:
    store(draw_notes(random.Random(3), callers, 500))
    expected = read_figures()
    with transaction() as session:
        session.execute(sa.text("drop table tool_call_counts, tool_call_times, client_call_counts"))
    migration = importlib.import_module("shared.db.migrations.versions.0043_calls_counted_by_day")
    with engine().begin() as connection, Operations.context(MigrationContext.configure(connection)):
        migration.upgrade()
    assert read_figures() == expected == count_plainly()


def test_times_of_many_calls_are_estimates_near_the_exact_ones(
    callers: list[Caller], monkeypatch: pytest.MonkeyPatch
) -> None:
    store(draw_notes(random.Random(4), callers, 3000))
    with transaction() as session:
        exact = admin_figures.calls_by_tool(session, clock.today() - timedelta(days=DAYS))
        monkeypatch.setattr(admin_figures, "MAX_EXACT_TIMES", 2999)
        estimated = admin_figures.calls_by_tool(session, clock.today() - timedelta(days=DAYS))
    assert [(t.tool, t.calls, t.errors, t.paywalls) for t in exact] == [
        (t.tool, t.calls, t.errors, t.paywalls) for t in estimated
    ]
    assert [t.p95_ms for t in exact] != [t.p95_ms for t in estimated]
    for one, other in zip(exact, estimated, strict=True):
        assert abs(one.p50_ms - other.p50_ms) <= one.p50_ms / 8
        assert abs(one.p95_ms - other.p95_ms) <= one.p95_ms / 8
