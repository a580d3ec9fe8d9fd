"""The hourly sweep: rows the service wrote about itself go when they are old; no one's own rows do."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import ValidationError

from jobs import dispatcher
from jobs.handlers import retention
from jobs.runs import work as work_on
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db import sweeping
from shared.db.balances import PointsBalance
from shared.db.base import Base, engine, transaction
from shared.db.clients import BrandedPdf
from shared.db.messages import Delivery, Notification
from shared.db.migrations import __name__ as _all_models  # noqa: F401 - the walk below sees every table
from shared.db.operator_actions import OperatorAction
from shared.db.retention import AGING_TABLES, AgingTable, sweep_aged
from shared.db.run_kinds import RunKind
from shared.db.runs import Claim, JobRun, Schedule, claim_run
from shared.db.trips import SearchRecord
from shared.db.usage import ToolCall
from shared.db.worth_days import list_worth
from shared.settings import Settings, settings
from tests.jobs.conftest import change, past, rows
from tests.shared.db.fill import fill

each_kind = pytest.mark.parametrize("kind", AGING_TABLES, ids=lambda kind: kind.model.__tablename__)


def swept() -> None:
    """The schedule comes due and its run is worked on."""
    with transaction() as session:
        session.execute(sa.update(Schedule).where(Schedule.kind == RunKind.RETENTION).values(next_due_at=past()))
    dispatcher.step()
    while True:
        with transaction() as session:
            claim = claim_run(session, 60)
        if claim is None:
            return
        work_on(claim)


def _sweep(kind: AgingTable) -> int:
    """Rows removed of one table, with as much time as it takes."""
    return retention._sweep([kind], float("inf"))[kind.model.__tablename__]


def _aged(kind: AgingTable, days: float) -> None:
    """Makes every row of a kind so old; a day is as old as its start, so of days only whole ones count."""
    table = kind.model.__table__
    when: Any = clock.now() - timedelta(days=days)
    if isinstance(table.c[kind.age.key].type, sa.Date):
        when = clock.today() - timedelta(days=int(days))
    with engine().begin() as connection:
        connection.execute(sa.update(table).values({kind.age.key: when}))


def _number(kind: AgingTable) -> int:
    with engine().connect() as connection:
        return connection.scalar(sa.select(sa.func.count()).select_from(kind.model.__table__)) or 0


def _ended(row: type[Any], status: str) -> None:
    """Of both data modes."""
    with engine().begin() as connection:
        connection.execute(sa.update(row.__table__).values(status=status))


@pytest.fixture
def filled(clean: None) -> None:
    """A row of every kind; the message is sent and the run is done."""
    fill(engine())
    _ended(Delivery, "sent")
    _ended(JobRun, "done")


@pytest.mark.usefixtures("filled")
@each_kind
def test_rows_go_once_they_are_older_than_their_days(kind: AgingTable) -> None:
    days = getattr(settings(), kind.setting)
    _aged(kind, days - 0.9)
    _sweep(kind)
    assert _number(kind) == 1
    _aged(kind, days + 1.1)
    assert _sweep(kind) == 1
    assert _number(kind) == 0


@pytest.mark.usefixtures("filled")
def test_the_trail_of_operators_is_kept_for_two_years() -> None:
    trail = next(kind for kind in AGING_TABLES if kind.model is OperatorAction)
    for days, left in ((729, 1), (731, 0)):
        _aged(trail, days)
        retention.check(Claim(1, RunKind.RETENTION, 0, 1))
        assert _number(trail) == left


@pytest.mark.usefixtures("filled")
def test_nothing_else_goes_however_old_everything_is() -> None:
    before = {table: _rows(table) for table in Base.metadata.sorted_tables}
    for kind in AGING_TABLES:
        _aged(kind, 10_000)
        _sweep(kind)
    after = {table: _rows(table) for table in Base.metadata.sorted_tables}
    aging = {kind.model.__table__ for kind in AGING_TABLES}
    assert {table for table in before if before[table] != after[table]} == aging
    assert {SearchRecord.__table__, Notification.__table__} & aging == set()


def _rows(table: sa.Table) -> int:
    with engine().connect() as connection:
        return connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("row", "open_state"), [(Delivery, "pending"), (Delivery, "handing_over"), (JobRun, "pending")]
)
def test_what_is_not_over_stays_however_old_it_is(row: type[Any], open_state: str) -> None:
    kind = next(k for k in AGING_TABLES if k.model is row)
    _aged(kind, 10_000)
    _ended(row, open_state)
    change(JobRun, finished_at=None)
    _sweep(kind)
    assert _number(kind) == 1


def _add_calls(account: Caller, *days_ago: float) -> None:
    with transaction(account.account_id) as session:
        for days in days_ago:
            at = clock.now() - timedelta(days=days)
            session.add(ToolCall(via="mcp", tool="t", outcome="ok", milliseconds=1, at=at))
            session.flush()  # keys in this order


def _add_runs(*days_ago: float | None) -> None:
    """Runs that ended so many days ago, None for one that is not over, with keys in this order."""
    with transaction() as session:
        schedule = Schedule(kind=RunKind.RETENTION, subject_id=1, every=timedelta(hours=1), next_due_at=clock.now())
        session.add(schedule)
        session.flush()
        for number, days in enumerate(days_ago):
            ended = None if days is None else clock.now() - timedelta(days=days)
            due_at = clock.now() - timedelta(seconds=number)
            status = "pending" if days is None else "done"
            session.add(JobRun(schedule_id=schedule.id, due_at=due_at, finished_at=ended, status=status))
            session.flush()


RUNS = next(kind for kind in AGING_TABLES if kind.model is JobRun)


@pytest.mark.usefixtures("clean")
def test_rows_out_of_order_stall_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "PORTION", 5)
    _add_runs(*[1, None] * 9, *[400] * 40, 1)  # 18 that stay, more than a portion holds, before 40 old ones
    assert _sweep(RUNS) == 40
    assert _number(RUNS) == 19


@pytest.mark.usefixtures("clean")
def test_a_sweep_along_growing_keys_ends_after_so_many_looks_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "PORTION", 2)
    monkeypatch.setattr(sweeping, "LOOKS_IN_VAIN", 3)
    _add_runs(400, *[1] * 20)
    assert list(sweep_aged(RUNS, clock.now() - timedelta(days=300))) == [1, 0, 0, 0]


def test_tables_take_turns_in_what_time_there_is(alice: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "PORTION", 2)
    _add_calls(alice, *[400] * 20)
    _add_runs(*[400] * 20)
    moments = iter(range(1000))
    monkeypatch.setattr(sweeping, "monotonic", lambda: next(moments))
    assert retention._sweep([AGING_TABLES[0], RUNS], 3) == {"tool_calls": 6, "job_runs": 6}


@pytest.mark.slow  # walks every table
def test_a_table_whose_statement_fails_keeps_no_other_from_being_swept(
    alice: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    _add_calls(alice, 400)
    _add_runs(400)
    broken = AgingTable(SearchRecord, sa.column("no_such_column"), "keep_runs_days")
    monkeypatch.setattr(
        retention, "sweep_aged", lambda kind, before: _fail() if kind is broken else sweep_aged(kind, before)
    )
    assert retention._sweep([broken, *AGING_TABLES], float("inf"))["job_runs"] == 1
    assert "search_records is left" in caplog.text


def _fail() -> Any:
    with transaction() as session:
        yield session.execute(sa.text("select nothing"))


def test_the_sweep_runs_by_its_schedule_in_as_many_batches_as_it_takes(
    alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "PORTION", 3)
    old = clock.now() - timedelta(days=200)
    with transaction(alice.account_id) as session:
        session.add_all(ToolCall(via="mcp", tool="t", outcome="ok", milliseconds=1, at=old) for _ in range(10))
    dispatcher.begin()
    dispatcher.begin()
    assert [s.every for s in rows(Schedule) if s.kind == RunKind.RETENTION] == [timedelta(hours=1)]
    swept()
    assert _number(AGING_TABLES[0]) == 0
    assert {run.status for run in rows(JobRun)} == {"done"}


def test_a_sweep_out_of_time_leaves_the_rest_to_the_next(alice: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "PORTION", 3)
    old = clock.now() - timedelta(days=200)
    with transaction(alice.account_id) as session:
        session.add_all(ToolCall(via="mcp", tool="t", outcome="ok", milliseconds=1, at=old) for _ in range(10))
    assert retention._sweep(AGING_TABLES, 0.0) == {}
    assert _number(AGING_TABLES[0]) == 10


def test_statistics_of_ninety_days_can_never_be_swept_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEP_USAGE_DAYS", "90")
    with pytest.raises(ValidationError, match="greater than or equal to 91"):
        Settings()


def test_a_sweep_of_a_large_table_with_nothing_old_reads_a_few_rows_of_it(alice: Caller) -> None:
    """Otherwise each hour would read it whole. These have no partition of their own: the others are not read."""
    filling = sa.text(
        "insert into tool_calls (account_id, via, tool, outcome, milliseconds, at)"
        " select :account, 'mcp', 't', 'ok', 1, now() - interval '100 days' from generate_series(1, 100000)"
    )
    with transaction() as session:
        session.execute(filling, {"account": alice.account_id})
        session.execute(sa.text("analyze tool_calls"))
    asked: list[tuple[str, Any]] = []

    def note(_c: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        asked.append((statement, values))

    sa.event.listen(engine(), "before_cursor_execute", note)
    try:
        assert list(sweep_aged(AGING_TABLES[0], clock.now() - timedelta(days=120))) == [0]
    finally:
        sa.event.remove(engine(), "before_cursor_execute", note)
    ((statement, values),) = [one for one in asked if "tool_calls" in one[0]]
    with engine().connect() as connection:
        plan = "\n".join(connection.exec_driver_sql(f"explain {statement}", values).scalars())
    assert "Index" in plan
    assert "Seq Scan on tool_calls" not in plan


def test_a_document_nobody_can_open_any_more_is_emptied(alice: Caller) -> None:
    now, facts = clock.now(), {"content": b"x", "pages": 1, "nonce": "n", "key": "k"}
    with transaction(alice.account_id) as session:
        for title, ends in (("over", now - timedelta(hours=1)), ("open", now + timedelta(hours=1))):
            session.add(BrandedPdf(title=title, token_hash=title, expires_at=ends, **facts))
    dispatcher.begin()
    swept()
    with transaction() as session:
        found = {row.title: row.content for row in session.execute(sa.select(BrandedPdf.title, BrandedPdf.content))}
    assert found == {"over": b"", "open": b"x"}


def test_the_worth_of_points_is_noted_once_a_day_for_each_account(alice: Caller, standing_clock: Any) -> None:
    held = ((alice, "flying-blue", 10_000, 2), (alice, "village", 5, None))
    with transaction() as session:
        for caller, program, balance, own in held:
            columns = {"program": program, "member": "", "balance": balance, "own_cents": own, "as_of": clock.today()}
            session.add(PointsBalance(account_id=caller.account_id, **columns))
    dispatcher.begin()
    swept()
    first = clock.today()
    change(PointsBalance, balance=20_000)
    swept()
    standing_clock.advance(timedelta(days=1))
    swept()
    with transaction() as session:
        assert list_worth(session, alice.account_id) == [(first, 200), (first + timedelta(days=1), 400)]
