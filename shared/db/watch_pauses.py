"""Pausing one watch, and going on with it, by the link in its mails: route monitor, alert, price of a booked stay."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account, lock
from shared.db.bookings import HotelBooking
from shared.db.delay_alerts import DelayAlert
from shared.db.flight_alerts import FlightAlert, FlightAlertKey
from shared.db.hotel_prices import DAILY
from shared.db.route_monitors import MonitorKey, RouteMonitor
from shared.db.run_kinds import RunKind
from shared.db.runs import next_due, schedule, unschedule
from shared.domain.plans import LIMITS, Plan
from shared.settings import settings

WatchRow = RouteMonitor | FlightAlert | DelayAlert | HotelBooking
R = TypeVar("R", RouteMonitor, FlightAlert, DelayAlert, HotelBooking)


class NoRoom(Exception):
    """The plan allows no more running watches of this kind; the number it allows."""

    def __init__(self, cap: int) -> None:
        super().__init__(cap)
        self.cap = cap


@dataclass(frozen=True)
class PausableWatch:
    """A watch of this account, locked, and whether it runs."""

    kind: str
    row: WatchRow
    is_running: bool
    title: str


def find_watch(session: Session, account: Account, kind: str, number: int) -> PausableWatch | None:
    """None when the account has no such watch, or it has ended for good."""
    lock(session, account.id)
    of_kind = _FINDERS.get(kind)
    state = of_kind(session, account.id, number) if of_kind else None
    return PausableWatch(kind, *state) if state else None


def pause_watch(session: Session, watch: PausableWatch) -> None:
    """It is checked no more until its owner continues with it; what it found stays. Nothing where it is paused."""
    row = watch.row
    if not watch.is_running:
        return
    if isinstance(row, RouteMonitor):
        row.paused_at, row.paused_by_owner = clock.now(), True
        session.execute(sa.delete(MonitorKey).where(MonitorKey.monitor_id == row.id))
        unschedule(session, RunKind.ROUTE_MONITOR, [row.id])
    elif isinstance(row, FlightAlert):
        row.active = False
        session.execute(sa.delete(FlightAlertKey).where(FlightAlertKey.alert_id == row.id))
        unschedule(session, RunKind.FLIGHT_ALERT, [row.id])
    elif isinstance(row, DelayAlert):
        row.active = False
    else:
        unschedule(session, RunKind.HOTEL_PRICE, [row.id])
    session.flush()


def resume_watch(session: Session, account: Account, watch: PausableWatch) -> None:
    """It is checked at once, and what it finds counts as new. Raises NoRoom."""
    row = watch.row
    if watch.is_running:
        return
    _require_room(session, account, row)
    if isinstance(row, RouteMonitor):
        row.paused_at, row.paused_by_owner = None, False
        every = timedelta(seconds=settings().route_monitor_interval_seconds)
        schedule(session, RunKind.ROUTE_MONITOR, row.id, every)
    elif isinstance(row, FlightAlert):
        row.paused_at, row.active = None, True
        every = timedelta(seconds=settings().flight_alert_interval_seconds)
        schedule(session, RunKind.FLIGHT_ALERT, row.id, every)
    elif isinstance(row, DelayAlert):
        row.paused_at, row.active = None, True
        row.episode_since = row.episode_level = None
    else:
        schedule(session, RunKind.HOTEL_PRICE, row.id, DAILY)
    session.flush()


def _require_room(session: Session, account: Account, row: WatchRow) -> None:
    limits = LIMITS[Plan.of(account.plan)]
    if isinstance(row, RouteMonitor):
        _require_cap(session, account, RouteMonitor, RouteMonitor.cancelled_at.is_(None), limits.route_monitors)
    elif isinstance(row, FlightAlert):
        _require_cap(session, account, FlightAlert, FlightAlert.active.is_(True), limits.flight_alerts)
    elif isinstance(row, DelayAlert):
        _require_cap(session, account, DelayAlert, DelayAlert.active.is_(True), limits.delay_alerts)


def _require_cap(
    session: Session,
    account: Account,
    of: type[RouteMonitor | FlightAlert | DelayAlert],
    is_live: sa.ColumnElement[bool],
    cap: int,
) -> None:
    running = sa.select(sa.func.count()).select_from(of)
    count = session.scalar(running.where(of.account_id == account.id, is_live, of.paused_at.is_(None)))
    if (count or 0) >= cap:
        raise NoRoom(cap)


_State = tuple[WatchRow, bool, str] | None


def _find_monitor(session: Session, account_id: int, number: int) -> _State:
    """One that its window or its owner ended stays so."""
    row = session.scalar(_select_own(RouteMonitor, account_id, number))
    if row is None or row.cancelled_at is not None:
        return None
    return row, row.paused_at is None, f"Award seats from {row.origin} to {row.destination}"


def _find_flight_alert(session: Session, account_id: int, number: int) -> _State:
    row = session.scalar(_select_own(FlightAlert, account_id, number))
    if row is None or row.date_range_end < clock.today():
        return None
    title = f"Award seats of {row.airline} from {row.departure} to {row.destination}"
    return row, row.active and row.paused_at is None, title


def _find_delay_alert(session: Session, account_id: int, number: int) -> _State:
    row = session.scalar(_select_own(DelayAlert, account_id, number))
    if row is None:
        return None
    return row, row.active and row.paused_at is None, f"Delays at {row.airport}"


def _find_stay(session: Session, account_id: int, number: int) -> _State:
    row = session.scalar(_select_own(HotelBooking, account_id, number))
    if row is None or row.cancelled_at is not None or row.check_in_date < clock.today():
        return None
    is_running = row.id in next_due(session, RunKind.HOTEL_PRICE, [row.id])
    return row, is_running, f"The price of your stay at {row.hotel_name}"


def _select_own(of: type[R], account_id: int, number: int) -> sa.Select[R]:
    return sa.select(of).where(of.account_id == account_id, of.id == number).with_for_update()


_FINDERS: dict[str, Callable[[Session, int, int], _State]] = {
    "route_monitor": _find_monitor,
    "flight_alert": _find_flight_alert,
    "delay_alert": _find_delay_alert,
    "hotel_booking": _find_stay,
}
