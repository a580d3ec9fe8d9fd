"""The daily look at booked stays, from the schedule to the inbox and, when it is wanted, the mail."""

from datetime import date, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from jobs import deliver, dispatcher, runs
from jobs.handlers import hotel_prices
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.bookings import HotelBooking, HotelPrice
from shared.db.inbound_mail import InboundMail
from shared.db.messages import Delivery
from shared.db.profile import Profile
from shared.db.runs import COMPLETE, Claim, JobRun, Schedule
from shared.domain.watch_kinds import HOTEL_PRICE
from shared.providers.contract import StaysQuestion
from shared.providers.sandbox import client as invented
from shared.reference.load import reference
from shared.services.bookings import bookings, mail_bookings
from tests.jobs.conftest import change, due, forget_answers, notices, past, rows
from tests.support.dates import evaluate
from tests.support.mail_server import Mailbox
from tests.support.people import account
from tests.support.sandbox_seats import set_stay
from tests.support.settings_and_clock import Configure

TOKYO = "htl_conrad-tokyo"


def check_in_day() -> date:
    return clock.today() + timedelta(days=20)


def check_out_day() -> date:
    return clock.today() + timedelta(days=23)


def book(who: Caller, **terms: Any) -> int:
    """A stay as add_hotel_booking stores it, with its watch."""
    given = {"check_in_date": check_in_day(), "check_out_date": check_out_day(), "original_points": 200_000} | terms
    with transaction(who.account_id) as session:
        row = bookings.build_stay(reference(), TOKYO, given)
        bookings.add_hotel(session, reference(), row)
        return row.id


def stored_before(who: Caller, **terms: Any) -> int:
    """A stay as it came from elsewhere, without a watch."""
    given = {
        "check_in_date": check_in_day(),
        "check_out_date": check_out_day(),
        "kind": "award",
        "cash_rate_currency": "USD",
    } | terms
    with transaction(who.account_id) as session:
        row = HotelBooking(hotel_code=TOKYO, hotel_name="Conrad Tokyo", original_points=200_000, **given)
        session.add(row)
        session.flush()
        return row.id


def priced(value: str, arrival: date | None = None) -> None:
    arrival = arrival or check_in_day()
    set_stay(value, TOKYO, arrival)


def a_day_passes() -> None:
    """What was seen before is older than a look two stays may share, and answers are gone from the cache."""
    forget_answers()
    with transaction() as session:
        for price in session.scalars(select(HotelPrice)):
            price.captured_at -= timedelta(hours=23)
        for row in session.scalars(select(HotelBooking)):
            row.compared_since -= timedelta(hours=23)


def check() -> None:
    """The next look at every stay, due now."""
    a_day_passes()
    due()


def choose_mail(who: Caller, on: bool) -> None:
    with transaction() as session:
        session.add(Profile(account_id=who.account_id, preferred_airlines=[], avoided_airlines=[]))
        session.flush()
        session.get_one(Profile, who.account_id).mail_hotel_price_drops = on


@pytest.mark.spec("s2.3.daily_check", "s6.2.hotel_drop_recorded", "s6.2.hotel_drop_in_inbox")
def test_a_stay_is_looked_at_daily_and_a_drop_is_told_in_the_inbox_alone_where_mail_is_off(alice: Caller) -> None:
    choose_mail(alice, on=False)
    one = book(alice)
    (watch,) = rows(Schedule)
    assert (watch.kind, watch.subject_id, watch.every) == (HOTEL_PRICE.run, one, timedelta(days=1))
    priced("points:210000")
    check()
    assert notices() == []
    priced("points:150000")
    check()
    (notice,) = notices()
    assert (notice.kind, notice.subject_type, notice.subject_id) == ("hotel_price_drop", "hotel_booking", str(one))
    assert "50,000 points (25.0%) less than booked" in notice.body
    assert rows(Delivery) == []
    (row,) = rows(HotelBooking)
    assert (row.told_price, row.last_error) == (150_000, None)
    assert row.last_checked_at is not None


def test_a_new_low_is_told_again_and_no_other_price(alice: Caller) -> None:
    book(alice)
    told = []
    for points in (150_000, 150_000, 190_000, 150_000, 140_000):
        priced(f"points:{points}")
        check()
        told.append(len(notices()))
    assert told == [1, 1, 1, 1, 2]
    assert len(rows(HotelPrice)) == 5


@pytest.mark.parametrize("has_profile", [False, True])
def test_a_drop_is_mailed_unless_that_was_turned_off(alice: Caller, mailbox: Mailbox, has_profile: bool) -> None:
    if has_profile:
        choose_mail(alice, on=True)
    book(alice, kind="cash", original_points=None, original_pay_rate_usd=1000)
    priced("cash:899.5")
    check()
    check()
    (delivery,) = rows(Delivery)
    deliver.wake(str(delivery.id))
    (mail,) = mailbox.mails
    assert mail["Subject"] == "[SANDBOX] Conrad Tokyo: $900 instead of $1,000"
    text = mail.get_body(("plain",)).get_content()
    assert "$100 less $900 instead of $1,000, 10.1% less, Conrad Tokyo" in " ".join(text.split())
    assert mail["List-Unsubscribe"]


@pytest.mark.spec("s2.3.every_stay_monitored")
def test_every_stay_gets_its_watch_however_it_came(alice: Caller) -> None:
    added, earlier = book(alice), stored_before(alice)
    stored_before(alice, cancelled_at=clock.now())
    stored_before(alice, check_in_date=clock.today() - timedelta(days=9))
    parsed = {
        "type": "hotel", "action": "new", "hotel_id": TOKYO, "check_in_date": check_in_day().isoformat(),
        "kind": "cash", "check_out_date": (check_out_day() + timedelta(days=1)).isoformat(),
        "confirmation_number": "12345678",
    }  # fmt: skip
    with transaction(alice.account_id) as session:
        mail = InboundMail(digest="d", from_domain="hotel.test", subject="s", raw=b"", state="needs_review")
        session.add(mail)
        session.flush()
        (imported,) = mail_bookings.file_bookings(session, reference(), mail, [parsed]).hotels
    dispatcher.begin()
    assert {s.subject_id for s in rows(Schedule) if s.kind == HOTEL_PRICE.run} == {added}
    due()
    assert {s.subject_id for s in rows(Schedule) if s.kind == HOTEL_PRICE.run} == {added, earlier, imported.id}
    priced("points:150000")
    check()
    assert {n.subject_id for n in notices()} == {str(added), str(earlier)}
    with transaction() as session:
        checked = {row.id for row in session.scalars(select(HotelBooking)) if row.last_checked_at}
    assert checked == {added, earlier, imported.id}


def test_stays_of_the_same_nights_share_one_look(
    alice: Caller, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[StaysQuestion] = []
    draw = invented.find_stays

    def count(question: StaysQuestion, *more: Any) -> Any:
        asked.append(question)
        return draw(question, *more)

    monkeypatch.setattr(invented, "find_stays", count)
    people = [alice, account("bert"), account("cleo")]
    for who in people:
        book(who)
    priced("points:150000")
    check()
    assert (len(asked), len(rows(HotelPrice)), len(notices())) == (1, 1, 3)
    check()
    assert (len(asked), len(rows(HotelPrice)), len(notices())) == (2, 2, 3)


def test_a_source_that_fails_is_told_on_the_stay_and_tried_again(alice: Caller, configure: Configure) -> None:
    book(alice)
    priced("points:150000")
    configure(SANDBOX_FAULT="down")
    check()
    (row,) = rows(HotelBooking)
    assert (row.last_error, row.last_checked_at) == ("not answered by sandbox (down)", None)
    (run,) = rows(JobRun)
    assert (run.status, run.error) == ("pending", "no source answered: sandbox (down)")
    configure(SANDBOX_FAULT="")
    change(JobRun, claimed_until=past(), wake_at=past())
    runs.wake(str(run.id))
    (row,) = rows(HotelBooking)
    assert (row.last_error, len(notices()), rows(JobRun)[0].status) == (None, 1, "done")


@pytest.mark.parametrize(
    "ended", [{"cancelled_at": lambda: clock.now()}, {"check_in_date": lambda: clock.today() - timedelta(days=1)}]
)
def test_the_watch_ends_when_the_stay_begins_or_is_cancelled(alice: Caller, ended: dict[str, Any]) -> None:
    ended = evaluate(ended)
    book(alice)
    priced("points:150000")
    change(HotelBooking, **ended)
    check()
    assert (notices(), [s.enabled for s in rows(Schedule)]) == ([], [False])
    due()
    assert len(rows(JobRun)) == 1


def test_a_stay_changed_while_it_was_looked_at_is_left_alone(alice: Caller) -> None:
    one = book(alice)
    priced("points:150000")
    finish = hotel_prices.check(Claim(1, HOTEL_PRICE.run, one, 1))
    change(HotelBooking, check_out_date=check_out_day() + timedelta(days=1))
    with transaction() as session:
        assert finish(session) == COMPLETE
    assert (notices(), rows(HotelPrice)) == ([], [])
    assert rows(HotelBooking)[0].last_checked_at is None


def test_a_run_lost_between_look_and_writing_is_done_again_and_told_once(alice: Caller) -> None:
    one = book(alice)
    priced("points:150000")
    dispatcher.step()
    (run,) = rows(JobRun)
    hotel_prices.check(Claim(run.id, HOTEL_PRICE.run, one, 1))  # and then that worker dies
    runs.wake(str(run.id))
    runs.wake(str(run.id))
    assert (len(notices()), len(rows(HotelPrice))) == (1, 1)


def test_a_stay_removed_while_it_was_looked_at_leaves_nothing(alice: Caller) -> None:
    one = book(alice)
    finish = hotel_prices.check(Claim(1, HOTEL_PRICE.run, one, 1))
    with transaction(alice.account_id) as session:
        bookings.remove(session, session.get_one(HotelBooking, one))
    with transaction() as session:
        assert finish(session) == COMPLETE
    assert (rows(HotelPrice), rows(Schedule)) == ([], [])
    with transaction() as session:
        assert hotel_prices.check(Claim(1, HOTEL_PRICE.run, one, 1))(session) == COMPLETE


def test_a_hotel_that_left_the_facts_is_said_on_the_stay(alice: Caller) -> None:
    book(alice)
    change(HotelBooking, hotel_code="htl_gone")
    check()
    assert (rows(HotelBooking)[0].last_error, [s.enabled for s in rows(Schedule)]) == (
        "this hotel is no longer known here",
        [True],
    )
