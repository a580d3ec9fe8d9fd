"""Only what was booked is imported: letters made from a hidden truth are read right or asked about, never wrong."""

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

import pytest

from shared.domain.confirmations.model import BookedLeg, MailReading
from tests.shared.domain.confirmations.mails import data, flight, mail, read, stay

MADE = {
    "en": ("Your booking is confirmed.", "Booking confirmation", "Your tickets have been issued.", "E-ticket receipt"),
    "de": ("Ihre Buchung ist bestätigt.", "Buchungsbestätigung", "Vielen Dank für Ihre Buchung."),
    "fr": ("Votre réservation est confirmée.", "Confirmation de réservation", "Billet électronique"),
    "es": ("Su reserva está confirmada.", "Confirmación de reserva", "Gracias por su compra."),
    "it": ("La tua prenotazione è confermata.", "Conferma di prenotazione", "Biglietto elettronico"),
    "pt": ("A sua reserva está confirmada.", "Confirmação de reserva", "Bilhete eletrónico"),
    "nl": ("Uw boeking is bevestigd.", "Boekingsbevestiging", "Bedankt voor uw boeking."),
    "ja": ("ご予約が確定しました", "予約確認書", "発券が完了しました"),
    "pl": ("Twoja rezerwacja została potwierdzona.", "Potwierdzenie rezerwacji", "Bilet elektroniczny"),
    "tr": ("Rezervasyonunuz onaylandı.", "Rezervasyon onayı", "Biletiniz düzenlendi."),
    "ru": ("Ваше бронирование подтверждено.", "Подтверждение бронирования", "Электронный билет"),
    "ko": ("예약이 확정되었습니다.", "예약 확인", "전자항공권"),
    "sv": ("Din bokning är bekräftad.", "Bokningsbekräftelse", "Tack för din bokning."),
    "da": ("Din booking er bekræftet.", "Bookingbekræftelse", "Tak for din bestilling."),
    "no": ("Bestillingen er bekreftet.", "Bestillingsbekreftelse", "Takk for din bestilling."),
    "zh": ("您的预订已确认", "电子客票", "出票成功"),
}
NOT_MADE = {
    "en": (
        "This is a quotation.", "Quotation 8812", "Option held until 12 Dec", "This booking is provisional.",
        "Your payment was declined by your bank.", "We could not take your payment.", "Your booking is not complete.",
        "Status: unpaid. The booking will be cancelled in 24 hours.", "DRAFT ITINERARY", "This trip needs approval.",
        "We have received your request and will reply within two days.", "Your reservation has expired.",
        "Standby listing", "You are on the waitlist for this flight.", "We were unable to issue your ticket.",
        "Please complete your purchase to keep this fare.", "Booking status: pending", "No payment has been received.",
        "To be confirmed", "Confirmation pending", "Pay now to confirm your booking", "Ticketing deadline: 30 Nov",
        "The airline has rejected this booking.", "This is not a ticket.", "Ticket voided", "Proposal for your trip",
    ),
    "de": (
        "Unverbindliches Angebot", "Zahlung fehlgeschlagen", "Ihre Buchung ist noch nicht abgeschlossen.", "Warteliste",
        "Reserviert bis 30. November", "Ihre Anfrage ist bei uns eingegangen.", "Entwurf", "Status: offen",
        "Die Buchung wird erst nach Zahlungseingang verbindlich.", "Wir konnten Ihre Karte nicht belasten.",
    ),
    "fr": (
        "Votre devis", "Paiement refusé", "Votre réservation n'est pas encore confirmée.", "Liste d'attente",
        "Option posée jusqu'au 30 novembre", "En attente de paiement", "Votre demande a bien été envoyée.",
        "Proposition de voyage", "Le paiement n'a pas abouti.",
    ),
    "es": (
        "Su presupuesto de viaje", "Pago rechazado", "Su reserva no está confirmada.", "Lista de espera",
        "Opción válida hasta el 30 de noviembre", "Hemos recibido su solicitud.", "No se pudo procesar el pago.",
    ),
    "it": (
        "Il tuo preventivo", "Pagamento non riuscito", "La prenotazione non è ancora confermata.", "Lista d'attesa",
        "Opzione valida fino al 30 novembre", "Abbiamo ricevuto la tua richiesta.", "Bozza di itinerario",
    ),
    "pt": (
        "O seu orçamento de viagem", "Pagamento recusado", "A sua reserva ainda não está confirmada.",
        "Recebemos o seu pedido de reserva.", "Aguardando pagamento", "Rascunho",
    ),
    "nl": (
        "Uw offerte", "Betaling mislukt", "Uw boeking is nog niet bevestigd.", "Optie geldig tot 30 november",
        "Wij hebben uw aanvraag ontvangen.", "Wachtlijst", "Vrijblijvend reisvoorstel",
    ),
    "ja": ("お見積り", "仮予約", "予約はまだ確定していません", "キャンセル待ち", "決済に失敗しました"),
    "pl": ("Wycena podróży", "Płatność odrzucona", "Rezerwacja nie jest jeszcze potwierdzona.", "Oczekuje na płatność"),
    "tr": ("Fiyat teklifi", "Ödemeniz reddedildi", "Rezervasyonunuz henüz onaylanmadı.", "Bekleme listesi"),
    "ru": ("Предложение", "Платёж отклонён", "Бронирование ещё не подтверждено.", "Ожидает оплаты"),
    "ko": ("견적서", "결제 실패", "예약이 아직 확정되지 않았습니다", "가예약"),
    "sv": ("Offert", "Betalningen misslyckades", "Din bokning är inte bekräftad än.", "Väntar på betalning"),
    "da": ("Tilbud", "Betalingen blev afvist", "Din booking er endnu ikke bekræftet.", "Afventer betaling"),
    "no": ("Tilbud", "Betalingen ble avvist", "Bestillingen er ikke bekreftet ennå.", "Venter på betaling"),
    "zh": ("报价单", "支付失败", "您的预订尚未确认", "待支付"),
}  # fmt: skip
OFF = {
    "en": "CANCELLED", "de": "Storniert", "fr": "Annulé", "es": "Cancelado", "it": "Cancellato", "pt": "Cancelado",
    "nl": "Geannuleerd", "ja": "欠航", "pl": "Anulowano", "tr": "İptal", "ru": "Отменён", "ko": "취소",
    "sv": "Inställd",
    "da": "Aflyst", "no": "Kansellert", "zh": "已取消",
}  # fmt: skip
ROUTES = (  # airline, route, minutes in the air by the clocks of both ends
    ("BA", "LHR", "CDG", 135), ("AF", "CDG", "LHR", 25), ("LH", "FRA", "MUC", 55), ("IB", "MAD", "BCN", 80),
    ("KL", "AMS", "LHR", 20), ("AZ", "LIN", "FCO", 70), ("SK", "CPH", "LHR", 65), ("TP", "FAO", "LIS", 50),
)  # fmt: skip
CITIES = {
    "LHR": "London", "CDG": "Paris", "FRA": "Frankfurt", "MUC": "Munich", "MAD": "Madrid", "BCN": "Barcelona",
    "AMS": "Amsterdam", "LIN": "Milan", "FCO": "Rome", "CPH": "Copenhagen", "FAO": "Faro", "LIS": "Lisbon",
}  # fmt: skip


@dataclass
class Truth:
    """One flight as it was booked, and what became of it."""

    airline: str
    number: int
    origin: str
    destination: str
    day: date
    leaves: str
    lands: str
    state: str = "made"  # or off, or wait

    @property
    def name(self) -> str:
        return f"{self.airline}{self.number}"


def _make_flights(random: Random) -> list[Truth]:
    day = date(2026, 5, 4) + timedelta(days=random.randrange(200))
    flights = []
    for airline, origin, destination, minutes in random.sample(ROUTES, random.choice((1, 1, 2))):
        start = random.randrange(6 * 60, 18 * 60, 5)
        clocks = [f"{at // 60:02}:{at % 60:02}" for at in (start, start + minutes)]
        flights.append(Truth(airline, random.randrange(200, 2000), origin, destination, day, *clocks))
        day += timedelta(days=random.randrange(3, 9))
    return flights


def _write_block(leg: Truth, word: str) -> str:
    """Lines below each other, the state at their end."""
    return (
        f"{leg.airline} {leg.number}\n{leg.day:%-d %b %Y}\n{CITIES[leg.origin]} ({leg.origin}) {leg.leaves}\n"
        f"{CITIES[leg.destination]} ({leg.destination}) {leg.lands}\nEconomy\n{word}\n"
    )


def _write_row(leg: Truth, word: str) -> str:
    """Cells of a table."""
    cells = (f"{leg.airline} {leg.number}", f"{leg.day:%-d %b %Y}", leg.origin, leg.leaves, leg.destination, leg.lands)
    return "\t".join((*cells, "Economy", word)) + "\n"


def _write_print(leg: Truth, word: str) -> str:
    """A line of a reservation system."""
    code = {"off": "UN1", "wait": "HL1"}.get(leg.state, "HK1")
    times = " ".join(clock.replace(":", "") for clock in (leg.leaves, leg.lands))
    day = f"{leg.day:%d%b%Y}".upper()
    return (
        f"{leg.airline} {leg.number} Y {day} {leg.origin}{leg.destination} {code} {times} Economy {word}".rstrip()
        + "\n"
    )


def _write_sentence(leg: Truth, word: str) -> str:
    """The places in the order to, from."""
    route = f"to {CITIES[leg.destination]} ({leg.destination}) from {CITIES[leg.origin]} ({leg.origin})"
    mark = f" ({word})" if word else ""
    return f"{leg.airline} {leg.number} {route}{mark}\n{leg.day:%-d %b %Y} {leg.leaves} - {leg.lands}\nEconomy\n"


LAYOUTS = (_write_block, _write_row, _write_print, _write_sentence)


def _judge(reading: MailReading, flights: list[Truth], was_made: bool) -> str:
    """What is wrong about what would be imported; nothing where a person is asked."""
    if reading.missing:
        return ""
    legs = [b for b in reading.bookings if isinstance(b, BookedLeg)]
    if not was_made or any(leg.state == "wait" for leg in flights):
        return "imported and not booked"
    if len(legs) != len(reading.bookings) or not legs:
        return "silent"
    read_legs = {
        (leg.flight_number, leg.origin, leg.destination, leg.departure_date, f"{leg.departure_time:%H:%M}")
        for leg in legs
        if leg.departure_time
    }
    booked = {(t.name, t.origin, t.destination, t.day, t.leaves) for t in flights if t.state == "made"}
    return "" if read_legs == booked else f"{read_legs} for {booked}"


def _make_letter(random: Random, language: str) -> tuple[bytes, list[Truth], bool]:
    flights, layout = _make_flights(random), random.choice(LAYOUTS)
    was_made = random.random() < 0.6
    if was_made and len(flights) > 1 and random.random() < 0.5:
        flights[random.randrange(2)].state = random.choice(("off", "wait") if layout is _write_print else ("off",))
    words = {"off": OFF[language]} if layout is not _write_print else {}
    word = random.choice(MADE[language]) if was_made else random.choice(NOT_MADE[language])
    body = "\n".join(layout(leg, words.get(leg.state, "")) for leg in flights)
    place = random.choice(("subject", "opening", "end"))
    neutral = "Booking confirmation" if random.random() < 0.5 else "X7Y8Z9"
    text = "\n".join(
        (
            "Booking reference: X7Y8Z9", *([word] if place == "opening" else []), "", body, "Total GBP 312.00",
            *(["", word] if place == "end" else []),
        )
    )  # fmt: skip
    return mail(f"{text}\n", subject=word if place == "subject" else neutral), flights, was_made


@pytest.mark.parametrize("language", MADE)
def test_letters_made_from_a_hidden_truth_are_read_right_or_asked_about(language: str) -> None:
    random = Random(language)
    letters = [_make_letter(random, language) for _ in range(20)]
    readings = [(read(raw), flights, was_made) for raw, flights, was_made in letters]
    assert [fault for reading, *truth in readings if (fault := _judge(reading, *truth))] == []
    assert any(not reading.missing for reading, _, was_made in readings if was_made)


FLIGHT = "BA 304\n9 Mar 2027\nLondon (LHR) 07:05\nParis (CDG) 09:20\nEconomy\n"


@pytest.mark.parametrize("place", ["opening", "end", "subject", "untitled"])
@pytest.mark.parametrize("language", NOT_MADE)
def test_what_was_not_booked_is_asked_about_wherever_the_letter_says_so(language: str, place: str) -> None:
    """Also where the title calls it a confirmation."""
    imported = []
    for words in NOT_MADE[language]:
        before = f"{words}\n" if place in ("opening", "untitled") else ""
        behind = f"\n{words}\n" if place == "end" else ""
        text = f"Booking reference: X7Y8Z9\n{before}\n{FLIGHT}Total GBP 312.00\n{behind}"
        subject = {"subject": words, "untitled": "Your trip"}.get(place, "Booking confirmation")
        imported += [] if "not_confirmed" in read(mail(text, subject=subject)).missing else [words]
    assert imported == []


@pytest.mark.parametrize("language", MADE)
def test_a_word_of_confirmation_of_the_language_is_proof(language: str) -> None:
    letters = {
        words: read(mail(f"{words}\nBooking reference: X7Y8Z9\n{FLIGHT}Total GBP 312.00\n", subject="X7Y8Z9"))
        for words in MADE[language]
    }
    assert {words: reading.missing for words, reading in letters.items()} == {words: [] for words in letters}


def test_a_letter_without_a_word_of_confirmation_asks() -> None:
    raw = mail(f"Booking reference: X7Y8Z9\n{FLIGHT}Total GBP 312.00\n", subject="Hello")
    assert read(raw).missing == ["not_confirmed"]


@pytest.mark.parametrize(
    "words",
    [
        "Get a travel insurance quote in two minutes.",
        "Offers and quotes for your next holiday: visit our page.",
        "If your payment is declined, your booking is cancelled.",
        "Your seat request is pending.",
        "All prices are quoted in pounds.",
        "Late check-in on request",
    ],
)
def test_an_advert_or_a_term_below_a_ticket_is_no_mark_against_it(words: str) -> None:
    assert read(mail(f"Booking reference: X7Y8Z9\n{FLIGHT}Total GBP 312.00\n\n{words}\n")).missing == []


@pytest.mark.parametrize("code", ["UN", "UC", "NO", "HX", "XX"])
def test_a_flight_whose_code_says_it_is_not_held_is_left_out(code: str) -> None:
    rows = "1 BA 304 Y 09MAR2027 LHRCDG HK1 0705 0920 Economy\n2 BA 315 Y 12MAR2027 CDGLHR {}1 1800 1820 Economy\n"
    reading = read(mail(f"Booking reference: X7Y8Z9\n\n{rows.format(code)}Total GBP 312.00\n"))
    assert [b.flight_number for b in reading.bookings if isinstance(b, BookedLeg)] == ["BA304"]
    assert reading.missing == ["action"]


@pytest.mark.parametrize("code", ["HL", "WL", "LL"])
def test_a_flight_whose_code_says_it_waits_is_asked_about(code: str) -> None:
    row = f"1 BA 304 Y 09MAR2027 LHRCDG {code}1 0705 0920 Economy\n"
    assert read(mail(f"Booking reference: X7Y8Z9\n\n{row}Total GBP 312.00\n")).missing == ["not_confirmed"]


@pytest.mark.parametrize(
    ("status", "missing"),
    [("Confirmed", []), ("Hold", ["not_confirmed"]), ("Expired", ["not_confirmed"]), ("Requested", ["not_confirmed"])],
)
def test_the_state_of_a_reservation_in_data_counts(status: str, missing: list[str]) -> None:
    state = f"http://schema.org/Reservation{status}"
    assert read(mail(page=data(flight(reservationStatus=state)), subject="Hello")).missing == missing
    assert read(mail(page=data(stay(reservationStatus=state)), subject="Hello")).missing == missing


def test_a_stay_that_was_only_asked_for_is_not_imported() -> None:
    text = (
        "Conrad Tokyo\nReservation number: 81234501\nCheck-in: 11 Apr 2027\nCheck-out: 14 Apr 2027\nTotal: JPY 90,000\n"
    )
    for words in ("Your request has been sent to the hotel.", "No room has been reserved.", "Awaiting confirmation"):
        assert "not_confirmed" in read(mail(f"{words}\n{text}", subject="Booking confirmation")).missing
    assert read(mail(text, subject="Booking confirmation")).missing == []


TWO_FLIGHTS = (
    f"Booking reference: X7Y8Z9\n\n{FLIGHT}{{}}\n\n"
    "BA 315\n12 Mar 2027\nParis (CDG) 18:00\nLondon (LHR) 18:20\nEconomy\n{}\n\nTotal GBP 312.00\n"
)


@pytest.mark.parametrize(
    ("text", "standing"),
    [
        (TWO_FLIGHTS.format("CONFIRMED", "CANCELLED"), "BA304"),
        (TWO_FLIGHTS.format("Status: Cancelled", "Status: Confirmed"), "BA315"),
        (TWO_FLIGHTS.format("", "").replace("BA 315", "BA 315 (cancelled)"), "BA304"),
        (TWO_FLIGHTS.format("", "").replace("BA 315", "BA 315 - CANCELLED"), "BA304"),
        (TWO_FLIGHTS.format("", "") + "BA 315 has been cancelled by the airline.\n", "BA304"),
        (
            "Booking reference: X7Y8Z9\n\nBAW304\tLondon (LHR) to Paris (CDG)\t9 Mar 2027 07:05\t09:20\tConfirmed\n"
            "BAW315\tParis (CDG) to London (LHR)\t12 Mar 2027 18:00\t18:20\tCancelled\nEconomy\nTotal GBP 312.00\n",
            "BA304",
        ),
    ],
)
def test_the_flight_that_a_letter_calls_off_is_left_out_and_the_other_asked_about(text: str, standing: str) -> None:
    reading = read(mail(text))
    assert [b.flight_number for b in reading.bookings if isinstance(b, BookedLeg)] == [standing]
    assert reading.missing == ["action"]


@pytest.mark.parametrize("state", ["STANDBY", "Waitlisted", "On request"])
def test_a_flight_that_waits_is_asked_about(state: str) -> None:
    assert read(mail(TWO_FLIGHTS.format("CONFIRMED", state))).missing == ["not_confirmed"]
