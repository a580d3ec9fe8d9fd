"""Forwarded mail by hand: the address, what came, and the review by which a mail becomes a booking."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import re
from typing import Any

import pytest

from mcp_server.toolkit.context import Caller
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.signed_in_browser import sign_up
from tests.mcp_server.rest.test_bookings_page import send, text_of
from tests.mcp_server.rest.test_trips_page import press
from tests.mcp_server.tools.conftest import use  # noqa: F401 - a fixture
from tests.mcp_server.tools.test_inbound_mail import arrive
from tests.shared.domain.confirmations.mails import data, flight, mail

PAGE = "/dashboard/inbox"
STAY = "Confirmation Number: 99887766\n12 Main Street, Osaka\nCheck-in: 4 Dec 2027\nCheck-out: 6 Dec 2027\n"
TOTAL = "Total: USD 410.00\n"


@pytest.fixture
def ann(world: World) -> Caller:
    return sign_up(world, "ann@example.test", "premium")


def review(use: Any, ann: Caller, raw: bytes) -> str:
    """The page of a mail that arrived and waits."""
    arrive(use, ann, raw)
    (message,) = use(ann, "list_inbox_messages")["messages"]
    return f"{PAGE}/{message['message_id']}"


def test_a_mail_that_waits_is_corrected_and_filed(world: World, ann: Caller, use: Any) -> None:
    trip = use(ann, "create_trip", name="Osaka")["trip"]["trip_id"]
    page = review(use, ann, mail(STAY + TOTAL, subject="Your <b>stay"))
    assert "Your &lt;b&gt;stay" in world.get(PAGE).text
    shown = world.get(page).text
    assert 'id="hotel_name-0-fault"' in shown
    assert "1 field needs you" in text_of(shown)
    assert 'value="99887766"' in shown
    filed = send(world, page, **{"hotel_name-0": "Conrad Tokyo", "room_type-0": "King", "trip": str(trip)})
    (stay,) = use(ann, "list_hotel_bookings")["bookings"]
    assert filed.headers["location"] == f"/dashboard/bookings/stays/{stay['booking_id']}?done=from_mail"
    facts = stay["hotel"]["name"], stay["room_type"], stay["original_pay_rate_usd"], stay["trip_id"]
    assert facts == ("Conrad Tokyo", "King", 410.0, trip)
    assert "What became of it" in world.get(page).text
    assert "Nothing waits for you" in world.get(PAGE).text
    assert "Your &lt;b&gt;stay" in world.get(f"{PAGE}?state=imported").text


def test_a_field_that_is_still_needed_says_so_and_the_others_are_kept(world: World, ann: Caller, use: Any) -> None:
    page = review(use, ann, mail(STAY))
    refused = send(world, page, **{"hotel_name-0": "Conrad Tokyo"})
    assert refused.status_code == 422
    assert 'id="kind-0-fault"' in refused.text
    assert 'value="Conrad Tokyo"' in refused.text
    assert use(ann, "list_hotel_bookings")["bookings"] == []
    assert send(world, page, **{"kind-0": "award", "original_points-0": "95,000"}).status_code == 303
    (stay,) = use(ann, "list_hotel_bookings")["bookings"]
    assert (stay["kind"], stay["original_points"]) == ("award", 95000)


@pytest.mark.parametrize(
    ("field", "typed"),
    [("hotel_name", "Hyatt"), ("check_out_date", "2027-12-01"), ("cash_total", "much"), ("check_in_date", "")],
)
def test_a_fault_stands_at_its_field(world: World, ann: Caller, use: Any, field: str, typed: str) -> None:
    page = review(use, ann, mail(STAY + TOTAL))
    refused = send(world, page, **{"hotel_name-0": "Conrad Tokyo"} | {f"{field}-0": typed, "room_type-0": "Kept"})
    assert refused.status_code == 422
    assert 'value="Kept"' in refused.text
    fault = re.search(r'<p class="fault" id="([\w-]+)-fault"', refused.text)
    assert fault is not None
    assert fault[1] == f"{field}-0"


def test_what_legs_share_is_asked_once(world: World, ann: Caller, use: Any) -> None:
    legs = [{"departureTime": f"2027-05-{day:02}T08:25:00+01:00", "flightNumber": f"{day}"} for day in (4, 6, 8, 10)]
    free: dict[str, Any] = {"totalPrice": None, "priceCurrency": None}
    page = review(use, ann, mail(page=data(*(flight(leg=leg, **free) for leg in legs))))
    shown = world.get(page).text
    assert shown.count('name="kind-') == shown.count('name="points_spent-') == 1
    assert shown.count('name="departure_date-') == 4
    assert len(re.findall(r'name="[\w-]+"', shown.split(f'action="{page}"')[1].split("</form>")[0])) <= 40
    filed = send(world, page, **{"kind-all": "award", "points_spent-all": "200,000", "departure_time-3": "09:00"})
    assert filed.headers["location"] == "/dashboard/bookings?done=from_mail"
    booked = use(ann, "list_flight_bookings", when="upcoming")["bookings"]
    assert [(b["kind"], b["points_spent"], b["departure_time"]) for b in booked] == [
        ("award", 200000, "08:25"), ("award", None, "08:25"), ("award", None, "08:25"), ("award", None, "09:00")
    ]  # fmt: skip


def test_a_mail_of_which_nothing_was_read_is_filled_in_by_hand(world: World, ann: Caller, use: Any) -> None:
    page = review(use, ann, mail("We look forward to welcoming you."))
    assert "It is a stay" in world.get(page).text
    typed = {"hotel_name-0": "Casa Zorblatt", "city-0": "Lisbon", "check_in_date-0": "2027-12-04",
             "check_out_date-0": "2027-12-06", "kind-0": "cash", "cash_total-0": "410"}  # fmt: skip
    sent = send(world, f"{page}?type=hotel", page, **typed)
    assert sent.status_code == 422
    assert 'id="cash_rate_currency-0-fault"' in sent.text
    assert send(world, f"{page}?type=hotel", page, **typed, **{"cash_rate_currency-0": "eur"}).status_code == 303
    (stay,) = use(ann, "list_hotel_bookings")["bookings"]
    assert (stay["hotel"]["name"], stay["cash_rate_currency"]) == ("Casa Zorblatt", "EUR")


def test_a_mail_is_thrown_away_after_a_question(world: World, ann: Caller, use: Any) -> None:
    page = review(use, ann, mail(STAY))
    assert "Throw this mail away?" in world.get(f"{page}/discard").text
    assert press(world, f"{page}/discard", f"{page}/discard", "Throw").headers["location"] == f"{PAGE}?done=discarded"
    assert use(ann, "list_inbox_messages")["messages"] == []
    assert "thrown away" in world.get(page).text


def test_the_address_is_shown_when_asked_for_and_replaced(world: World, ann: Caller, use: Any) -> None:
    assert "@inbox" not in world.get(PAGE).text
    shown = press(world, PAGE, f"{PAGE}/address", "Show my").text
    address = use(ann, "get_booking_inbox")["address"]
    assert f'<code class="copy">{address}</code>' in shown
    csrf = re.search(r'address/reset".*?name="csrf" value="([^"]*)"', shown, re.S)
    assert csrf is not None
    renewed = world.http.post(f"{world.url}{PAGE}/address/reset", data={"csrf": csrf[1]}).text
    assert (address in renewed, use(ann, "get_booking_inbox")["address"] in renewed) == (False, True)


def test_on_the_free_plan_the_trial_begins_when_the_address_is_asked_for(world: World) -> None:
    sign_up(world, "bob@example.test")
    before = world.get(PAGE).text
    assert 'href="/plans"' in before
    assert "You can try this until" in text_of(press(world, PAGE, f"{PAGE}/address", "Show my").text)
    assert "Nothing waits for you" in world.get(PAGE).text


def test_nobody_sees_or_files_another_persons_mail(world: World, ann: Caller, use: Any) -> None:
    page = review(use, ann, mail(STAY + TOTAL))
    world.http.cookies.clear()
    sign_up(world, "eve@example.test", "premium")
    assert [world.get(path).status_code for path in (page, f"{page}/discard", f"{PAGE}/x")] == [404] * 3


def test_a_balance_of_a_statement_is_looked_at_and_saved(world: World, ann: Caller, use: Any) -> None:
    page = review(use, ann, mail("Your Avios\nCurrent balance: 30,000 points\nPoints balance: 31.000 points"))
    shown = world.get(page)
    assert shown.status_code == 200
    assert "The mail says: 30,000 or 31,000." in text_of(shown.text)
    refused = send(world, page, program="iberia-club", balance="much")
    assert refused.status_code == 422
    assert 'id="balance-fault"' in refused.text
    saved = send(world, page, program="iberia-club", balance="31.000", member="Anna")
    assert saved.headers["location"] == "/dashboard/balances?done=saved"
    (balance,) = use(ann, "list_points_balances")["balances"]
    assert (balance["program"], balance["member"], balance["balance"]) == ("iberia-club", "Anna", 31_000)
