"""Print-outs of agencies and tables: days that look like flights, clocks with points, operators, cabins of journeys."""

from typing import Any

import pytest

from shared.domain.confirmations.flight_lines import write_colons, write_japanese_clocks
from shared.domain.confirmations.model import BookedLeg, MailReading
from shared.domain.confirmations.passengers import read_passengers
from shared.reference.load import reference
from shared.reference.name_lookup import TravelNames
from tests.shared.domain.confirmations.mails import mail, read

HEAD = "Booking reference: HX7KMR\n\n"


def _list_rows(reading: MailReading) -> list[tuple[Any, ...]]:
    legs = [b for b in reading.bookings if isinstance(b, BookedLeg)]
    return [
        (leg.flight_number, leg.origin, leg.destination, str(leg.departure_date), str(leg.departure_time)[:5])
        for leg in legs
    ]


@pytest.mark.parametrize(
    "day",
    [
        "FR 12 FEBRUAR 2027",
        "FR12FEB 2027",
        "FR12 FEB 2027",
        "VE12 FEV 2027",
        "VE 12 FEBBRAIO 2027",
        "VI 12 FEBRERO 2027",
    ],
)
def test_a_day_of_the_week_before_a_day_is_no_flight(day: str) -> None:
    text = f"{HEAD}FLIGHT LH 400   {day}\nFRANKFURT (FRA) 10:55\nNEW YORK (JFK) 13:30\n"
    assert _list_rows(read(mail(text))) == [("LH400", "FRA", "JFK", "2027-02-12", "10:55")]


@pytest.mark.parametrize(
    "rows",
    [
        (("Volo", "Data", "Da", "Partenza", "A", "Arrivo"),
         ("AZ 610", "12 marzo 2027", "Roma (FCO)", "20.55", "New York (JFK)", "23.10")),
        (("AZ 610", "Freitag, 12. März 2027"), ("20.55", "Rom (FCO)"), ("23.10", "New York (JFK)"),
         ("Gesamt", "EUR 20.55")),
        (("AZ 610", "vrijdag 12 maart 2027"), ("20u55", "Rome (FCO)"), ("23u10", "New York (JFK)")),
    ],
)  # fmt: skip
def test_clocks_without_a_colon_are_read_in_tables(rows: tuple[tuple[str, ...], ...]) -> None:
    cells = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows)
    reading = read(mail(None, page=f"<p>{HEAD}</p><table>{cells}</table>"))
    assert _list_rows(reading) == [("AZ610", "FCO", "JFK", "2027-03-12", "20:55")]


def test_a_price_with_a_point_is_no_clock() -> None:
    lines = ["AZ 610 12 marzo 2027", "FCO - JFK", "Tasse 20.55", "Totale\t€ 10.40", "12.03.2027"]
    assert write_colons(lines) == lines


def test_points_stay_where_clocks_have_a_colon() -> None:
    lines = ["AZ 610", "FCO 10:40", "20.55"]
    assert write_colons(lines) == lines


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("午後6:35", "18:35"),
        ("午前9時05分", "9:05"),
        ("午後12:10", "12:10"),
        ("午前12:10", "0:10"),
        ("午後7時", "19:00"),
    ],
)
def test_japanese_halves_of_the_day_count(written: str, plain: str) -> None:
    assert write_japanese_clocks(written) == plain


def test_line_ends_of_preformatted_text_count() -> None:
    page = f"<p>{HEAD}</p><pre>LH 400   Fri 12 Mar 2027\nFRA   Frankfurt   10:55\nJFK   New York   13:30\n</pre>"
    assert _list_rows(read(mail(None, page=page))) == [("LH400", "FRA", "JFK", "2027-03-12", "10:55")]


@pytest.mark.parametrize(
    "label", ["Operated by EMIRATES", "durchgeführt von Emirates", "Operado por Emirates", "Opéré par Emirates"]
)
def test_who_operates_a_flight_tells_which_airport_of_a_city(label: str) -> None:
    text = f"{HEAD}QF8413\n{label}\n17 Feb 2027\nSydney 21:10\nDubai 04:25 +1\n"
    assert _list_rows(read(mail(text))) == [("QF8413", "SYD", "DXB", "2027-02-17", "21:10")]


def test_the_day_below_the_second_time_of_a_journey_is_that_of_landing() -> None:
    text = "Terugreis donderdag 27 mei 2027\n17:35 Salt Lake City SLC KL606\n10:55\nvrijdag 28 mei 2027 Amsterdam AMS\n"
    leg = read(mail(HEAD + text)).bookings[0]
    assert isinstance(leg, BookedLeg)
    assert (str(leg.departure_date), str(leg.arrival_date)) == ("2027-05-27", "2027-05-28")


@pytest.mark.parametrize(
    ("text", "cabin"),
    [("Cabin: J", "business"), ("Cabine: Y", "economy"), ("Cabin: Y/J", None), ("クラス:ビジネス(I)", "business"),
     ("Delta Main Classic (V)", "economy")],
)  # fmt: skip
def test_cabins_by_code_and_short_name(text: str, cabin: str | None) -> None:
    leg = read(mail(f"{HEAD}LH 400 Fri 12 Mar 2027 FRA 10:55 JFK 13:30\n{text}\n")).bookings[0]
    assert isinstance(leg, BookedLeg)
    assert leg.cabin_class == cabin


CAR = (
    "Confirmation number: 1129384756\n\nPick-up: Lyon Airport (LYS)\n12 March 2027, 10:30\n"
    "Drop-off: Nice Airport (NCE)\n15 March 2027, 18:00\n{}\nVehicle: Peugeot 308 or similar\nMileage: unlimited\n"
)


@pytest.mark.parametrize(
    "line",
    ["Arriving flight: UA1542", "Vol d'arrivée AF7624", "Ankunftsflug: LH2034", "Vuelo de llegada: IB1041",
     "Volo di arrivo: AZ 610", "Voo de chegada: TP 442", "Aankomstvlucht: KL 1234", "到着便:NH 211"],
)  # fmt: skip
def test_the_flight_to_a_hired_car_is_no_booking(line: str) -> None:
    assert read(mail(CAR.format(line))).bookings == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("PASSAGERS\n M.\tROSIERE GAEL\tBillet 427-2418840551\n Mme  ROSIERE MAELLE\tBillet 427-2418840552\n", 2),
        ("Reisende\nHerr\tKöhler Jan\tTicket 220-2418840551\nFrau\tKöhler Mia\tTicket 220-2418840552\n", 2),
        ("Passengers\n1. TEO HUI SHAN MS\n2. LIM WEI JIE MR\n\nPassenger Service Charge SW/OI   SGD 76.30\n", 2),
    ],
)
def test_a_title_in_a_cell_and_the_code_of_a_fee(text: str, number: int) -> None:
    assert read_passengers(text, TravelNames(reference())).number == number
