"""Prices of stays, called through the gate: checked on demand, recorded, compared and mailed once."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import select

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.bookings import HotelBooking, HotelPrice
from shared.db.messages import Delivery, Notification
from shared.providers.contract import Provider, StaysQuestion
from shared.redis import connect
from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.test_hotels import silent
from tests.support.dates import evaluate, iso_days_ahead
from tests.support.fake_seats import WithSources, lodging, stay
from tests.support.fake_seats import live as live
from tests.support.fake_seats import with_sources as with_sources
from tests.support.people import People
from tests.support.sandbox_seats import set_stay

TOKYO = "htl_conrad-tokyo"


def day(offset: int) -> date:
    return clock.today() + timedelta(days=offset)


STAY_DATES = {"check_in_date": lambda: iso_days_ahead(20), "check_out_date": lambda: iso_days_ahead(23)}


def check_in_day() -> date:
    return day(20)


def check_out_day() -> date:
    return day(23)


def dates() -> dict[str, str]:
    return evaluate(STAY_DATES)


def add(use: Use, who: Caller, **more: Any) -> int:
    made = use(who, "add_hotel_booking", **{"hotel_id": TOKYO} | dates() | more)
    assert made["status"] == "ok", made
    return int(made["booking"]["booking_id"])


def priced(value: str) -> None:
    """What the sandbox asks for the stay from now on; nothing of it is left in the cache."""
    set_stay(value, TOKYO, check_in_day())
    for name in connect().scan_iter("award:sandbox:reading:*"):
        connect().delete(name)


def asking(name: str = "inns", **price: Any) -> Provider:
    def act(_question: StaysQuestion) -> Any:
        return (stay(TOKYO, check_in_day(), 3, **price),) if price else ()

    return lodging(name, act)


def notices(who: Caller) -> list[Notification]:
    with transaction(who.account_id) as session:
        return list(session.scalars(select(Notification).order_by(Notification.created_at)))


@pytest.mark.spec("s3.hotel_booking.check_now", "s3.hotel_booking.check_returns_drop", "s6.2.hotel_drop_recorded")
def test_check_hotel_booking_price_finds_a_drop_and_keeps_it(people: People, use: Use) -> None:
    one = add(use, people.alice, original_points=200_000)
    priced("points:150000,cash:900")
    answer = use(people.alice, "check_hotel_booking_price", booking_id=one)
    assert (answer["status"], answer["freshness"]["mode"]) == ("ok", "sandbox")
    assert (
        answer["drop"].items()
        >= {
            "points_saved": 50_000,
            "cash_saved": None,
            "currency": None,
            "percent": 25.0,
            "against": "original_points",
        }.items()
    )
    (snapshot,) = answer["snapshots"]
    assert (snapshot["points"], snapshot["cash"], snapshot["currency"], snapshot["mode"]) == (
        150_000, 900, "USD", "sandbox",
    )  # fmt: skip
    assert answer["booking"]["latest"] == snapshot
    assert answer["booking"]["monitoring"]["last_checked_at"] is not None
    shown = use(people.alice, "get_hotel_booking", booking_id=one)
    assert (shown["drop"], shown["snapshots"]) == (answer["drop"], answer["snapshots"])
    assert shown["booking"]["updated_at"] == shown["booking"]["created_at"]  # a look is no change
    assert shown["booking"]["state"] == "upcoming"


@pytest.mark.spec("s6.2.hotel_drop_in_inbox")
@pytest.mark.running_clock  # its rows are dated one after the other
def test_a_drop_is_told_once_and_again_only_when_lower_still(people: People, use: Use) -> None:
    one = add(use, people.alice, original_points=200_000)
    told = []
    for points in (210_000, 150_000, 150_000, 180_000, 150_000, 149_999):
        priced(f"points:{points}")
        use(people.alice, "check_hotel_booking_price", booking_id=one)
        told.append(len(notices(people.alice)))
    assert told == [0, 1, 1, 1, 1, 2]
    first = notices(people.alice)[0]
    assert (first.kind, first.subject_type, first.subject_id) == ("hotel_price_drop", "hotel_booking", str(one))
    assert first.title == "Conrad Tokyo: 150,000 points instead of 200,000 points"
    with transaction() as session:
        assert session.scalars(select(Delivery)).all() == []  # this address is not confirmed
    assert len(use(people.alice, "check_hotel_booking_price", booking_id=one)["snapshots"]) == 5


def test_the_answer_names_the_room_of_the_price_beside_the_booked_one(people: People, use: Use) -> None:
    one = add(use, people.alice, original_points=200_000, room_type="Deluxe King")
    priced("points:150000")
    message = use(people.alice, "check_hotel_booking_price", booking_id=one)["message"]
    assert "The price is for the cheapest room, SANDBOX standard room; you booked Deluxe King." in message


def test_a_room_nobody_offers_any_more_ends_the_drop(people: People, use: Use) -> None:
    one = add(use, people.alice, original_points=200_000)
    priced("points:150000")
    assert use(people.alice, "check_hotel_booking_price", booking_id=one)["drop"]
    priced("full")
    answer = use(people.alice, "check_hotel_booking_price", booking_id=one)
    assert (answer["drop"], answer["snapshots"][0]["points"]) == (None, None)
    assert answer["message"].endswith("sold out now.")
    assert use(people.alice, "list_hotel_bookings")["totals"]["drops_found"] == 0


def test_cash_compares_in_its_own_currency_only(people: People, use: Use, with_sources: WithSources) -> None:
    one = add(use, people.alice, kind="cash", original_pay_rate_usd=1000, cash_rate_currency="EUR")
    with_sources(asking(cash=Decimal(700), currency="USD"))
    answer = use(people.alice, "check_hotel_booking_price", booking_id=one)
    assert (answer["drop"], answer["snapshots"][0]["currency"]) == (None, "USD")
    with_sources(asking("rooms", cash=Decimal("912.40"), currency="EUR"))
    answer = use(people.alice, "check_hotel_booking_price", booking_id=one)
    assert (answer["drop"]["cash_saved"], answer["drop"]["currency"], answer["drop"]["percent"]) == (87.6, "EUR", 8.8)


def test_check_hotel_booking_price_without_an_answer_says_so_and_keeps_what_was_known(
    people: People, use: Use, with_sources: WithSources
) -> None:
    one = add(use, people.alice, original_points=200_000)
    with_sources(asking(points=150_000))
    use(people.alice, "check_hotel_booking_price", booking_id=one)
    with_sources(lodging("rooms", silent))
    answer = use(people.alice, "check_hotel_booking_price", booking_id=one)
    assert (answer["status"], answer["backends"][0]["name"]) == ("backend_unavailable", "rooms")
    shown = use(people.alice, "get_hotel_booking", booking_id=one)
    assert shown["booking"]["monitoring"]["last_error"] == "not answered by rooms (down)"
    assert shown["drop"]["points_saved"] == 50_000
    with_sources(asking("others"))
    answer = use(people.alice, "check_hotel_booking_price", booking_id=one)
    assert answer["status"] == "no_data"
    assert use(people.alice, "get_hotel_booking", booking_id=one)["booking"]["monitoring"]["last_error"] is None


def test_a_source_missing_among_others_ends_no_drop(people: People, use: Use, with_sources: WithSources) -> None:
    one = add(use, people.alice, original_points=200_000)
    with_sources(asking(points=150_000))
    use(people.alice, "check_hotel_booking_price", booking_id=one)
    with_sources(asking("cashiers", cash=Decimal(900)), lodging("inns", silent))
    _forget_answers()
    answer = use(people.alice, "check_hotel_booking_price", booking_id=one)
    assert (answer["status"], answer["drop"]["points_saved"]) == ("partial", 50_000)
    with_sources(asking("cashiers", cash=Decimal(900)), asking("inns", cash=Decimal(950)))
    _forget_answers()
    answer = use(people.alice, "check_hotel_booking_price", booking_id=one)
    assert (answer["status"], answer["drop"], answer["snapshots"][0]["cash"]) == ("ok", None, 900)


def _forget_answers() -> None:
    for name in connect().scan_iter("award:live:reading:*"):
        connect().delete(name)


def test_the_same_answer_is_kept_once(people: People, use: Use) -> None:
    one, two = add(use, people.alice, original_points=200_000), add(use, people.charlie, original_points=1)
    priced("points:150000")
    for who, booking in ((people.alice, one), (people.alice, one), (people.charlie, two)):
        assert use(who, "check_hotel_booking_price", booking_id=booking)["snapshots"][0]["points"] == 150_000
    with transaction() as session:
        assert len(session.scalars(select(HotelPrice)).all()) == 1


def test_what_an_own_connection_saw_is_shown_to_nobody_else(
    people: People, use: Use, with_sources: WithSources
) -> None:
    bookings = {who: add(use, who, original_points=200_000) for who in (people.alice, people.charlie)}
    card = lodging("rooms", lambda _q: (stay(TOKYO, check_in_day(), 3, points=9),), terms="asker", credential="account")
    with_sources(card)
    with transaction() as session:
        for shown, asker in ((1000, people.charlie.account_id), (150_000, None)):
            session.add(
                HotelPrice(
                    hotel_code=TOKYO, check_in_date=check_in_day(), check_out_date=check_out_day(), points=shown,
                    source="rooms", mode="live", asker_id=asker,
                )
            )  # fmt: skip
            session.flush()
    seen = {who: use(who, "get_hotel_booking", booking_id=id) for who, id in bookings.items()}
    assert [s["points"] for s in seen[people.alice]["snapshots"]] == [150_000]
    assert sorted(s["points"] for s in seen[people.charlie]["snapshots"]) == [1000, 150_000]
    history = use(people.bob, "get_hotel_price_history", hotel_id=TOKYO, **dates())
    assert [s["points"] for s in history["snapshots"]] == [150_000]
    unconnected = use(people.alice, "check_hotel_booking_price", booking_id=bookings[people.alice])
    assert (unconnected["status"], unconnected["provider"]) == ("connection_required", "rooms")


def test_a_stay_that_is_over_or_cancelled_or_hers_is_not_checked(people: People, use: Use) -> None:
    past = add(use, people.alice, check_in_date=day(-9).isoformat(), check_out_date=day(-5).isoformat())
    assert use(people.alice, "check_hotel_booking_price", booking_id=past)["status"] == "no_data"
    off = add(use, people.alice)
    with transaction() as session:
        session.get_one(HotelBooking, off).cancelled_at = clock.now()
    assert use(people.alice, "check_hotel_booking_price", booking_id=off)["status"] == "no_data"
    assert use(people.bob, "check_hotel_booking_price", booking_id=off)["status"] == "not_found"


def test_a_stay_paid_otherwise_is_measured_anew(people: People, use: Use) -> None:
    one = add(use, people.alice, kind="cash", original_pay_rate_usd=1000)
    priced("points:150000,cash:900")
    use(people.alice, "check_hotel_booking_price", booking_id=one)
    use(people.alice, "update_hotel_booking", booking_id=one, kind="award", original_points=200_000)
    use(people.alice, "check_hotel_booking_price", booking_id=one)
    assert [n.title.split(": ")[1] for n in notices(people.alice)] == [
        "$900 instead of $1,000",
        "150,000 points instead of 200,000 points",
    ]


@pytest.mark.running_clock  # its rows are dated one after the other
def test_get_hotel_price_history_shows_the_range_and_the_drop(people: People, use: Use) -> None:
    one = add(use, people.alice, original_points=200_000)
    assert use(people.alice, "get_hotel_price_history", booking_id=one)["status"] == "no_data"
    for points in (210_000, 150_000, 180_000):
        priced(f"points:{points},cash:900")
        use(people.alice, "check_hotel_booking_price", booking_id=one)
    answer = use(people.alice, "get_hotel_price_history", booking_id=one)
    assert [s["points"] for s in answer["snapshots"]] == [180_000, 150_000, 210_000]
    assert (answer["lowest"]["points"], answer["highest"]["points"]) == (150_000, 210_000)
    assert answer["against_original"]["points_saved"] == 20_000
    about = {"hotel": "Conrad Tokyo", "booking_id": one, "points": 200_000, "cash": None, "currency": None}
    assert answer["stay"] == about | dates()
    named = use(people.bob, "get_hotel_price_history", hotel_id="Conrad Tokyo", **dates())
    assert named["stay"] == about | dates() | {"booking_id": None, "points": None}
    assert (named["snapshots"], named["against_original"]) == (answer["snapshots"], None)
    assert use(people.bob, "get_hotel_price_history", booking_id=one)["status"] == "not_found"
    with transaction() as session:
        for row in session.scalars(select(HotelPrice)):
            row.captured_at -= timedelta(days=30)
    assert use(people.alice, "get_hotel_price_history", booking_id=one, days=29)["status"] == "no_data"


@pytest.mark.parametrize(
    "given",
    [{}, {"hotel_id": TOKYO}, {"booking_id": 1, "hotel_id": TOKYO}, {"booking_id": 1, **STAY_DATES}, STAY_DATES],
)
def test_get_hotel_price_history_wants_a_booking_or_a_hotel_with_dates(
    people: People, use: Use, given: dict[str, Any]
) -> None:
    assert use(people.alice, "get_hotel_price_history", **evaluate(given))["status"] == "invalid"
