"""The calendar feed through the gate: one secret link per account, what it shows, and its replacement."""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import anyio
import pytest
from icalendar import Calendar
from sqlalchemy import select

from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.registry import TOOLS
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db.balances import PointsBalance
from shared.db.base import transaction
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.cards import Card
from shared.db.secret_links import SecretLink
from shared.db.vouchers import Voucher
from shared.reference.load import reference
from shared.services.bookings import calendar_feed, secret_links
from shared.settings import settings
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

GET, RESET = "get_calendar_feed", "reset_calendar_feed"
DAY = timedelta(days=1)


def leg(**given: Any) -> FlightBooking:
    plain: dict[str, Any] = {
        "airline": "BA",
        "origin": "LHR",
        "destination": "JFK",
        "departure_date": clock.today() + 40 * DAY,
        "cabin_class": "business",
        "kind": "award",
        "taxes_currency": "USD",
    }
    return FlightBooking(**plain | given)


def stay(**given: Any) -> HotelBooking:
    plain: dict[str, Any] = {
        "hotel_code": "htl_somewhere",
        "hotel_name": "Hôtel d’Été",
        "check_in_date": clock.today() + 40 * DAY,
        "check_out_date": clock.today() + 43 * DAY,
        "kind": "award",
        "cash_rate_currency": "USD",
    }
    return HotelBooking(**plain | given)


def keep(who: Caller, *rows: FlightBooking | HotelBooking) -> list[int]:
    with transaction(who.account_id) as session:
        session.add_all(rows)
        session.flush()
        return [row.id for row in rows]


@pytest.fixture
def feed(people: People) -> Callable[..., list[Any]]:
    """feed(now=...) -> the entries of Alice's calendar, read from the document."""

    def read(who: Caller = people.alice, now: datetime | None = None, **query: str) -> list[Any]:
        with transaction(who.account_id) as session:
            choices = calendar_feed.read_choices(query)
            made = calendar_feed.build_feed(session, reference(), now or clock.now(), choices)
        calendar = Calendar.from_ical(made)
        assert [part.errors for part in calendar.walk() if part.errors] == []
        return list(calendar.walk("VEVENT"))

    return read


@pytest.mark.spec("s2.9.calendar_link_secret")
def test_get_calendar_feed_gives_each_account_one_secret_link(people: People, use: Use) -> None:
    first, again = use(people.alice, GET), use(people.alice, GET)
    other = use(people.bob, GET)
    assert first["url"] == again["url"] != other["url"]
    assert first["url"].startswith(f"{settings().web_url}/feeds/")
    assert first["webcal_url"] == "webcal" + first["url"].removeprefix("http")
    secret = first["url"].rpartition("/")[2].removesuffix(".ics")
    assert len(secret) == 40
    with transaction() as session:
        kept = [str(value) for row in session.scalars(select(SecretLink)) for value in vars(row).values()]
    assert not [value for value in kept if secret in value]
    assert "secret" in TOOLS[GET].description


@pytest.mark.spec("s4.4.get_calendar_feed.content", "s4.4.get_calendar_feed.cancelled_out")
def test_get_calendar_feed_counts_upcoming_flights_and_stays_only(
    people: People, use: Use, feed: Callable[..., list[Any]]
) -> None:
    today = clock.today()
    keep(
        people.alice,
        leg(),
        stay(),
        stay(check_in_date=today - DAY, check_out_date=today + 3 * DAY),
        leg(departure_date=today - 3 * DAY),
        leg(cancelled_at=clock.now()),
        stay(check_in_date=today - 9 * DAY, check_out_date=today - 3 * DAY),
        stay(cancelled_at=clock.now()),
    )
    answer = use(people.alice, GET)
    assert (answer["status"], answer["events"]) == ("ok", 3)
    assert sorted(str(e["SUMMARY"]) for e in feed()) == ["BA LHR to JFK", "Hôtel d’Été", "Hôtel d’Été"]
    assert use(people.bob, GET)["events"] == 0


def test_a_flight_with_times_is_on_the_clocks_of_its_airports(people: People, feed: Callable[..., list[Any]]) -> None:
    day = date(2027, 3, 28)  # the clock in London goes forward
    keep(
        people.alice,
        leg(
            flight_number="BA178",
            departure_date=day,
            departure_time=time(10, 30),
            arrival_date=day,
            arrival_time=time(13, 25),
            confirmation_number="ABC123",
            passengers=2,
            notes="secret note",
        ),
    )
    opens, entry = sorted(feed(now=datetime(2027, 3, 1, tzinfo=UTC)), key=lambda e: e["DTSTART"].dt)
    assert entry["SUMMARY"] == "BA178 LHR to JFK"
    assert (opens["SUMMARY"], opens["TRANSP"]) == ("Check in: BA178 LHR to JFK", "TRANSPARENT")
    assert opens["DTSTART"].params["TZID"] == "Europe/London"
    assert opens["DTSTART"].dt.astimezone(UTC) == datetime(2027, 3, 27, 9, 30, tzinfo=UTC)
    assert "Confirmation: ABC123" in opens["DESCRIPTION"]
    assert entry["DTSTART"].params["TZID"] == "Europe/London"
    assert entry["DTSTART"].dt.astimezone(UTC) == datetime(2027, 3, 28, 9, 30, tzinfo=UTC)
    assert entry["DTEND"].params["TZID"] == "America/New_York"
    assert entry["DTEND"].dt.astimezone(UTC) == datetime(2027, 3, 28, 17, 25, tzinfo=UTC)
    assert entry["DESCRIPTION"] == "British Airways, business\nPassengers: 2\nConfirmation: ABC123"
    assert "note" not in entry.to_ical().decode()


def test_a_flight_without_times_takes_the_whole_day(people: People, feed: Callable[..., list[Any]]) -> None:
    keep(people.alice, leg(departure_date=date(2028, 2, 29)))
    (entry,) = feed(now=datetime(2028, 2, 1, tzinfo=UTC))
    assert (entry["DTSTART"].dt, entry["DTEND"].dt) == (date(2028, 2, 29), date(2028, 3, 1))


def test_an_arrival_that_is_not_after_the_departure_is_left_out(people: People, feed: Callable[..., list[Any]]) -> None:
    day = clock.today() + 40 * DAY
    wrong = {"departure_time": time(10), "arrival_date": day, "arrival_time": time(1)}
    # Across the date line the arrival is earlier on the clock, and later in time.
    across = {**wrong, "origin": "NRT", "destination": "HNL", "arrival_time": time(9)}
    keep(people.alice, leg(departure_date=day, **wrong), leg(departure_date=day, **across))
    flights = [e for e in feed() if not e["SUMMARY"].startswith("Check in")]
    assert ["DTEND" in e for e in flights] == [False, True]


def test_a_return_date_is_an_entry_of_its_own(people: People, use: Use, feed: Callable[..., list[Any]]) -> None:
    today = clock.today()
    keep(people.alice, leg(departure_date=today - 9 * DAY, return_date=today + 5 * DAY))
    (entry,) = feed()
    assert (entry["SUMMARY"], entry["DTSTART"].dt) == ("BA JFK to LHR (return)", today + 5 * DAY)
    assert use(people.alice, GET)["events"] == 1


def test_what_is_past_is_decided_on_the_clock_of_the_place(people: People, feed: Callable[..., list[Any]]) -> None:
    """The 10th of May ends first on Kiritimati, then in London, and last in Pago Pago."""
    day = date(2027, 5, 10)
    keep(people.alice, *(leg(origin=code, departure_date=day) for code in ("LHR", "CXI", "PPG")))

    def leaving(*moment: int) -> list[str]:
        now = datetime(2027, 5, *moment, tzinfo=UTC)  # type: ignore[misc, arg-type]
        return sorted(str(e["SUMMARY"])[3:6] for e in feed(now=now))

    assert leaving(10, 9, 59) == ["CXI", "LHR", "PPG"]
    assert leaving(10, 10, 1) == ["LHR", "PPG"]
    assert leaving(10, 23, 1) == ["PPG"]  # summer time in London
    assert leaving(11, 10, 59) == ["PPG"]
    assert leaving(11, 11, 1) == []


def test_an_entry_keeps_its_uid_over_edits_and_tells_of_them(people: People, feed: Callable[..., list[Any]]) -> None:
    (number,) = keep(people.alice, leg())
    (before,) = feed()
    with transaction(people.alice.account_id) as session:
        row = session.get_one(FlightBooking, number)
        row.departure_date += DAY
        row.updated_at = row.created_at + timedelta(minutes=5)
    (after,) = feed()
    assert after["UID"] == before["UID"]
    assert after["SEQUENCE"] > before["SEQUENCE"]
    assert after["DTSTART"].dt == before["DTSTART"].dt + DAY


@pytest.mark.spec("s2.9.calendar_link_secret")
def test_reset_calendar_feed_replaces_the_link_once_confirmed(people: People, use: Use) -> None:
    old = use(people.alice, GET)["url"]
    answer = use(people.alice, RESET)
    assert (answer["status"], answer["would_change"]) == ("confirmation_required", {"calendar_link": "replaced"})
    assert use(people.alice, GET)["url"] == old
    new = use(people.alice, RESET, confirm=True)
    assert new["status"] == "ok"
    assert new["url"] != old
    assert new["webcal_url"].endswith(new["url"].removeprefix("http"))
    assert use(people.alice, GET)["url"] == new["url"]
    with transaction() as session:
        secrets = [u.rpartition("/")[2].removesuffix(".ics") for u in (old, new["url"])]
        held = [secret_links.find_holder(session, "calendar", s) for s in secrets]
        assert held == [None, people.alice.account_id]
        assert secret_links.find_holder(session, "inbox", secrets[1]) is None


def test_reset_calendar_feed_makes_the_first_link_too(people: People, use: Use) -> None:
    url = use(people.alice, RESET, confirm=True)["url"]
    assert use(people.alice, GET)["url"] == url


def test_a_link_whose_key_is_gone_is_made_anew(people: People, use: Use) -> None:
    old = use(people.alice, GET)["url"]
    with transaction() as session:
        session.query(SecretLink).update({"key": "retired1"})
    new = use(people.alice, GET)["url"]
    assert new != old
    assert use(people.alice, GET)["url"] == new


def test_ten_first_calls_at_once_make_one_link(people: People) -> None:
    async def together() -> set[str]:
        urls: set[str] = set()

        async def one() -> None:
            urls.add((await dispatch(GET, {}, people.alice, "mcp")).data["url"])

        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(one)
        return urls

    limiter.cache_clear()
    assert len(anyio.run(together)) == 1


def test_get_calendar_feed_sends_ten_statements_at_first_and_then_seven(
    people: People, use: Use, queries: list[str]
) -> None:
    use(people.alice, "list_trips")  # the first call of a day reads how many there were
    sent = []
    for rows in (1, 1, 30):
        keep(people.alice, *(row for _ in range(rows) for row in (leg(), stay())))
        queries.clear()
        use(people.alice, GET)
        sent.append(len(queries))
    assert sent == [10, 7, 7]


def test_an_entry_says_whose_booking_it_is(people: People, feed: Callable[..., list[Any]]) -> None:
    keep(people.alice, leg(member="Anna"), stay(member="Anna"))
    assert all("Booking of Anna" in str(e["DESCRIPTION"]) for e in feed())


@pytest.fixture
def trip(people: People, use: Use) -> int:
    number: int = use(people.alice, "create_trip", name="Tokyo")["trip"]["trip_id"]
    return number


def plan(use: Use, who: Caller, trip: int, **more: Any) -> int:
    answer = use(who, "save_itinerary_item", trip_id=trip, **more)
    assert answer["status"] == "ok", answer["message"]
    number: int = answer["item"]["item_id"]
    return number


def test_plans_of_a_trip_are_on_the_clock_of_the_hotel_of_that_night(
    people: People, use: Use, feed: Callable[..., list[Any]], trip: int
) -> None:
    keep(
        people.alice,
        stay(hotel_code="htl_conrad-tokyo", check_in_date=date(2027, 3, 20), check_out_date=date(2027, 3, 24)),
    )
    museum = {"title": "TeamLab", "day": "2027-03-22", "start_time": "21:00", "end_time": "00:30"}
    plan(use, people.alice, trip, **museum, location="Toyosu, Tokyo", notes="secret note", kind="activity")
    plan(use, people.alice, trip, title="Asakusa", day="2027-03-23", kind="activity")
    plan(use, people.alice, trip, title="Lunch at home", day="2027-04-01", start_time="12:00", kind="meal")
    entries = {str(e["SUMMARY"]): e for e in feed()}
    late = entries["TeamLab"]
    assert late["DTSTART"].params["TZID"] == late["DTEND"].params["TZID"] == "Asia/Tokyo"
    assert late["DTSTART"].dt.astimezone(UTC) == datetime(2027, 3, 22, 12, tzinfo=UTC)
    assert late["DTEND"].dt - late["DTSTART"].dt == timedelta(hours=3, minutes=30)
    assert (late["LOCATION"], late["DESCRIPTION"], late["TRANSP"]) == ("Toyosu, Tokyo", "Trip: Tokyo", "OPAQUE")
    assert (entries["Asakusa"]["DTSTART"].dt, entries["Asakusa"]["TRANSP"]) == (date(2027, 3, 23), "TRANSPARENT")
    assert entries["Lunch at home"]["DTSTART"].dt == datetime(2027, 4, 1, 12)
    pages = {name: str(e["URL"]).removeprefix(settings().web_url) for name, e in entries.items()}
    assert pages["Asakusa"] == pages["TeamLab"] == f"/dashboard/trips/{trip}"
    assert re.fullmatch(r"/dashboard/bookings/stays/\d+", pages["Hôtel d’Été"])
    assert entries["Hôtel d’Été"]["GEO"].latitude == pytest.approx(35.7, abs=0.2)


def test_plans_that_are_over_archived_or_stand_for_bookings_are_left_out(
    people: People, use: Use, feed: Callable[..., list[Any]], trip: int
) -> None:
    (number,) = keep(people.alice, leg())
    plan(use, people.alice, trip, title="Flight out", kind="flight", flight_booking_id=number, day="2027-01-02")
    plan(use, people.alice, trip, title="Long ago", kind="note", day=(clock.today() - 9 * DAY).isoformat())
    plan(use, people.alice, trip, title="Some day", kind="note")
    plan(use, people.alice, trip, title="Dinner", kind="meal", day="2027-01-02")
    assert sorted(str(e["SUMMARY"]) for e in feed()) == ["BA LHR to JFK", "Dinner"]
    assert feed(people.bob) == []
    use(people.alice, "update_trip", trip_id=trip, state="archived")
    assert [str(e["SUMMARY"]) for e in feed()] == ["BA LHR to JFK"]


def hold_what_ends(who: Caller) -> None:
    soon = clock.today() + 30 * DAY
    with transaction(who.account_id) as session:
        session.add_all(
            [
                stay(free_cancellation_until=soon),
                PointsBalance(program="united-mileageplus", balance=62_340, expires_on=soon, as_of=clock.today()),
                PointsBalance(program="flying-blue", balance=0, expires_on=soon, as_of=clock.today()),
                Voucher(voucher_slug="hilton-free-night", expires_on=soon),
                Card(
                    name="Sapphire", custom=True, currency="USD", spend_requirement=4000,
                    spend_deadline_on=soon, bonus_status="pending",
                ),
            ]
        )  # fmt: skip


def test_deadlines_of_what_is_held_are_days_in_the_calendar(
    people: People, use: Use, feed: Callable[..., list[Any]]
) -> None:
    hold_what_ends(people.alice)
    soon = clock.today() + 30 * DAY
    days = {str(e["SUMMARY"]): e for e in feed() if not e["UID"].startswith("stay-")}
    titles = sorted(days)
    assert titles[:3] == [
        "62,340 MileagePlus miles expire",
        "Free cancellation of Hôtel d’Été ends",
        "Last day to spend for the welcome bonus of Sapphire",
    ]
    assert titles[3].endswith("expires")
    assert len(titles) == 4
    pages = [re.sub(r"\d+", "1", str(days[title]["URL"]).removeprefix(settings().web_url)) for title in titles]
    assert pages == [
        "/dashboard/balances/edit?program=united-mileageplus&member=",
        "/dashboard/bookings/stays/1",
        "/dashboard/cards/edit?card=1",
        "/dashboard/vouchers/apply?voucher=1",
    ]
    assert {(e["DTSTART"].dt, e["DTEND"].dt, str(e["TRANSP"])) for e in days.values()} == {
        (soon, soon + DAY, "TRANSPARENT")
    }
    assert "Spend 4,000.00 USD in all by then." in days[titles[2]]["DESCRIPTION"]
    assert [str(e["SUMMARY"]) for e in feed(deadlines="off")] == ["Hôtel d’Été"]
    assert use(people.alice, GET)["events"] == 5
    assert not [e for e in feed(now=clock.now() + 33 * DAY) if e["SUMMARY"] in days]


def test_a_deadline_keeps_its_uid_and_its_edits_raise_the_sequence(
    people: People, feed: Callable[..., list[Any]]
) -> None:
    hold_what_ends(people.alice)
    before = next(e for e in feed() if e["UID"].startswith("points-"))
    with transaction(people.alice.account_id) as session:
        row = session.query(PointsBalance).filter_by(program="united-mileageplus").one()
        row.balance, row.updated_at = 70_000, row.updated_at + timedelta(minutes=5)
    after = next(e for e in feed() if e["UID"].startswith("points-"))
    assert after["UID"] == before["UID"]
    assert after["SEQUENCE"] == before["SEQUENCE"] + 300
    assert after["SUMMARY"] == "70,000 MileagePlus miles expire"


def test_alarms_are_there_by_choice(people: People, use: Use, feed: Callable[..., list[Any]], trip: int) -> None:
    hold_what_ends(people.alice)
    keep(people.alice, leg(flight_number="BA178", departure_time=time(10, 30)))
    plan(use, people.alice, trip, title="Dinner", kind="meal", day="2027-01-02", start_time="20:00")
    assert [alarm for e in feed() for alarm in e.walk("VALARM")] == []
    hours = {
        str(e["UID"]).rstrip("0123456789").partition("@")[0].rstrip("-0123456789"): [
            a["TRIGGER"].dt / timedelta(hours=-1) for a in e.walk("VALARM")
        ]
        for e in feed(alarms="on")
    }
    ends = [159, 15]  # nine in the morning, a week before and the day before
    assert hours == {
        "flight": [3],
        "check-in-flight": [0],
        "plan": [1],
        "stay": [15],
        "cancel-by": ends,
        "points": ends,
        "voucher": ends,
        "bonus": ends,
    }
