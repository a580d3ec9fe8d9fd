"""A balance that is set: own rows only, both states told, and one row however many calls there are at once."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from shared.db.accounts import Account, lock
from shared.db.balances import PointsBalance, set_balance
from shared.db.base import open_own, statements, transaction

DAY, NOON = date(2026, 1, 5), datetime(2026, 1, 5, 12, 0, 0, 123000, UTC)
PROGRAM = "flying-blue"


@pytest.fixture
def mine(clean: None) -> int:
    """Of two accounts that hold the same, the second."""
    with transaction() as session:
        accounts = [Account(public_id="theirs"), Account(public_id="mine")]
        session.add_all(accounts)
        session.flush()
        for account in accounts:
            row = {"account_id": account.id, "notes": "kept", "own_cents": Decimal("1.20"), "as_of": DAY}
            session.add(PointsBalance(program=PROGRAM, balance=account.id, **row))
        return accounts[1].id


def change(account_id: int, balance: int, program: str = PROGRAM) -> tuple[int, int | None]:
    """The balance that is stored now, and the one before."""
    values = {"balance": balance, "as_of": DAY, "updated_at": NOON}
    with open_own(account_id, reads=False) as session:
        row, before = set_balance(session, program, "", values)
        session.commit()
    return row.balance, before and before[0]


def read_balances() -> dict[tuple[int, str], int]:
    with transaction() as session:
        return {(row.account_id, row.program): row.balance for row in session.scalars(sa.select(PointsBalance))}


def await_lock(work: Future[Any]) -> None:
    """Until a statement of it waits for a lock, or it ended."""
    waiting = sa.text(
        "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    )
    with statements().connect() as connection:
        while not work.done() and not connection.execute(waiting).scalar_one():
            threading.Event().wait(0.01)


def test_both_states_are_told_and_what_is_not_named_stays(mine: int) -> None:
    assert change(mine, 7) == (7, mine)
    assert change(mine, 8, "bilt-rewards") == (8, None)
    with transaction(mine) as session:
        old, new = session.scalars(sa.select(PointsBalance).order_by(PointsBalance.id))
    assert (old.balance, old.notes, old.own_cents, old.updated_at) == (7, "kept", Decimal("1.20"), NOON)
    assert (new.balance, new.source, new.notes) == (8, "manual", None)


def test_rows_of_others_are_neither_seen_nor_changed(mine: int) -> None:
    before = read_balances()
    with transaction() as session:
        third = Account(public_id="third")
        session.add(third)
        session.flush()
    assert change(third.id, 5) == (5, None)
    change(mine, 6)
    assert read_balances() == before | {(third.id, PROGRAM): 5, (mine, PROGRAM): 6}


def test_what_is_rolled_back_is_not_stored(mine: int) -> None:
    before = read_balances()
    with open_own(mine, reads=False) as session:
        for program in (PROGRAM, "bilt-rewards"):
            set_balance(session, program, "", {"balance": 5, "as_of": DAY})
    assert read_balances() == before


@pytest.mark.parametrize("program", ["flying-blue", "bilt-rewards"], ids=["a row that is there", "a new row"])
def test_of_calls_at_once_each_is_told_what_the_one_before_it_left(mine: int, program: str) -> None:
    known = read_balances().get((mine, program))
    with ThreadPoolExecutor(4) as threads:
        states = {before: now for now, before in threads.map(lambda n: change(mine, n, program), range(100, 120))}
    assert len(states) == 20
    balance = known
    for _ in range(20):
        balance = states[balance]
    assert read_balances()[mine, program] == balance


def test_a_row_is_added_once_who_read_that_there_is_none_has_ended(mine: int) -> None:
    """As the import of a points tracker does: it locks the account, reads, and adds what it did not find."""
    with ThreadPoolExecutor(1) as threads:
        with transaction(mine) as session:
            lock(session, mine)
            waiting = threads.submit(change, mine, 9, "bilt-rewards")
            await_lock(waiting)
            session.add(PointsBalance(program="bilt-rewards", balance=8, as_of=DAY))
        assert waiting.result() == (9, 8)
    assert read_balances()[mine, "bilt-rewards"] == 9
