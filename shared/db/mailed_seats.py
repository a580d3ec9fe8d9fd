"""Award seats a person had mail about, so that two watches on one route do not mail the same seat twice."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db import bulk
from shared.db.base import AccountOwned, Base, ModeOwned


class MailedSeat(AccountOwned, ModeOwned, Base):
    """A seat that someone was mailed about: by which watch, and at what price."""

    __tablename__ = "mailed_seats"
    __table_args__ = (Index("ix_mailed_seats_day", "day"),)

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    route: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)  # carrier|programme|date|cabin
    day: Mapped[date]
    points: Mapped[int]
    watch: Mapped[str]
    mailed_at: Mapped[datetime]


_NEWS = """
on conflict (account_id, route, key) do update
set synthetic = excluded.synthetic, points = excluded.points, watch = excluded.watch, mailed_at = excluded.mailed_at
where mailed_seats.mailed_at < :since or mailed_seats.points > excluded.points
  or mailed_seats.watch = excluded.watch or mailed_seats.synthetic <> excluded.synthetic
returning account_id, route, key"""


class SeatFind(NamedTuple):
    """A seat that a watch of someone has found."""

    account_id: int
    route: str
    key: str
    day: date
    points: int
    watch: str

    @property
    def place(self) -> tuple[int, str, str]:
        return self[:3]


def note_mailed_seats(session: Session, finds: Iterable[SeatFind], at: datetime, since: datetime) -> set[SeatFind]:
    """Notes mails about the seats that a watch found; returns those that are new to its person.

    A seat another watch mailed after `since`, at this price or a lower one, is no news. Workers that find the same
    seats together wait for each other here: each writes them in one order.
    """
    by_place = {find.place: find for find in finds}
    rows = [{**by_place[place]._asdict(), "mailed_at": at} for place in sorted(by_place)]
    news = bulk.write(session, MailedSeat, rows, _NEWS, since=since) if rows else ()
    return {by_place[tuple(place)] for place in news}


def list_earlier_watches(
    session: Session, account_id: int, watch: str, keys: Mapping[str, Iterable[str]], since: datetime
) -> list[str]:
    """The other watches that mailed these seats (keys by route) after `since`."""
    these = sa.or_(*(sa.and_(MailedSeat.route == route, MailedSeat.key.in_(list(of))) for route, of in keys.items()))
    others = (MailedSeat.account_id == account_id, MailedSeat.watch != watch, MailedSeat.mailed_at >= since, these)
    return list(session.scalars(sa.select(MailedSeat.watch).where(*others).distinct().order_by(MailedSeat.watch)))
