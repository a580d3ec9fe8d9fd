"""Writes of one own row by fixed statements: own rows only, both states exact, and the values a session's rows have."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from shared.db.accounts import Account, lock
from shared.db.balances import PointsBalance
from shared.db.base import NotStored, engine, open_own, statements, transaction
from shared.db.cards import Card
from shared.db.messages import Notification
from shared.db.statuses import LoyaltyStatus
from shared.db.writing import Written, add, put

DAY, NOON = date(2026, 1, 5), datetime(2026, 1, 5, 12, 0, 0, 123000, UTC)
KEY = {"program": "flying-blue", "member": ""}


@pytest.fixture
def mine(clean: None) -> int:
    """Of two accounts that hold the same, the second."""
    with transaction() as session:
        accounts = [Account(public_id="theirs"), Account(public_id="mine")]
        session.add_all(accounts)
        session.flush()
        for account in accounts:
            row = {"account_id": account.id, "notes": "kept", "own_cents": Decimal("1.20"), "as_of": DAY}
            session.add(PointsBalance(**KEY, balance=account.id, **row))
        return accounts[1].id


@pytest.fixture
def sent() -> Iterator[list[str]]:
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        statements.append(statement)

    sa.event.listen(engine(), "before_cursor_execute", note)
    yield statements
    sa.event.remove(engine(), "before_cursor_execute", note)


def set_balance(account_id: int, balance: int, **key: str) -> Written[PointsBalance]:
    values = {"balance": balance, "as_of": DAY, "updated_at": NOON}
    with open_own(account_id, reads=False) as session:
        written = put(session, PointsBalance, KEY | key, values)
        session.commit()
    return written


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


def list_values(row: Any) -> dict[str, Any]:
    values = {column.key: getattr(row, column.key) for column in type(row).__mapper__.column_attrs}
    return {name: (type(value), value, str(value)) for name, value in values.items()}


def test_a_row_is_changed_by_one_statement_and_both_states_are_told(mine: int, sent: list[str]) -> None:
    written = set_balance(mine, 7)
    assert len(sent) == 1
    before = written.before
    assert before is not None
    assert (before["balance"], before["as_of"]) == (mine, DAY)
    with transaction(mine) as session:
        stored = session.scalars(sa.select(PointsBalance)).one()
        assert list_values(written.row) == list_values(stored)
    assert (stored.balance, stored.notes, stored.own_cents, stored.updated_at) == (7, "kept", Decimal("1.20"), NOON)


def test_a_row_that_is_new_is_added_by_two(mine: int, sent: list[str]) -> None:
    written = set_balance(mine, 7, program="bilt-rewards")
    assert len(sent) == 2
    assert written.before is None
    with transaction(mine) as session:
        stored = session.scalars(sa.select(PointsBalance).where(PointsBalance.program == "bilt-rewards")).one()
        assert list_values(written.row) == list_values(stored)
    assert (stored.source, stored.notes) == ("manual", None)


def test_rows_of_others_are_neither_seen_nor_changed(mine: int) -> None:
    before = read_balances()
    with transaction() as session:
        third = Account(public_id="third")
        session.add(third)
        session.flush()
    assert set_balance(third.id, 5).before is None
    set_balance(mine, 6)
    assert read_balances() == before | {(third.id, KEY["program"]): 5, (mine, KEY["program"]): 6}


def test_what_names_another_account_is_stored_as_ones_own(mine: int) -> None:
    with transaction() as session:
        theirs = session.scalars(sa.select(Account.id).where(Account.id != mine)).one()
    with transaction(mine) as session:
        named = {"account_id": theirs}
        assert put(session, PointsBalance, KEY | named, {"balance": 5}).row.account_id == mine
        assert add(session, Card(name="x", custom=True, currency="USD", **named)).account_id == mine
        with pytest.raises(LookupError):
            put(session, PointsBalance, KEY, {"balance": 6} | named)
    assert read_balances()[theirs, KEY["program"]] == theirs


def test_a_session_of_everyones_rows_writes_none(mine: int) -> None:
    with transaction() as session:
        with pytest.raises(LookupError):
            put(session, PointsBalance, KEY, {"balance": 5})
        with pytest.raises(LookupError):
            add(session, Card(account_id=mine, name="x", custom=True, currency="USD"))


def test_a_session_that_only_reads_stores_nothing(mine: int) -> None:
    before = read_balances()
    with open_own(mine, reads=True) as session:
        with pytest.raises(NotStored):
            put(session, PointsBalance, KEY, {"balance": 5})
        with pytest.raises(NotStored):
            add(session, Card(name="x", custom=True, currency="USD"))
    assert read_balances() == before


def test_modes_do_not_meet(mine: int) -> None:
    values = {"kind": "account", "title": "Hello", "body": "x"}
    with transaction(mine) as session:
        assert put(session, Notification, {"dedupe_key": "one"}, values).row.synthetic is session.info["synthetic"]
        session.info["synthetic"] = not session.info["synthetic"]
        with pytest.raises(LookupError):  # the key is taken, but not by a row that is seen here
            put(session, Notification, {"dedupe_key": "one"}, values)


def test_what_is_rolled_back_is_not_stored(mine: int) -> None:
    before = read_balances()
    with open_own(mine, reads=False) as session:
        put(session, PointsBalance, KEY, {"balance": 5})
        put(session, PointsBalance, KEY | {"program": "bilt-rewards"}, {"balance": 5, "as_of": DAY})
    assert read_balances() == before


@pytest.mark.parametrize("program", ["flying-blue", "bilt-rewards"], ids=["a row that is there", "a new row"])
def test_of_calls_at_once_each_is_told_what_the_one_before_it_left(mine: int, program: str) -> None:
    known = read_balances().get((mine, program))
    with ThreadPoolExecutor(4) as threads:
        written = list(threads.map(lambda n: set_balance(mine, n, program=program), range(100, 120)))
    states = {one.before["balance"] if one.before else None: one.row.balance for one in written}
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
            waiting = threads.submit(set_balance, mine, 9, program="bilt-rewards")
            await_lock(waiting)
            session.add(PointsBalance(program="bilt-rewards", balance=8, as_of=DAY))
        assert (waiting.result().before or {})["balance"] == 8
    assert read_balances()[mine, "bilt-rewards"] == 9


def test_a_new_row_holds_what_is_stored(mine: int, sent: list[str]) -> None:
    row = Card(name="Gold", custom=False, currency="USD", annual_fee=Decimal("95.00"), opened_on=DAY, bonus_amount=5)
    with transaction(mine) as session:
        added = add(session, row)
    assert len(sent) == 1
    with transaction(mine) as session:
        assert list_values(added) == list_values(session.scalars(sa.select(Card)).one())


def test_a_type_that_no_write_has_needed_yet_is_refused(mine: int) -> None:
    with transaction(mine) as session, pytest.raises(LookupError):
        add(session, LoyaltyStatus(program="x", tier="x"))
