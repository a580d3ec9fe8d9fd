"""What counts as an outage of the database: real errors of a real server."""

import psycopg
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from shared.db import outages
from shared.db.base import engine, transaction
from shared.db.outages import is_outage, run_again
from tests.support.database import end_connections


def _fail(statement: str) -> SQLAlchemyError:
    with pytest.raises(SQLAlchemyError) as failure, transaction() as session:
        session.execute(text(statement))
    return failure.value


@pytest.mark.parametrize(
    "statement",
    [
        "select pg_terminate_backend(pg_backend_pid())",
        "do $$ begin raise exception using errcode = '53100'; end $$",  # the disk is full
        "do $$ begin raise exception using errcode = '57P03'; end $$",  # it starts or stops
        "set transaction read only; create table no_table (id int)",  # it is a standby
    ],
)
def test_a_server_that_went_away_or_is_full_is_an_outage(statement: str) -> None:
    assert is_outage(_fail(statement))
    engine().dispose()


@pytest.mark.parametrize(
    "statement",
    [
        "select 1 / 0",
        "select nothing",
        "set local statement_timeout = 1; select pg_sleep(5)",
        "do $$ begin raise exception using errcode = '40P01'; end $$",  # a deadlock
        "insert into accounts (public_id) values (null)",
    ],
)
def test_what_a_statement_did_wrong_is_no_outage(statement: str) -> None:
    assert not is_outage(_fail(statement))


def test_a_server_that_refuses_connections_is_an_outage() -> None:
    nowhere = create_engine("postgresql+psycopg://nobody@127.0.0.1:1/nothing")
    with pytest.raises(OperationalError) as failure:
        nowhere.connect()
    assert is_outage(failure.value)


def test_a_full_pool_is_an_outage_and_so_are_several_at_once() -> None:
    assert is_outage(PoolTimeout())
    assert is_outage(ExceptionGroup("two", [PoolTimeout(), PoolTimeout()]))
    assert not is_outage(ExceptionGroup("two", [PoolTimeout(), ValueError()]))
    assert not is_outage(ValueError())


def test_a_read_is_tried_twice_and_no_third_time() -> None:
    attempts = []

    def read() -> None:
        attempts.append(1)
        raise OperationalError("select", {}, psycopg.errors.CannotConnectNow("starting"))

    with pytest.raises(DBAPIError):
        run_again(read)
    assert len(attempts) == 2


def test_an_outage_ends_when_the_database_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = outages.Outages()
    monkeypatch.setattr(outages, "OUTAGES", seen)
    seen.note(PoolTimeout())
    first = seen.began_at
    seen.note(PoolTimeout())
    assert seen.began_at == first
    outages.await_return()
    seen.note(PoolTimeout())
    assert seen.began_at > first


def test_a_fault_of_the_program_is_not_tried_again() -> None:
    attempts = []

    def read() -> None:
        attempts.append(1)
        raise LookupError

    with pytest.raises(LookupError):
        run_again(read)
    assert len(attempts) == 1


def test_connections_that_died_together_are_replaced_together() -> None:
    def read() -> int:
        with transaction() as session:
            return int(session.scalar(text("select 7")) or 0)

    with transaction() as first, transaction() as second:
        first.execute(text("select 1"))
        second.execute(text("select 1"))
    end_connections()
    assert [run_again(read) for _ in range(3)] == [7, 7, 7]
