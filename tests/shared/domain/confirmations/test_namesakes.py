"""Cities that share a name: the times decide, then the airline's network, else a person is asked with the airports."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from shared.domain.confirmations.model import BookedLeg, MailReading
from shared.domain.possible_flights import judge_times
from shared.reference.load import reference
from shared.reference.name_lookup import TravelNames
from tests.shared.domain.confirmations.mails import data, flight, mail, read

NAMES = [
    *("Newcastle", "Santiago", "Manchester", "Naples", "Florence", "London", "Sydney", "Birmingham", "Melbourne"),
    *("Portland", "Valencia", "Barcelona", "Aberdeen", "Albany", "Bristol", "Charleston", "Glasgow", "Kingston"),
    *("Rochester", "Springfield", "Victoria", "San Jose", "Panama City", "San Juan", "St Petersburg"),
]
HEAD = "Your booking is confirmed\nBooking reference: YD5NRC\nTotal price: USD 312.00\n\n"


def read_flight(number: str, origin: str, place: str, lines: str) -> tuple[BookedLeg, MailReading]:
    city = reference().airports[origin].city
    reading = read(mail(f"{HEAD}{number}\n{city} ({origin}) to {place}\n{lines}\nEconomy\n"))
    (leg,) = reading.bookings
    assert isinstance(leg, BookedLeg)
    return leg, reading


def list_asked(reading: MailReading) -> set[str]:
    return {str(code) for doubt in reading.all_doubts if doubt.field == "destination" for code in doubt.values}


def find_airports(name: str) -> frozenset[str]:
    ((_, _, codes),) = TravelNames(reference()).places(name)
    return codes


def draw_flights(name: str) -> Iterator[tuple[str, str, set[str], str]]:
    """A flight to each of the airports of a name: from where, to where, which of them it can reach, and its lines."""
    draw = random.Random(name)
    served = sorted(code for code in reference().airports if reference().count_flights(code) > 3)
    for airport in sorted(find_airports(name)):
        near = [
            code
            for code in served
            if code not in find_airports(name) and 150 < reference().miles(code, airport) < 2_500
        ]
        for origin in draw.sample(near, 1):
            route = reference().route(origin, airport)
            assert route
            leaves = datetime(
                2027, 3, 9, draw.randrange(6, 20), draw.randrange(0, 60, 5), tzinfo=ZoneInfo(route.leaves)
            )
            block = timedelta(minutes=round(route.miles * 60 / 480) + 35)
            lands = (leaves.astimezone(ZoneInfo("UTC")) + block).astimezone(ZoneInfo(route.lands))
            later = (lands.date() - leaves.date()).days
            if later >= 0:
                mark = f" +{later}" if later else ""
                clocks = (leaves.date(), leaves.time()), lands.time(), lands.date() if later else None
                ways = {code: reference().route(origin, code) for code in find_airports(name)}
                fitting = {code for code, way in ways.items() if judge_times(way, *clocks).verdict == "possible"}
                yield origin, airport, fitting, f"9 March 2027\n{leaves:%H:%M} - {lands:%H:%M}{mark}"


@pytest.mark.parametrize("name", NAMES)
def test_times_tell_which_city_is_meant_or_a_person_is_asked(name: str) -> None:
    codes = find_airports(name)
    assert len(codes) > 1
    for origin, airport, fitting, lines in draw_flights(name):
        leg, reading = read_flight("XQ 1234", origin, name, lines)
        if fitting == {airport}:
            assert (leg.destination, reading.missing) == (airport, []), (origin, lines)
        else:
            assert (leg.destination, list_asked(reading)) == (None, fitting), (origin, lines)


# Without times: what the airline is known to fly, and its own country, where it may fly to any airport.
UNTIMED = [
    ("QF 1481", "SYD", "Newcastle", "NTL"),
    ("IB 431", "MAD", "Santiago", {"SCL", "SCQ"}),
    ("AA 1234", "PHL", "Manchester", {"MAN", "MHT"}),
    ("AA 1234", "DFW", "Naples", {"APF", "NAP"}),
    ("AA 1234", "CLT", "Florence", {"FLO", "FLR"}),
    ("AC 7651", "YYZ", "London", {"LHR", "YXU"}),
    ("AC 7651", "YYZ", "Sydney", {"SYD", "YQY"}),
    ("AA 1234", "MIA", "Santiago", {"SCL", "STI"}),
    ("BA 1394", "LHR", "Manchester", "MAN"),
    ("IB 3120", "MAD", "Florence", "FLR"),
    ("AA 1234", "PHL", "Manchester, NH", "MHT"),
    ("AA 1234", "PHL", "Manchester (MHT)", "MHT"),
    ("AC 7651", "YYZ", "London, Ontario", "YXU"),
    ("QF 1481", "SYD", "Newcastle, Australia", "NTL"),
    ("IB 431", "MAD", "Santiago de Compostela", "SCQ"),
    ("AA 1234", "MIA", "Santiago, Chile", "SCL"),
    ("UA 1234", "SFO", "Chicago", "ORD"),
    ("VS 3", "JFK", "London", "LHR"),
]


@pytest.mark.parametrize(("number", "origin", "name", "meant"), UNTIMED)
def test_without_times_the_network_decides_or_a_person_is_asked(
    number: str, origin: str, name: str, meant: str | set[str]
) -> None:
    leg, reading = read_flight(number, origin, name, "9 March 2027")
    assert leg.origin == origin
    if isinstance(meant, str):
        assert (leg.destination, reading.missing) == (meant, [])
    else:
        assert leg.destination is None
        assert "destination" in reading.missing
        assert meant <= list_asked(reading)


@pytest.mark.parametrize(
    ("arrival", "meant"),
    [("2027-03-09T09:45:00", "NTL"), ("2027-03-09T19:00:00", "NCL"), ("", {"NCL", "NTL"})],
)
def test_names_in_data_are_chosen_by_the_same_rule(arrival: str, meant: str | set[str]) -> None:
    names = {"departureAirport": {"name": "Brisbane"}, "arrivalAirport": {"name": "Newcastle"}}
    times = {"departureTime": "2027-03-09T08:00:00+10:00", "arrivalTime": arrival}
    leg = {"flightNumber": "1234", "airline": {"iataCode": "XQ"}} | names | times
    reading = read(mail(page=data(flight(leg=leg))))
    (booked,) = reading.bookings
    assert isinstance(booked, BookedLeg)
    assert booked.origin == "BNE"
    if isinstance(meant, str):
        assert (booked.destination, reading.missing) == (meant, [])
    else:
        assert (booked.destination, list_asked(reading)) == (None, meant)
        text = f"{HEAD}XQ 1234\nBrisbane (BNE) to Newcastle (NTL)\n9 March 2027\n08:00\n"
        assert list_asked(read(mail(text, page=data(flight("YD5NRC", leg=leg))))) == set()


def test_a_code_is_never_asked_for() -> None:
    for code in ("NCL", "MHT", "YXU"):
        leg, reading = read_flight("BA 1234", "LHR", f"({code})", "9 March 2027")
        assert (leg.destination, reading.missing) == (code, [])
