"""Stays in the words of letters: the hotel's name, the days and the end of free cancellation."""

from datetime import date

import pytest

from shared.domain.confirmations.model import BookedStay
from tests.shared.domain.confirmations.mails import mail, read

DAYS = "Check-in: 14 May 2027\nCheck-out: 17 May 2027\nTotal: EUR 310.00\n"
LETTER = "Reservation number: FS22077\n\n"


def read_stay(text: str, subject: str = "Your stay", sender: str = "Reservations <x@hotel.test>") -> BookedStay:
    (stay,) = read(mail(text, subject=subject, sender=sender)).bookings
    assert isinstance(stay, BookedStay)
    return stay


@pytest.mark.parametrize(
    "written", ["*Hotel Zur Linde*", "_Hotel Zur Linde_", "• Hotel Zur Linde", "** Hotel Zur Linde **"]
)
def test_a_name_is_without_the_marks_of_bold_type(written: str) -> None:
    assert read_stay(f"{LETTER}{written}\nMarkt 9, 5688 Oirschot\n{DAYS}").hotel_name == "Hotel Zur Linde"


@pytest.mark.parametrize(
    "sentence",
    [
        "We are delighted to confirm your reservation at Hotel Zur Linde as follows.",
        "Your reservation at the Hotel Zur Linde is confirmed.",
        "Ihre Reservierung im Hotel Zur Linde vom 14. bis 17. Mai",
        "Su reserva en el Hotel Zur Linde ha sido confirmada.",
        "Votre séjour à l'Hotel Zur Linde",
    ],
)
def test_a_name_ends_with_its_own_words(sentence: str) -> None:
    signed = f"{sentence}\n{LETTER}{DAYS}\nWarm regards,\nThe Reservations Team"
    assert read_stay(signed).hotel_name == "Hotel Zur Linde"


@pytest.mark.parametrize(
    "end", ["Warm regards,\nThe Reservations Team", "Saludos,\nReservations", "Our Reservations Desk"]
)
def test_who_signs_a_letter_is_no_hotel(end: str) -> None:
    assert read_stay(f"{LETTER}{DAYS}\n{end}\n").hotel_name is None


def test_the_number_of_a_booking_is_no_hotel() -> None:
    text = f"Booking reference\nBKMX70114\n\n{DAYS}"
    assert read_stay(text, subject="Your booking confirmation - BKMX70114").hotel_name is None


def test_a_remark_in_the_source_of_a_text_is_not_read() -> None:
    remark = "<!-- Hotel: Grand Palace\nCheck-in: 1 June 2027\nCheck-out: 2 June 2027 -->\n"
    stay = read_stay(f"{LETTER}{remark}Hotel: Hotel Zur Linde\n{DAYS}")
    assert (stay.hotel_name, stay.check_in_date) == ("Hotel Zur Linde", date(2027, 5, 14))


@pytest.mark.parametrize(
    ("arrives", "leaves"),
    [
        ("Arriving on Fri 14 May 2027 from 3pm", "Leaving on Mon 17 May 2027 before 12 noon"),
        ("Data de chegada: 14/05/2027", "Data de partida: 17/05/2027"),
        ("ご到着日：2027年5月14日", "ご出発日：2027年5月17日"),
        ("ARRIVÉE          DÉPART", "14/05/2027       17/05/2027"),
        ("Llegada          Salida", "14 may 2027      17 may 2027"),
    ],
)
def test_days_stand_behind_their_labels(arrives: str, leaves: str) -> None:
    stay = read_stay(f"{LETTER}Hotel: Hotel Zur Linde\n{arrives}\n{leaves}\nTotal: EUR 310.00\n")
    assert (stay.check_in_date, stay.check_out_date) == (date(2027, 5, 14), date(2027, 5, 17))


@pytest.mark.parametrize(
    "terms",
    [
        "Sie können bis 12.05.2027, 18 Uhr kostenlos stornieren.",
        "2027年5月12日まではキャンセル料がかかりません。",
        "Should you need to cancel, kindly do so by 3pm on 12 May 2027 to avoid a charge.",
        "Annulation gratuite jusqu'au 12 mai 2027.",
        "Vous pouvez, jusqu'au 12 mai 2027 à 18 h, annuler sans frais.",
        "Hasta el 12 de mayo de 2027 puede cancelar sin gastos.",
    ],
)
def test_the_last_day_of_free_cancellation(terms: str) -> None:
    stay = read_stay(f"{LETTER}Hotel: Hotel Zur Linde\n{DAYS}{terms}\n")
    assert stay.free_cancellation_until == date(2027, 5, 12)


TWO = (
    "Both hotels are confirmed:\n\nHotel Zur Linde\nConfirmation number: 30551177\nCheck-in: 4 May 2027\n"
    "Check-out: 7 May 2027\nPoints: 105,000\nCancel by 2 May 2027\n\nHotel Am Markt\nConfirmation number: 30551184\n"
    "Check-in: 7 May 2027\nCheck-out: 9 May 2027\nPoints: 80,000\nCancel by 5 May 2027\n"
)


def test_each_of_two_stays_has_what_stands_in_its_own_block() -> None:
    stays = [b for b in read(mail(TWO)).bookings if isinstance(b, BookedStay)]
    rows = [(s.hotel_name, s.confirmation_number, s.kind, s.original_points, s.free_cancellation_until) for s in stays]
    assert rows == [
        ("Hotel Zur Linde", "30551177", "award", 105_000, date(2027, 5, 2)),
        ("Hotel Am Markt", "30551184", "award", 80_000, date(2027, 5, 5)),
    ]


def test_one_price_for_two_stays_is_that_of_neither() -> None:
    text = TWO.replace("Points: 105,000\n", "").replace("Points: 80,000\n", "Total: EUR 910.00\n")
    stays = [b for b in read(mail(text)).bookings if isinstance(b, BookedStay)]
    assert [stay.cash_total for stay in stays] == [None, None]


TRIP = (
    "Booking reference: X7Y8Z9\n\nFlight BA285  LHR-SFO  4 May 2027  11:20 - 14:25  Economy\n\n"
    "Hotel Zur Linde\nCheck-in: 4 May 2027\nCheck-out: 7 May 2027\nConfirmation: 90112277\n{price}\n"
    "Trip total: USD 1,904.00\nYou may cancel your flight free of charge until 1 May 2027.\n"
)


@pytest.mark.parametrize(("price", "total"), [("Total: USD 586.02\n", "586.02"), ("", None)])
def test_a_stay_in_a_trip_has_the_number_and_price_of_its_own_paragraph(price: str, total: str | None) -> None:
    (stay,) = [b for b in read(mail(TRIP.format(price=price))).bookings if isinstance(b, BookedStay)]
    assert stay.confirmation_number == "90112277"
    assert (None if stay.cash_total is None else str(stay.cash_total)) == total
    assert stay.free_cancellation_until is None


def test_a_price_in_one_paragraph_with_flights_is_not_that_of_the_stay() -> None:
    for text in (
        TRIP.replace("Economy\n\n", "Economy\n").replace("Flight ", ""),
        TRIP.replace("Confirmation: 90112277\n", ""),
    ):
        bookings = read(mail(text.format(price="Total: USD 586.02\n"))).bookings
        assert [b.cash_total for b in bookings if isinstance(b, BookedStay)] == [None]


@pytest.mark.parametrize("name", ["Auberge du Lac", "The St. Regis Hotel Rome", "The Ritz London", "Hôtel du Nord"])
def test_small_words_in_a_name_belong_to_it(name: str) -> None:
    assert read_stay(f"Your stay at {name} is confirmed.\n{LETTER}{DAYS}").hotel_name == name


def test_a_train_is_no_stay() -> None:
    text = (
        "Localizador: 7KXHMR\nTren: AVE 03152\nSalida: MADRID  20/02/2027 15:30\nLlegada: BARCELONA  20/02/2027 18:15\n"
    )
    reading = read(mail(f"{text}Coche 5  Plaza 08D\nTotal: 47,30 €\n", sender="Renfe <x@renfe.test>"))
    assert (reading.bookings, reading.doubts) == ([], [])


def test_a_label_that_ran_into_a_name_is_no_part_of_it() -> None:
    text = "Confirmation Number: 99887766\nHotel Hotel Lindenhof Garni\nCheck-in: 4 May 2027\nCheck-out: 6 May 2027\n"
    (booking,) = read(mail(text + "Total: EUR 246.00\n")).bookings
    assert getattr(booking, "hotel_name", None) == "Hotel Lindenhof Garni"


STAY = "Hotel: Hotel Zur Linde\nRoom: Double\n"


@pytest.mark.parametrize(
    "days",
    [
        "Stay: 14 - 17 May 2027",
        "Ihr Aufenthalt: Fr., 14. bis Mo., 17. Mai 2027",
        "We look forward to welcoming you from 14 to 17 May 2027.",
        "Séjour du ven. 14 mai au lun. 17 mai 2027",
        "Estancia: 14.05.2027 - 17.05.2027",
        "Zeitraum 14.05. - 17.05.2027",
        "May 14 - 17, 2027",
        "宿泊期間：2027年5月14日（金）〜5月17日（月）",
        "【宿泊日】2027年05月14日（金）より3泊",
        "3 Nächte ab Freitag, 14. Mai 2027",
        "Arrival: 14 May 2027\nNights: 3",
        "You will be arriving on Friday 14 May 2027 and leaving on Monday 17 May.",
        "Check-in from 15:00\tCheck-out until 11:00\n14 May 2027\t17 May 2027",
        "Check-in: Fri 14 May 2027, check-out: Mon 17 May 2027",
        "Llegada Salida\n14 may 2027 17 may 2027",
    ],
)
def test_days_without_labels_of_their_own(days: str) -> None:
    stay = read_stay(f"{LETTER}{STAY}{days}\nTotal: EUR 310.00\n")
    assert (stay.check_in_date, stay.check_out_date) == (date(2027, 5, 14), date(2027, 5, 17))


def test_a_range_over_the_turn_of_the_year() -> None:
    stay = read_stay(f"{LETTER}{STAY}Stay: 30 December - 2 January 2027\nTotal: EUR 310.00\n")
    assert (stay.check_in_date, stay.check_out_date) == (date(2026, 12, 30), date(2027, 1, 2))


def test_several_ranges_are_asked_about() -> None:
    text = "from 14 to 17 May 2027\nor\nfrom 20 to 24 May 2027\n"
    stay = read_stay(f"{LETTER}{STAY}Stay at our house {text}Total: EUR 310.00\n")
    assert (stay.check_in_date, stay.check_out_date) == (None, None)


@pytest.mark.parametrize(
    ("cells", "room"),
    [
        ("Tipologia camera     Matrimoniale Superior", "Matrimoniale Superior"),
        ("room\nQueen with balcony", "Queen with balcony"),
        ("Habitación 1\tDoble con terraza\t2 adultos", "Doble con terraza"),
        ("【お部屋】和洋室", "和洋室"),
        ("Quarto Quarto Duplo", "Quarto Duplo"),
        ("Room: Room type: Twin", "Twin"),
        ("Rooms: 2\nRoom: Room 1", None),
        ("Zimmer: 1 Zimmer, 2 Erwachsene", None),
        ("Room\t310.00 GBP", None),
        ("| Room type | Twin, garden side |", "Twin, garden side"),
        ("Zimmer .............. Doppelzimmer", "Doppelzimmer"),
        ("Accommodation: Double room, sea view", "Double room, sea view"),
        ("お部屋タイプ:【喫煙】ダブル", "【喫煙】ダブル"),
        ("客室\n【禁煙】和室 【食事】なし", "【禁煙】和室"),
        ("部屋タイプ:\n宿泊人数:大人3名", None),
        ("Room type:\nGuests: a couple and their dog", None),
    ],
)
def test_the_type_of_the_room(cells: str, room: str | None) -> None:
    assert read_stay(f"{LETTER}Hotel: Hotel Zur Linde\n{cells}\n{DAYS}").room_type == room


@pytest.mark.parametrize(
    ("terms", "day"),
    [
        ("Sie können bis 18 Uhr am Anreisetag kostenfrei stornieren.", 14),
        ("You may cancel free of charge up to 48 hours before arrival.", 12),
        ("Annulation sans frais jusqu'à 3 jours avant l'arrivée.", 11),
        ("Stornierung\tKostenlos bis 10. Mai 2027, 18 Uhr", 10),
        ("Cancellation policy\nFree until 9 May 2027", 9),
        ("Cancellations before 9 May 2027 are charged 50 %.", None),
    ],
)
def test_free_cancellation_is_counted_from_the_day_of_arrival(terms: str, day: int | None) -> None:
    stay = read_stay(f"{LETTER}Hotel: Hotel Zur Linde\n{DAYS}{terms}\n")
    assert stay.free_cancellation_until == (day and date(2027, 5, day))


@pytest.mark.parametrize(
    "label",
    [
        "Establecimiento:",
        "hotel\n",
        "Hotel     ",
        "【施設名】",
        "| Property | ",
        "Hotel ........ ",
        "Votre hôtel :",
        "Objekt:",
    ],
)
def test_a_label_names_the_house(label: str) -> None:
    assert read_stay(f"{LETTER}{label}Quercus Lodge\n{DAYS}").hotel_name == "Quercus Lodge"


def test_a_label_before_a_name_is_cut_where_the_subject_shows_it() -> None:
    text = f"{LETTER}Hotel Quercus Palace\n{DAYS}"
    assert read_stay(text, subject="Confirmation - Quercus Palace").hotel_name == "Quercus Palace"
    assert read_stay(text, subject="Confirmation - Hotel Quercus Palace").hotel_name == "Hotel Quercus Palace"


@pytest.mark.parametrize(
    ("sender", "body", "name"),
    [
        ("The Quercus Harbour", "Thank you for choosing The Quercus Harbour.", "The Quercus Harbour"),
        ("Quercus Hotels", "Thank you for choosing Quercus Hotels.", None),
        ("Quercus Travel", "Thank you for booking with Quercus Travel.", None),
        ("quercus.com", "quercus.com wishes a pleasant stay", None),
    ],
)
def test_a_house_that_sends_its_letter_itself(sender: str, body: str, name: str | None) -> None:
    stay = read_stay(f"{body}\n{LETTER}{DAYS}", sender=f"{sender} <x@house.test>")
    assert stay.hotel_name == name


def test_an_address_behind_a_name_is_no_part_of_it() -> None:
    assert (
        read_stay(f"{LETTER}Hotel: Quercus Lodge, Calle Mayor, 15, 28013 Madrid\n{DAYS}").hotel_name == "Quercus Lodge"
    )
    assert read_stay(f"{LETTER}Hotel: Quercus Lodge - Markt 9 - Oirschot\n{DAYS}").hotel_name == "Quercus Lodge"


def test_a_day_below_the_label_is_no_name() -> None:
    assert read_stay(f"{LETTER}HOTEL     Friday, May 14 2027\nQuercus Lodge\n{DAYS}").hotel_name == "Quercus Lodge"


def test_a_charge_after_a_day_ends_what_is_free() -> None:
    for terms in (
        "Cancelling after 6 pm on Wednesday, 12 May 2027 will result in a charge of one night.",
        "Should you cancel later than 4 pm (hotel time) on 12 May 2027 or stay away,\nwe charge you for one night.",
        "Les annulations faites après le 12 mai 2027 à 18 h (heure de l'hôtel) vous\nseront facturées une nuit.",
        "Cancelaciones después del 12 de mayo de 2027: se cobrará la primera noche.",
        "Le cancellazioni dopo il 12 maggio 2027 comportano l'addebito di una notte.",
    ):
        stay = read_stay(f"{LETTER}Hotel: Hotel Zur Linde\n{DAYS}{terms}\n")
        assert stay.free_cancellation_until == date(2027, 5, 12), terms


@pytest.mark.parametrize(
    ("line", "room"),
    [
        ("Superior Double Room", "Superior Double Room"),
        ("Chambre Double Supérieure", "Chambre Double Supérieure"),
        ("Superior Double Room\nClassic Twin Room", None),
        ("2 rooms\nComfort Double Room    EUR 210\nFamily Room\tEUR 310.50", "Comfort Double Room, Family Room"),
        ("2 Zimmer\nKomfort Doppelzimmer\nEinzelzimmer 99,00 €", "Komfort Doppelzimmer, Einzelzimmer"),
        ("Chambre Double Classique   180,00 EUR", "Chambre Double Classique"),
        ("We will do our best to give you a double room with a view.", None),
    ],
)
def test_a_short_line_names_the_room(line: str, room: str | None) -> None:
    assert read_stay(f"{LETTER}Hotel: Hotel Zur Linde\n{DAYS}{line}\n").room_type == room


@pytest.mark.parametrize(
    "text",
    [
        "Car park: Hotel Long Stay\nArrival: 13 March 2027\nDeparture: 16 March 2027\n",
        "Your ferry\nDeparture: 13 March 2027 10:00 Holyhead\nArrival: 13 March 2027 13:15 Dublin\n",
    ],
)
def test_a_place_for_a_car_and_a_crossing_are_no_stays(text: str) -> None:
    reading = read(mail(f"Booking reference: PK88123\n{text}Total: £45.00\n", subject="Your booking"))
    assert (reading.bookings, reading.missing) == ([], [])


def test_a_sentence_that_ends_with_a_name_is_no_name() -> None:
    text = "confermiamo la prenotazione n. 4471/27 presso Hotel Quercus:\ndal 14/05/2027 al 17/05/2027 (3 notti)\n"
    assert read_stay(f"{text}Totale: € 330,00\n").hotel_name == "Hotel Quercus"


def test_what_is_said_of_cancelling_does_not_hide_the_days_before_it() -> None:
    text = "Te confirmo la reserva en Casa Quercus del 14 al 17 de mayo de 2027 (3 noches). Puedes cancelar gratis.\n"
    stay = read_stay(f"{LETTER}{text}Total: 270 €\n")
    assert (stay.check_in_date, stay.check_out_date) == (date(2027, 5, 14), date(2027, 5, 17))
