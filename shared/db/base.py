"""The engine, the sessions and the own-rows guard, which limits a session to one account's rows of one data mode."""

import enum
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache, partial
from typing import Annotated, Any
from uuid import UUID

import sqlalchemy as sa
from psycopg import Error
from sqlalchemy import Dialect, Engine, ForeignKey, MetaData, create_engine, event, func
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    ORMExecuteState,
    Session,
    UOWTransaction,
    mapped_column,
    with_loader_criteria,
)
from sqlalchemy.pool import ConnectionPoolEntry

from shared.db.pooling import GUARDS, build_connect_args
from shared.settings import DataMode, settings

ALIVE_SECONDS = 0.5  # after its last use a connection is not asked again; a restart within them fails one write of each
pk = Annotated[int, mapped_column(sa.BigInteger, sa.Identity(), primary_key=True, sort_order=-1)]
uid = Annotated[UUID, mapped_column(primary_key=True, server_default=sa.text("gen_random_uuid()"))]
stamp = Annotated[datetime, mapped_column(server_default=func.now())]
iata = Annotated[str, mapped_column(sa.String(3))]
currency = Annotated[str, mapped_column(sa.String(3))]
money = Annotated[Decimal, mapped_column(sa.Numeric(14, 2))]
big = Annotated[int, mapped_column(sa.BigInteger)]


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {
        datetime: sa.DateTime(timezone=True),
        str: sa.Text,
        timedelta: sa.Interval,
        dict[str, Any]: JSONB,
        list[str]: ARRAY(sa.Text),
        list[dict[str, Any]]: JSONB,
        Decimal: sa.Numeric(14, 2),
        enum.Enum: sa.Enum(enum.Enum, native_enum=False, create_constraint=True, length=24),
    }


class AccountOwned:
    """A row of one account. Sessions of an account add the condition automatically and set the owner of new rows."""

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)


class ModeOwned:
    """A row that exists in one data mode only: invented and real data never meet in an answer."""

    synthetic: Mapped[bool] = mapped_column(sa.Boolean)


class Numbered(Base):
    """A table whose rows have a number."""

    __abstract__ = True

    id: Mapped[pk]


class Timestamped:
    """A row that knows when it was made and last changed."""

    created_at: Mapped[datetime] = mapped_column(server_default=func.now(), sort_order=1)
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now(), onupdate=func.now(), sort_order=1)


@lru_cache(maxsize=1)
def engine() -> Engine:
    """The engine of this process; forked children make their own connections."""
    new_engine = create_engine(
        settings().database_url,
        pool_size=settings().database_threads,
        max_overflow=0,
        pool_timeout=10,
        pool_recycle=1800,
        hide_parameters=True,  # failed statements are logged without the user's values
        connect_args=build_connect_args(**GUARDS),
    )
    event.listen(new_engine, "checkin", _note_return)
    event.listen(new_engine, "checkout", partial(_check_alive, new_engine.dialect))
    os.register_at_fork(after_in_child=lambda: new_engine.dispose(close=False))
    return new_engine


def _note_return(_connection: Any, record: ConnectionPoolEntry) -> None:
    record.info["returned_at"] = time.monotonic()


def _check_alive(dialect: Dialect, connection: Any, record: ConnectionPoolEntry, _proxy: Any) -> None:
    """Replaces a connection that died while unused, and all others with it; a recently used one is not tested.

    The test took 0.1 ms of every call, a fifth of one with a single statement.
    """
    if time.monotonic() - record.info.get("returned_at", math.inf) < ALIVE_SECONDS:
        return
    try:
        dialect.do_ping(connection)
    except Error as error:
        raise InvalidatePoolError from error


@lru_cache(maxsize=1)
def statements() -> Engine:
    """A small pool for single statements asked for very often: no transaction, and no test beforehand whether the
    connection still lives. Callers try once more when it does not."""
    new_engine = create_engine(
        settings().database_url,
        pool_size=2,
        max_overflow=0,
        pool_timeout=10,
        pool_recycle=1800,
        pool_reset_on_return=None,
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
        connect_args=build_connect_args(
            statement_timeout="5000",
            TimeZone="UTC",
            # Rows are found only by their keys. A plan kept since the tables were small must not scan them for good.
            enable_seqscan="off",
            enable_hashjoin="off",
            enable_mergejoin="off",
        ),
    )
    os.register_at_fork(after_in_child=lambda: new_engine.dispose(close=False))
    return new_engine


def own(session: Session, account_id: int, mode: DataMode) -> Session:
    """Restricts a session to one account's rows of one data mode, for every ORM statement it will run."""
    session.info["account_id"] = account_id
    session.info["synthetic"] = mode == "sandbox"
    return session


def open_own(account_id: int, *, reads: bool) -> Session:
    """A session of one account's rows. One that only reads has no transaction and stores nothing."""
    source = _autocommit(engine()) if reads else engine()
    session = own(Session(source, expire_on_commit=False), account_id, settings().data_mode)
    session.info["reads"] = reads
    return session


def unscoped(session: Session) -> Session:
    """A session without the account guard (search this word for every such place); the mode guard stays."""
    session.info.pop("account_id", None)
    session.info.setdefault("synthetic", settings().data_mode == "sandbox")
    return session


@contextmanager
def transaction(account_id: int | None = None) -> Iterator[Session]:
    """One transaction, for one account, or for everyone if none is named (admin, jobs, auth)."""
    with _open_session(engine(), account_id) as session:
        yield session


@contextmanager
def autocommit(account_id: int | None = None) -> Iterator[Session]:
    """As above, but each statement is its own transaction: no BEGIN and COMMIT are sent, and no row stays locked
    while this process does other work."""
    with _open_session(_autocommit(engine()), account_id) as session:
        yield session


@lru_cache(maxsize=1)
def _autocommit(engine: Engine) -> Engine:
    return engine.execution_options(isolation_level="AUTOCOMMIT")


@contextmanager
def _open_session(source: Engine, account_id: int | None) -> Iterator[Session]:
    with Session(source, expire_on_commit=False) as session, session.begin():
        if account_id is None:
            unscoped(session)
        else:
            own(session, account_id, settings().data_mode)
        yield session


class NotStored(Exception):
    """A write was attempted in a read-only session: a bug."""


# Of selects the conditions are made once, and what they compare with is sent as parameters. Made again for each
# statement they took a third of its time, 140 of 440 microseconds.
_OWN = {"account_id": "own_account_id", "synthetic": "own_synthetic"}
_CONDITIONS = {
    "account_id": with_loader_criteria(
        AccountOwned, lambda cls: cls.account_id == sa.bindparam("own_account_id"), include_aliases=True
    ),
    "synthetic": with_loader_criteria(
        ModeOwned, lambda cls: cls.synthetic == sa.bindparam("own_synthetic"), include_aliases=True
    ),
}


@event.listens_for(Session, "do_orm_execute")
def _guard(state: ORMExecuteState) -> sa.Result[Any] | None:
    info = state.session.info
    if info.get("reads") and not state.is_select:
        raise NotStored(str(state.statement))
    text = isinstance(state.statement, sa.TextClause | sa.TextualSelect)  # it selects its rows itself
    guarded = [name for name in _OWN if info.get(name) is not None]
    if text or state.is_column_load or state.is_relationship_load or not guarded:
        return None
    if state.is_select:
        state.parameters = state.parameters or {}  # None cannot be merged into
        statement = state.statement.options(*(_CONDITIONS[name] for name in guarded))
        return state.invoke_statement(statement, params={_OWN[name]: info[name] for name in guarded})
    account_id, synthetic = info.get("account_id"), info.get("synthetic")
    if account_id is not None:
        state.statement = state.statement.options(
            with_loader_criteria(AccountOwned, lambda cls: cls.account_id == account_id, include_aliases=True)
        )
    if synthetic is not None:
        state.statement = state.statement.options(
            with_loader_criteria(ModeOwned, lambda cls: cls.synthetic == synthetic, include_aliases=True)
        )
    return None


@event.listens_for(Session, "before_flush")
def _stamp(session: Session, _context: UOWTransaction, _instances: Any) -> None:
    account_id, synthetic = session.info.get("account_id"), session.info.get("synthetic")
    if session.info.get("reads"):
        raise NotStored(repr([*session.new, *session.dirty, *session.deleted]))
    for row in session.new:
        if account_id is not None and isinstance(row, AccountOwned):
            row.account_id = account_id
        if synthetic is not None and isinstance(row, ModeOwned):
            row.synthetic = synthetic
