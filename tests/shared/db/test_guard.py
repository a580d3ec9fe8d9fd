"""The own-rows guard on real PostgreSQL: whatever statement is run, one account sees and changes its own rows only."""

import pytest
from sqlalchemy import bindparam, delete, exists, func, select, union, update
from sqlalchemy.orm import Session, aliased

from shared.db import base
from shared.db.accounts import Account
from shared.db.balances import PointsBalance
from shared.db.base import AccountOwned, Base, NotStored, engine, open_own, own, statements, transaction
from shared.db.migrations import __name__ as _all_models  # noqa: F401


def _two(db: object) -> tuple[int, int]:
    from datetime import date

    with transaction() as session:
        rows = [Account(public_id="a"), Account(public_id="b")]
        session.add_all(rows)
        session.flush()
        for row in rows:
            session.add(PointsBalance(account_id=row.id, program="flying-blue", balance=row.id, as_of=date(2026, 1, 1)))
        return rows[0].id, rows[1].id


def test_every_kind_of_read_sees_own_rows_only(clean: None) -> None:
    mine, theirs = _two(clean)
    with Session(engine()) as session:
        own(session, mine, "live")
        other = aliased(PointsBalance)
        assert [r.account_id for r in session.scalars(select(PointsBalance))] == [mine]
        assert session.scalar(select(func.count()).select_from(PointsBalance)) == 1
        assert session.scalar(select(exists().where(PointsBalance.account_id == theirs))) is False
        assert session.scalars(select(other).where(other.account_id == theirs)).all() == []
        below = select(PointsBalance.id).where(PointsBalance.account_id == theirs).scalar_subquery()
        assert session.scalars(select(PointsBalance).where(PointsBalance.id.in_(below))).all() == []
        both = union(select(PointsBalance.account_id), select(PointsBalance.account_id))
        assert session.scalars(both).all() == [mine]
        joined = select(Account.id).join(PointsBalance, PointsBalance.account_id == Account.id)
        assert session.scalars(joined).all() == [mine]
        assert session.get(Account, theirs) is None


def test_one_statement_is_each_account_s_own_whatever_is_sent_with_it(clean: None) -> None:
    mine, theirs = _two(clean)
    least = select(PointsBalance).where(PointsBalance.balance >= bindparam("least"))
    for account_id in (mine, theirs, mine):
        with open_own(account_id, reads=True) as session:
            assert [r.account_id for r in session.scalars(least, {"least": 0})] == [account_id]
            other = {"least": 0, "own_account_id": mine + theirs - account_id}
            assert [r.account_id for r in session.scalars(least, other)] == [account_id]
            assert session.scalars(select(PointsBalance.account_id)).all() == [account_id]
    with transaction() as session:
        assert len(session.scalars(least, {"least": 0}).all()) == 2


def test_get_by_key_does_not_find_a_foreign_row(clean: None) -> None:
    mine, theirs = _two(clean)
    with transaction() as session:
        key = session.scalars(select(PointsBalance.id).where(PointsBalance.account_id == theirs)).one()
    with transaction(mine) as session:
        assert session.get(PointsBalance, key) is None


def test_updates_and_deletes_touch_own_rows_only(clean: None) -> None:
    mine, theirs = _two(clean)
    with transaction(mine) as session:
        session.execute(update(PointsBalance).values(balance=5))
        session.execute(delete(PointsBalance))
    with transaction() as session:
        left = session.scalars(select(PointsBalance)).all()
    assert [(r.account_id, r.balance) for r in left] == [(theirs, theirs)]


def test_new_rows_are_stamped_with_the_account(clean: None) -> None:
    from datetime import date

    mine, theirs = _two(clean)
    with transaction(mine) as session:
        session.add(PointsBalance(account_id=theirs, program="bilt-rewards", balance=1, as_of=date(2026, 1, 1)))
    with transaction() as session:
        row = session.scalars(select(PointsBalance).where(PointsBalance.program == "bilt-rewards")).one()
    assert row.account_id == mine


def test_every_table_with_an_account_is_guarded() -> None:
    unguarded = [
        m.class_.__name__
        for m in Base.registry.mappers
        if "account_id" in m.columns and not issubclass(m.class_, AccountOwned)
    ]
    assert unguarded == []


def test_a_session_that_only_reads_stores_nothing(clean: None) -> None:
    mine, _ = _two(clean)
    with open_own(mine, reads=True) as session:
        row = session.scalars(select(PointsBalance)).one()
        with pytest.raises(NotStored):
            session.execute(update(PointsBalance).values(balance=5))
        row.balance = 5
        with pytest.raises(NotStored):
            session.flush()
    with transaction(mine) as session:
        assert session.scalars(select(PointsBalance.balance)).one() == mine


def test_a_connection_that_died_while_nobody_used_it_is_replaced(clean: None, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, _ = _two(clean)
    for idle in (0.0, 60.0):
        engine().dispose()  # so that the connection that dies is the only one
        with open_own(mine, reads=True) as session:
            key = session.scalar(select(func.pg_backend_pid()))
        monkeypatch.setattr(base, "ALIVE_SECONDS", -idle)
        with statements().connect() as other:
            other.execute(select(func.pg_terminate_backend(key)))
        with open_own(mine, reads=True) as session:
            assert session.scalar(select(func.pg_backend_pid())) != key
    engine().dispose()
