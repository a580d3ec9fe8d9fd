"""Prices seen in earlier searches, as readings with the age they have now.

They are the caller's own and public ones; no source is asked.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from shared import clock
from shared.db.observations import SEEN, AwardObservation, FareObservation
from shared.db.sightings import is_visible, newest_cells
from shared.providers.contract import AwardSeat, CashFare, Reading
from shared.settings import settings

LASTS = timedelta(days=14)
T = TypeVar("T")


def seats_seen(
    session: Session, account_id: int, origin: str, destination: str, day: date, cabin: str
) -> list[Reading[tuple[AwardSeat, ...]]]:
    """The last seen seats of each airline and programme."""
    seat = AwardObservation
    which = (seat.origin == origin, seat.destination == destination, seat.date == day, seat.cabin == cabin)
    cells = newest_cells(account_id, clock.now() - LASTS, day, *which)
    return _readings((facts, _seat(facts)) for facts in map(dict, session.execute(sa.select(*cells.c)).mappings()))


def fares_seen(
    session: Session, account_id: int, origin: str, destination: str, day: date, cabin: str
) -> list[Reading[tuple[CashFare, ...]]]:
    """The cheapest fare of each source's last answer for one passenger and one way."""
    fare = FareObservation
    query = sa.select(fare).where(
        is_visible(account_id, fare),
        fare.seen_at >= clock.now() - LASTS,
        fare.origin == origin,
        fare.destination == destination,
        fare.date == day,
        fare.cabin == cabin,
        fare.return_date.is_(None),
        fare.passengers == 1,
    )
    last: dict[str, FareObservation] = {}
    for row in session.scalars(query.order_by(fare.seen_at.desc(), fare.price).limit(500)):
        last.setdefault(row.source, row)
    return _readings((vars(row), _fare(row)) for row in last.values())


def lowest_fares_seen(
    session: Session, account_id: int, journeys: Collection[tuple[str, str, date, str]]
) -> dict[tuple[str, str, date, str], FareObservation]:
    """The lowest fare of one passenger, one way, in the newest answer, by origin, destination, day and cabin.

    Only for exactly these airports; journeys without one are left out.
    """
    fare = FareObservation
    way = (fare.origin, fare.destination, fare.date, fare.cabin)
    query = sa.select(fare).where(
        is_visible(account_id, fare),
        fare.seen_at >= clock.now() - LASTS,
        sa.tuple_(*way).in_(list(journeys)),
        fare.return_date.is_(None),
        fare.passengers == 1,
        ~fare.city_wide,
    )
    newest = query.ext(distinct_on(*way)).order_by(*way, fare.seen_at.desc(), fare.price, fare.id)
    rows = session.scalars(newest) if journeys else ()
    return {(row.origin, row.destination, row.date, row.cabin): row for row in rows}


def round_trips_seen(
    session: Session, account_id: int, ways: Iterable[tuple[str, str]], first: date, until: date
) -> list[FareObservation]:
    """Fares of one passenger there and back between these days, of these very airports: newest first, then cheapest."""
    fare = FareObservation
    query = sa.select(fare).where(
        is_visible(account_id, fare),
        fare.seen_at >= clock.now() - LASTS,
        sa.tuple_(fare.origin, fare.destination).in_(list(ways)),
        fare.date >= first,
        fare.return_date <= until,
        fare.passengers == 1,
        ~fare.city_wide,
    )
    return list(session.scalars(query.order_by(fare.seen_at.desc(), fare.price).limit(2_000)))


def _select_nonstop() -> sa.Select[list[str]]:
    fare = FareObservation
    starts, ends = (sa.any_(sa.bindparam(name, type_=sa.ARRAY(sa.String))) for name in ("starts", "ends"))
    return (
        sa.select(fare.carriers)
        .where(
            is_visible(sa.bindparam("asker", type_=sa.BigInteger), fare),
            sa.or_(
                sa.and_(fare.origin == starts, fare.destination == ends),
                sa.and_(fare.origin == ends, fare.destination == starts),
            ),
            fare.stops == 0,
            ~fare.city_wide,
            ~fare.synthetic,
        )
        .order_by(fare.seen_at.desc())
        .limit(500)
    )


_NONSTOP_FARES = _select_nonstop()


def carriers_seen_nonstop(
    session: Session, account_id: int, origins: Iterable[str], destinations: Iterable[str]
) -> set[str]:
    """The airlines whose own non-stop flight a fare between exactly these airports showed, either way. Sandbox fares do
    not count: their flights are invented."""
    ends = {"starts": list(origins), "ends": list(destinations)}
    rows = session.scalars(_NONSTOP_FARES, {"asker": account_id, **ends})
    return {carriers[0] for carriers in rows if len(carriers) == 1}


def _readings(rows: Iterable[tuple[Mapping[str, Any], T]]) -> list[Reading[tuple[T, ...]]]:
    """One reading for each time a source was asked."""
    looks: dict[tuple[str, datetime], list[tuple[Mapping[str, Any], T]]] = {}
    for facts, row in rows:
        looks.setdefault((facts["source"], facts["seen_at"]), []).append((facts, row))
    return [
        Reading(
            source=source,
            status="ok",
            value=tuple(row for _, row in sightings),
            reason=None,
            data_mode=settings().data_mode,
            taken_at=seen_at,
            provider_checked_at=min(
                (f["provider_checked_at"] for f, _ in sightings if f["provider_checked_at"]), default=None
            ),
            cached=True,
        )
        for (source, seen_at), sightings in looks.items()
    ]


def _seat(row: Mapping[str, Any]) -> AwardSeat:
    return AwardSeat(
        **{name: row[name] for name in SEEN} | {"ref": row["ref"] or ""},
        checked_at=row["provider_checked_at"],
    )


def _fare(row: FareObservation) -> CashFare:
    return CashFare(
        price=row.price,
        currency=row.currency,
        cabin=row.cabin,
        carriers=tuple(row.carriers),
        stops=row.stops,
        checked_at=row.provider_checked_at,
        city_wide=row.city_wide,
    )
