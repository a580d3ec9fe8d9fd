"""Stories of what is kept: stays, bookings, vouchers, lounges, trips and the advisor's clients."""

from typing import Any

from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

STAY = {"check_in_date": "2027-05-24", "check_out_date": "2027-05-27"}


def test_hyatts_in_tokyo_cost_what_their_category_says(people: People, use: Use) -> None:
    days = {"check_in_date": "2027-03-28", "check_out_date": "2027-03-31"}
    answer = use(people.alice, "search_hotels", destination="Tokyo", chains=["hyatt"], **days)
    assert answer["status"] == "ok", answer["message"]
    (park,) = (row for row in answer["hotels"] if row["name"] == "Park Hyatt Tokyo")
    nightly = park["points_per_night"]
    assert nightly == "no_data" or 35_000 <= nightly <= 75_000  # category 8


def test_a_stay_at_any_hotel_can_be_kept(people: People, use: Use) -> None:
    name = "Rome Marriott Grand Hotel Flora"
    answer = use(people.alice, "add_hotel_booking", hotel_id=name, **STAY, kind="cash", original_pay_rate_usd=900)
    assert (answer["status"], answer["booking"]["hotel"]["name"]) == ("ok", name)
    assert answer["booking"]["hotel"]["hotel_id"] is None
    assert "are not watched" in answer["message"]
    number = answer["booking"]["booking_id"]
    assert use(people.alice, "check_hotel_booking_price", booking_id=number)["status"] == "no_data"
    assert use(people.alice, "list_hotel_bookings")["bookings"][0]["booking_id"] == number


def test_a_known_hotel_is_watched_and_says_so(people: People, use: Use) -> None:
    sent = {"hotel_id": "Park Hyatt Tokyo", "kind": "award", "original_points": 135_000} | STAY
    answer = use(people.alice, "add_hotel_booking", **sent)
    assert "once a day" in answer["message"]
    assert "now and then" not in answer["message"]


def test_two_legs_with_their_times(people: People, use: Use) -> None:
    leg: dict[str, Any] = {"airline": "JL", "origin": "LHR", "destination": "HND", "cabin_class": "business"}
    times = {"departure_date": "2027-04-02", "departure_time": "19:10", "arrival_time": "16:40"}
    sent = leg | times | {"arrival_date": "2027-04-03", "program": "Alaska", "points_spent": 75_000, "kind": "award"}
    answer = use(people.alice, "add_flight_booking", **sent)
    assert answer["status"] == "ok", answer["message"]
    shown = str(use(people.alice, "get_flight_booking", booking_id=answer["booking"]["booking_id"]))
    assert "Asia/Tokyo" in shown
    assert "+1" in shown


def test_a_companion_voucher_is_for_an_award(people: People, use: Use) -> None:
    flight = {"airline": "BA", "origin": "LHR", "destination": "JFK", "departure_date": "2027-04-02"}
    paid = use(people.alice, "add_flight_booking", **flight, cabin_class="business", kind="cash", cash_paid=900)
    award = use(people.alice, "add_flight_booking", **flight, cabin_class="business", kind="award")
    voucher = use(people.alice, "add_voucher", voucher_slug="ba-amex-companion-voucher")["voucher"]["voucher_id"]
    on = {"voucher_id": voucher, "booking_type": "flight"}
    no = use(people.alice, "apply_voucher_to_booking", **on, booking_id=paid["booking"]["booking_id"])
    assert "paid in cash, and this voucher is for one paid with points" in no["message"]
    assert use(people.alice, "apply_voucher_to_booking", **on, booking_id=award["booking"]["booking_id"])["applied"]


def test_a_transfer_is_followed_until_it_posts(people: People, use: Use) -> None:
    trip = use(people.alice, "create_trip", name="Rome")["trip"]["trip_id"]
    transfer = {"from_program": "Chase", "to_program": "Hyatt", "points": 60_000}
    use(people.alice, "save_itinerary_item", trip_id=trip, **transfer, day="2026-11-22")
    assert "Under way: 60,000 points" in use(people.alice, "get_trip", trip_id=trip)["message"]


def test_the_household_keeps_its_points_apart(people: People, use: Use) -> None:
    for member in ({}, {"member": "Anna"}):
        use(people.alice, "update_points_balance", program="air-canada-aeroplan", balance=30_000, **member)
    answer = use(people.alice, "list_points_balances")
    assert [m["member"] for m in answer["by_member"]] == [None, "Anna"]
    assert "60,000 points of Aeroplan in the household" in answer["message"]


def test_lounges_are_logged_and_counted(people: People, use: Use) -> None:
    for day in ("2026-10-01", "2026-11-01"):
        visit = {"lounge_name": "Concorde Room", "airport": "LHR", "visited_on": day}
        assert use(people.alice, "log_lounge_visit", **visit)["status"] == "ok"
    answer = use(people.alice, "list_lounge_visits")
    assert [v["visited_on"] for v in answer["visits"]] == ["2026-11-01", "2026-10-01"]


def test_an_advisor_gives_a_family_three_options(people: People, use: Use) -> None:
    client = {"client_name": "Family of four", "balances": {"american-airlines-aadvantage": 300_000}}
    portfolio = use(people.paula, "create_client_portfolio", **client)
    asked = {"origin": "LHR", "destination": "JFK", "date": "2027-03-04", "cabin": "business", "passengers": 4}
    options = use(people.paula, "search_all_airlines", **asked)["options"][:3]
    assert len(options) == 3
    number = portfolio["portfolio"]["portfolio_id"]
    answer = use(people.paula, "generate_branded_pdf", flights=options, client_portfolio_id=number)
    assert answer["status"] == "ok", answer["message"]
    no = use(people.paula, "generate_branded_pdf", flights=options, advisor_brand={"colour": "red"})
    assert "advisor_brand.colour" in no["message"]
    assert "accent_color" in no["message"]


def test_a_name_like_nothing_known_gets_no_far_guess(people: People, use: Use) -> None:
    answer = use(people.alice, "list_points_balances", program="Nonexistent Thing 42")
    assert (answer["status"], answer["nearest"]) == ("not_found", [])
