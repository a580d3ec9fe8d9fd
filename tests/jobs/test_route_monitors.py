"""A route monitor's check, from the schedule to the mail, over the sandbox whose seats a test opens and shuts."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import anyio
import pytest
from sqlalchemy import select

from jobs import deliver, dispatcher, runs
from jobs.handlers import route_monitors
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.balances import PointsBalance
from shared.db.base import transaction
from shared.db.bookings import FlightBooking
from shared.db.messages import Delivery
from shared.db.own_programs import OwnProgram
from shared.db.profile import Profile
from shared.db.route_monitors import MonitorCheck, MonitorKey, MonitorMatch, RouteMonitor
from shared.db.runs import COMPLETE, Claim, JobRun, Schedule, schedule
from shared.domain.award_matches import WEEKDAYS
from shared.domain.dates import format_weekday
from shared.outbox.wording.award_seats import LISTED
from shared.providers.contract import AwardSeat, SeatsQuestion
from shared.reference.exchange_rates import convert_amount
from shared.reference.load import reference
from shared.services.watches.booked_awards import read_award, set_terms
from tests.jobs.conftest import change, due, forget_answers, notices, past, rows
from tests.support.fake_seats import WithSources, live, source, with_sources  # noqa: F401 - fixtures used here too
from tests.support.fake_seats import seat as offered
from tests.support.mail_server import Mailbox
from tests.support.people import account
from tests.support.sandbox_seats import set_seat
from tests.support.settings_and_clock import Configure, StandingClock

BAC = "british-airways-club"


def travel_day() -> date:
    return clock.today() + timedelta(days=40)


def seat(value: str, cabin: str = "business", airline: str | None = "BA", program: str | None = BAC) -> None:
    set_seat(value, "LHR", "JFK", travel_day(), cabin, airline, program)


def watch(who: Caller, **terms: Any) -> int:
    """A stored monitor of one day and one cabin, with everything else of that cabin shut."""
    given = {
        "cabin": "business",
        "airlines": ["BA"],
        "earliest_date": travel_day(),
        "latest_date": travel_day(),
        **terms,
    }
    seat("shut", given["cabin"] or "business", airline=None, program=None)
    with transaction(who.account_id) as session:
        row = RouteMonitor(origin="LHR", destination="JFK", **given)
        session.add(row)
        session.flush()
        schedule(session, "route_monitor", row.id, timedelta(hours=6))
        return row.id


def check() -> None:
    """The next check of every monitor, due now, with no answer left in the cache."""
    forget_answers()
    due()


def monitor() -> RouteMonitor:
    (row,) = rows(RouteMonitor)
    assert isinstance(row, RouteMonitor)
    return row


@pytest.mark.spec("s6.2.route_monitor_email")
@pytest.mark.spec("s3.route_monitor.checked_every_six_hours")
def test_a_seat_that_opens_is_told_by_one_notice_and_one_mail(alice: Caller, mailbox: Mailbox) -> None:
    id = watch(alice)
    check()
    assert (notices(), rows(Delivery), monitor().matches_total) == ([], [], 0)
    seat("open:3")
    check()
    (notice,), (delivery,) = notices(), rows(Delivery)
    assert (notice.kind, notice.subject_type, notice.subject_id) == ("route_monitor", "route_monitor", str(id))
    deliver.wake(str(delivery.id))
    (mail,) = mailbox.mails
    assert mail["Subject"] == "[SANDBOX] New York: from 50,000 points on Sun 3 Jan"
    assert mail["To"] == "alice@example.test"
    (match,) = rows(MonitorMatch)
    assert (match.airline, match.program, match.date, match.cabin, match.seats) == (
        "BA",
        BAC,
        travel_day(),
        "business",
        3,
    )
    assert (match.source, match.mode) == ("sandbox", "sandbox")
    assert match.option_id.startswith("sbx_")
    assert monitor().matches_total == 1
    assert monitor().last_checked_at is not None


@pytest.mark.spec("s6.2.route_monitor_email")
def test_a_monitor_tells_of_a_seat_again_only_after_it_had_gone(alice: Caller) -> None:
    watch(alice)
    told = []
    for value in ("open", "open", "shut", "open", "open"):
        seat(value)
        check()
        told.append(len(notices()))
    assert told == [1, 1, 1, 2, 2]
    assert [c.new_matches for c in rows(MonitorCheck)] == [1, 0, 0, 1, 0]


def test_a_mail_has_the_taxes_in_the_currency_of_the_profile(alice: Caller) -> None:
    with transaction(alice.account_id) as session:
        session.add(Profile(account_id=alice.account_id, currency="GBP"))
    watch(alice)
    seat("open:3")
    check()
    (match,), (delivery,) = rows(MonitorMatch), rows(Delivery)
    (option,) = delivery.facts["options"]
    expected = convert_amount(match.taxes, match.taxes_currency, "GBP")
    assert match.taxes_currency == "USD"
    assert (option["taxes"], option["taxes_currency"]) == (f"{expected:.2f}", "GBP")


def test_several_seats_of_one_check_make_one_mail(alice: Caller) -> None:
    watch(alice, cabin=None)
    for cabin in ("economy", "business", "first"):
        seat("open", cabin)
    check()
    (notice,) = notices()
    (delivery,) = rows(Delivery)
    assert delivery.facts["total"] == len(rows(MonitorMatch)) >= 3
    best = delivery.facts["options"][0]["points"]
    assert notice.title == f"New York: from {best:,} points on Sun 3 Jan"


def test_a_source_that_fails_changes_nothing_and_is_logged_and_tried_again(alice: Caller, configure: Configure) -> None:
    watch(alice)
    seat("open")
    check()
    configure(SANDBOX_FAULT="down")
    check()
    last = rows(MonitorCheck)[-1]
    assert (last.outcome, last.failed_sources, last.options_seen) == ("backend_unavailable", ["sandbox"], 0)
    assert rows(JobRun)[-1].status == "pending"
    assert "no source answered" in rows(JobRun)[-1].error
    assert [key.matched for key in _keys()] == [True]
    configure(SANDBOX_FAULT="")
    change(JobRun, claimed_until=past(), wake_at=past())
    runs.wake(str(rows(JobRun)[-1].id))
    assert rows(JobRun)[-1].status == "done"
    assert [c.outcome for c in rows(MonitorCheck)] == ["ok", "ok"]  # the run's line was rewritten
    assert len(notices()) == 1


def _keys() -> list[MonitorKey]:
    with transaction() as session:
        return list(session.scalars(select(MonitorKey)))


@pytest.mark.spec("s2.5.max_points_cap")
def test_a_price_above_the_cap_stays_silent(alice: Caller) -> None:
    watch(alice, max_points=1)
    seat("open")
    check()
    assert notices() == []
    (line,) = rows(MonitorCheck)
    assert (line.outcome, line.new_matches) == ("ok", 0)
    assert line.options_seen >= 1


@pytest.mark.spec("s2.5.passengers_one_to_nine")
def test_fewer_seats_than_passengers_stay_silent(alice: Caller) -> None:
    watch(alice, passengers=3)
    seat("open:2")
    check()
    assert notices() == []
    seat("open:3")
    check()
    assert len(notices()) == 1


@pytest.mark.spec("s3.route_monitor.cancel_keeps_record")
def test_a_monitor_cancelled_while_it_was_checked_does_not_fire(alice: Caller) -> None:
    id = watch(alice)
    seat("open")
    finish = route_monitors.check(Claim(1, "route_monitor", id, 1))
    change(RouteMonitor, cancelled_at=clock.now(), cancel_reason="user")
    with transaction() as session:
        assert finish(session) == COMPLETE
    assert (notices(), rows(MonitorMatch), rows(MonitorCheck)) == ([], [], [])


def test_a_monitor_changed_while_it_was_checked_fires_on_its_new_terms_only(alice: Caller) -> None:
    id = watch(alice)
    seat("open")
    finish = route_monitors.check(Claim(1, "route_monitor", id, 1))
    change(RouteMonitor, max_points=1)
    with transaction() as session:
        assert finish(session) == COMPLETE
    assert notices() == []


@pytest.mark.spec("s3.route_monitor.cancel_keeps_record")
def test_a_cancelled_monitor_is_no_longer_scheduled(alice: Caller) -> None:
    watch(alice)
    seat("open")
    change(RouteMonitor, cancelled_at=clock.now(), cancel_reason="user")
    check()
    assert notices() == []
    assert [s.enabled for s in rows(Schedule)] == [False]
    check()
    assert len(rows(JobRun)) == 1


def test_a_monitor_whose_window_has_passed_ends_by_itself(alice: Caller) -> None:
    id = watch(alice, earliest_date=clock.today() - timedelta(days=9), latest_date=clock.today() - timedelta(days=1))
    with transaction() as session:
        session.add(MonitorKey(monitor_id=id, key="k", matched=True, answered_at=clock.now()))
    check()
    assert monitor().cancelled_at is not None
    with transaction() as session:
        assert session.scalars(select(MonitorKey)).all() == []
    assert monitor().cancel_reason == "window_passed"
    assert [s.enabled for s in rows(Schedule)] == [False]
    assert [run.status for run in rows(JobRun)] == ["done"]


def test_seats_that_were_overtaken_by_a_later_answer_are_thrown_away(
    alice: Caller, standing_clock: StandingClock
) -> None:
    id = watch(alice)
    seat("open")
    late = route_monitors.check(Claim(1, "route_monitor", id, 1))
    standing_clock.advance(timedelta(seconds=1))
    seat("shut")
    check()
    change(MonitorKey, answered_at=clock.now())
    with transaction() as session:
        session.add(
            MonitorKey(monitor_id=id, key=f"BA|{BAC}|{travel_day()}|business", matched=False, answered_at=clock.now())
        )
    with transaction() as session:
        late(session)
    assert notices() == []
    assert [key.matched for key in _keys()] == [False]


def test_a_run_of_a_monitor_lost_between_check_and_writing_is_done_again_and_told_once(alice: Caller) -> None:
    id = watch(alice)
    seat("open")
    dispatcher.step()
    (run,) = rows(JobRun)
    route_monitors.check(Claim(run.id, "route_monitor", id, 1))  # and then that worker dies
    runs.wake(str(run.id))
    runs.wake(str(run.id))
    assert (len(notices()), len(rows(Delivery)), len(rows(MonitorCheck))) == (1, 1, 1)


def test_an_account_without_a_confirmed_address_finds_it_in_the_inbox(clean: None) -> None:
    watch(account("agent"))
    seat("open")
    check()
    assert (len(notices()), rows(Delivery)) == (1, [])


@pytest.mark.spec("s3.route_monitor.checked_every_six_hours")
def test_monitors_of_one_route_share_one_call_whoever_watches_and_however_many_at_once(
    alice: Caller,
    with_sources: WithSources,  # noqa: F811
) -> None:
    asked: list[SeatsQuestion] = []

    async def act(question: SeatsQuestion) -> tuple[AwardSeat, ...]:
        asked.append(question)
        await anyio.sleep(0.05)  # the others are checked in the meantime
        return (offered(travel_day()),)

    with_sources(source("one", act, terms="anyone"))
    for who in (alice, account("bob")):
        for cabin in ("economy", "business", None):
            with transaction(who.account_id) as session:
                days = {"earliest_date": travel_day(), "latest_date": travel_day()}
                row = RouteMonitor(origin="LHR", destination="JFK", cabin=cabin, **days)
                session.add(row)
                session.flush()
                schedule(session, "route_monitor", row.id, timedelta(hours=6))
    dispatcher.step()
    runs.wake(str(rows(JobRun)[0].id))
    assert [run.status for run in rows(JobRun)] == ["done"] * 6
    assert [(line.outcome, line.options_seen) for line in rows(MonitorCheck)].count(("ok", 1)) == 4  # not of economy
    assert len(asked) == 1


def test_filters_decide_what_is_told(alice: Caller) -> None:
    other_days = [day for day in WEEKDAYS if day != WEEKDAYS[travel_day().weekday()]]
    watch(alice, weekdays=other_days)
    watch(alice, nonstop_only=True, max_taxes=Decimal(1), max_taxes_currency="GBP")
    seat("open")
    check()
    assert notices() == []
    watch(alice, nonstop_only=True, max_taxes=Decimal(5000), max_taxes_currency="GBP")
    seat("open")
    check()
    assert len(notices()) == 1


def test_a_city_is_watched_at_each_of_its_airports(alice: Caller) -> None:
    watch(alice, latest_date=travel_day())
    change(RouteMonitor, destination="NYC")
    for airport in ("EWR", "LGA"):
        set_seat("shut", "LHR", airport, travel_day(), "business", None, None)
    set_seat("open", "LHR", "EWR", travel_day(), "business", "BA", BAC)
    check()
    (match,) = rows(MonitorMatch)
    assert (match.origin, match.destination) == ("LHR", "EWR")
    assert len(notices()) == 1
    check()
    assert len(notices()) == 1


def test_a_find_says_how_the_balances_of_the_person_pay_for_everybody(alice: Caller) -> None:
    for who, points in ((alice, 900_000), (account("stranger"), 1_000)):
        with transaction(who.account_id) as session:
            session.add(PointsBalance(program="chase-ultimate-rewards", balance=points, as_of=clock.today()))
    watch(alice, passengers=2)
    seat("open:2")
    check()
    (match,), (notice,), (delivery,) = rows(MonitorMatch), notices(), rows(Delivery)
    transfer = f"transfer {2 * match.points:,} to The British Airways Club, instant."
    assert f"You hold 900,000 Chase Ultimate Rewards points: {transfer}" in notice.body
    assert delivery.facts["passengers"] == 2


def test_a_find_is_paid_with_points_of_the_persons_own_programme(alice: Caller) -> None:
    kept = {"slug": "own-village-miles", "name": "Village Miles"}
    for who, received in ((account("stranger"), 9), (alice, 1)):
        with transaction(who.account_id) as session:
            way = {"program": BAC, "sent": 2, "received": received}
            session.add(OwnProgram(**kept, transfers=[way]))
            session.add(PointsBalance(program=kept["slug"], balance=900_000, as_of=clock.today()))
    watch(alice)
    seat("open:2")
    check()
    (match,), (notice,) = rows(MonitorMatch), notices()
    transfer = f"transfer {2 * match.points:,} to The British Airways Club"
    assert f"You hold 900,000 Village Miles: {transfer}" in notice.body


def test_an_airline_the_person_avoids_is_told_of_only_where_the_watch_names_it(alice: Caller) -> None:
    with transaction(alice.account_id) as session:
        session.add(Profile(preferred_airlines=[], avoided_airlines=["BA"]))
    watch(alice, airlines=None)
    seat("open")
    check()
    assert (rows(MonitorMatch), notices()) == ([], [])
    watch(alice, airlines=["BA"])
    seat("open")
    check()
    assert len(notices()) == 1


def test_a_mail_spells_out_the_best_price_of_each_flight_on_a_day_and_counts_the_rest(alice: Caller) -> None:
    watch(alice, cabin=None, airlines=None, latest_date=travel_day() + timedelta(days=40))
    check()
    (delivery,) = rows(Delivery)
    options = delivery.facts["options"]
    flights = {(o["date"], o["cabin"], o["airline"], o["origin"], o["stops"], *o["flight_numbers"]) for o in options}
    assert len(options) == len(flights) == LISTED
    assert delivery.facts["flight_days"] > LISTED
    assert any(option["others"] for option in options)
    assert [option["points"] for option in options] == sorted(option["points"] for option in options)
    assert notices()[0].body.splitlines()[0].startswith(format_weekday(date.fromisoformat(options[0]["date"])))


def book(who: Caller, **columns: Any) -> int:
    terms = {"airline": "BA", "origin": "LHR", "destination": "JFK", "departure_date": travel_day(), "kind": "award"}
    terms |= {"cabin_class": "business", "program": BAC, "flight_number": "BA117", "taxes_currency": "GBP"}
    with transaction(who.account_id) as session:
        row = FlightBooking(**(terms | {"points_spent": 2_000_000, "passengers": 2} | columns))
        session.add(row)
        session.flush()
        return row.id


def watch_booking(who: Caller, booking_id: int, **terms: Any) -> None:
    seat("shut", airline=None, program=None)
    with transaction(who.account_id) as session:
        row = RouteMonitor(**terms)
        set_terms(row, read_award(session, reference(), session.get_one(FlightBooking, booking_id)))
        session.add(row)
        session.flush()
        schedule(session, "route_monitor", row.id, timedelta(hours=6))


def test_a_booked_award_is_told_when_its_flight_costs_fewer_points(alice: Caller) -> None:
    watch_booking(alice, book(alice))
    seat("open:2")
    check()
    (notice,), (match,) = notices(), rows(MonitorMatch)
    assert notice.title.endswith("costs less now")
    saved = 2 * (1_000_000 - match.points)
    assert f"{saved:,} points less in all. Cancelling the old award costs" in notice.body
    assert "Book the new seat first, then cancel the old one." in notice.body


def test_a_booked_award_stays_silent_where_nothing_is_saved(alice: Caller) -> None:
    watch_booking(alice, book(alice, points_spent=2))
    seat("open:2")
    check()
    assert notices() == []


def test_a_better_cabin_of_a_booked_award_is_told_when_asked_for(alice: Caller) -> None:
    watch_booking(alice, book(alice), cabin="first")
    set_seat("open:2", "LHR", "JFK", travel_day(), "first", "BA", BAC)
    check()
    (notice,) = notices()
    assert notice.title.endswith("is open in first")
    assert "in business cost 1,000,000 points each, 2,000,000 for two" in notice.body


def test_the_watch_of_a_booking_ends_when_that_is_cancelled_and_follows_its_day(alice: Caller) -> None:
    watch_booking(alice, book(alice))
    change(FlightBooking, departure_date=travel_day() + timedelta(days=2))
    check()
    assert monitor().earliest_date == monitor().latest_date == travel_day() + timedelta(days=2)
    change(FlightBooking, cancelled_at=clock.now())
    check()
    assert (monitor().cancelled_at is None, monitor().cancel_reason) == (False, "user")
    assert [s.enabled for s in rows(Schedule)] == [False]
