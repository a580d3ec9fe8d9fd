"""The weekly overview next to deadlines: what watches found in seven days, and what is booked in thirty."""

from datetime import timedelta
from typing import Any

import pytest

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.bookings import FlightBooking
from shared.db.messages import Delivery, Notification
from shared.outbox.wording.messages import message, notice
from tests.jobs.conftest import notices, rows
from tests.jobs.test_deadlines import keep, points, profile, run
from tests.support.people import account
from tests.support.settings_and_clock import Configure


@pytest.fixture
def alice(clean: None) -> Caller:
    return account("alice", email_confirmed_at=clock.now())


def build_find(days_ago: float, subject: tuple[str, int], **changes: Any) -> Notification:
    facts = {"kind": "route_monitor", "title": f"Seats of {subject[1]}, {days_ago} days ago", "body": "x"} | changes
    at = clock.now() - timedelta(days=days_ago)
    key = f"{subject}:{days_ago}"
    return Notification(**facts, subject_type=subject[0], subject_id=str(subject[1]), dedupe_key=key, created_at=at)


def build_flight(days: int, **changes: Any) -> FlightBooking:
    terms = {"origin": "LAX", "destination": "DEN", "airline": "UA", "flight_number": f"UA{days}", "kind": "cash"}
    facts = {"cabin_class": "economy", "cash_paid": 140, "taxes_currency": "USD"}
    return FlightBooking(**terms | facts | changes, departure_date=clock.today() + timedelta(days=days))


def read_overview() -> dict[str, Any]:
    (delivery,) = [row for row in rows(Delivery) if row.event == "weekly_overview"]
    return dict(delivery.facts)


def test_the_newest_find_of_each_watch_and_the_next_bookings_stand_in_it(alice: Caller, configure: Configure) -> None:
    configure(WEB_URL="https://travel.example")
    keep(alice, profile(mail_weekly_overview=True), points(85))
    keep(alice, build_find(1, ("route_monitor", 4)), build_find(3, ("route_monitor", 4)))
    keep(alice, build_find(2, ("hotel_booking", 7), kind="hotel_price_drop"), build_find(8, ("route_monitor", 5)))
    keep(alice, build_find(1, ("delay_alert", 6), kind="delay_alert"))
    keep(alice, build_flight(9, member="Ben"), build_flight(30), build_flight(31))
    run()
    facts = read_overview()
    assert [row["subject"] for row in facts["finds"]] == [["route_monitor", "4"], ["hotel_booking", "7"]]
    assert facts["finds"][0]["title"] == "Seats of 4, 1 days ago"
    assert [row["about"] for row in facts["bookings"]] == ["UA9", "UA30"]
    mail = message("weekly_overview", facts, sandbox=False, account="acc_alice")
    assert mail.subject == "Your week: 2 finds, 2 bookings, 1 deadline"
    assert "- LAX to DEN of Ben\n" in mail.text
    assert "See the booking: https://travel.example/dashboard/bookings/flights/" in mail.text
    assert "See the watch: https://travel.example/dashboard" in mail.text


def test_without_deadlines_it_comes_for_the_rest_and_without_anything_it_does_not(alice: Caller) -> None:
    keep(alice, profile(mail_weekly_overview=True))
    run()
    assert notices() == []


def test_a_booking_alone_makes_an_overview_that_says_so(alice: Caller) -> None:
    keep(alice, profile(mail_weekly_overview=True), build_flight(9))
    run()
    facts = read_overview()
    assert notice("weekly_overview", facts).title == "Your week: 1 booking"
    mail = message("weekly_overview", facts, sandbox=True)
    assert "Ends within 90 days" not in mail.text + mail.html
    assert not mail.subject.startswith("[SANDBOX]")  # what a person stored is never invented


def test_finds_of_the_sandbox_are_marked_as_invented(alice: Caller) -> None:
    keep(alice, profile(mail_weekly_overview=True), build_find(1, ("route_monitor", 4)))
    run()
    mail = message("weekly_overview", read_overview(), sandbox=True)
    assert mail.subject == "[SANDBOX] Your week: 1 find"
    assert "SANDBOX" in mail.text.splitlines()[0]


def test_a_long_week_stays_a_small_mail(alice: Caller, configure: Configure) -> None:
    configure(WEB_URL="https://travel.example")
    names = (
        "avianca-lifemiles",
        "united-mileageplus",
        "marriott-bonvoy",
        "flying-blue",
        "ana-mileage-club",
        "hilton-honors",
    )
    whose = [points(20 + n, name) for n, name in enumerate(names)]
    for row in [points(30 + n, name) for n, name in enumerate(names * 4)]:
        row.member = f"Member {len(whose)}"
        whose.append(row)
    keep(alice, profile(mail_weekly_overview=True), *whose, *(build_flight(9 + n) for n in range(9)))
    keep(alice, *(build_find(1, ("route_monitor", n), title=f"Seats of {n} " + "W" * 80) for n in range(9)))
    run()
    facts = read_overview()
    assert [len(facts[name]) for name in ("finds", "bookings", "deadlines")] == [5, 5, 10]
    assert [facts[name] for name in ("finds_total", "bookings_total", "total")] == [9, 9, 30]
    mail = message("weekly_overview", facts, sandbox=True, account="acc_alice")
    assert len(mail.html.encode()) < 30_000, len(mail.html.encode())
    assert "And 4 more." in mail.text
    assert "And 20 more, on the page of all deadlines." in mail.text
