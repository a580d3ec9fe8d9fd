"""Letters of which nothing, or not all, was read though they look like a booking's: a person is told."""

import re
from collections.abc import Sequence
from datetime import date

from shared.domain.confirmations.booking_state import says_made
from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.letter_actions import says_changed
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.confirmations.model import BookedLeg, Booking, Doubt
from shared.domain.confirmations.other_letters import is_of_parking_or_ship, is_of_railway
from shared.domain.confirmations.phrases import find_cabins
from shared.domain.parsing.text import fold

_FLIGHTS = Doubt("flights", "The letter speaks of flights that were booked, and none was read.")
_STAY = Doubt("stays", "The letter speaks of a stay that was booked, and none was read.")
WHOLE = ("flights", "stays")  # the fields of these doubts
_FLIGHT_WORDS = re.compile(
    r"\b(?:flights?|flug|fluge|flug(?:nummer|daten|plan|zeiten)|hinflug|ruckflug|vols?|vuelos?|vol[oi]|voos?"
    r"|vluch(?:t|ten)"
    r"|heenvlucht|terugvlucht|airlines?|airways|boarding|e-?tickets?|departs?|depart(?:ure|ing)|abflug|embarque)\b"
    r"|便名|\d便|搭乗|航空券|フライト"
)
_STAY_WORDS = re.compile(
    r"\b(?:hotels?|resort|inn|lodge|hostel|guest ?house|check-?out|nights?|rooms?|your stay|aufenthalt|unterkunft"
    r"|zimmer"
    r"|nachte?|ubernachtung\w*|anreise|abreise|pension|gasthof|sejour|hebergement|chambres?|nuits?|nuitees?|estancia"
    r"|alojamiento|habitacion(?:es)?|noches?|soggiorno|alloggio|camer[ae]|nott[ei]|albergo|agriturismo|estadia"
    r"|hospedagem"
    r"|quartos?|noites?|pousada|verblijf|accommodatie|kamers?|nacht(?:en)?|overnachting\w*)\b|宿泊|ホテル|旅館|\d泊|チェックイン"
)
_SUBJECT = re.compile(
    r"confirm|reserv|booking|booked|itinerar|e-?ticket|trip|receipt of your|buchung|gebucht|reiseplan|reiseunterlagen"
    r"|bestatigung|billet|voyage|viaje|compra|emision|viaggio|biglietto|prenotazione|viagem|bilhete|boeking"
    r"|bevestiging"
    r"|reis\b|予約|手配|旅程|航空券|eチケット"
)
_CAR = re.compile(
    r"\b(?:rental car|car rental|car hire|mietwagen|autovermietung|abholstation|location de voiture|alquiler de"
    r"|autonoleggio|noleggio auto|aluguel de carro|autohuur|pick[ -]?up (?:date|location))\b"
    r"|\b(?:pick[ -]?up|vehicle)\s?:|レンタカー"
)
_OFFER = re.compile(
    r"unsubscribe|abmelden|abbestellen|desabonner|darse de baja|disiscri|uitschrijven|配信停止"
    r"|% off|rabatt"
)
_FLIGHTS_HEADING = re.compile(
    r"^\W*(?:(?:your|ihre|vos|sus|je|uw|i vostri) )?(?:flights?|fluge|vluchten|vols?|voli|vuelos|voos)"
    r"(?: details)?\W*$",
    re.M,
)
_LEAVES_HOTEL = re.compile(r"^[^\n]{0,30}\b(?:check-?out|abreise)(?: date|datum)?\W{0,4}[^\n]{0,24}\d{1,2}[./ ]", re.M)
_DIGIT, _CODE = re.compile(r"\d"), re.compile(r"\([A-Z]{3}\)")
_FLIGHT_IN_LINE = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z]{2}|[A-Z]\d|\d[A-Z]) ?\d{2,4}(?![A-Za-z0-9.,])[^()]{0,120}\([A-Z]{3}\)"
    r"[^()]{0,120}\([A-Z]{3}\)"
)
_YEAR = re.compile(r"(?<!\d)(?:20[2-9]\d|25[6-9]\d)(?!\d)|(?<![\d.])\d{1,2}[./]\d{1,2}[./]\d{2}(?!\d)")  # 2570 is 2027


def doubt_silence(text: Text, number: str | None, dates: MailDates, bookings: Sequence[Booking] = ()) -> list[Doubt]:
    """The doubts about a letter of which no booking was read, and which speaks of flights or of a stay: it names a
    number, calls itself a confirmation and names a day, or tells both days of a stay.

    In whatever language it is written, a flight's number, two airports and a year are enough.
    """
    folded = fold(text.body)
    legs = [b for b in bookings if isinstance(b, BookedLeg)]
    is_flown = any(leg.flight_number and leg.origin and leg.destination for leg in legs)
    if (is_flown or _FLIGHT_IN_LINE.search(text.body)) and _YEAR.search(folded):
        return [_FLIGHTS]
    stays = [b for b in bookings if not isinstance(b, BookedLeg)]
    if any(stay.check_in_date and stay.check_out_date for stay in stays) and not _OFFER.search(folded):
        return [_STAY]
    is_offer = _OFFER.search(folded) or not _SUBJECT.search(fold(text.subject))
    is_called_one = number or (not is_offer and _names_day(folded, dates))
    if not is_called_one or is_of_railway(folded) or is_of_parking_or_ship(folded) or _CAR.search(folded):
        return []
    flown, slept = (len(pattern.findall(folded)) for pattern in (_FLIGHT_WORDS, _STAY_WORDS))
    if not flown and not slept:  # perhaps in another language
        posted = dates.posted or date.max
        values = (line.partition(":")[2] for line in folded.split("\n")[:400] if len(line) < 100)
        days = sum(bool(_DIGIT.search(value) and dates.find(value)) for value in values)
        if (
            says_made(folded)
            and _CODE.search(text.body)
            and find_cabins(folded)
            and any(day > posted for day in dates.full)
        ):
            return [_FLIGHTS]
        if number and (says_made(folded) or says_changed(folded)) and sum(day > posted for day in dates.full) > 1:
            return [_STAY]  # its two days may stand in one line, and no word for a stay in any
        return [_STAY] if says_made(folded) and days > 1 else []
    return [_FLIGHTS if flown >= slept else _STAY]


def doubt_part(folded: str, bookings: list[Booking]) -> list[Doubt]:
    """The doubts about a letter of which flights alone or a stay alone was read, and which shows the other too."""
    has_legs = any(isinstance(b, BookedLeg) for b in bookings)
    if not has_legs and _FLIGHTS_HEADING.search(folded):
        return [_FLIGHTS]
    if has_legs and len(bookings) == sum(isinstance(b, BookedLeg) for b in bookings) and _LEAVES_HOTEL.search(folded):
        return [_STAY]
    return []


def _names_day(folded: str, dates: MailDates) -> bool:
    return any(dates.find(line) for line in folded.split("\n")[:400] if len(line) < 400 and _DIGIT.search(line))
