"""Reads: several selects compiled once, with the own-rows guard in each, and answered by one statement."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
import sqlalchemy as sa
from psycopg.errors import QueryCanceled
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapper, Session, with_loader_criteria

from shared.db.base import AccountOwned, Base, ModeOwned, engine

Convert = Callable[[Any], Any]
Rows = sa.Select[*tuple[Any, ...]]
ACCOUNT, MODE = "own_account_id", "own_synthetic"
_OWN_ACCOUNT, _OWN_MODE = sa.bindparam(ACCOUNT, type_=sa.BigInteger), sa.bindparam(MODE, type_=sa.Boolean)
# What JSON does not tell apart is made again by the type of the column.
_CONVERSIONS: tuple[tuple[type[sa.types.TypeEngine[Any]], Convert | None], ...] = (
    (JSONB, json.loads),
    (sa.Enum, None),
    (sa.String, None),
    (sa.Float, float),
    (sa.Numeric, Decimal),
    (sa.Boolean, None),
    (sa.Integer, None),
    (sa.DateTime, datetime.fromisoformat),
    (sa.Date, date.fromisoformat),
    (sa.Time, time.fromisoformat),
    (sa.Uuid, UUID),
)


class _Element(NamedTuple):
    """What one element of a select becomes: an entity of so many columns, or the value of one."""

    mapper: Mapper[Any] | None
    keys: tuple[str, ...]
    conversions: tuple[tuple[int, Convert], ...]  # by the place in the row
    first: int
    behind: int

    def take(self, row: list[Any]) -> Any:
        """None for an entity that an outer join did not find."""
        if self.mapper is None:
            return row[self.first]
        values = row[self.first : self.behind]
        if values.count(None) == len(values):
            return None
        entity = self.mapper.class_manager.new_instance()
        entity.__dict__.update(zip(self.keys, values, strict=True))
        return entity


@dataclass(frozen=True)
class _Statement:
    sql: str
    parameters: Mapping[str, Any]
    parts: Mapping[str, Sequence[_Element]]


class Read:
    """Named selects of entities and columns; what is a parameter stands in them as `bindparam`.

    Building and compiling a select costs 0.3 to 1.2 ms, sending it and reading entities of few rows 0.4; a read takes
    0.15 in all, however many selects it has. Its entities belong to no session: nothing they are changed to is stored.
    """

    def __init__(self, **parts: Rows) -> None:
        self.parts = parts
        self._compiled: dict[tuple[bool, bool], _Statement] = {}

    def __call__(self, session: Session, **values: Any) -> dict[str, list[Any]]:
        """The rows of each select: an entity or a value where it selects one thing, else a tuple of them."""
        account_id, synthetic = session.info.get("account_id"), session.info.get("synthetic")
        statement = self.compile(session, account_id is not None, synthetic is not None)
        session.flush()
        own = {ACCOUNT: account_id, MODE: synthetic}
        answer = _ask(session, statement.sql, {**statement.parameters, **own, **values})
        rows = json.loads(answer, parse_float=Decimal)
        return {
            name: [_to_row(elements, row) for row in of_part or ()]
            for (name, elements), of_part in zip(statement.parts.items(), rows, strict=True)
        }

    def compile(self, session: Session, of_account: bool, of_mode: bool) -> _Statement:
        guard = of_account, of_mode
        if guard not in self._compiled:
            self._compiled[guard] = _compile(self.parts, session.get_bind().dialect, *guard)
        return self._compiled[guard]


def _ask(session: Session, sql: str, values: Mapping[str, Any]) -> str:
    """The one value of a statement. A session that only reads needs no transaction of SQLAlchemy's for it."""
    alone = session.info.get("reads") and not session.in_transaction()
    if alone and not engine().dispatch.before_cursor_execute:  # SQLAlchemy tells traces of each statement
        try:
            return _ask_directly(sql, values)
        except QueryCanceled as error:  # it would take as long again
            raise sa.exc.OperationalError(sql, None, error, hide_parameters=True) from error
        except psycopg.Error:
            pass  # asked again, SQLAlchemy replaces connections that died, and says it in its own errors
    answer: str = session.connection().exec_driver_sql(sql, values).scalar_one()
    return answer


def _ask_directly(sql: str, values: Mapping[str, Any]) -> str:
    """By the driver, on a connection of the pool: 40 us; by SQLAlchemy's connection and transaction 130."""
    lent = engine().raw_connection()
    try:
        connection: Any = lent.driver_connection
        connection.autocommit = True
        answer: str = connection.execute(sql, values).fetchone()[0]
        connection.autocommit = False
    except BaseException as error:
        lent.invalidate(error)
        raise
    lent.close()
    return answer


def _to_row(elements: Sequence[_Element], row: list[Any]) -> Any:
    for element in elements:
        for place, convert in element.conversions:
            if row[place] is not None:
                row[place] = convert(row[place])
    return elements[0].take(row) if len(elements) == 1 else tuple([element.take(row) for element in elements])


def _compile(parts: Mapping[str, Rows], dialect: sa.Dialect, of_account: bool, of_mode: bool) -> _Statement:
    options = []
    if of_account:
        options.append(_guard(AccountOwned, lambda cls: cls.account_id == _OWN_ACCOUNT))
    if of_mode:
        options.append(_guard(ModeOwned, lambda cls: cls.synthetic == _OWN_MODE))
    elements, answers = {}, []
    for name, part in parts.items():
        elements[name], columns = _list_elements(part)
        rows = part.with_only_columns(*columns).options(*options).subquery()
        row = sa.func.json_build_array(*map(_to_json, rows.c))
        answers.append(sa.select(sa.func.json_agg(row)).select_from(rows).scalar_subquery())
    compiled = (
        sa.select(sa.cast(sa.func.json_build_array(*answers), sa.Text)).options(*options).compile(dialect=dialect)
    )
    _check_guard(str(compiled), AccountOwned, ACCOUNT if of_account else "")
    _check_guard(str(compiled), ModeOwned, MODE if of_mode else "")
    fixed = {name: value for name, value in compiled.params.items() if value is not None}
    return _Statement(str(compiled), fixed, elements)


def _guard(kind: type[Any], condition: Callable[[Any], sa.ColumnElement[bool]]) -> Any:
    return with_loader_criteria(kind, condition, include_aliases=True)


def _check_guard(sql: str, kind: type[Any], parameter: str) -> None:
    """A statement is never sent that names an own table without its condition. Raises LookupError."""
    tables = {mapper.class_.__tablename__ for mapper in Base.registry.mappers if issubclass(mapper.class_, kind)}
    named = sum(name in tables for name in re.findall(r"(?:FROM|JOIN|,)\s+(?:LATERAL\s+)?(\w+)(?![\w.])", sql))
    if parameter and sql.count(f"%({parameter})s") < named:
        raise LookupError(f"{named} tables of {kind.__name__} with fewer conditions")


def _list_elements(part: Rows) -> tuple[list[_Element], list[Any]]:
    elements: list[_Element] = []
    columns: list[Any] = []
    for described in part.column_descriptions:
        entity, first = described["expr"], len(columns)
        inspected = sa.inspect(entity, raiseerr=False)
        mapper = getattr(inspected, "mapper", None) if described.get("entity") is entity else None
        keys = tuple(attribute.key for attribute in mapper.column_attrs) if mapper else ()
        columns += [getattr(entity, key) for key in keys] if mapper else [entity]
        conversions = [(place, _find_conversion(columns[place].type)) for place in range(first, len(columns))]
        needed = tuple((place, convert) for place, convert in conversions if convert)
        elements.append(_Element(mapper, keys, needed, first, len(columns)))
    return elements, columns


def _find_conversion(of: sa.types.TypeEngine[Any]) -> Convert | None:
    """Raises LookupError for a type that no read has needed yet."""
    if isinstance(of, sa.ARRAY):
        if _find_conversion(of.item_type):
            raise LookupError(f"an array of {of.item_type!r}")
        return None
    for kind, convert in _CONVERSIONS:
        if isinstance(of, kind):
            return convert
    raise LookupError(repr(of))


def _to_json(column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """Stored JSON travels as text: its numbers stay floats, while those of columns become exact decimals."""
    return sa.cast(column, sa.Text) if isinstance(column.type, JSONB) else column
