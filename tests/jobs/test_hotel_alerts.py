"""The daily look at a stay that is not booked yet, from the schedule to one mail."""

from datetime import timedelta
from typing import Any

from jobs import deliver, dispatcher, runs
from jobs.handlers import hotel_alerts
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.bookings import HotelBooking, HotelPrice
from shared.db.hotel_alerts import HotelAlert
from shared.db.messages import Delivery
from shared.db.runs import Claim, JobRun, Schedule
from shared.db.statuses import LoyaltyStatus
from shared.domain.plans import Plan
from shared.domain.watch_kinds import HOTEL_ALERT
from shared.outbox.plan_change import change_plan
from shared.reference.load import reference
from shared.services.bookings import bookings
from tests.jobs.conftest import change, due, forget_answers, notices, rows
from tests.support.mail_server import Mailbox
from tests.support.people import account
from tests.support.sandbox_seats import set_stay

TOKYO = "htl_conrad-tokyo"
NIGHTS = 3


def build_alert(**terms: Any) -> HotelAlert:
    """A stay as add_hotel_booking builds it with booked false."""
    begins = clock.today() + timedelta(days=20)
    dates = {"check_in_date": begins, "check_out_date": begins + timedelta(days=NIGHTS)}
    given = {"kind": "award", "cash_rate_currency": "USD", "max_points_per_night": 60_000, "active": True, "member": ""}
    return HotelAlert(hotel_code=TOKYO, hotel_name="Conrad Tokyo", compared_since=clock.now(), **dates | given | terms)


def watch(who: Caller, **terms: Any) -> int:
    with transaction(who.account_id) as session:
        row = build_alert(**terms)
        bookings.add_hotel(session, reference(), row)
        return row.id


def look(value: str) -> None:
    """The next look at every stay, a day later, at this price."""
    set_stay(value, TOKYO, clock.today() + timedelta(days=20))
    forget_answers()
    with transaction() as session:
        for price in session.query(HotelPrice):
            price.captured_at -= timedelta(hours=23)
        for row in session.query(HotelAlert):
            row.compared_since -= timedelta(hours=23)
    due()


def test_a_price_within_the_limit_is_mailed_once_though_the_worker_dies(alice: Caller, mailbox: Mailbox) -> None:
    number = watch(alice)
    look("points:190000")
    assert notices() == []
    set_stay("points:150000", TOKYO, clock.today() + timedelta(days=20))
    forget_answers()
    change(HotelPrice, captured_at=clock.now() - timedelta(hours=23))
    change(Schedule, next_due_at=clock.now() - timedelta(seconds=1))
    dispatcher.step()
    run = next(run for run in rows(JobRun) if run.status != "done")
    hotel_alerts.check(Claim(run.id, HOTEL_ALERT.run, number, 1))  # and then that worker dies
    runs.wake(str(run.id))
    runs.wake(str(run.id))
    look("points:150000")
    (notice,) = notices()
    assert (notice.kind, notice.subject_type, notice.subject_id) == ("hotel_price_drop", "hotel_alert", str(number))
    (delivery,) = rows(Delivery)
    deliver.wake(str(delivery.id))
    (mail,) = mailbox.mails
    assert mail["Subject"] == "[SANDBOX] Conrad Tokyo: 50,000 points a night"
    text = " ".join(mail.get_body(("plain",)).get_content().split())
    assert "150,000 points for the stay, Conrad Tokyo" in text
    assert "within your 60,000 points" in text
    assert "You have not booked it" in text
    assert f"/dashboard/watches/hotel/{number}" in text


def test_what_is_news_of_a_watched_stay(alice: Caller) -> None:
    """A lower price is; nights that are back after they were gone are; the same price is not."""
    watch(alice, max_points_per_night=None)
    told = []
    for value in ("full", "points:150000", "points:150000", "points:140000", "full", "points:150000", "cash:90"):
        look(value)
        told.append(len(notices()))
    assert told == [0, 1, 1, 2, 2, 3, 3]


def test_cash_is_compared_by_the_night_in_its_currency(alice: Caller) -> None:
    watch(alice, kind="cash", max_points_per_night=None, max_cash_per_night=300)
    look("points:1000,cash:900.30")
    assert notices() == []
    look("cash:900")
    assert [notice.title for notice in notices()] == ["Conrad Tokyo: $300 a night"]


def test_a_night_that_a_status_makes_free_counts_for_its_holder_alone(alice: Caller) -> None:
    """Silver members of the programme pay four of five nights."""
    begins = clock.today() + timedelta(days=40)
    bob = account("bob")
    with transaction() as session:
        session.add(LoyaltyStatus(account_id=alice.account_id, program="hilton-honors", tier="Silver"))
    for who in (alice, bob):
        watch(who, max_points_per_night=None, check_in_date=begins, check_out_date=begins + timedelta(days=5))
    due()
    prices = {price.asker_id: price.points for price in rows(HotelPrice)}
    assert set(prices) == {None, alice.account_id}
    assert 0.75 < prices[alice.account_id] / prices[None] < 0.85


def test_a_paused_alert_is_not_looked_at_and_one_that_ended_frees_its_place(alice: Caller) -> None:
    number = watch(alice)
    with transaction() as session:
        change_plan(session, session.get_one(Account, alice.account_id), Plan.FREE)
    look("points:3000")
    (row,) = rows(HotelAlert)
    assert (row.is_on, rows(HotelPrice), [s.enabled for s in rows(Schedule)]) == (False, [], [False])
    with transaction() as session:
        change_plan(session, session.get_one(Account, alice.account_id), Plan.PREMIUM)
    change(HotelAlert, check_in_date=clock.today() - timedelta(days=1))
    due()
    (row,) = rows(HotelAlert)
    assert (row.id, row.active, [s.enabled for s in rows(Schedule)], rows(HotelBooking)) == (number, False, [False], [])
