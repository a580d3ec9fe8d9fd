"""Flights and stays that the words of a letter state."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from shared.domain.confirmations import flights, prices, stays
from shared.domain.confirmations.booking_state import says_made
from shared.domain.confirmations.clean_text import join_wrapped
from shared.domain.confirmations.confirmation_labels import AIRLINE, CONFIRMATION
from shared.domain.confirmations.confirmation_numbers import find_confirmation, find_order, list_numbers
from shared.domain.confirmations.flight_lines import to_plain
from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.letter_actions import says_cancelled, says_cancelled_in_title, says_changed
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.confirmations.model import (
    PARTLY_CANCELLED,
    Action,
    BookedLeg,
    BookedStay,
    Booking,
    Doubt,
    MailReading,
    Sender,
    TravelFacts,
)
from shared.domain.confirmations.old_plans import drop_old_plan
from shared.domain.confirmations.other_letters import (
    cancels_extra_alone,
    cut_arriving_flight,
    cut_cancelled,
    is_of_car,
    is_of_railway,
    is_offer,
    says_partly_cancelled,
)
from shared.domain.confirmations.passengers import doubt_passengers, read_passengers
from shared.domain.confirmations.silent_letters import doubt_part, doubt_silence
from shared.domain.parsing.text import fold

# The numbers of a letter that holds several bookings of flights: each is that of the flights below it.

_DIGITS = re.compile(r"\d+$")
_PIECES = re.compile(r"[^\w'& ]+| {2,}")
_TRAVELLER = re.compile(r"passenger|traveller|traveler|passag|pasajer|reisende|\b(?:mr|mrs|ms|miss|herr|frau|sr|sra)\b")


def set_own_numbers(legs: Sequence[BookedLeg], body: str, world: TravelFacts) -> None:
    """Sets the number, and the fare its part of the letter names, where one label stands over or under each booking's
    flights with another number, or where each airline has its own. Where it is unclear which flights are whose,
    nothing is set."""
    lines = to_plain(body).split("\n")
    of_airlines = _list_numbers_of_airlines(lines, world) if legs else {}
    if legs and all(len(of_airlines.get(leg.airline or "", ())) == 1 for leg in legs):
        for leg in legs:
            (leg.confirmation_number,) = of_airlines[leg.airline or ""]
        return
    heads = _list_heads(lines) if len(legs) > 1 else []
    if not 1 < len(heads) <= len(legs):
        return
    places = [at for _, at in heads]
    below = list(zip(places, [*places[1:], len(lines)], strict=True))
    above = list(zip([0, *(at + 1 for at in places[:-1])], (at + 1 for at in places), strict=True))
    for spans in (below, above):
        owners = [
            [at for at, (start, end) in enumerate(spans) if _names_flight("\n".join(lines[start:end]), leg)]
            for leg in legs
        ]
        if all(len(owner) == 1 for owner in owners) and len({owner[0] for owner in owners}) == len(spans):
            for leg, (at,) in zip(legs, owners, strict=True):
                leg.confirmation_number = heads[at][0]
                if spans is below:
                    _set_own_fare(leg, lines[slice(*spans[at])], world)
            return


def _set_own_fare(leg: BookedLeg, lines: list[str], world: TravelFacts) -> None:
    """The fare of the lines up to the first that is blank or a ruler: behind the last booking stands the total of
    all."""
    paragraph = "\n".join(itertools.takewhile(lambda line: re.search(r"\w", line), lines))
    price = prices.find_price(paragraph, world)
    if price.cash is not None and price.currency and price.points is None and not (price.doubts or price.of_extra):
        leg.cash_paid, leg.taxes_currency = price.cash, price.currency


def _list_heads(lines: list[str]) -> list[tuple[str, int]]:
    """Each number and its line, of the first label to come with several numbers."""
    by_label: dict[str, list[tuple[str, int]]] = {}
    for label, number, at in list_numbers(lines):
        numbers = by_label.setdefault(re.sub(r"\d", "", label), [])  # "room 1", "room 2"
        if number not in [n for n, _ in numbers]:
            numbers.append((number, at))
    return next((numbers for numbers in by_label.values() if len(numbers) > 1), [])


def _list_numbers_of_airlines(lines: list[str], world: TravelFacts) -> dict[str, set[str]]:
    """The numbers in whose line an airline is named: "Iberia booking reference: LW4RTK"."""
    numbers: dict[str, set[str]] = {}
    for _, number, at in list_numbers(lines):
        others = CONFIRMATION.sub("|", AIRLINE.sub("|", fold(lines[at]))).replace(number.lower(), "|")
        names = [piece.strip() for piece in _PIECES.split(others)]
        named = {code for name in names if len(name) > 2 and (code := world.airline(name))}
        if len(named) == 1:
            numbers.setdefault(named.pop(), set()).add(number)
    return numbers


def _doubt_numbers(bookings: list[Booking], body: str) -> list[Doubt]:
    """A question about bookings of one number, of which one label has several, or each traveller one of their own."""
    lines = to_plain(body).split("\n")
    rivals = [number for number, _ in _list_heads(lines)]
    of_travellers = list(dict.fromkeys(n for label, n, _ in list_numbers(lines) if _TRAVELLER.search(label)))
    numbers = {b.confirmation_number for b in bookings}
    for some in (rivals, of_travellers):
        if len(some) > 1 and len(numbers) == 1 and numbers.issubset(some):
            return [Doubt("confirmation_number", "The letter gives several numbers.", tuple(some))]
    return []


def _names_flight(block: str, leg: BookedLeg) -> bool:
    digits = _DIGITS.search(leg.flight_number or "")
    return digits is not None and bool(re.search(rf"(?<![\d:.,/-])0*{digits[0].lstrip('0')}(?![\d:.,/-])", block))


def read_words(text: Text, world: TravelFacts, is_ticket: bool = False) -> MailReading | None:
    """What plain words state; None without a booking. A ticket is one, also where it does not call itself so."""
    action = find_action(text)
    is_partial = says_partly_cancelled(text.body)
    text = replace(text, body=cut_cancelled(text.body)) if is_partial else text
    whole = replace(text, body=cut_arriving_flight(text.body, fold(text.body)))
    text = drop_old_values(whole, action)
    folded = fold(text.body)
    sender = world.sender(text.domain) or Sender(None, None)
    dates = MailDates(folded, text.posted, sender.order)
    airline = text.sender if world.airline(text.sender) else sender.airline or text.sender
    of_railway = is_of_railway(folded)
    legs = [] if of_railway else flights.read_legs(text.body, dates, world, airline)
    legs = _drop_flight_of_driver(legs, folded)
    beside = legs or of_railway  # a train too has an arrival and a departure
    lodging = stays.read_stays_beside_flights(text.body, dates, world) if beside else []
    if lodging and not any(leg.origin or leg.destination or leg.departure_date for leg in legs) and not of_railway:
        legs = []  # the code of a hotel that looks like a flight's number
    if not legs and not of_railway:
        lodging = stays.read_stays(text.body, text.subject, dates, world, text.sender)
    bookings: list[Booking] = [*legs, *lodging]
    number = find_confirmation(text)
    if action == "cancel":
        bookings = [replace(b, action="cancel") for b in bookings] or _cancel_number(number, folded)
    elif not number and not any(isinstance(b, BookedStay) or b.departure_date for b in bookings):
        bookings = []
    is_called_one = number or is_ticket or action == "cancel" or _BOOKING.search(folded) or CONFIRMATION.search(folded)
    if not number and not is_ticket and is_offer(folded):
        return None
    if not bookings or not (is_called_one or any(map(_is_whole, bookings))):
        doubts = [] if is_of_car(folded) else doubt_silence(whole, number, dates, [*legs, *lodging])
        return MailReading(doubts=doubts) if doubts else None
    passengers = read_passengers(text.body, world)
    number = number or find_order(text)
    set_own_numbers(legs if action == "create" and not lodging else [], text.body, world)
    for booking in bookings:
        booking.confirmation_number = booking.confirmation_number or number
        booking.action = "change" if action == "change" else booking.action
        if isinstance(booking, BookedLeg):
            booking.passengers = passengers.number
    doubts = [PARTLY_CANCELLED] if is_partial else []
    doubts += _doubt_numbers(bookings, text.body) if action == "create" else []
    doubts += doubt_passengers(passengers) if lodging == [] and action == "create" else []
    doubts += doubt_part(folded, bookings) if action != "cancel" else []
    return MailReading("text", text.forwarded, bookings, doubts)


def _drop_flight_of_driver(legs: list[BookedLeg], folded: str) -> list[BookedLeg]:
    """The flights of a letter of a hired car that can be booked with it; one alone without its day is the driver's."""
    flown = [leg for leg in legs if leg.origin and leg.destination]
    is_driver_alone = len(flown) == 1 and not flown[0].departure_date
    if not legs or (len(flown) == len(legs) and not is_driver_alone) or not is_of_car(folded):
        return legs
    return [] if is_driver_alone else flown


def drop_old_values(text: Text, action: Action) -> Text:
    """A letter of a change without what it says of the booking as it was."""
    return replace(text, body=drop_old_plan(text.body)) if action == "change" else text


def _cancel_number(number: str | None, folded: str) -> list[Booking]:
    """The cancellation of a number, of which the letter names neither flight nor stay; a car has a number too."""
    is_of_other = (_OTHER_THING.search(folded) and not _TRAVEL.search(folded)) or _CAR.search(folded)
    return [BookedLeg(action="cancel")] if number and not (is_of_other or is_of_railway(folded)) else []


def _is_whole(booking: Booking) -> bool:
    """Whether this can hardly be anything but a booking, also in a letter that neither names a number nor calls itself
    one: an offer names no flight's day and hour, and no stay's days at one hotel."""
    if isinstance(booking, BookedStay):
        return bool(booking.hotel_id and booking.check_in_date and booking.check_out_date)
    return bool(booking.origin and booking.destination and booking.departure_date and booking.departure_time)


_TRAVEL = re.compile(
    r"\b(?:flights?|flug\w*|fluge|vols?|vuelos?|vol[oi]|voos?|vluch\w*|airlines?|airways|hotels?|resort|inn|stay"
    r"|nights?"
    r"|aufenthalt|unterkunft|zimmer|nachte?|anreise|check-?in|sejour|hebergement|chambre|nuits?|estancia|alojamiento"
    r"|habitacion|noches?|soggiorno|alloggio|camera|nott[ei]|arrivo|estadia|hospedagem|quarto|noites?|llegada"
    r"|verblijf"
    r"|accommodatie|kamer|nacht(?:en)?)\b|便|航空|宿泊|ホテル|泊"
)
_OTHER_THING = re.compile(
    r"\b(?:table|restaurant|order|subscription|membership|event|concert|tickets?|appointment|parcel|delivery|parking"
    r"|insurance|lounge|tisch|bestellung|abo|veranstaltung|termin|parkplatz|versicherung|commande|abonnement|spectacle"
    r"|mesa|evento|entradas?|tavolo|ordine|abbonamento|bestelling|tafel)\b|注文|レストラン"
)
_CAR = re.compile(
    r"\b(?:rental car|car rental|car hire|autovermietung|autonoleggio|noleggio auto|aluguel de carro|autohuur"
    r"|pick-?up (?:date|location)|mietwagen|abholung|location de voiture|alquiler)\b"
)


@lru_cache(maxsize=8)
def find_action(text: Text) -> Action:
    """What the letter does to the booking, as its subject or its beginning says."""
    subject, opening = fold(text.subject), fold("\n".join(join_wrapped(text.body[:1500].split("\n"))))
    if says_partly_cancelled(text.body):
        return "change"
    is_called_off = says_cancelled_in_title(subject)
    if is_called_off or (says_cancelled(opening) and not _calls_off_below_flights(text.body)):
        return "create" if cancels_extra_alone(f"{subject}\n{opening}") else "cancel"
    return "change" if says_changed(subject) or says_changed(opening) else "create"


def _calls_off_below_flights(body: str) -> bool:
    """Whether a letter says that the booking was made, and speaks of a cancellation only where its flights stand."""
    first = _FLIGHT.search(body[:1500])
    head = fold(body[: first.start()]) if first else ""
    return bool(head) and not says_cancelled(head) and says_made(head)


_FLIGHT = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z]{2}|[A-Z]\d|\d[A-Z]) ?\d{2,4}(?![A-Za-z0-9])")
_BOOKING = re.compile(
    r"your (?:booking|reservation|itinerary|trip)|e-?ticket|reiseplan"
    r"|ihre (?:buchung|reise)|votre reservation|tu reserva"
    r"|(?:confirm|bestatig|conferm|bevestig)[^.\n]{0,60}\b(?:stay|aufenthalt|reservierung|sejour|estancia|reserva|soggiorno"
    r"|prenotazione|estadia|verblijf|reservering|boeking|zimmer|camera|kamer|chambre|room)\b"
)
