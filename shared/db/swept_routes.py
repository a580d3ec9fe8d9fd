"""Routes swept for award seats without anyone's question: their days, and when."""

from collections.abc import Collection, Iterable
from datetime import date, datetime

import sqlalchemy as sa
from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, Session

from shared.db import bulk
from shared.db.accounts import Account
from shared.db.base import ModeOwned, Numbered, iata, stamp
from shared.db.profile import Profile

Route = tuple[str, str]


class SweptRoute(ModeOwned, Numbered):
    """One row for each route and data mode, for the last answered sweep."""

    __tablename__ = "swept_routes"
    __table_args__ = (UniqueConstraint("origin", "destination", "synthetic"),)

    origin: Mapped[iata]
    destination: Mapped[iata]
    earliest: Mapped[date]
    latest: Mapped[date]
    swept_at: Mapped[stamp]


# Days adjacent to a sweep of the last day are added to it, with the older age.
_TOUCH = """swept_routes.swept_at > excluded.swept_at - interval '1 day'
 and swept_routes.latest >= excluded.earliest - 1 and swept_routes.earliest <= excluded.latest + 1"""
_NEWEST = ", ".join(
    f"{name} = case when {_TOUCH} then {both}(swept_routes.{name}, excluded.{name}) else excluded.{name} end"
    for name, both in (("earliest", "least"), ("latest", "greatest"), ("swept_at", "least"))
)


def note_swept(session: Session, routes: Iterable[Route], earliest: date, latest: date, at: datetime) -> None:
    """Records that these routes were answered for all these days."""
    facts = {"earliest": earliest.isoformat(), "latest": latest.isoformat(), "swept_at": at.isoformat()}
    if rows := [{"origin": origin, "destination": end} | facts for origin, end in sorted(set(routes))]:
        then = f"on conflict (origin, destination, synthetic) do update set {_NEWEST}"
        bulk.write(session, SweptRoute, rows, then)


def list_swept(
    session: Session, origins: Collection[str], since: datetime, earliest: date, latest: date
) -> frozenset[Route]:
    """The routes from these airports swept since then, for all these days."""
    row = SweptRoute
    covers = (row.swept_at >= since, row.earliest <= earliest, row.latest >= latest)
    routes = sa.select(row.origin, row.destination).where(row.origin.in_(origins), *covers)
    return frozenset((origin, end) for origin, end in session.execute(routes))


def list_home_airports(session: Session, most: int) -> list[str]:
    """Home airports of active accounts, the most common first."""
    home = Profile.home_airport
    homes = sa.select(home).join(Account, Account.id == Profile.account_id)
    in_use = homes.where(home.is_not(None), Account.disabled_at.is_(None))
    ranked = in_use.group_by(home).order_by(sa.func.count().desc(), home).limit(most)
    return [code for code in session.scalars(ranked) if code]
