"""Every kind of run is complete: it has a handler, a limit that exists, and schedules that go with their subjects."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

import shared.db.migrations  # noqa: F401 - knows every table
from jobs import runs
from mcp_server.toolkit.context import Caller
from shared.db.base import Base, transaction
from shared.db.run_kinds import SUBJECTS, RunKind, delete_account_schedules, delete_orphaned_schedules, select_subjects
from shared.db.runs import Schedule, schedule
from shared.db.watches import load_models
from shared.domain.watch_kinds import WATCH_KINDS
from tests.mcp_server.tools.owned_rows import rows_of_every_kind, store_rows
from tests.support.people import account

MISSING = 999_000


@pytest.fixture
def bob(clean: None) -> Caller:
    return account("bob")


def test_every_kind_has_a_handler_and_nothing_else_has() -> None:
    assert set(runs.HANDLERS) == set(RunKind) | {kind.run for kind in WATCH_KINDS}
    assert set(runs.LOST) <= set(runs.HANDLERS)


def test_every_subject_is_a_unique_column_of_a_table_of_accounts() -> None:
    for kind, (table, column) in SUBJECTS.items():
        described = Base.metadata.tables[table]
        assert "account_id" in described.c
        assert described.c[column].primary_key or described.c[column].unique, kind


def test_every_kind_of_watch_has_a_model_of_its_table() -> None:
    assert [(model.KIND, model.__tablename__) for model in load_models().values()] == [
        (kind, kind.table) for kind in WATCH_KINDS
    ]


def fill(owner: Caller, number: int) -> None:
    with transaction(owner.account_id) as session:
        store_rows(session, rows_of_every_kind(number))


def _schedules() -> set[tuple[str, int]]:
    with transaction() as session:
        return {(row.kind, row.subject_id) for row in session.scalars(sa.select(Schedule))}


def _schedule_everything(owner: Caller) -> set[tuple[str, int]]:
    """One schedule for each subject of the account, whatever its kind."""
    subjects = set()
    with transaction() as session:
        for kind in SUBJECTS:
            for number in session.scalars(select_subjects(kind, owner.account_id)):
                schedule(session, kind, number, timedelta(hours=6))
                subjects.add((kind, number))
    return subjects


def test_schedules_of_every_kind_go_with_their_account_and_no_others(bob: Caller) -> None:
    carol = account("carol")
    fill(bob, 0)
    fill(carol, 1)
    bobs, carols = _schedule_everything(bob), _schedule_everything(carol)
    assert {kind for kind, _ in bobs} == set(SUBJECTS)
    with transaction() as session:
        delete_account_schedules(session, bob.account_id)
    assert _schedules() == carols


def test_schedules_whose_subject_is_gone_are_deleted_and_those_of_the_service_stay(bob: Caller) -> None:
    fill(bob, 0)
    subjects = _schedule_everything(bob)
    with transaction() as session:
        for kind in runs.HANDLERS:
            schedule(session, kind, MISSING if kind in SUBJECTS else 0, timedelta(hours=6))
        delete_orphaned_schedules(session)
    assert _schedules() == subjects | {(str(kind), 0) for kind in runs.HANDLERS if kind not in SUBJECTS}
