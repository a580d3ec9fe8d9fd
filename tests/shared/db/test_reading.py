"""Reads of several selects in one statement: own rows only, and the values a session's own rows have."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from psycopg.errors import QueryCanceled
from sqlalchemy.orm import aliased

from shared.db.accounts import Account
from shared.db.balances import PointsBalance
from shared.db.base import engine, open_own, statements, transaction
from shared.db.booking_pages import load_flight_page, load_stay_page
from shared.db.bookings import FlightBooking, HotelBooking, Today
from shared.db.messages import Notification, load_notice_page
from shared.db.monitor_pages import load_monitor_page
from shared.db.outages import is_outage
from shared.db.profile import Profile
from shared.db.reading import Read
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


def test_rows_are_those_a_session_has(mine: int) -> None:
    read = Read(**{kind.__name__: sa.select(kind) for kind in KINDS})
    with open_own(mine, reads=True) as session:
        parts = read(session)
        for kind in KINDS:
            (row,), (stored, *_) = (
                parts[kind.__name__][:1],
                session.scalars(sa.select(kind).order_by(*kind.__mapper__.primary_key)).all(),
            )
            assert type(row) is kind
            for attribute in kind.__mapper__.column_attrs:
                value, same = getattr(row, attribute.key), getattr(stored, attribute.key)
                assert (type(value), value, str(value)) == (type(same), same, str(same)), attribute.key


def test_whatever_is_selected_is_of_the_own_account(mine: int) -> None:
    other, beside = aliased(PointsBalance), aliased(PointsBalance)
    below = sa.select(PointsBalance.account_id).where(PointsBalance.account_id != mine).scalar_subquery()
    both = sa.union(sa.select(PointsBalance.account_id), sa.select(other.account_id)).subquery()
    newest = aliased(PointsBalance, sa.select(PointsBalance).correlate(Account).lateral())
    read = Read(
        rows=sa.select(PointsBalance.account_id),
        count=sa.select(sa.func.count()).select_from(PointsBalance),
        alias=sa.select(other.account_id),
        below=sa.select(Account.id).where(Account.id.in_(below)),
        exists=sa.select(sa.exists().where(PointsBalance.account_id != mine)),
        union=sa.select(both.c.account_id),
        joined=sa.select(Account.id).join(PointsBalance, PointsBalance.account_id == Account.id),
        outer=sa.select(beside)
        .select_from(Account)
        .outerjoin(beside, beside.account_id == Account.id)
        .where(Account.id != mine),
        lateral=sa.select(newest.account_id).select_from(Account).join(newest, sa.true()),
        counted=sa.select(sa.select(sa.func.count(PointsBalance.id)).scalar_subquery()),
    )
    with open_own(mine, reads=True) as session:
        parts = read(session)
        assert parts == {name: session.scalars(part).all() for name, part in read.parts.items()}
    own = {name: [mine] for name in ("rows", "alias", "union", "joined")}
    assert parts == own | {
        "count": [1],
        "below": [],
        "exists": [False],
        "outer": [],
        "lateral": [mine],
        "counted": [1],
    }
    with transaction() as session:
        assert len(read(session)["rows"]) == 2


def test_a_statement_without_the_condition_is_not_sent(mine: int) -> None:
    bare = sa.select(sa.func.count()).select_from(PointsBalance.__table__)
    with open_own(mine, reads=True) as session, pytest.raises(LookupError):
        Read(rows=bare)(session)


def test_modes_do_not_meet(mine: int) -> None:
    read = Read(rows=sa.select(Notification.title))
    with open_own(mine, reads=True) as session:
        assert read(session)["rows"] == ["Hello"]
        session.info["synthetic"] = not session.info["synthetic"]
        assert read(session)["rows"] == []


def test_pages_of_own_rows_are_one_statement_each(mine: int) -> None:
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        sent.append(statement)

    sa.event.listen(engine(), "before_cursor_execute", note)
    today = Today(date(2026, 11, 23), ("NRT",), ("HNL",))
    with open_own(mine, reads=True) as session:
        legs = load_flight_page(session, today, "upcoming", {"airlines": ["ua"], "from_date": DAY}, 1, 4)
        stays = load_stay_page(session, today, "upcoming", {"hotel_codes": [""], "with_drop": None}, 1, 4)
        watches = load_monitor_page(session, "active", 1, 4)
        notices = load_notice_page(
            session, {"unread_only": True, "kind": "account", "since": NOON - timedelta(days=9)}, 1, 4
        )
    sa.event.remove(engine(), "before_cursor_execute", note)
    assert len(sent) == 4
    totals = legs.sums.total, stays.sums.total, watches.total, notices.total
    assert (totals, watches.active, notices.unread) == ((1, 1, 1, 1), 1, 1)
    assert [len(v) for page in (legs, stays) for v in page.vouchers.values()] == [1, 1]
    assert legs.sums.taxes == {"USD": Decimal("5.60")}


def test_what_was_changed_in_the_same_transaction_is_read(mine: int) -> None:
    read = Read(rows=sa.select(PointsBalance.balance))
    with transaction(mine) as session:
        session.scalars(sa.select(PointsBalance)).one().balance = 5
        assert read(session)["rows"] == [5]


def test_a_type_that_no_read_has_needed_yet_is_refused(mine: int) -> None:
    with transaction(mine) as session, pytest.raises(LookupError):
        Read(rows=sa.select(sa.literal(b"x")))(session)


def test_a_read_on_a_connection_that_just_died_is_answered(mine: int) -> None:
    read = Read(key=sa.select(KEY))
    engine().dispose()  # so that the connection that dies is the only one
    statements().dispose()  # its connections may have died by another test
    keys = []
    for _ in range(2):
        with open_own(mine, reads=True) as session:
            keys += read(session)["key"]
        with statements().connect() as other:
            other.execute(sa.select(sa.func.pg_terminate_backend(keys[-1])))
    assert keys[0] != keys[1]
    engine().dispose()


def test_a_read_that_takes_too_long_is_not_asked_again(mine: int) -> None:
    engine().dispose()
    with engine().connect() as connection:
        connection.exec_driver_sql("set statement_timeout = 50")
        connection.commit()
    with open_own(mine, reads=True) as session, pytest.raises(sa.exc.OperationalError) as failed:
        Read(slept=sa.select(sa.cast(sa.func.pg_sleep(60), sa.Text)))(session)
    assert isinstance(failed.value.orig, QueryCanceled)
    assert not is_outage(failed.value)


def test_a_connection_that_answered_a_read_has_transactions_again(mine: int) -> None:
    read = Read(rows=sa.select(PointsBalance.balance), key=sa.select(KEY))
    engine().dispose()
    with open_own(mine, reads=True) as session:
        before = read(session)
    with transaction(mine) as session:
        session.scalars(sa.select(PointsBalance)).one().balance = 5
        session.flush()
        assert session.scalar(sa.select(KEY)) == before["key"][0]
        session.rollback()
    with open_own(mine, reads=True) as session:
        assert read(session) == before
