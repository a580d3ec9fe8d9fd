"""Files attached to a mail: calendar entries are read for flights and stays, and what is not read is said."""

from typing import Any

import pytest

from shared.domain.confirmations.model import to_json
from tests.shared.domain.confirmations.attachments import letter
from tests.shared.domain.confirmations.mails import data, flight, mail, read

ENTRY = {
    "DTSTART;TZID=Europe/London": "20270312T063000",
    "DTEND;TZID=Europe/Dublin": "20270312T075000",
    "SUMMARY": "Flight EI 151 LHR - DUB",
    "LOCATION": "London Heathrow (LHR)",
    "DESCRIPTION": "Booking reference: 2ABCDE\\nEI 151 London (LHR) to Dublin (DUB)\\nEconomy",
}
STAY = {
    "DTSTART;TZID=Asia/Tokyo": "20270514T150000",
    "DTEND;TZID=Asia/Tokyo": "20270517T110000",
    "SUMMARY": "Your stay",
    "LOCATION": "Park Hyatt Tokyo\\, 3-7-1-2 Nishi Shinjuku",
    "DESCRIPTION": "Confirmation number: 77889900",
}


def calendar(*entries: dict[str, str], method: str = "PUBLISH") -> str:
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", f"METHOD:{method}"]
    for entry in entries:
        lines += ["BEGIN:VEVENT", *(f"{name}:{value}" for name, value in entry.items()), "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""])


def mail_with_entry(entries: str, **more: Any) -> bytes:
    return letter(entries.encode(), "text/calendar", "trip.ics", **more)


def bookings(raw: bytes) -> list[dict[str, Any]]:
    return [to_json(b) for b in read(raw).bookings]


def test_a_flight_of_a_calendar_entry_is_read() -> None:
    (result,) = bookings(mail_with_entry(calendar(ENTRY)))
    expected = {
        "flight_number": "EI151", "origin": "LHR", "destination": "DUB", "departure_date": "2027-03-12",
        "departure_time": "06:30", "arrival_time": "07:50", "cabin_class": "economy", "confirmation_number": "2ABCDE",
    }  # fmt: skip
    assert result | expected == result
    assert read(mail_with_entry(calendar(ENTRY))).missing == ["kind"]


PLACED = {
    "title of cities": ("Flight EI 151 London to Dublin", "London Heathrow (LHR)"),
    "title with both names": ("EI151 London Heathrow to Dublin", "London Heathrow (LHR)"),
    "title of the destination": ("Flight to Dublin (DUB)", "London Heathrow (LHR)"),
    "title of the destination and the number": ("Flight to Dublin (EI 151)", "London LHR"),
    "address": ("Flight EI 151 London to Dublin", "Heathrow Airport\\, Longford TW6\\, UK"),
    "title of both codes": ("EI151 LHR-DUB", "Terminal 2"),
    "both ends in the place": ("EI 151", "LHR to DUB"),
}


@pytest.mark.parametrize("case", PLACED)
def test_a_flight_leaves_where_its_entry_is_unless_the_title_names_both_ends(case: str) -> None:
    title, place = PLACED[case]
    words = {"SUMMARY": title, "LOCATION": place, "DESCRIPTION": "Booking reference: 2ABCDE\\nEI 151\\nEconomy"}
    (result,) = bookings(
        mail_with_entry(calendar({"DTSTART": "20270312T063000Z", "DTEND": "20270312T075000Z"} | words))
    )
    assert (result["origin"], result["destination"]) == ("LHR", "DUB")
    assert (result["departure_time"], result["arrival_time"]) == ("06:30", "07:50")


def test_an_entry_of_twenty_minutes_from_london_to_paris_is_asked_about() -> None:
    times = {"DTSTART": "20270312T080500", "DTEND": "20270312T092000"}
    words = {"SUMMARY": "BA 304 LHR - CDG", "DESCRIPTION": "Booking reference: 2ABCDE\\nEconomy"}
    assert "arrival_time" in read(mail_with_entry(calendar(times | words))).missing


def test_moments_in_utc_are_put_on_the_clocks_of_the_airports() -> None:
    entry = ENTRY | {
        "SUMMARY": "SQ 31 SFO - SIN", "LOCATION": "", "DESCRIPTION": "Booking reference: SQ31XX\\nBusiness",
        "DTSTART": "20270312T233000Z", "DTEND": "20270313T143000Z",
    }  # fmt: skip
    del entry["DTSTART;TZID=Europe/London"], entry["DTEND;TZID=Europe/Dublin"]
    (result,) = bookings(mail_with_entry(calendar(entry)))
    assert (result["departure_date"], result["departure_time"]) == ("2027-03-12", "15:30")
    assert (result["arrival_date"], result["arrival_time"]) == ("2027-03-13", "22:30")


def test_a_stay_of_a_calendar_entry_is_read_also_as_a_file_of_no_known_kind() -> None:
    (result,) = bookings(letter(calendar(STAY).encode(), "application/octet-stream", "stay.ics"))
    assert (result["hotel_id"], result["check_in_date"], result["check_out_date"]) == (
        "htl_park-hyatt-tokyo",
        "2027-05-14",
        "2027-05-17",
    )


def test_an_entry_of_whole_days_leaves_the_day_of_leaving_open() -> None:
    entry = {"DTSTART;VALUE=DATE": "20270514", "DTEND;VALUE=DATE": "20270517"} | {k: STAY[k] for k in list(STAY)[2:]}
    assert read(mail_with_entry(calendar(entry))).missing == ["check_out_date", "kind"]


@pytest.mark.parametrize(
    "raw",
    [
        mail_with_entry(calendar(ENTRY, method="CANCEL")),
        mail_with_entry(calendar(ENTRY | {"STATUS": "CANCELLED"})),
        mail_with_entry(calendar(ENTRY, ENTRY | {"SUMMARY": "EI 152"}), text="Your booking 2ABCDE has been cancelled."),
    ],
    ids=["by its method", "by its state", "by the letter around it"],
)
def test_an_entry_that_is_called_off_books_nothing(raw: bytes) -> None:
    assert {(b["action"], b["confirmation_number"]) for b in bookings(raw)} == {("cancel", "2ABCDE")}


def test_a_meeting_is_no_stay_and_rubbish_is_nothing() -> None:
    meeting = {
        "DTSTART;VALUE=DATE": "20270514",
        "DTEND;VALUE=DATE": "20270517",
        "SUMMARY": "Offsite",
        "LOCATION": "Rome",
    }
    assert bookings(mail_with_entry(calendar(meeting))) == []
    assert bookings(mail_with_entry("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20279999\r\n;;;=:x\r\n")) == []


def test_data_of_the_page_goes_before_the_calendar() -> None:
    raw = mail(page=data(flight()), text=calendar(ENTRY)).replace(b"text/plain", b"text/calendar")
    assert (read(raw).source, bookings(raw)[0]["flight_number"]) == ("jsonld", "BA117")


@pytest.mark.parametrize(("kind", "name"), [("application/pdf", "e"), ("application/octet-stream", "ticket.PDF")])
def test_a_booking_that_may_be_in_a_file_is_said_to_be_unread(kind: str, name: str) -> None:
    result = read(letter(b"%PDF-1.7", kind, name))
    assert (result.bookings, result.missing) == ([], ["attached_file_not_read"])
    text = "Booking reference: X7Y8Z9\nBA 285 LHR-SFO 4 May 2027 Economy\nTotal: GBP 500.00\n"
    assert read(letter(b"%PDF-1.7", kind, name, text=text)).missing == []


def heavy_calendars() -> list[bytes]:
    zone = "BEGIN:VTIMEZONE\r\nTZID:x\r\nBEGIN:STANDARD\r\nDTSTART:16010101T000000\r\nRRULE:FREQ=SECONDLY\r\n"
    many = calendar(*[ENTRY] * 3000).replace("VERSION:2.0", f"VERSION:2.0\r\n{zone * 500}")
    return [mail_with_entry(many), mail_with_entry("BEGIN:VCALENDAR\r\n" * 20_000)]


def test_calendars_built_to_be_a_burden_hold_few_bookings() -> None:
    assert all(len(read(mail).bookings) <= 60 for mail in heavy_calendars())


def test_the_words_of_an_entry_of_whole_days_say_the_day_of_leaving() -> None:
    entry = {"DTSTART;VALUE=DATE": "20270514", "DTEND;VALUE=DATE": "20270517"} | {k: STAY[k] for k in list(STAY)[2:]}
    entry["DESCRIPTION"] = "Check-in: 14 May 2027\\nCheck-out: 17 May 2027\\nConfirmation number: 77889900"
    (result,) = bookings(mail_with_entry(calendar(entry)))
    assert (result["check_out_date"], result["hotel_name"]) == ("2027-05-17", "Park Hyatt Tokyo")
    entry["DESCRIPTION"] = entry["DESCRIPTION"].replace("14 May", "15 May")
    assert "check_in_date" in read(mail_with_entry(calendar(entry))).missing


def test_an_entry_whose_words_name_other_times_is_asked_about() -> None:
    entry = ENTRY | {"DESCRIPTION": "Booking reference: 2ABCDE\\nEI 151 LHR 09:30 - DUB 10:50\\nEconomy"}
    assert read(mail_with_entry(calendar(entry))).missing[:2] == ["kind", "departure_time"]


def test_an_entry_described_as_a_page_is_read() -> None:
    entry = {k: v for k, v in ENTRY.items() if k != "DESCRIPTION"}
    entry["X-ALT-DESC;FMTTYPE=text/html"] = "<p>Booking reference: 2ABCDE</p><p>EI 151</p><p>Business</p>"
    (result,) = bookings(mail_with_entry(calendar(entry)))
    assert (result["confirmation_number"], result["cabin_class"]) == ("2ABCDE", "business")


@pytest.mark.parametrize("place", ["12 High Street\\, Bath", "Calle Mayor\\, 15\\, 28013 Madrid"])
def test_an_address_is_no_name_of_a_hotel(place: str) -> None:
    (result,) = bookings(mail_with_entry(calendar(STAY | {"SUMMARY": "Stay at The Old Mill Inn", "LOCATION": place})))
    assert result["hotel_name"] == "The Old Mill Inn"


@pytest.mark.parametrize(
    ("title", "place"),
    [
        ("BA304 London Heathrow to Paris CDG", "London Heathrow (LHR)"),
        ("Flight BA 304 London to Paris", "London Heathrow (LHR)"),
        ("BA304 to Paris (CDG) from London (LHR)", "London Heathrow (LHR)"),
        ("Flight to Paris CDG (BA304)", "Heathrow Terminal 5"),
        ("BA304 LHR to CDG", "LHR - CDG"),
        ("BA304 LHR-CDG", "Terminal 5"),
    ],
)
def test_the_place_of_an_entry_is_where_its_flight_leaves(title: str, place: str) -> None:
    entry = {"SUMMARY": title, "LOCATION": place, "DTSTART": "20270309T070500Z", "DTEND": "20270309T082000Z"}
    reading = read(mail_with_entry(calendar(entry | {"DESCRIPTION": "Booking reference VG2KMS"})))
    values = [to_json(b) for b in reading.bookings]
    assert [(v["origin"], v["destination"], v["departure_time"], v["arrival_time"]) for v in values] == [
        ("LHR", "CDG", "07:05", "09:20")
    ]


def test_a_place_that_is_not_where_the_flight_leaves_is_asked_about() -> None:
    entry = {"SUMMARY": "BA304 LHR to CDG", "LOCATION": "Paris CDG", "DTSTART": "20270309T070500Z"}
    assert "origin" in read(mail_with_entry(calendar(entry | {"DTEND": "20270309T082000Z"}))).missing


def test_an_entry_that_repeats_or_is_in_a_zone_of_its_own_is_asked_about() -> None:
    plain = {k: v for k, v in ENTRY.items() if not k.startswith("DT")}
    days = {"DTSTART;TZID=My Zone": "20270312T063000", "DTEND;TZID=My Zone": "20270312T075000"}
    asked = {
        "departure_date": ENTRY | {"RRULE": "FREQ=WEEKLY;COUNT=3"},
        "check_in_date": STAY | {"RRULE": "FREQ=YEARLY"},
        "departure_time": plain | days,
    }
    for name, entry in asked.items():
        assert name in read(mail_with_entry(calendar(entry))).missing, name
