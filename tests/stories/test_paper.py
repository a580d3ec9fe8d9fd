"""Stories of other people's paper: bills, statements and mails, from what is sent to what is stored and said."""

from typing import Any

import pytest

from tests.mcp_server.tools.conftest import Use
from tests.mcp_server.tools.test_inbound_mail import arrive, messages
from tests.shared.domain.confirmations.mails import mail
from tests.support.people import People

AWARD_NIGHTS = """Park Hyatt Chicago  Folio
Arrival 03/10/26  Departure 03/12/26
Award Redemption stay
03/10/26 Resort Fee 45.00
03/10/26 Resort Fee Tax 7.83
03/10/26 Valet Parking 68.00
03/11/26 Resort Fee 45.00
03/11/26 Resort Fee Tax 7.83
03/11/26 Valet Parking 68.00
03/11/26 Breakfast Restaurant 48.00
Total  289.66 USD
"""


def test_my_award_bill_has_a_resort_fee(people: People, use: Use) -> None:
    bill = {"folio_text": AWARD_NIGHTS, "chain": "hyatt", "status_tier": "Globalist"}
    answer = use(people.alice, "audit_hotel_folio", **bill)
    assert {f["rule"]: f["amount"] for f in answer["findings"]}["H01"] == 105.66
    assert (answer["totals"]["currency"], answer["totals"]["disputed"]) == ("USD", 289.66)
    assert "3 findings on 7 lines" in answer["message"]
    assert "a Award" not in answer["dispute_template"]


@pytest.mark.parametrize(
    ("lines", "total"),
    [
        (("Room Charge 612.50", "Room Charge 612.50"), "Total 1,225.00 USD"),
        (("Room Charge 1,612.50", "Room Charge 1,612.50"), "Balance 3,225.00"),
        (("Room Charge 612.50", "Room Charge 612.50"), "Total: $1,225.00"),
        (("Room Charge Points+Cash 412.50", "Room Charge Points+Cash 412.50"), "Total 825.00"),
    ],
)
def test_my_bill_of_two_nights_adds_up(people: People, use: Use, lines: tuple[str, ...], total: str) -> None:
    text = "\n".join(["Hyatt Regency Boston", *(f"03/1{n}/26 {line}" for n, line in enumerate(lines)), total])
    answer = use(people.alice, "audit_hotel_folio", folio_text=text, chain="hyatt")
    assert (answer["findings"], answer["totals"]["disputed"]) == ([], 0)
    assert answer["totals"]["printed_balance"] == answer["totals"]["charges"]
    assert "does not add up" not in answer["message"]


def test_a_points_and_cash_stay_with_other_fees_is_read_whole(people: People, use: Use) -> None:
    text = """Hyatt Regency Boston
03/10/26 Room Charge Points+Cash 412.50
03/11/26 Room Charge Points+Cash 412.50
03/12/26 No-Show Charge 412.50
03/12/26 Late Cancellation Fee 240.00
Total 1,477.50 USD
"""
    totals = use(people.alice, "audit_hotel_folio", folio_text=text, chain="hyatt")["totals"]
    assert (totals["charges"], totals["credits"], totals["printed_balance"]) == (1477.5, 0, 1477.5)


def test_a_platinum_paid_for_internet_and_late_checkout(people: People, use: Use) -> None:
    text = """Marriott Marquis  Arrival 03/10/26  Departure 03/11/26
03/10/26 Room Charge 289.00
03/10/26 Premium Internet 14.95
03/11/26 Late Check-Out Fee 75.00
Total 378.95 USD
"""
    answer = use(people.alice, "audit_marriott_folio", folio_text=text, status_tier="platinum")
    amounts = {f["amount"] for f in answer["findings"]}
    assert {14.95, 75.0} <= amounts


def test_a_letter_says_if_where_nobody_said_so(people: People, use: Use) -> None:
    text = """InterContinental London Park Lane
10 Mar 2026 Room 350.00
10 Mar 2026 Breakfast 38.00
11 Mar 2026 Room 350.00
11 Mar 2026 Breakfast 38.00
Total GBP 776.00
"""
    bill = {"folio_text": text, "chain": "ihg", "status_tier": "Diamond"}
    answer = use(people.alice, "audit_hotel_folio", **bill)
    (breakfast,) = answer["findings"]
    assert (breakfast["severity"], breakfast["amount"], breakfast["currency"]) == ("low", 76, "GBP")
    assert "if I chose breakfast" in answer["dispute_template"]
    assert "which I chose" not in answer["dispute_template"]


def test_a_german_bill_has_a_night_too_many(people: People, use: Use) -> None:
    text = """Courtyard by Marriott Berlin  Rechnung
Anreise 10.03.2026  Abreise 12.03.2026
10.03.2026 Logis 149,00
11.03.2026 Logis 149,00
12.03.2026 Logis 149,00
Gesamtbetrag EUR 447,00
"""
    answer = use(people.alice, "audit_marriott_folio", folio_text=text)
    (extra,) = answer["findings"]
    assert (extra["amount"], extra["currency"], extra["lines"]) == (149, "EUR", ["Logis"])


def test_a_statement_is_imported_once_and_refunds_are_netted(people: People, use: Use) -> None:
    text = (
        "Transaction Date,Post Date,Description,Category,Type,Amount,Memo\n"
        "10/03/2026,10/04/2026,WHOLE FOODS,Groceries,Sale,-84.00,\n"
        "10/05/2026,10/06/2026,TARGET,Shopping,Sale,-50.00,\n"
        "10/07/2026,10/08/2026,TARGET,Shopping,Return,21.00,\n"
        "10/09/2026,10/10/2026,Payment Thank You-Mobile,,Payment,500.00,\n"
    )
    first = use(people.alice, "import_spending_statement", statement_text=text, currency="USD")
    assert (first["status"], first["imported"], first["currency"]) == ("ok", True, "USD")
    again = use(people.alice, "import_spending_statement", statement_text=text, currency="USD")
    assert again["already_imported"] is True
    summary = use(people.alice, "get_spending_summary")
    assert "113" in summary["message"]  # 84 + 50 - 21, the payment apart


def test_statements_in_two_currencies_can_both_be_reached(people: People, use: Use) -> None:
    for currency, shop in (("USD", "WHOLE FOODS"), ("GBP", "SAINSBURYS")):
        text = f"Date,Description,Amount\n2026-10-13,{shop},84.00\n2026-10-15,{shop},16.00\n"
        sent = {"statement_text": text, "currency": currency}
        assert use(people.alice, "import_spending_statement", **sent)["status"] == "ok"
    for currency in ("USD", "GBP"):
        answer = use(people.alice, "get_spending_summary", currency=currency)
        assert (answer["status"], answer["currency"]) == ("ok", currency)


def receive(use: Use, people: People, text: str, **headers: str) -> dict[str, Any]:
    arrive(use, people.alice, mail(text=text, **headers))
    (message,) = messages(use, people.alice)
    return message


AWARD = """Booking reference: 8KLM2P
BA0117 London Heathrow (LHR) - New York (JFK) 15 Jan 2027 08:25 11:20 Club World
Avios: 80,000
Taxes, fees and charges: GBP 350.00
"""


def test_a_forwarded_award_mail_is_an_award_and_no_paid_flying(people: People, use: Use) -> None:
    use(people.alice, "set_loyalty_status", program="british-airways-club", tier="Silver", progress=9_000)
    message = receive(use, people, AWARD, subject="Booking confirmation 8KLM2P")
    assert message["state"] == "imported"
    (booking,) = use(people.alice, "list_flight_bookings")["bookings"]
    assert (booking["kind"], booking["points_spent"], booking["taxes_paid"]) == ("award", 80_000, 350)
    assert use(people.alice, "get_status_progress")["progress"][0]["estimated_from_bookings"] == 0


def test_the_same_number_twice_is_two_flights(people: People, use: Use) -> None:
    text = """Booking reference: 7KLM2P
BA0117 London Heathrow (LHR) - New York (JFK) 10 Mar 2027 08:25 11:20 Club World
BA0117 London Heathrow (LHR) - New York (JFK) 17 Mar 2027 08:25 11:20 Club World
Total paid: GBP 4,200.00
"""
    receive(use, people, text, subject="Your booking 7KLM2P")
    stored = use(people.alice, "list_flight_bookings")["bookings"]
    parsed = messages(use, people.alice)[0]["parsed"]["bookings"]
    days = {b["departure_date"] for b in stored or parsed}
    assert days == {"2027-03-10", "2027-03-17"}


def test_a_mail_without_a_price_waits_and_shows_what_it_says(people: People, use: Use) -> None:
    message = receive(use, people, AWARD.replace("Avios: 80,000\n", "").replace("GBP 350.00", "see receipt"))
    assert message["state"] == "needs_review"
    assert use(people.alice, "list_flight_bookings")["bookings"] == []
    assert "kind" in str(message["missing"])
    assert "8KLM2P" in str(message)


def test_a_person_asks_when_they_leave(people: People, use: Use) -> None:
    receive(use, people, AWARD, subject="Booking confirmation 8KLM2P")
    (booking,) = use(people.alice, "list_flight_bookings")["bookings"]
    answer = use(people.alice, "get_flight_booking", booking_id=booking["booking_id"])
    assert "08:25" in str(answer["booking"])
    assert "Europe/London" in str(answer["booking"])
