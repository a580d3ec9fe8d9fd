"""Names in letters: places with the airports they can mean, and the senders of domains."""

import pytest

from shared.reference.load import reference
from shared.reference.name_lookup import TravelNames

PLACES = {
    "New York JFK": [{"JFK"}],
    "Tokyo Haneda": [{"HND"}],
    "東京(羽田)": [{"HND"}],
    "ロンドン(ヒースロー空港)": [{"LHR"}],
    "ROME-FIUMICINO": [{"FCO"}],
    "NYC-KENNEDY": [{"JFK"}],
    "Londres Heathrow": [{"LHR"}],
    "Heathrow (London)": [{"LHR"}],
    "NEW YORK, NY (JOHN F KENNEDY INTL)": [{"JFK"}],
    "London City Airport": [{"LCY"}],
    "Oslo-Gardermoen": [{"OSL"}],
    "Mailand Malpensa": [{"MXP"}],
    "Francoforte": [{"FRA"}],
    "Stockholm ARN - London LHR": [{"ARN"}, {"LHR"}],
    "Paris - New York": [{"CDG", "ORY"}, {"JFK", "LGA", "EWR"}],
    "we look forward to seeing you": [],
}


@pytest.mark.parametrize("text", PLACES)
def test_a_place_of_a_letter_is_its_airports(text: str) -> None:
    assert [set(codes) for _, _, codes in TravelNames(reference()).places(text)] == PLACES[text]


def test_a_domain_below_a_senders_is_the_senders() -> None:
    names = TravelNames(reference())
    assert names.sender("booking.lufthansa.com") == names.sender("lufthansa.com") == ("LH", "dmy")
    assert names.sender("mail.united.com") == ("UA", "mdy")
    assert [names.sender(domain) for domain in ("example.org", "com", "", "notlufthansa.com")] == [None] * 4


def test_every_airline_of_a_sender_is_one_that_is_known() -> None:
    rows = reference().rows("mail_senders.csv")
    assert len(rows) >= 60
    assert [row.domain for row in rows if row.airline and row.airline not in reference().carriers] == []
    assert {row.dates for row in rows} <= {"dmy", "mdy", "ymd", None}


@pytest.mark.parametrize("code", ["IB", "LH", "U2"])
def test_the_code_of_an_airline_behind_a_city_is_no_part_of_its_name(code: str) -> None:
    text = f"to Barcelona from Madrid {code} 3004"
    assert [text[start:end].split()[-1] for start, end, _ in TravelNames(reference()).places(text)] == [
        "Barcelona",
        "Madrid",
    ]
