"""The invented world as a traveller would judge it: times, nights, cabins, taxes, and who sells what."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import permutations
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shared.domain.plans import CABINS
from shared.providers.contract import AwardSeat, HotelSpot, SeatsQuestion, StaysQuestion
from shared.providers.sandbox import carriers, client, market, timetable
from shared.reference.departure_duty import find_duty_rates
from shared.reference.load import reference

TODAY = date(2026, 11, 21)
_AIRPORTS = """LHR MAN EDI JFK EWR BOS ORD LAX SFO SEA MIA YYZ CDG FRA ZRH MUC AMS MAD DXB DOH SIN HKG NRT HND SYD
AKL GRU"""
_AIRLINES = "AA AC AF AS B6 BA CX DL EI EK IB JL KL LH LX NH NZ QF QR SQ TK UA VS WN"


def find_seats(origin: str, destination: str, *airlines: str, first: int = 30, days: int = 40) -> list[AwardSeat]:
    start = TODAY + timedelta(days=first)
    question = SeatsQuestion(origin, destination, start, start + timedelta(days=days), airlines)
    return list(market.find_seats(question, TODAY, {}))


@cache
def list_flown() -> list[tuple[str, str, str]]:
    pairs = [(airline, *ends) for airline in _AIRLINES.split() for ends in permutations(_AIRPORTS.split(), 2)]
    return [pair for pair in pairs if market.find_path(*pair)]


FLOWN = st.deferred(lambda: st.sampled_from(list_flown()))
# Clocks change in Sydney and Auckland on 4 April 2027, in Europe on 28 March, in North America on 14 March.
DAYS_OF_CHANGE = st.sampled_from([(date(2027, 4, 3) - TODAY).days, (date(2027, 3, 27) - TODAY).days, 112, 113])


@settings(max_examples=60)
@given(flown=FLOWN, ahead=DAYS_OF_CHANGE | st.integers(1, 330))
@example(flown=("AA", "SYD", "LHR"), ahead=133)
def test_no_flight_lands_or_leaves_in_a_curfew_and_clocks_agree(flown: tuple[str, str, str], ahead: int) -> None:
    airline, *ends = flown
    path = market.find_path(airline, *ends)
    assert path is not None
    departs, arrives, minutes = timetable.compute_times(path, TODAY + timedelta(days=ahead))
    assert arrives is not None
    start, end = (datetime.fromisoformat(text) for text in (departs, arrives))
    assert not timetable.is_shut(ends[0], start.hour * 60 + start.minute)
    assert not timetable.is_shut(ends[1], end.hour * 60 + end.minute)
    moments = [
        local.replace(tzinfo=ZoneInfo(reference().airport(code).tz)).timestamp()
        for local, code in zip((start, end), ends, strict=True)
    ]
    assert moments[1] - moments[0] == 60 * minutes


@settings(max_examples=30)
@given(flown=FLOWN)
def test_a_seat_is_in_a_cabin_of_its_carrier_and_its_taxes_cover_the_duty(flown: tuple[str, str, str]) -> None:
    airline, *ends = flown
    facts = reference()
    for seat in find_seats(ends[0], ends[1], airline, days=10):
        assert seat.cabin in carriers.list_cabins(airline, seat.origin, seat.destination)
        places = [facts.airport(code) for code in ends]
        for rate in find_duty_rates(facts, places[0], places[1], seat.cabin, seat.date):
            assert seat.taxes is not None
            assert seat.taxes >= rate.amount * Decimal("1.36")


@pytest.mark.parametrize(
    ("airline", "origin", "destination", "earliest", "latest"),
    [
        ("AF", "JFK", "CDG", "17:00", "22:55"),
        ("AF", "CDG", "JFK", "09:00", "16:55"),
        ("BA", "LHR", "SIN", "11:00", "22:25"),
        ("EK", "DXB", "LHR", "02:00", "22:55"),
    ],
)
def test_a_flight_leaves_in_the_bank_of_its_direction(
    airline: str, origin: str, destination: str, earliest: str, latest: str
) -> None:
    path = market.find_path(airline, origin, destination)
    assert path is not None
    times = {timetable.compute_times(path, TODAY + timedelta(days=n))[0][-5:] for n in range(60)}
    assert len(times) == 1
    assert earliest <= times.pop() <= latest


@pytest.mark.parametrize(
    ("airline", "origin", "destination", "missing"),
    [
        ("UA", "SFO", "NRT", {"first"}),
        ("VS", "LHR", "JFK", {"first"}),
        ("WN", "BWI", "MCO", {"premium_economy", "business", "first"}),
        ("KL", "AMS", "LHR", {"premium_economy", "first"}),
    ],
)
def test_a_carrier_lacks_the_cabins_it_does_not_have(
    airline: str, origin: str, destination: str, missing: set[str]
) -> None:
    assert carriers.list_cabins(airline, origin, destination) == set(CABINS) - missing


def test_surcharges_tell_carriers_apart() -> None:
    day = TODAY + timedelta(days=60)

    def ask(airline: str, program: str, origin: str = "JFK", destination: str = "LHR") -> Decimal:
        return carriers.estimate_taxes(airline, program, origin, destination, "business", day)

    assert ask("BA", "british-airways-club") > 10 * ask("UA", "united-mileageplus", "EWR", "LHR")
    assert ask("VS", "virgin-atlantic-flying-club") > 200
    assert ask("LH", "united-mileageplus", "JFK", "FRA") < 60 < ask("LH", "ana-mileage-club", "JFK", "FRA")


@pytest.mark.parametrize(
    ("airline", "program", "origin", "destination"),
    [
        ("VS", "virgin-atlantic-flying-club", "MAN", "MCO"),
        ("QF", "qantas-frequent-flyer", "SYD", "SIN"),
        ("UA", "united-mileageplus", "EWR", "LHR"),
    ],
)
def test_an_airlines_own_programme_sells_its_flights(airline: str, program: str, origin: str, destination: str) -> None:
    own = [seat for seat in find_seats(origin, destination, airline) if seat.program == program]
    assert {seat.cabin for seat in own} >= {"economy", "business"}
    assert all(seat.stops == 0 and seat.points % 100 == 0 for seat in own)


@pytest.mark.parametrize(("airline", "own"), [("BA", "british-airways-club"), ("QF", "qantas-frequent-flyer")])
def test_what_partners_sell_the_airline_sells_to_its_members(airline: str, own: str) -> None:
    seats = find_seats("SYD", "SIN", airline)
    cells = {(seat.date, seat.cabin) for seat in seats if seat.program == own}
    assert {(seat.date, seat.cabin) for seat in seats} == cells
    assert {seat.program for seat in seats} > {own}


@settings(max_examples=20, deadline=None)
@given(
    city=st.sampled_from([("Male", "MV"), ("New York", "US"), ("Bangkok", "TH"), ("Tampa", "US")]),
    code=st.text("abcdefgh", min_size=3, max_size=6),
)
def test_a_luxury_house_costs_more_than_a_plain_one_at_the_same_place(city: tuple[str, str], code: str) -> None:
    def ask(name: str) -> HotelSpot:
        return HotelSpot(f"htl_{code}", name, "hilton-honors", *city, None, None, None)

    luxury, plain = ask("Waldorf Astoria Example"), ask("Hampton by Hilton Example")
    assert client.find_usual_night(luxury) > 3 * client.find_usual_night(plain)
    days = StaysQuestion((luxury, plain), TODAY, TODAY + timedelta(days=6), 1, 2, "USD")
    stays = [stay for stay in client.find_stays(days, TODAY, {}) if stay.cash]
    assert len({stay.hotel_code for stay in stays}) == 1
    cash = [stay.cash for stay in stays]
    half = len(cash) // 2
    assert min(c for c in cash[:half] if c) > max(c for c in cash[half + 1 :] if c)


AT_HOME = """DEL-BOM BLR-DEL MEL-PER YVR-YYZ GRU-GIG LIM-CUZ MEX-CUN FCO-CTA PEK-CAN CGK-DPS JED-RUH IST-AYT AKL-WLG
BOG-MDE HAN-SGN MNL-CEB KUL-BKI HND-CTS LHR-EDI FRA-MUC MAD-BCN JNB-CPT"""


@pytest.mark.parametrize("pair", AT_HOME.split())
def test_seats_between_two_cities_of_one_country_are_its_airlines_own(pair: str) -> None:
    origin, destination = pair.split("-")
    seats = find_seats(origin, destination)
    assert len({seat.date for seat in seats}) > 10
    for airline in {seat.airline for seat in seats}:
        path = market.find_path(airline, origin, destination)
        assert path is not None
        assert path.hub is None or reference().airport(path.hub).country == reference().airport(origin).country


@pytest.mark.parametrize("pair", ["LHR-LGW", "SFO-OAK", "NRT-HND", "YVR-YYZ"])
def test_nobody_flies_across_a_city_nor_home_over_a_foreign_hub(pair: str) -> None:
    flown = [path for code in reference().airlines if (path := market.find_path(code, *pair.split("-")))]
    assert {path.airline for path in flown}.isdisjoint({"AA", "DL", "UA", "BA", "NH"})
    assert all(path.hub is None for path in flown)
