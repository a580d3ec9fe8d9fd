"""Mails about deadlines: at 90, 30 and 7 days, each once, and the weekly overview of those who want it."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from jobs import dispatcher, runs
from jobs.handlers import deadlines
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.balances import PointsBalance
from shared.db.base import transaction
from shared.db.bookings import HotelBooking
from shared.db.deadline_mails import DeadlineWatch
from shared.db.messages import Delivery
from shared.db.profile import Profile
from shared.db.run_kinds import RunKind
from shared.db.runs import Claim, Schedule
from shared.outbox.wording.messages import message
from shared.reference import hotels
from shared.reference.load import reference
from shared.services.watches.deadlines import tell_deadlines
from tests.jobs.conftest import notices, rows
from tests.support.people import account
from tests.support.settings_and_clock import StandingClock

Row = Any


def keep(who: Caller, *stored: Row) -> None:
    with transaction(who.account_id) as session:
        session.add_all(stored)


def points(days: int, program: str = "avianca-lifemiles") -> PointsBalance:
    ends = clock.today() + timedelta(days=days)
    return PointsBalance(program=program, balance=34_000, as_of=clock.today(), expires_on=ends)


def profile(**columns: Any) -> Profile:
    return Profile(preferred_airlines=[], avoided_airlines=[], **columns)


def run() -> None:
    deadlines.check(Claim(1, RunKind.DEADLINES, 0, 1))


def test_a_deadline_is_told_at_each_step_once(alice: Caller, standing_clock: StandingClock) -> None:
    keep(alice, points(100))
    end = clock.today() + timedelta(days=100)
    told = []
    for days in (0, 9, 1, 30, 30, 1, 22, 1, 5, 1):  # 100, 91, 90, 60, 30, 29, 7, 6, 1, 0 days ahead
        standing_clock.advance(timedelta(days=days))
        run()
        run()
        told.append(len(notices()))
    assert told == [0, 0, 1, 1, 2, 2, 3, 3, 3, 3]
    assert len(rows(Delivery)) == 3
    endings = sorted(notice.title.rpartition(", ")[2] for notice in notices())
    assert endings == ["in 30 days", "in 7 days", "in 90 days"]
    (facts,) = [d.facts for d in rows(Delivery) if d.facts["deadlines"][0]["days_left"] == 90]
    mail = message("deadlines", facts, sandbox=True, account="acc_alice")
    assert mail.subject.startswith("34,000 LifeMiles expire: ")  # what a person stored is never invented
    day = f"{end:%a} {end.day} {end:%b}"
    assert f"\n- 34,000 LifeMiles expire, about $476\n  {day}, in 90 days\n" in mail.text
    assert "deadlines." in (mail.unsubscribe or "")


def test_what_is_due_together_makes_one_mail(alice: Caller) -> None:
    stay = HotelBooking(
        hotel_code=hotels.code(reference().rows("hotels.csv")[0]),
        hotel_name="Conrad Tokyo",
        check_in_date=clock.today() + timedelta(days=28),
        check_out_date=clock.today() + timedelta(days=30),
        kind="cash",
        original_pay_rate_usd=900,
        cash_rate_currency="USD",
        free_cancellation_until=clock.today() + timedelta(days=25),
    )
    keep(alice, points(20), points(80, "united-mileageplus"), stay)
    run()
    (notice,), (delivery,) = notices(), rows(Delivery)
    assert notice.title == "3 things end soon, the first in 20 days"
    kinds = [row["kind"] for row in delivery.facts["deadlines"]]
    assert kinds == ["points", "booking", "points"]  # of the stay its last free day alone
    assert "Free cancellation of Conrad Tokyo ends, about $900" in notice.body


def test_a_changed_day_is_another_deadline(alice: Caller, standing_clock: StandingClock) -> None:
    keep(alice, points(20))
    run()
    with transaction() as session:
        session.query(PointsBalance).one().expires_on = clock.today() + timedelta(days=50)
    standing_clock.advance(timedelta(days=1))
    run()
    assert len(notices()) == 2


@pytest.mark.parametrize(("zone", "told"), [("Asia/Tokyo", 1), ("America/Los_Angeles", 0), (None, 1)])
def test_people_are_told_in_the_morning_of_their_own_day(alice: Caller, zone: str | None, told: int) -> None:
    keep(alice, points(20), profile(timezone=zone))
    run()  # at noon UTC
    assert len(notices()) == told


def test_who_turned_the_mail_off_finds_it_in_the_inbox(alice: Caller) -> None:
    keep(alice, points(20), profile(mail_deadlines=False))
    run()
    assert (len(notices()), rows(Delivery)) == (1, [])


def test_a_disabled_account_is_left_alone_and_nobody_hears_of_others(clean: None) -> None:
    gone, bob = account("gone", disabled_at=clock.now()), account("bob")
    keep(gone, points(20))
    run()
    assert notices() == []
    keep(bob, points(20))
    run()
    assert [notice.account_id for notice in notices()] == []  # Bob's day was looked at already
    with transaction() as session:
        session.execute(sa.delete(DeadlineWatch))
    run()
    assert [notice.account_id for notice in notices()] == [bob.account_id]


def test_a_worker_lost_in_the_middle_has_told_nothing_and_the_next_tells_once(alice: Caller) -> None:
    keep(alice, points(20))

    class Lost(Exception):
        pass

    def die_at_the_end() -> None:
        with transaction(alice.account_id) as session:
            tell_deadlines(session, reference(), alice.account_id, clock.now())
            raise Lost

    with pytest.raises(Lost):
        die_at_the_end()
    assert notices() == []
    run()
    run()
    assert (len(notices()), len(rows(Delivery))) == (1, 1)


def test_the_weekly_overview_comes_once_a_week_to_those_who_want_it(
    alice: Caller, standing_clock: StandingClock
) -> None:
    keep(alice, points(85), profile(mail_weekly_overview=True, mail_deadlines=False))
    days = []
    for _ in range(15):
        run()
        days += [(clock.today().weekday(), d.event) for d in rows(Delivery)[len(days) :]]
        standing_clock.advance(timedelta(days=1))
    first = days[0][0]
    assert [event for _, event in days] == ["weekly_overview"] * len(days)
    assert len(days) in (2, 3)
    assert [weekday for weekday, _ in days] == [first, *[0] * (len(days) - 1)]
    mail = message("weekly_overview", rows(Delivery)[0].facts, sandbox=True, account="acc_alice")
    assert mail.subject == "Your week: 1 deadline in the next 90 days"
    assert "This overview comes each Monday." in mail.text


def test_the_dispatcher_looks_hourly(clean: None) -> None:
    dispatcher.begin()
    assert [s.every for s in rows(Schedule) if s.kind == RunKind.DEADLINES] == [timedelta(hours=1)]
    assert RunKind.DEADLINES in runs.HANDLERS
