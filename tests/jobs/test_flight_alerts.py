"""A flight alert's check, from the schedule to the mail; and one seat that several watches find is mailed once."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import delete, select

from jobs import deliver, runs
from jobs.handlers import flight_alerts
from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.flight_alerts import FlightAlert, FlightAlertKey
from shared.db.mailed_seats import MailedSeat, SeatFind, note_mailed_seats
from shared.db.messages import Delivery, Notification
from shared.db.profile import Profile
from shared.db.runs import COMPLETE, Claim, JobRun, Schedule, schedule
from shared.domain.award_matches import MonitorTerms
from shared.services.watches.flight_alerts import terms_of
from tests.jobs.conftest import change, past, rows
from tests.jobs.test_route_monitors import check, notices, seat, travel_day, watch
from tests.support.dates import evaluate
from tests.support.fake_seats import WithSources, live, selling, source, with_sources  # noqa: F401 - fixtures used here too
from tests.support.fake_seats import seat as real_seat
from tests.support.mail_server import Mailbox
from tests.support.settings_and_clock import Configure


def alert(who: Caller, **terms: Any) -> int:
    """A stored alert of one day, with every business seat of that day shut."""
    seat("shut", airline=None, program=None)
    given = {"airline": "BA", "departure": "LHR", "destination": "JFK", "cabin_class": "business"}
    days = {"date_range_start": travel_day(), "date_range_end": travel_day()}
    with transaction(who.account_id) as session:
        row = FlightAlert(**(given | days | {"active": True} | terms))
        session.add(row)
        session.flush()
        schedule(session, "flight_alert", row.id, timedelta(hours=6))
        return row.id


def only() -> FlightAlert:
    (row,) = rows(FlightAlert)
    assert isinstance(row, FlightAlert)
    return row


@pytest.mark.spec("s6.2.flight_alert_email")
def test_seats_that_open_are_told_by_one_notice_and_one_mail(alice: Caller, mailbox: Mailbox) -> None:
    id = alert(alice)
    check()
    assert (notices(), rows(Delivery), only().last_hit_at) == ([], [], None)
    assert only().last_checked_at is not None
    seat("open:3")
    check()
    (notice,), (delivery,) = notices(), rows(Delivery)
    assert (notice.kind, notice.subject_type, notice.subject_id) == ("flight_alert", "flight_alert", str(id))
    deliver.wake(str(delivery.id))
    (mail,) = mailbox.mails
    assert mail["Subject"] == "[SANDBOX] New York: from 50,000 points on Sun 3 Jan"
    assert "/unsubscribe?token=flight_alerts." in mail["List-Unsubscribe"]
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert only().last_hit_at is not None


@pytest.mark.spec("s6.2.flight_alert_email")
def test_an_alert_tells_of_a_seat_again_only_after_it_had_gone(alice: Caller) -> None:
    alert(alice)
    told = []
    for value in ("open", "open", "shut", "open", "open"):
        seat(value)
        check()
        told.append((len(notices()), len(rows(Delivery))))
    assert told == [(1, 1), (1, 1), (1, 1), (2, 2), (2, 2)]


def test_seats_of_another_airline_route_or_cabin_stay_silent(alice: Caller) -> None:
    alert(alice, airline="VS")
    seat("open")
    check()
    assert notices() == []


def test_who_wants_no_mail_about_flight_alerts_finds_it_in_the_inbox(alice: Caller) -> None:
    alert(alice)
    with transaction(alice.account_id) as session:
        session.add(Profile(mail_flight_alerts=False))
    seat("open")
    check()
    assert (len(notices()), rows(Delivery)) == (1, [])


def test_a_source_that_fails_changes_nothing_and_is_tried_again(alice: Caller, configure: Configure) -> None:
    alert(alice)
    seat("open")
    check()
    configure(SANDBOX_FAULT="down")
    check()
    assert rows(JobRun)[-1].status == "pending"
    assert only().last_outcome == "backend_unavailable"
    with transaction() as session:
        assert [key.matched for key in session.scalars(select(FlightAlertKey))] == [True]
    assert len(notices()) == 1


def test_an_alert_whose_window_has_passed_ends_by_itself(alice: Caller) -> None:
    yesterday = clock.today() - timedelta(days=1)
    id = alert(alice, date_range_start=yesterday, date_range_end=yesterday)
    with transaction() as session:
        session.add(FlightAlertKey(alert_id=id, key="k", matched=True, answered_at=clock.now()))
    check()
    assert not only().active
    with transaction() as session:
        assert session.scalars(select(FlightAlertKey)).all() == []
    assert [s.enabled for s in rows(Schedule)] == [False]


@pytest.mark.spec("s3.flight_alert.pause")
@pytest.mark.parametrize("change_to", [{"active": False}, {"paused_at": lambda: clock.now()}, {"airline": "VS"}])
def test_an_alert_paused_or_changed_while_it_was_checked_does_not_fire(
    alice: Caller, change_to: dict[str, Any]
) -> None:
    change_to = evaluate(change_to)
    id = alert(alice)
    seat("open")
    finish = flight_alerts.check(Claim(1, "flight_alert", id, 1))
    change(FlightAlert, **change_to)
    with transaction() as session:
        assert finish(session) == COMPLETE
    assert notices() == []


def test_an_alert_deleted_while_it_was_checked_leaves_nothing(alice: Caller) -> None:
    id = alert(alice)
    finish = flight_alerts.check(Claim(1, "flight_alert", id, 1))
    with transaction() as session:
        session.delete(session.get_one(FlightAlert, id))
    with transaction() as session:
        assert finish(session) == COMPLETE
    assert flight_alerts.check(Claim(2, "flight_alert", id, 1))(session) == COMPLETE


def test_hawaiian_is_watched_through_the_prices_of_atmos_rewards() -> None:
    row = FlightAlert(
        airline="HA",
        date_range_start=travel_day(),
        date_range_end=travel_day(),
        cabin_class=None,
        passengers=1,
        nonstop_only=False,
    )
    wanted = MonitorTerms(travel_day(), travel_day(), airlines=frozenset({"HA"}), programs=frozenset({"atmos-rewards"}))
    assert terms_of(row) == wanted
    assert wanted.match(real_seat(travel_day(), airline="HA", program="atmos-rewards"))
    assert not wanted.match(real_seat(travel_day(), airline="HA", program="virgin-atlantic-flying-club"))


@pytest.mark.parametrize(
    ("environment", "outcome", "words"),
    [
        ({"SEATS_AERO_CLIENT_ID": "id", "SEATS_AERO_CLIENT_SECRET": "s"}, "connection_required", "connect_integration"),
        ({}, "not_configured", "its operator"),
    ],
)
def test_what_somebody_has_to_mend_is_told_once_whatever_runs_and_alerts_meet_it(
    with_sources: WithSources,  # noqa: F811
    alice: Caller,
    configure: Configure,
    environment: dict[str, str],
    outcome: str,
    words: str,
) -> None:
    async def never(_question: object) -> object:
        raise AssertionError("asked without a credential")

    with_sources(source("seats_aero", never, credential="account"))
    configure(**environment)
    assert alert(alice) != alert(alice)
    for _ in range(3):
        check()
    (notice,) = notices()
    assert notice.kind == "flight_alert"
    assert words in notice.body
    assert {row.last_outcome for row in rows(FlightAlert)} == {outcome}
    assert {run.status for run in rows(JobRun)} == {"done"}


def test_one_seat_found_by_two_watches_is_two_notices_and_one_mail(alice: Caller) -> None:
    watch(alice)
    alert(alice)
    seat("open")
    check()
    assert sorted(n.kind for n in notices()) == ["flight_alert", "route_monitor"]
    assert len(rows(Delivery)) == 1
    (mailed,) = {delivery.event.removesuffix("_match").replace("_", " ") for delivery in rows(Delivery)}
    assert {notice.body.splitlines()[-1] for notice in notices()} == {
        "A mail says the same.",
        f"No mail goes out: these seats were mailed for {mailed} 1 already.",
    }
    seat("shut")
    check()
    seat("open")
    check()
    assert len(rows(Delivery)) == 2


def test_a_seat_another_watch_mailed_at_a_higher_price_is_news(alice: Caller) -> None:
    now = clock.now()

    def note(*finds: SeatFind, ago: timedelta = timedelta(hours=6)) -> set[str]:
        with transaction(alice.account_id) as session:
            return {find.watch for find in note_mailed_seats(session, finds, now, now - ago)}

    def find(watch: str, points: int, route: str = "LHR-JFK") -> SeatFind:
        return SeatFind(alice.account_id, route, "k", travel_day(), points, watch)

    said = [note(find("a", 80_000)), note(find("b", 80_000)), note(find("b", 70_000)), note(find("a", 70_000))]
    assert said == [{"a"}, set(), {"b"}, set()]
    assert note(find("a", 70_000), ago=timedelta(hours=-1)) == {"a"}
    assert note(find("c", 80_000, "LHR-EWR")) == {"c"}


def test_two_workers_that_find_the_same_seats_wait_for_each_other_in_one_order(alice: Caller) -> None:
    """In the order of their watches each would hold what the other waits for."""
    now, both_began = clock.now(), Barrier(2)

    def note(watches: Sequence[tuple[str, str]]) -> int:
        finds = [SeatFind(alice.account_id, "LHR-JFK", key, travel_day(), 80_000, watch) for watch, key in watches]
        with transaction(alice.account_id) as session:
            both_began.wait(30)
            return len(note_mailed_seats(session, finds, now, now - timedelta(hours=6)))

    for _ in range(5):
        with ThreadPoolExecutor(2) as workers:
            one = workers.submit(note, [("a", "k1"), ("a", "k2")])
            other = workers.submit(note, [("c", "k2"), ("c", "k1"), ("c", "k3")])
            told = one.result(30) + other.result(30)
        assert told == 3
        with transaction() as session:
            session.execute(delete(MailedSeat))


def test_a_watch_whose_mails_are_off_silences_no_other(alice: Caller) -> None:
    with transaction(alice.account_id) as session:
        session.add(Profile(mail_route_monitors=False))
    watch(alice)
    seat("open")
    check()
    assert rows(Delivery) == []
    alert(alice)
    seat("open")
    check()
    assert [row.event for row in rows(Delivery)] == ["flight_alert_match"]


def test_a_run_of_an_alert_lost_between_check_and_writing_is_done_again_and_told_once(alice: Caller) -> None:
    from jobs import dispatcher

    id = alert(alice)
    seat("open")
    change(Schedule, next_due_at=past())
    dispatcher.step()
    (run,) = rows(JobRun)
    flight_alerts.check(Claim(run.id, "flight_alert", id, 1))  # and then that worker dies
    runs.wake(str(run.id))
    runs.wake(str(run.id))
    with transaction() as session:
        assert len(session.scalars(select(Notification)).all()) == 1
    assert len(rows(Delivery)) == 1
