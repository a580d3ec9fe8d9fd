"""Reads of several selects and of pages: own rows only, whatever is selected, and the counts of all of them."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import aliased

from shared.db.accounts import Account
from shared.db.balances import PointsBalance
from shared.db.base import open_own, transaction
from shared.db.booking_pages import load_flight_page, load_stay_page
from shared.db.bookings import FlightBooking, HotelBooking, Today
from shared.db.messages import Notification, load_notice_page
from shared.db.monitor_pages import load_monitor_page
from shared.db.pagination import Rows, read_parts
from shared.db.profile import Profile
from shared.db.route_monitors import RouteMonitor
from shared.db.vouchers import Voucher

KEY = sa.func.pg_backend_pid(type_=sa.Integer)
DAY, NOON = date(2026, 12, 1), datetime(2026, 11, 23, 12, 0, 0, 123000, UTC)
FLIGHT = {
    "airline": "UA",
    "origin": "LAX",
    "destination": "NRT",
    "departure_date": DAY,
    "departure_time": time(23, 5),
    "cabin_class": "business",
    "kind": "award",
    "points_spent": 80_000,
    "taxes_paid": Decimal("5.60"),
    "taxes_currency": "USD",
    "trip_id": UUID(int=7),
    "changes": [{"field": "cash", "old": 1.5, "new": None}],
    "created_at": NOON,
}
STAY = {
    "hotel_code": "",
    "hotel_name": "Alder Lodge \u2013 \u201cOld\u201d",
    "check_in_date": DAY,
    "check_out_date": date(2026, 12, 3),
    "kind": "cash",
    "original_pay_rate_usd": Decimal("400.00"),
    "cash_rate_currency": "USD",
}
ROUTE = {"origin": "LAX", "destination": "NRT", "earliest_date": DAY, "latest_date": DAY, "airlines": ["UA", 'N,H"{']}
NOTICE = {"kind": "account", "title": "Hello", "body": "{}", "read_at": None}
KINDS = (PointsBalance, FlightBooking, HotelBooking, RouteMonitor, Notification, Voucher, Profile)


def fill(name: str) -> int:
    """An account with a row of each kind."""
    with transaction() as session:
        account = Account(public_id=name)
        session.add(account)
        session.flush()
        own = {"account_id": account.id}
        flight, stay = FlightBooking(**FLIGHT, **own), HotelBooking(**STAY, **own)
        session.add_all([flight, stay, RouteMonitor(**ROUTE, **own), Notification(dedupe_key=name, **NOTICE, **own)])
        session.add(
            PointsBalance(program="flying-blue", balance=account.id, own_cents=Decimal("1.20"), as_of=DAY, **own)
        )
        session.add(Profile(timezone="Asia/Tokyo", preferred_airlines=[], avoided_airlines=["XX"], **own))
        session.flush()
        session.add_all(
            Voucher(voucher_slug="x", **booking, **own)
            for booking in ({"flight_booking_id": flight.id}, {"hotel_booking_id": stay.id})
        )
        return account.id


@pytest.fixture
def mine(clean: None) -> int:
    """Of two accounts that hold the same, the second."""
    fill("theirs")
    return fill("mine")


def test_whatever_is_selected_is_of_the_own_account(mine: int) -> None:
    other, beside = aliased(PointsBalance), aliased(PointsBalance)
    below = sa.select(PointsBalance.account_id).where(PointsBalance.account_id != mine).scalar_subquery()
    both = sa.union(sa.select(PointsBalance.account_id), sa.select(other.account_id)).subquery()
    newest = aliased(PointsBalance, sa.select(PointsBalance).correlate(Account).lateral())
    parts: dict[str, Rows] = {
        "rows": sa.select(PointsBalance.account_id),
        "count": sa.select(sa.func.count()).select_from(PointsBalance),
        "alias": sa.select(other.account_id),
        "below": sa.select(Account.id).where(Account.id.in_(below)),
        "exists": sa.select(sa.exists().where(PointsBalance.account_id != mine)),
        "union": sa.select(both.c.account_id),
        "joined": sa.select(Account.id).join(PointsBalance, PointsBalance.account_id == Account.id),
        "outer": sa.select(beside)
        .select_from(Account)
        .outerjoin(beside, beside.account_id == Account.id)
        .where(Account.id != mine),
        "lateral": sa.select(newest.account_id).select_from(Account).join(newest, sa.true()),
        "counted": sa.select(sa.select(sa.func.count(PointsBalance.id)).scalar_subquery()),
    }
    with open_own(mine, reads=True) as session:
        read = read_parts(session, parts)
    own = {name: [mine] for name in ("rows", "alias", "union", "joined")}
    assert read == own | {
        "count": [1],
        "below": [],
        "exists": [False],
        "outer": [],
        "lateral": [mine],
        "counted": [1],
    }
    with transaction() as session:
        assert len(read_parts(session, parts)["rows"]) == 2


def test_modes_do_not_meet(mine: int) -> None:
    with open_own(mine, reads=True) as session:
        assert session.scalars(sa.select(Notification.title)).all() == ["Hello"]
        session.info["synthetic"] = not session.info["synthetic"]
        assert session.scalars(sa.select(Notification.title)).all() == []


def test_pages_are_of_own_rows_and_count_all_of_them(mine: int) -> None:
    today = Today(date(2026, 11, 23), ("NRT",), ("HNL",))
    only = {"unread_only": True, "kind": "account", "since": NOON - timedelta(days=9)}
    with open_own(mine, reads=True) as session:
        legs = load_flight_page(session, today, "upcoming", {"airlines": ["ua"], "from_date": DAY}, 1, 4)
        stays = load_stay_page(session, today, "upcoming", {"hotel_codes": [""], "with_drop": None}, 1, 4)
        watches = load_monitor_page(session, "active", 1, 4)
        notices = load_notice_page(session, only, 1, 4)
        behind = load_notice_page(session, only, 2, 4)
    totals = legs.sums.total, stays.sums.total, watches.total, notices.total
    assert (totals, watches.active, notices.unread) == ((1, 1, 1, 1), 1, 1)
    assert [row.account_id for row in (*legs.rows, *stays.rows, *watches.rows, *notices.rows)] == [mine] * 4
    assert behind == ([], 1, 1)
    assert [len(v) for page in (legs, stays) for v in page.vouchers.values()] == [1, 1]
    assert legs.sums.taxes == {"USD": Decimal("5.60")}
