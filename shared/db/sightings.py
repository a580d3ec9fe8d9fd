"""Award seats and fares seen recently: the newest row of each cell that an account may see."""

from collections.abc import Callable, Collection
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ARRAY, BindParameter, ColumnElement, Select, Subquery
from sqlalchemy.dialects.postgresql import aggregate_order_by, distinct_on
from sqlalchemy.orm import Session

from shared.db.observations import AwardObservation as Row
from shared.db.observations import FareObservation as Fare

CELL = (Row.source, Row.airline, Row.program, Row.origin, Row.destination, Row.date, Row.cabin)
MAX_ROW_NAMES = 10_000  # of one route, day and cabin
CURRENCY = "USD"  # the only currency for values of sightings
Fits = Callable[[Any], ColumnElement[bool]]  # of the columns of a sighting


def is_visible(account_id: int | BindParameter[int], kind: type[Row] | type[Fare] = Row) -> ColumnElement[bool]:
    """The condition for rows that anyone may see, or that the account's own connection saw."""
    return sa.or_(kind.asker_id.is_(None), kind.asker_id == account_id)


def newest_cells(
    account_id: int,
    since: datetime,
    first: date,
    *which: ColumnElement[bool],
    most: int | None = None,
    fits: Fits | None = None,
) -> Subquery:
    """The cheapest row of each cell in the last answer that showed it. `which` may only be about the cell: a condition
    on prices belongs outside, or an older price would come back. Only the `most` newest rows are read.

    `fits` is a further condition on rows of that answer; cells without such a row are left out."""
    sightings = sa.select(Row).where(is_visible(account_id), Row.seen_at >= since, Row.date >= first, *which)
    if most is not None:
        sightings = sightings.order_by(Row.id.desc()).limit(most)  # written when seen
    rows = sightings.subquery().c
    cell = [rows[column.key] for column in CELL]
    fitting_first = [fits(rows).is_(True).desc()] if fits else []
    cells = (
        sa.select(*rows)
        .ext(distinct_on(*cell))
        .order_by(*cell, rows.seen_at.desc(), *fitting_first, rows.points, rows.id)
        .subquery("cells")
    )
    return sa.select(*cells.c).where(fits(cells.c)).subquery("fitting") if fits else cells


def _fares(account_id: int, since: datetime) -> tuple[ColumnElement[bool], ...]:
    """One-way fares between exactly these airports, in that currency."""
    one_way = (Fare.return_date.is_(None), ~Fare.city_wide, Fare.currency == CURRENCY)
    return is_visible(account_id, Fare), Fare.seen_at >= since, *one_way


def with_values(cells: Subquery, account_id: int, since: datetime) -> Select[Any]:
    """The cells with `value`: US cents of the newest one-way fare, less taxes, for each point; null where unknown.

    Looks up a fare for each cell shown, unless cells are sorted by it. Joining 150,000 fares took 0.3 s.
    """
    price = Fare.price / Fare.passengers
    same = (getattr(Fare, key) == cells.c[key] for key in ("origin", "destination", "date", "cabin"))
    fares = sa.select(price).where(*_fares(account_id, since), *same).correlate(cells)
    fare = fares.order_by(Fare.seen_at.desc(), price, Fare.id).limit(1).scalar_subquery()
    value = (fare - cells.c.taxes) * 100 / cells.c.points
    return sa.select(*cells.c, sa.case((cells.c.taxes_currency == CURRENCY, value), else_=None).label("value"))


def lowest_prices(cells: Subquery) -> Select[Any]:
    """The lowest price by destination, programme and airline, its days, and when they were seen."""
    offer = (cells.c.destination, cells.c.program, cells.c.airline)
    low = sa.func.min(cells.c.points).over(partition_by=offer)
    rows = sa.select(*cells.c, low.label("low")).subquery().c
    what = (rows.destination, rows.program, rows.airline, rows.points)
    return (
        sa.select(
            *what,
            sa.func.array_agg(rows.date.distinct()).label("dates"),
            *_summarize(rows.taxes, rows.taxes_currency, rows.stops),
            sa.func.array_agg(rows.source.distinct()).label("sources"),
            sa.func.min(rows.seen_at).label("seen_at"),
            sa.func.min(rows.provider_checked_at).label("provider_checked_at"),
        )
        .where(rows.points == rows.low)
        .group_by(*what)
    )


def _summarize(taxes: Any, currency: Any, stops: Any) -> list[Any]:
    """The lowest taxes of some rows, if all are in one currency, and the most stops."""
    one = sa.and_(sa.func.count(currency.distinct()) == 1, sa.func.count(taxes) == sa.func.count())
    return [
        sa.case((one, sa.func.min(taxes))).label("taxes"),
        sa.case((one, sa.func.min(currency))).label("taxes_currency"),
        sa.case((sa.func.count(stops) == sa.func.count(), sa.func.max(stops))).label("stops"),
    ]


def lowest_pairs(there: Subquery, back: Subquery, nights: Collection[int], fits: Fits | None = None) -> Select[Any]:
    """The same of a way there and back with one programme, that many nights apart: points and taxes of both ways.

    `fits` is a condition on both ways together. `return_dates` are in the order of `dates`.
    """
    pairs = _pair_ways(there, back, nights)
    low = sa.func.min(pairs.c.points).over(partition_by=(pairs.c.destination, pairs.c.program))
    fitting = sa.select(*pairs.c, low.label("low")).where(*([fits(pairs.c)] if fits else []))
    rows = fitting.subquery().c
    what = (rows.destination, rows.program, rows.points)
    return (
        sa.select(
            *what,
            sa.func.min(rows.airline).label("airline"),
            _in_order(rows.date, rows).label("dates"),
            _in_order(rows.return_date, rows).label("return_dates"),
            *_summarize(rows.taxes, rows.taxes_currency, rows.stops),
            sa.func.array_agg(rows.source.distinct()).label("sources"),
            sa.func.min(rows.seen_at).label("seen_at"),
            sa.func.min(rows.provider_checked_at).label("provider_checked_at"),
        )
        .where(rows.points == rows.low)
        .group_by(*what)
    )


def _pair_ways(there: Subquery, back: Subquery, nights: Collection[int]) -> Subquery:
    """Pairs each day's cheapest way there with the cheapest way back after each number of nights.

    Both are grouped by the day of the way there. As a join, whose size PostgreSQL cannot estimate, it took 19 s.
    """
    stay = sa.func.unnest(sa.literal(sorted(nights), ARRAY(sa.Integer))).table_valued("n").render_derived()
    out, home = (_cheapest_of_day(there, there.c.destination), _cheapest_of_day(back, back.c.origin))
    legs = [
        sa.select(*way.c, day.label("day"), stay.c.n, is_out.label("is_out")).select_from(way.join(stay, sa.true()))
        for way, day, is_out in ((out, out.c.date, sa.true()), (home, home.c.date - stay.c.n, sa.false()))
    ]
    leg = sa.union_all(*legs).subquery().c
    both = sa.func.count() == 2
    taxes_known = sa.and_(sa.func.count(leg.taxes) == 2, sa.func.count(leg.taxes_currency.distinct()) == 1)
    return (
        sa.select(
            leg.place.label("destination"),
            leg.program,
            sa.func.min(leg.airline).filter(leg.is_out).label("airline"),
            sa.func.sum(leg.points).label("points"),
            leg.day.label("date"),
            (leg.day + leg.n).label("return_date"),
            sa.case((taxes_known, sa.func.sum(leg.taxes))).label("taxes"),
            sa.func.min(leg.taxes_currency).label("taxes_currency"),
            sa.case((sa.func.count(leg.stops) == 2, sa.func.max(leg.stops))).label("stops"),
            sa.func.min(leg.source).label("source"),
            sa.func.min(leg.seen_at).label("seen_at"),
            sa.func.min(leg.provider_checked_at).label("provider_checked_at"),
        )
        .group_by(leg.place, leg.program, leg.day, leg.n)
        .having(both)
        .subquery()
    )


def _in_order(column: Any, rows: Any) -> Any:
    return sa.func.array_agg(aggregate_order_by(column, rows.date, rows.return_date))


def _cheapest_of_day(cells: Subquery, place: Any) -> Subquery:
    """The cheapest cell by place, programme and day."""
    key = (place, cells.c.program, cells.c.date)
    return (
        sa.select(*cells.c, place.label("place"))
        .ext(distinct_on(*key))
        .order_by(*key, cells.c.points, cells.c.airline)
        .subquery()
    )


def last_seen(session: Session, account_id: int, sighting: int, first: date) -> Row | None:
    """The last sighting of this row's cell, if the account may see it and its day is not before the first."""
    row = session.scalar(sa.select(Row).where(Row.id == sighting, is_visible(account_id), Row.date >= first))
    if row is None:
        return None
    same = (column == getattr(row, column.key) for column in CELL)
    newest = sa.select(Row).where(is_visible(account_id), *same).order_by(Row.seen_at.desc(), Row.points, Row.id)
    return session.scalar(newest.limit(1))


def list_row_names(
    session: Session, account_id: int, cells: Collection[tuple[str, str, date, str]]
) -> list[tuple[str, str]]:
    """The rows of these routes, days and cabins that the account may see: each source and its name for the row.

    The newest first, at most MAX_ROW_NAMES for each.
    """
    where = sa.tuple_(Row.origin, Row.destination, Row.date, Row.cabin).in_(list(cells))
    names = sa.select(Row.source, Row.ref).where(is_visible(account_id), Row.ref.is_not(None), where)
    newest = names.group_by(Row.source, Row.ref).order_by(sa.func.max(Row.id).desc())
    rows = session.execute(newest.limit(MAX_ROW_NAMES * len(cells))) if cells else ()
    return [(source, ref) for source, ref in rows if ref]


def last_fare(session: Session, account_id: int, row: Row, since: datetime) -> Fare | None:
    """The newest one-way fare of the same route, day and cabin, in that currency."""
    return session.scalar(
        sa.select(Fare)
        .where(
            *_fares(account_id, since),
            Fare.origin == row.origin,
            Fare.destination == row.destination,
            Fare.cabin == row.cabin,
            Fare.date == row.date,
        )
        .order_by(Fare.seen_at.desc(), Fare.price / Fare.passengers, Fare.id)
        .limit(1)
    )


def average_taxes(session: Session, row: Row) -> tuple[Decimal, str, int] | None:
    """The average taxes on this route, their currency, and the number of sightings."""
    statement = (
        sa.select(sa.func.avg(Row.taxes), Row.taxes_currency, sa.func.count())
        .where(
            Row.origin == row.origin,
            Row.destination == row.destination,
            Row.cabin == row.cabin,
            Row.program == row.program,
            Row.airline == row.airline,
            Row.taxes.is_not(None),
            Row.taxes_currency.is_not(None),
        )
        .group_by(Row.taxes_currency)
        .order_by(sa.func.count().desc(), Row.taxes_currency)
        .limit(1)
    )
    average: Any = session.execute(statement).first()
    return (round(average[0], 2), average[1], average[2]) if average else None
