"""Fills every table of a database of any version with rows, made from what the database says of itself."""

import re
import uuid
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, INTERVAL, JSONB
from sqlalchemy.engine.interfaces import ReflectedCheckConstraint

# What the columns' own checks want beyond the first word of a list.
AFTER = {"hotel_bookings.check_out_date"}
# A voucher is put on one booking; of links those with a trip have their own purpose.
LEFT_OUT = {"vouchers.hotel_booking_id", "secret_links.trip_id"}
_WORDS = re.compile(r"\(?(\w+)\)?(?:::\w+)? = ANY \(+ARRAY\['(\w+)'")


def _first_words(checks: Iterable[ReflectedCheckConstraint]) -> dict[str, str]:
    """Columns that take a word of a list: the first word of it."""
    found = (_WORDS.search(check["sqltext"]) for check in checks)
    return {match[1]: match[2] for match in found if match}


def _value(column: sa.Column[Any], number: int) -> Any:
    kind, text = column.type, f"{column.name} {number} ø✓\\n'\"\t"
    if isinstance(kind, sa.String):
        letters = chr(65 + number % 10) + chr(65 + number // 10)
        return text if kind.length is None else (letters * kind.length)[: kind.length]
    made: dict[type[Any], Any] = {
        sa.Boolean: False,
        sa.Float: 0.25,
        sa.Numeric: Decimal("12345678901.25") + number,
        sa.BigInteger: number + 1,
        sa.Integer: 1 + number % 3,  # months, hours and the like end early
        sa.DateTime: datetime(2030, 1, 1, 12, 0, 0, 123456, UTC) + timedelta(days=number),
        sa.Date: date(2031, 1, 28) + timedelta(days=number),  # a day can be a whole key
        sa.Time: time(23, 59),
        INTERVAL: timedelta(hours=6),
        sa.LargeBinary: bytes(range(256)) * (number + 1),
        JSONB: {"a": [1, None, text]},
        ARRAY: [text, ""],
        sa.Uuid: uuid.UUID(int=number),
    }
    return next(value for base, value in made.items() if isinstance(kind, base))


def _row(table: sa.Table, words: dict[str, str], made: dict[str, dict[str, Any]], number: int) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for column in table.columns:
        if f"{table.name}.{column.name}" in LEFT_OUT:
            continue
        keys = [key for key in column.foreign_keys if key.column.table is not table]
        if keys:
            row[column.name] = made[keys[0].column.table.name][keys[0].column.name]
        elif column.identity is None:
            later = number + 1 if f"{table.name}.{column.name}" in AFTER else number
            row[column.name] = words.get(column.name) or _value(column, later)
    return row


def list_partitions(engine: sa.Engine) -> set[str]:
    with engine.connect() as connection:
        return set(connection.exec_driver_sql("select relname from pg_class where relispartition").scalars())


def fill(engine: sa.Engine, number: int = 1) -> None:
    """One row in every table, hanging on the row this made in the table it names."""
    partitions = list_partitions(engine)
    made: dict[str, dict[str, Any]] = {}
    with engine.begin() as connection:
        known, checks = sa.MetaData(), sa.inspect(connection).get_multi_check_constraints()
        known.reflect(connection, only=lambda name, _: name not in partitions)  # their rows are those of their tables
        for table in known.sorted_tables:
            if table.name == "alembic_version":
                continue
            row = _row(table, _first_words(checks.get((None, table.name), [])), made, number)
            made[table.name] = dict(connection.execute(sa.insert(table).values(row).returning(table)).mappings().one())


def contents(engine: sa.Engine) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table, as plain data, in a fixed order."""
    partitions = list_partitions(engine)
    with engine.connect() as connection:
        names = set(sa.inspect(connection).get_table_names()) - partitions - {"alembic_version"}
        rows = {name: connection.exec_driver_sql(f"select * from {name}").mappings() for name in sorted(names)}
        return {name: sorted((dict(row) for row in found), key=repr) for name, found in rows.items()}
