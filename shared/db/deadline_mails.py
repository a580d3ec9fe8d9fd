"""Which deadlines a person has been told of, and when their deadlines were looked at last."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.db import bulk
from shared.db.base import AccountOwned, Base, stamp


class ToldDeadline(AccountOwned, Base):
    """One deadline on one day; `days_ahead` is the last step (90, 30, 7) at which it was told."""

    __tablename__ = "told_deadlines"

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    due_on: Mapped[date] = mapped_column(primary_key=True)
    days_ahead: Mapped[int]
    told_at: Mapped[stamp]


class DeadlineWatch(AccountOwned, Base):
    """The person's local day of the last look at their deadlines, and of the last overview."""

    __tablename__ = "deadline_watches"

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    looked_on: Mapped[date | None]
    overview_on: Mapped[date | None]


class Waiting(NamedTuple):
    """An account whose deadlines may need a look."""

    account_id: int
    time_zone: str | None
    looked_on: date | None


_WAITING = sa.text("""
select a.id, p.timezone, w.looked_on from accounts a
left join profiles p on p.account_id = a.id left join deadline_watches w on w.account_id = a.id
where a.id > :after and a.disabled_at is null and (w.looked_on is null or w.looked_on < :tomorrow)
order by a.id limit :number""")


def list_waiting(session: Session, after: int, tomorrow: date, number: int) -> list[Waiting]:
    """The next accounts by id not yet looked at on `tomorrow`, the latest day anywhere on Earth."""
    rows = session.execute(_WAITING, {"after": after, "tomorrow": tomorrow, "number": number})
    return [Waiting(*row) for row in rows]


def lock_watch(session: Session, account_id: int) -> DeadlineWatch:
    """The row of an account, locked until the transaction ends, so that two workers wait for each other."""
    bulk.write(session, DeadlineWatch, [{"account_id": account_id}], "on conflict do nothing")
    return session.scalars(
        sa.select(DeadlineWatch).where(DeadlineWatch.account_id == account_id).with_for_update()
    ).one()


_NEWS = """
on conflict (account_id, key, due_on) do update set days_ahead = excluded.days_ahead
where told_deadlines.days_ahead > excluded.days_ahead
returning key, due_on"""


def note_told(
    session: Session, account_id: int, steps: Mapping[tuple[str, date], int], today: date
) -> set[tuple[str, date]]:
    """Notes deadlines (key and day) with the step they have reached; returns those that are new at it.

    Past ones are deleted.
    """
    over = sa.delete(ToldDeadline).where(ToldDeadline.account_id == account_id, ToldDeadline.due_on < today)
    session.execute(over)
    rows: Sequence[Mapping[str, object]] = [
        {"account_id": account_id, "key": key, "due_on": due_on, "days_ahead": days_ahead}
        for (key, due_on), days_ahead in steps.items()
    ]
    return {(row.key, row.due_on) for row in bulk.write(session, ToldDeadline, rows, _NEWS)} if rows else set()
