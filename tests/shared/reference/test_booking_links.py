"""Addresses that begin a booking: whole, of the programme's own hosts, with what was asked in them."""

from datetime import date
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.plans import CABINS
from shared.reference.booking_links import booking_link
from shared.reference.load import reference
from shared.reference.provenance import is_primary

DAY = date(2027, 3, 5)


@pytest.mark.parametrize(
    ("program", "asked"),
    [
        ("air-canada-aeroplan", {"org0": "LHR", "dest0": "YYZ", "departureDate0": "2027-03-05", "ADT": "2"}),
        ("british-airways-club", {"departInputDate": "05/03/2027", "NumberOfAdults": "2", "CabinCode": "C"}),
        ("delta-skymiles", {"departureDate": "03/05/2027", "passengerInfo": "ADT:2"}),
        ("virgin-atlantic-flying-club", {"passengerInfo": "ADT:2|GBE:0|CNN:0|INF:0", "originCity": "LHR"}),
        ("flying-blue", {"connections": "LHR:A:20270305>YYZ:A", "cabinClass": "BUSINESS", "pax": "2:0:0:0:0:0:0:0"}),
        ("etihad-guest", {"DATE_1": "202703050000", "CABIN": "B"}),
    ],
)
def test_booking_link_fills_in_the_journey(program: str, asked: dict[str, str]) -> None:
    link = booking_link(reference(), program, "LHR", "YYZ", DAY, passengers=2, cabin="business")
    query = parse_qs(urlsplit(link or "").query)
    assert {name: query[name][0] for name in asked} == asked


def test_booking_link_leads_to_the_page_or_site_that_takes_no_route_and_to_nothing_where_none_is_known() -> None:
    assert booking_link(reference(), "korean-air-skypass", "LHR", "ICN", DAY) == (
        "https://www.koreanair.com/us/en/skypass/use/award/redeem-award"
    )
    assert booking_link(reference(), "iberia-club", "LHR", "MAD", DAY) == "https://www.iberia.com/"
    assert booking_link(reference(), "hilton-honors", "LHR", "MAD", DAY) is None


@given(
    st.sampled_from([row.program for row in reference().rows("booking_links.csv")]),
    st.sampled_from(sorted(reference().airports)),
    st.sampled_from(sorted(reference().airports)),
    st.dates(date(2026, 1, 1), date(2030, 1, 1)),
    st.integers(1, 9),
    st.sampled_from([None, *CABINS]),
)
@settings(max_examples=30)
def test_every_link_is_whole(program: str, start: str, end: str, day: date, passengers: int, cabin: str | None) -> None:
    link = booking_link(reference(), program, start, end, day, passengers=passengers, cabin=cabin)
    assert link is not None
    assert not set("{} ") & set(link)
    assert is_primary(link, frozenset(row.host for row in reference().rows("primary_hosts.csv")))
