"""Letters of flights as shops and airlines write them, with what else stands in letters, made by dice from a truth."""

from dataclasses import replace
from datetime import datetime
from random import Random

from shared.domain.confirmations.model import BookedLeg, MailReading
from shared.reference.load import reference
from tests.shared.domain.confirmations.mails import mail, read
from tests.shared.domain.own_papers import LANGUAGES, Leg, Trip, Words, judge_flights, make_trip

# What is written under a flight that was called off, and of a booking that was not made.
OFF = {
    "en": ("CANCELLED", "Flight cancelled", "Status: Cancelled by airline"),
    "de": ("Storniert", "Annulliert", "Flug gestrichen"),
    "fr": ("ANNULÉ", "Statut : Annulé"),
    "es": ("Cancelado", "Estado: Cancelado"),
    "it": ("Annullato", "Cancellato"),
    "pt": ("Cancelado",),
    "nl": ("Geannuleerd",),
    "ja": ("欠航",),
    "pl": ("Anulowany",),
    "cs": ("Zrušeno",),
    "ko": ("취소",),
}
UNMADE = {
    "en": ("Your payment was declined.", "Held until 30 November, 18:00.", "This is a quotation.", "Awaiting payment"),
    "de": ("Dies ist ein unverbindliches Angebot.", "Ihre Zahlung ist fehlgeschlagen.", "Die Zahlung steht noch aus."),
    "fr": ("Ceci est un devis.", "Votre paiement a été refusé.", "Paiement en attente"),
    "es": ("Su pago fue rechazado.", "Presupuesto", "Reserva pendiente de pago"),
    "it": ("Il pagamento non è andato a buon fine.", "Preventivo"),
    "pt": ("O pagamento foi recusado.", "Orçamento"),
    "nl": ("Dit is een offerte.", "Uw betaling is mislukt."),
    "pl": ("Płatność odrzucona.", "Oczekuje na płatność"),
    "cs": ("Platba byla zamítnuta.", "Čeká na potvrzení"),
    "ko": ("결제가 실패하였습니다.",),
}
NUMBERS = {
    "en": ("Order number", "Trip ID", "Agency reference"),
    "de": ("Bestellnummer", "Auftragsnummer"),
    "fr": ("N° de commande",),
    "es": ("Número de pedido",),
}
NOISE = (
    "Seat 12A  EUR 24.00",
    "1 x checked bag 23 kg  EUR 45.00",
    "You will earn 1,240 points on this trip.",
    "Travel insurance from EUR 19.00. Unsubscribe",
    "Customer number: 88123401",
    "Check-in opens 30 hours before departure.",
    "Rent a car from EUR 31.00 a day!",
    "E-ticket 220-2400000001",
)


def _write_day(day: datetime, words: Words, style: str) -> str:
    if style == "words":
        return words.day.format(d=day.day, month=words.months.split()[day.month - 1], y=day.year)
    return day.strftime({"points": "%d.%m.%Y", "iso": "%Y-%m-%d", "slashes": "%d/%m/%Y", "glued": "%d%b%y"}[style])


def _write_time(at: datetime, style: str) -> str:
    return at.strftime({"24": "%H:%M", "12": "%-I:%M %p", "hours": "%Hh%M", "hrs": "%H%M hrs"}[style])


def _write_leg(leg: Leg, words: Words, shape: str, day_style: str, clock: str) -> list[str]:
    facts, later = reference(), (leg.lands.date() - leg.leaves.date()).days
    shift = f" +{later}" if later > 0 else ""
    day, leaves, lands = (
        _write_day(leg.leaves, words, day_style),
        *(_write_time(t, clock) for t in (leg.leaves, leg.lands)),
    )
    start, end = (f"{facts.airports[code].city} ({code})" for code in (leg.origin, leg.destination))
    name = f"{leg.airline} {leg.number}"
    if shape == "one line":
        return [f"{name}  {day}  {start} {leaves} - {end} {lands}{shift}  {words.economy}"]
    if shape == "labels":
        there = _write_day(leg.lands, words, day_style)
        return [
            f"{words.flight}: {name}",
            f"{words.leaves}: {day} {leaves} {start}",
            f"{words.lands}: {there} {lands} {end}",
            words.economy,
        ]
    if shape == "day first":
        return [day, name, f"{leaves} {start}", f"{lands}{shift} {end}", words.economy]
    return [name, f"{start} - {end}", day, f"{leaves} - {lands}{shift}", words.economy]


def noisy_letter(dice: Random) -> list[str]:
    """One letter, and what is wrong in what is stored or shown of it."""
    language = dice.choice(list(LANGUAGES))
    words, trip = LANGUAGES[language], make_trip(dice, dice.randint(1, 3))
    shape = dice.choice(("one line", "labels", "day first", "route above"))
    day_style = dice.choice(("words", "words", "points", "iso", "slashes"))
    clock = dice.choice(("24", "12", "hrs") if language == "en" else ("24", "24", "hours"))
    fate = dice.choice(("made", "made", "off", "unmade"))
    blocks = [_write_leg(leg, words, shape, day_style, clock) for leg in trip.legs]
    off = None
    if fate == "off" and len(trip.legs) > 1 and language in OFF:
        off = dice.randrange(len(trip.legs))
        blocks[off].append(dice.choice(OFF[language]))
    numbers = [f"{words.reference}: {trip.code}"]
    if language in NUMBERS and dice.random() < 0.5:
        numbers.insert(dice.randint(0, 1), f"{dice.choice(NUMBERS[language])}: {dice.randrange(10**6, 10**7)}")
    made = words.made
    if fate == "unmade" and language in UNMADE:
        made = dice.choice(UNMADE[language])
    price, noise = f"{words.total}: EUR {trip.price}", dice.sample(NOISE, dice.randint(0, 3))
    head, foot = ([price], noise) if dice.random() < 0.3 else ([], [*noise, price])
    lines = [made, *numbers, *head, "", *(line for block in blocks for line in (*block, "")), *foot]
    reading = read(mail("\n".join(lines) + "\n", subject=words.reference, sender="Shop <info@shop.test>"))
    if made != words.made:
        return [] if reading.missing or not reading.bookings else [f"stored though {made}"]
    return _judge(reading, trip, off)


def _judge(reading: MailReading, trip: Trip, off: int | None) -> list[str]:
    if off is None:
        return judge_flights(reading, trip)
    called_off = trip.legs[off].name
    if any(
        isinstance(b, BookedLeg) and b.action == "cancel" and b.flight_number != called_off for b in reading.bookings
    ):
        return ["a flight that stands is cancelled"]
    if not reading.missing and any(
        isinstance(b, BookedLeg) and b.flight_number == called_off for b in reading.bookings
    ):
        return [f"{called_off} was called off and is stored"]
    if reading.missing and len(reading.bookings) == len(trip.legs):
        return judge_flights(reading, trip)
    rest = [leg for at, leg in enumerate(trip.legs) if at != off]
    return judge_flights(reading, replace(trip, legs=rest))
