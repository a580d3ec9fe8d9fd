"""Deletion of many rows in batches: each a short transaction, with the tables taking turns."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from shared.db.accounts import store_fact
from shared.db.base import Base, transaction
from shared.db.outages import is_outage

log = logging.getLogger(__name__)
PORTION = 5_000  # rows of one transaction: short locks, and other work in between
LOOKS_IN_VAIN = 20  # batches without an expired row after which the rest counts as younger, if keys grow with time
# The fact that stores each sweep's last success: expired credentials, and records that are too old.
FACTS = {"credentials": "last_sweep_of_credentials", "records": "last_sweep_of_records"}
Target = sa.Table | type[Base]  # of a table, rows of both data modes are deleted
Portions = Iterator[int]  # deletes the next batch and yields its number of rows


class Busy(Exception):
    """Another program sweeps."""


def note_sweep(session: Session, name: str) -> None:
    store_fact(session, FACTS[name])


def take_turns(sweeps: Sequence[tuple[str, Portions]], until: float) -> dict[str, int]:
    """Deletes batches of each table in turn until nothing is left or time is up. Returns rows by table.

    A table whose statement fails is left for the next time. Raises the error of an outage, which ends them all.
    """
    removed: dict[str, int] = {}
    while sweeps and monotonic() < until:
        unfinished = []
        for name, portions in sweeps:
            try:
                number = next(portions, None)
            except Busy:
                continue
            except SQLAlchemyError as error:
                if is_outage(error):
                    raise
                log.error("sweep: %s is left for the next time (%s)", name, type(error).__name__)
                continue
            if number is not None:
                removed[name] = removed.get(name, 0) + number
                unfinished.append((name, portions))
        sweeps = unfinished
    return removed


def remove_first(target: Target, expired: ColumnElement[bool], order: Any, *, lock: int | None = None) -> Portions:
    """Deletes rows by an index on `order`, which the condition bounds: the first ones, while there are any."""
    keys = _list_keys(target)
    while True:
        with transact_alone(lock) as session:
            first = sa.select(*keys).where(expired).order_by(order).limit(PORTION)
            removed = _delete(session, target, sa.tuple_(*keys).in_(first))
        yield removed
        if not removed:
            return


def remove_along_keys(
    target: Target,
    expired: ColumnElement[bool],
    *,
    grows_with_age: bool = False,
    size: int | None = None,
    lock: int | None = None,
) -> Portions:
    """Deletes rows without a suitable index: reads `size` at a time in the order of the primary key.

    If keys grow with time, it ends after LOOKS_IN_VAIN batches without an expired row.
    """
    keys = _list_keys(target)
    after: ColumnElement[bool] = sa.true()
    looks_in_vain = 0
    while True:
        with transact_alone(lock) as session:
            portion = sa.select(*keys).where(after).order_by(*keys).offset((size or PORTION) - 1).limit(1)
            last = session.execute(portion).one_or_none()
            until = sa.true() if last is None else sa.tuple_(*keys) <= _bind(keys, last)
            removed = _delete(session, target, sa.and_(after, until, expired))
        yield removed
        looks_in_vain = 0 if removed else looks_in_vain + 1
        if last is None or (grows_with_age and looks_in_vain == LOOKS_IN_VAIN):
            return
        after = sa.tuple_(*keys) > _bind(keys, last)


@contextmanager
def transact_alone(lock: int | None) -> Iterator[Session]:
    """A transaction, the only one with this lock number, if given. Raises Busy."""
    with transaction() as session:
        if lock is not None and not session.scalar(sa.select(sa.func.pg_try_advisory_xact_lock(lock))):
            raise Busy
        yield session


def _list_keys(target: Target) -> list[sa.Column[Any]]:
    table = target if isinstance(target, sa.Table) else target.__table__
    return list(table.primary_key.columns)  # type: ignore[attr-defined]


def _bind(keys: list[sa.Column[Any]], values: Any) -> Any:
    return sa.tuple_(*(sa.literal(value, key.type) for key, value in zip(keys, values, strict=True)))


def _delete(session: Session, target: Target, condition: ColumnElement[bool]) -> int:
    statement = sa.delete(target).where(condition).execution_options(synchronize_session=False)
    return int(session.execute(statement).rowcount)  # type: ignore[attr-defined]
