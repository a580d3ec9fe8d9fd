"""Fills every table of a database of any version with rows, made from what the database says of itself."""

import re
import uuid
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, INTERVAL, JSONB

# What the columns' own checks want beyond the first word of a list.
WANTED: dict[str, Any] = {"hotel_bookings.check_out_date": date(2031, 2, 3)}
# A voucher is put on one booking; of links those with a trip have a purpose of their own.
LEFT_OUT = {"vouchers.hotel_booking_id", "secret_links.trip_id"}
_WORDS = re.compile(r"\(?(\w+)\)?(?:::\w+)? = ANY \(+ARRAY\['(\w+)'")


def _first_words(inspector: sa.Inspector, table: str) -> dict[str, str]:
    """Columns that take a word of a list: the first word of it."""
    found = (_WORDS.search(check["sqltext"]) for check in inspector.get_check_constraints(table))
    return {match[1]: match[2] for match in found if match}


def _value(column: sa.Column[Any], number: int) -> Any:
    kind, text = column.type, f"{column.name} {number} ø✓\\n'\"\t"
    if isinstance(kind, sa.String):
        return text if kind.length is None else chr(65 + number) * kind.length
    made: dict[type[Any], Any] = {
        sa.Boolean: False,
        sa.Float: 0.25,
        sa.Numeric: Decimal("12345678901.25") + number,
        sa.Integer: number,
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
            row[column.name] = WANTED.get(f"{table.name}.{column.name}") or words.get(column.name)
            row[column.name] = _value(column, number) if row[column.name] is None else row[column.name]
    return row


def list_partitions(engine: sa.Engine) -> set[str]:
    with engine.connect() as connection:
        return set(connection.exec_driver_sql("select relname from pg_class where relispartition").scalars())


def _read_tables(engine: sa.Engine) -> sa.MetaData:
    """Without partitions, whose rows are those of their tables."""
    known, partitions = sa.MetaData(), list_partitions(engine)
    known.reflect(engine, only=lambda name, _: name not in partitions)
    return known


def fill(engine: sa.Engine, number: int = 1) -> None:
    """One row in every table, hanging on the row this made in the table it names."""
    known, inspector = _read_tables(engine), sa.inspect(engine)
    made: dict[str, dict[str, Any]] = {}
    with engine.begin() as connection:
        for table in known.sorted_tables:
            if table.name == "alembic_version":
                continue
            row = _row(table, _first_words(inspector, table.name), made, number)
            made[table.name] = dict(connection.execute(sa.insert(table).values(row).returning(table)).mappings().one())


def contents(engine: sa.Engine) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table, as plain data, in a fixed order."""
    known = _read_tables(engine)
    with engine.connect() as connection:
        return {
            table.name: sorted((dict(row) for row in connection.execute(sa.select(table)).mappings()), key=repr)
            for table in known.sorted_tables
            if table.name != "alembic_version"
        }
