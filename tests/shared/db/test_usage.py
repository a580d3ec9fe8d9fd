"""Counters and notes of calls on real PostgreSQL: exact under threads, complete after a flush."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy import event, select
from sqlalchemy.exc import OperationalError

from mcp_server.calls.usage import UsageLog
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account
from shared.db.base import engine, transaction
from shared.db.usage import API_CALLS, SEARCHES, TOOL_CALLS, ToolCall, add, count_used, select_used, take
from tests.support.people import account

DAY = date(2026, 5, 9)


@pytest.fixture
def bob(clean: None) -> Caller:
    return account("bob")


def _take(caller: Caller, cap: int | None = 5, amount: int = 1) -> int | None:
    with transaction(caller.account_id) as session:
        return take(session, caller.account_id, SEARCHES, DAY, cap, amount)


def _used(caller: Caller, meter: str = SEARCHES, day: date = DAY) -> int:
    with transaction(caller.account_id) as session:
        return count_used(session, caller.account_id, meter, day)


def test_counter_stops_at_its_cap_and_counts_each_day_apart(bob: Caller) -> None:
    assert [_take(bob, 2) for _ in range(3)] == [1, 2, None]
    assert (_used(bob), _used(bob, day=DAY + timedelta(days=1))) == (2, 0)


def test_more_than_the_cap_at_once_is_refused_from_the_start(bob: Caller) -> None:
    assert _take(bob, 5, 6) is None
    assert _take(bob, 5, 5) == 5


def test_counter_is_exact_under_threads(bob: Caller) -> None:
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: _take(bob, 5), range(24)))
    assert sorted(t for t in taken if t) == [1, 2, 3, 4, 5]
    assert _used(bob) == 5


def test_giving_back_never_goes_below_nothing(bob: Caller) -> None:
    _take(bob)
    for _ in range(3):
        with transaction(bob.account_id) as session:
            add(session, bob.account_id, SEARCHES, DAY, -1)
    assert _used(bob) == 0


def test_counters_of_a_day_are_read_together_each_with_its_own_period(bob: Caller) -> None:
    with transaction(bob.account_id) as session:
        take(session, bob.account_id, SEARCHES, DAY, None, 3)
        take(session, bob.account_id, SEARCHES, DAY - timedelta(days=1), None, 9)
        take(session, bob.account_id, API_CALLS, DAY.replace(day=1), None, 7)
        take(session, bob.account_id, TOOL_CALLS, DAY, None, 2)
        used = session.execute(select_used(), {"day": DAY, "month": DAY.replace(day=1)})
        assert dict(used.all()) == {SEARCHES: 3, API_CALLS: 7, TOOL_CALLS: 2}


def _noting(ledger: UsageLog, caller: Caller, *tools: str) -> None:
    for tool in tools:
        ledger.note(caller, "mcp", tool, "ok", 5)


def test_flush_writes_every_call_once_and_counts_all_but_get_usage(bob: Caller) -> None:
    ledger = UsageLog()
    _noting(ledger, bob, "list_trips", "get_usage", "list_trips")
    ledger.flush()
    ledger.flush()
    with transaction() as session:
        kept = [(c.tool, c.outcome, c.client, c.milliseconds) for c in session.scalars(select(ToolCall))]
    assert kept == [("list_trips", "ok", "Tests", 5), ("get_usage", "ok", "Tests", 5), ("list_trips", "ok", "Tests", 5)]
    assert _used(bob, TOOL_CALLS, clock.today()) == 2
    assert ledger.today == {(bob.account_id, clock.today()): 2}


def test_two_processes_learn_of_each_others_calls(bob: Caller) -> None:
    one, other = UsageLog(), UsageLog()
    _noting(one, bob, "a", "b")
    one.flush()
    _noting(other, bob, "c")
    other.flush()
    assert other.count(bob.account_id, 0) == 3


def test_count_includes_calls_not_yet_written(bob: Caller) -> None:
    ledger = UsageLog()
    _noting(ledger, bob, "a", "get_usage", "b")
    assert ledger.count(bob.account_id, 10) == 12


def test_calls_wait_in_order_while_the_database_is_away(bob: Caller) -> None:
    ledger = UsageLog()
    _noting(ledger, bob, "a", "b")
    with patch("mcp_server.calls.usage.store_calls", side_effect=OperationalError("", {}, Exception())):
        ledger.flush()
    _noting(ledger, bob, "c")
    assert [n.tool for n in ledger.pending] == ["a", "b", "c"]
    ledger.flush()
    assert (len(ledger.pending), _used(bob, TOOL_CALLS, clock.today())) == (0, 3)


def test_a_second_of_calls_is_one_parameter_of_one_statement(bob: Caller) -> None:
    ledger, statements = UsageLog(), []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        statements.append((statement, len(parameters)))

    event.listen(engine(), "before_cursor_execute", note)
    try:
        _noting(ledger, bob, *["a"] * 3_000)
        ledger.flush()
    finally:
        event.remove(engine(), "before_cursor_execute", note)
    assert [count for statement, count in statements if "into tool_calls" in statement.lower()] == [1]
    assert _used(bob, TOOL_CALLS, clock.today()) == 3_000


def test_calls_of_a_deleted_account_do_not_hold_up_the_others(bob: Caller) -> None:
    ledger, gone = UsageLog(), account("gone")
    _noting(ledger, gone, "a")
    _noting(ledger, bob, "b")
    with transaction() as session:
        session.delete(session.get_one(Account, gone.account_id))
    ledger.flush()
    with transaction() as session:
        assert [c.tool for c in session.scalars(select(ToolCall))] == ["b"]


def test_noting_while_flushing_loses_and_doubles_nothing(bob: Caller) -> None:
    ledger = UsageLog()
    with ThreadPoolExecutor(4) as pool:
        noted = [pool.submit(_noting, ledger, bob, *["a"] * 200) for _ in range(3)]
        flushed = [pool.submit(ledger.flush) for _ in range(10)]
        for done in noted + flushed:
            done.result()
    ledger.flush()
    assert _used(bob, TOOL_CALLS, clock.today()) == 600
