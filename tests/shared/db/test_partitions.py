"""Partitions are there before their rows, and go whole when all in them is old."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa

from deploy.doctor.stores import check_partitions
from deploy.errors import CommandError
from jobs.handlers import retention
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import engine, transaction
from shared.db.call_figures import take_out_calls
from shared.db.partitions import (
    AHEAD,
    LOCK,
    Partition,
    find_fault,
    list_partitioned,
    list_partitions,
    make_partitions,
)
from shared.db.retention import AGING_TABLES
from shared.db.route_monitors import MonitorCheck, RouteMonitor
from shared.db.run_kinds import RunKind
from shared.db.runs import Claim
from shared.db.sweeping import Busy
from shared.db.usage import ToolCall
from shared.settings import settings
from shared.telemetry.metrics import REGISTRY
from tests.support.people import account
from tests.support.settings_and_clock import StandingClock

CALLS: sa.Table = ToolCall.__table__  # type: ignore[assignment]
CHECKS: sa.Table = MonitorCheck.__table__  # type: ignore[assignment]
DAY = timedelta(days=1)
WEEK = timedelta(days=7)


@pytest.fixture(autouse=True)
def _partitions_as_they_were(clean: None) -> Iterator[None]:
    """The database is the one of every other test."""
    before = {table.name: {*_list(table)} for table in list_partitioned()}
    yield
    with engine().begin() as connection:
        for table in list_partitioned():
            after = {*_list(table)}
            for partition in after - before[table.name]:
                connection.exec_driver_sql(f"drop table {partition.name}")
            for partition in before[table.name] - after:
                span = f"for values from ('{partition.start}') to ('{partition.end}')"
                connection.exec_driver_sql(f"create table {partition.name} partition of {table.name} {span}")


@pytest.fixture
def alice(clean: None) -> Caller:
    return account("alice")


def _list(table: sa.Table = CALLS) -> list[Partition]:
    with transaction() as session:
        return list_partitions(session, table)


def _add_call(account: Caller, at: datetime) -> None:
    with transaction(account.account_id) as session:
        session.add(ToolCall(via="mcp", tool="t", outcome="ok", milliseconds=1, at=at))


def _watch(owner: Caller) -> int:
    terms = {"origin": "LHR", "destination": "JFK", "earliest_date": clock.today(), "latest_date": clock.today()}
    with transaction(owner.account_id) as session:
        session.add(monitor := RouteMonitor(**terms))
        session.flush()
        return monitor.id


def _add_check(monitor_id: int, at: datetime) -> None:
    with transaction() as session:
        seen = {"outcome": "ok", "options_seen": 0, "new_matches": 0, "failed_sources": []}
        session.add(MonitorCheck(monitor_id=monitor_id, checked_at=at, **seen))


def _count(table: str) -> int:
    with engine().connect() as connection:
        return connection.exec_driver_sql(f"select count(*) from {table}").scalar() or 0


def _maintain() -> None:
    retention.check(Claim(1, RunKind.RETENTION, 0, 1))


def _find_fault() -> str | None:
    with transaction() as session:
        return find_fault(session, CALLS, clock.now())


def test_rows_of_each_day_have_a_table_of_their_own_made_ahead(alice: Caller) -> None:
    _maintain()
    today = clock.now().replace(hour=0)
    partitions = {partition.start: partition for partition in _list()}
    for number in range(AHEAD // DAY + 1):
        assert partitions[today + number * DAY].end == today + (number + 1) * DAY
    _add_call(alice, clock.now() + DAY)
    assert _count(partitions[today + DAY].name) == 1


@pytest.mark.slow  # makes the partitions of a year
def test_a_year_passes_and_no_row_is_without_a_partition_of_its_day(
    alice: Caller, standing_clock: StandingClock
) -> None:
    """Maintained once a week, the longest that partitions made ahead allow for."""
    kind = next(kind for kind in AGING_TABLES if kind.model is ToolCall)
    for _ in range(365 // 7 + 1):
        standing_clock.advance(AHEAD)
        retention._make_partitions()
        retention._sweep([kind], float("inf"))
        assert _find_fault() is None
        for days in range(AHEAD // DAY + 1):
            _add_call(alice, clock.now() + days * DAY)
    kept = settings().keep_usage_days
    assert _count("tool_calls_default") == 0
    assert kept <= len(_list()) <= kept + 12
    with engine().connect() as connection:
        oldest = connection.exec_driver_sql("select min(at) from tool_calls").scalar_one()
    assert timedelta(days=kept - 1) <= clock.now() - oldest <= timedelta(days=kept + 1)


def test_a_day_that_is_over_long_enough_goes_at_once_and_is_counted(
    alice: Caller, standing_clock: StandingClock
) -> None:
    _maintain()
    name = f"tool_calls_{clock.now():%Y%m%d}"
    for hours in (-12, 0, 11):
        _add_call(alice, clock.now() + timedelta(hours=hours))
    standing_clock.advance(settings().keep_usage_days * DAY + timedelta(hours=11))
    _maintain()
    assert _count(name) == 3  # its last moments are kept for as long as any other
    before = REGISTRY.get_sample_value("award_swept_rows_total", {"table": "tool_calls"}) or 0
    standing_clock.advance(timedelta(hours=1))
    _maintain()
    assert name not in {partition.name for partition in _list()}
    assert (REGISTRY.get_sample_value("award_swept_rows_total", {"table": "tool_calls"}) or 0) == before + 3


def test_rows_without_a_partition_are_told_of_and_get_one(alice: Caller, standing_clock: StandingClock) -> None:
    standing_clock.advance(AHEAD + 30 * DAY)  # nothing was maintained in the meantime
    _add_call(alice, clock.now())
    _add_call(alice, clock.now() - DAY)
    with pytest.raises(CommandError, match=r"tool_calls has rows without a partition.*: maintenance mends that"):
        check_partitions(served=True)
    _maintain()
    assert check_partitions(served=True) == "made ahead for tool_calls, route_monitor_checks"
    assert _count("tool_calls_default") == 0
    assert _count(f"tool_calls_{clock.now() - DAY:%Y%m%d}") == _count(f"tool_calls_{clock.now():%Y%m%d}") == 1


def test_a_day_without_a_partition_is_a_fault_before_it_comes(standing_clock: StandingClock) -> None:
    _maintain()
    standing_clock.advance(AHEAD)
    with pytest.raises(CommandError, match="tool_calls has no partition for tomorrow"):
        check_partitions(served=True)
    assert check_partitions(served=False).endswith("once a worker runs")


def test_old_rows_without_a_partition_go_one_by_one(alice: Caller) -> None:
    _maintain()
    for days in (1000, settings().keep_usage_days - 1):
        _add_call(alice, clock.now() - days * DAY)
    with engine().connect() as connection:
        assert connection.exec_driver_sql("select count(*) from only tool_calls_default").scalar() == 2
    _maintain()
    assert _count("tool_calls") == 1
    assert _count("tool_calls_default") == 0  # the one that is kept has a partition now


def test_a_table_that_another_reads_is_left_for_the_next_time(
    alice: Caller, standing_clock: StandingClock, caplog: pytest.LogCaptureFixture
) -> None:
    _maintain()
    _add_call(alice, clock.now())
    standing_clock.advance((settings().keep_usage_days + 2) * DAY)
    with caplog.at_level("INFO"), engine().begin() as reader:
        reader.exec_driver_sql("select from tool_calls limit 1")  # as a backup does, for minutes
        _maintain()
        assert _count("tool_calls") == 1
        assert "partitions of tool_calls are made by the next run" in caplog.text
    _maintain()
    assert _count("tool_calls") == 0
    assert _find_fault() is None


def test_partitions_that_cannot_be_made_keep_no_row_from_being_swept(
    alice: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _add_call(alice, clock.now() - 1000 * DAY)
    monkeypatch.setattr(retention, "make_partitions", lambda *_: _fail())
    _maintain()
    assert "partitions of tool_calls are left for the next run (ProgrammingError)" in caplog.text
    assert _count("tool_calls") == 0


def _fail() -> None:
    with transaction() as session:
        session.execute(sa.text("select nothing"))


def test_two_that_maintain_at_once_do_it_once(alice: Caller, standing_clock: StandingClock) -> None:
    standing_clock.advance(AHEAD + 30 * DAY)
    with engine().begin() as other:
        other.exec_driver_sql(f"select pg_advisory_xact_lock({LOCK})")
        with pytest.raises(Busy):
            make_partitions(CALLS, clock.now(), clock.now())
    assert len(make_partitions(CALLS, clock.now(), clock.now())) == AHEAD // DAY + 1
    assert make_partitions(CALLS, clock.now(), clock.now()) == []


def test_an_account_goes_with_its_calls_of_every_day(alice: Caller) -> None:
    _maintain()
    for days in (500, 1, 0, -1):
        _add_call(alice, clock.now() - days * DAY)
    with transaction() as session:
        take_out_calls(session, alice.account_id)
        session.execute(sa.text("delete from accounts where id = :id"), {"id": alice.account_id})
    assert _count("tool_calls") == 0


@pytest.mark.slow  # makes the partitions of a year
def test_checks_of_a_year_go_by_the_week(alice: Caller, standing_clock: StandingClock) -> None:
    """Maintained once a week, as above; the monitor reads its newest lines from whichever week they are in."""
    kind = next(kind for kind in AGING_TABLES if kind.model is MonitorCheck)
    monitor_id = _watch(alice)
    for _ in range(365 // 7 + 1):
        standing_clock.advance(AHEAD)
        retention._make_partitions()
        retention._sweep([kind], float("inf"))
        for hours in range(0, 24 * 7, 6):
            _add_check(monitor_id, clock.now() + timedelta(hours=hours))
    kept = settings().keep_checks_days * DAY
    assert _count("route_monitor_checks_default") == 0
    assert kept // WEEK <= len(_list(CHECKS)) <= kept // WEEK + 4
    with engine().connect() as connection:
        oldest = connection.exec_driver_sql("select min(checked_at) from route_monitor_checks").scalar_one()
    assert kept - DAY <= clock.now() - oldest <= kept + WEEK


def test_a_monitor_goes_with_its_checks_of_every_week(alice: Caller) -> None:
    _maintain()
    monitor_id = _watch(alice)
    for days in (500, 8, 1, 0, -8):
        _add_check(monitor_id, clock.now() - days * DAY)
    assert _count("route_monitor_checks") == 5
    with transaction() as session:
        session.execute(sa.text("delete from accounts where id = :id"), {"id": alice.account_id})
    assert _count("route_monitor_checks") == 0


KEYS_AND_INDEXES = {
    "tool_calls": (("at", "id"), (("account_id", "at"),), (("account_id",),)),
    "route_monitor_checks": (("checked_at", "id"), (("monitor_id", "checked_at"),), (("monitor_id",),)),
}


@pytest.mark.parametrize("table", [CALLS, CHECKS], ids=lambda table: table.name)
def test_a_partition_has_the_keys_and_indexes_of_its_table(table: sa.Table) -> None:
    _maintain()
    inspector = sa.inspect(engine())
    shapes = {
        (
            tuple(inspector.get_pk_constraint(p.name)["constrained_columns"]),
            tuple(sorted(tuple(index["column_names"]) for index in inspector.get_indexes(p.name))),
            tuple(tuple(key["constrained_columns"]) for key in inspector.get_foreign_keys(p.name)),
        )
        for p in _list(table)
    }
    assert shapes == {KEYS_AND_INDEXES[table.name]}


def test_every_table_with_partitions_is_swept_by_them() -> None:
    swept = {kind.model.__table__ for kind in AGING_TABLES if kind.by == "partitions"}
    assert swept == {*list_partitioned()}
