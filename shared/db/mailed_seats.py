"""Award seats a person had mail about, so that two watches on one route do not mail the same seat twice."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db import bulk
from shared.db.base import AccountOwned, Base, ModeOwned


class MailedSeat(AccountOwned, ModeOwned, Base):
    """A seat somebody had a mail about: which watch sent it, and at what price."""

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
returning key"""


def note_mailed_seats(
    session: Session,
    account_id: int,
    route: str,
    watch: str,
    seats: Mapping[str, tuple[date, int]],
    at: datetime,
    since: datetime,
) -> set[str]:
    """Notes a mail about seats (day and points by key); returns the keys that are news to this person.

    A seat another watch mailed after `since`, at this price or a lower one, is no news. Two watches that find the same
    seat at the same moment wait for each other here, in the order of the keys.
    """
    rows = [
        {"account_id": account_id, "route": route, "key": key}
        | {"day": day, "points": points, "watch": watch, "mailed_at": at}
        for key, (day, points) in sorted(seats.items())
    ]
    return set(bulk.write(session, MailedSeat, rows, _NEWS, since=since).scalars())


def list_earlier_watches(
    session: Session, account_id: int, watch: str, keys: Mapping[str, Iterable[str]], since: datetime
) -> list[str]:
    """The other watches that mailed these seats (keys by route) after `since`."""
    these = sa.or_(*(sa.and_(MailedSeat.route == route, MailedSeat.key.in_(list(of))) for route, of in keys.items()))
    others = (MailedSeat.account_id == account_id, MailedSeat.watch != watch, MailedSeat.mailed_at >= since, these)
    return list(session.scalars(sa.select(MailedSeat.watch).where(*others).distinct().order_by(MailedSeat.watch)))
