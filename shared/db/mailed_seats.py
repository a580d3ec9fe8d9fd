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
    """A seat someone had a mail about: which watch sent it, and at what price."""

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
    """Notes mails about seats, in the order of the finds; returns those that are news to their person.

    A seat another watch mailed after `since`, at this price or a lower one, is no news. Two workers that find the same
    seats at the same moment wait for each other here: each writes all of them in one order, and what a second watch
    found only after them.
    """
    news: set[SeatFind] = set()
    rest = list(finds)
    while rest:
        first: dict[tuple[int, str, str], SeatFind] = {}
        for find in rest:
            first.setdefault(find.place, find)
        rows = [{**first[place]._asdict(), "mailed_at": at} for place in sorted(first)]
        news |= {first[tuple(place)] for place in bulk.write(session, MailedSeat, rows, _NEWS, since=since)}
        rest = [find for find in rest if first[find.place] is not find]
    return news


def list_earlier_watches(
    session: Session, account_id: int, watch: str, keys: Mapping[str, Iterable[str]], since: datetime
) -> list[str]:
    """The other watches that mailed these seats (keys by route) after `since`."""
    these = sa.or_(*(sa.and_(MailedSeat.route == route, MailedSeat.key.in_(list(of))) for route, of in keys.items()))
    others = (MailedSeat.account_id == account_id, MailedSeat.watch != watch, MailedSeat.mailed_at >= since, these)
    return list(session.scalars(sa.select(MailedSeat.watch).where(*others).distinct().order_by(MailedSeat.watch)))
