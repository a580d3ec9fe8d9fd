"""Flights and stays that the words of a letter state."""

import re
from dataclasses import replace

from shared.domain.confirmations import flights, stays
from shared.domain.confirmations.confirmation_numbers import find_confirmation
from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.confirmations.model import (
    NOT_CONFIRMED,
    Action,
    BookedLeg,
    BookedStay,
    Booking,
    Doubt,
    MailReading,
    Sender,
    TravelFacts,
)
from shared.domain.confirmations.other_letters import cut_cancelled, is_of_railway, says_partly_cancelled
from shared.domain.confirmations.passengers import count_passengers
from shared.domain.confirmations.phrases import CONFIRMATION, says_cancelled, says_changed, says_unsettled
from shared.domain.parsing.text import fold


def read_words(text: Text, world: TravelFacts, is_ticket: bool = False) -> MailReading | None:
    """What plain words state; None without a booking. A ticket is one, also where it does not call itself so."""
    is_partial = says_partly_cancelled(fold(text.body))
    text = replace(text, body=cut_cancelled(text.body)) if is_partial else text
    folded = fold(text.body)
    sender = world.sender(text.domain) or Sender(None, None)
    dates = MailDates(folded, text.posted, sender.order)
    airline = text.sender if world.airline(text.sender) else sender.airline or text.sender
    of_railway = is_of_railway(folded)
    legs = [] if of_railway else flights.read_legs(text.body, dates, world, airline)
    lodging = (
        stays.read_stays_beside_flights(text.body, dates, world)
        if legs or of_railway  # a train too has an arrival and a departure
        else stays.read_stays(text.body, text.subject, dates, world, text.sender)
    )
    bookings: list[Booking] = [*legs, *lodging]
    number = find_confirmation(text)
    action = find_action(text)
    if action == "cancel" and number:
        bookings = [replace(b, action="cancel") for b in bookings] or [BookedLeg(action="cancel")]
    elif not number and not any(isinstance(b, BookedStay) or b.departure_date for b in bookings):
        bookings = []
    is_called_one = number or is_ticket or _BOOKING.search(folded) or CONFIRMATION.search(folded)
    if not bookings or not (is_called_one or any(map(_is_whole, bookings))):
        return _doubt_silence(number, folded)
    passengers = count_passengers(text.body, world)
    for booking in bookings:
        booking.confirmation_number = booking.confirmation_number or number
        booking.action = "change" if action == "change" else booking.action
        if isinstance(booking, BookedLeg):
            booking.passengers = passengers
    doubts = [NOT_CONFIRMED] if says_unsettled(folded[:1500]) and action != "cancel" else []
    doubts += [_PARTLY_CANCELLED] if is_partial else []
    doubts += [_FLIGHTS_NOT_READ] if lodging and not legs and _FLIGHTS_HEADING.search(folded) else []
    return MailReading("text", text.forwarded, bookings, doubts)


def _doubt_silence(number: str | None, folded: str) -> MailReading | None:
    """A letter that names a booking's number and speaks of a flight of that booking, of which none was read."""
    if number and _OWN_FLIGHT.search(folded) and not is_of_railway(folded) and not _CAR.search(folded):
        return MailReading(doubts=[_FLIGHTS_NOT_READ])
    return None


def _is_whole(booking: Booking) -> bool:
    """Whether this can hardly be anything but a booking, also in a letter that neither names a number nor calls itself
    one: an offer names no flight's day and hour, and no stay's days at one hotel."""
    if isinstance(booking, BookedStay):
        return bool(booking.hotel_id and booking.check_in_date and booking.check_out_date)
    return bool(booking.origin and booking.destination and booking.departure_date and booking.departure_time)


_PARTLY_CANCELLED = Doubt("action", "The letter cancels a part of the booking.")
_FLIGHTS_NOT_READ = Doubt("flights", "The letter speaks of flights that were booked, and none was read.")
_OWN_FLIGHT = re.compile(
    r"flight (?:number|no\b|details)|(?:your|outbound|return|departing) flight|flugnummer|hinflug|ruckflug"
    r"|ihr(?:en?)? flug"
    r"|vol (?:aller|retour)|votre vol|numero de vol|vuelo de (?:ida|vuelta)|(?:tu|su) vuelo|volo di (?:andata"
    r"|ritorno)"
    r"|il (?:tuo|suo) volo|voo de (?:ida|volta)|(?:seu|sua) voo|heenvlucht|terugvlucht|(?:uw|je) vlucht|便名|搭乗日"
)
_CAR = re.compile(
    r"\b(?:rental car|car rental|pick-?up (?:date|location)|mietwagen|abholung|location de voiture|alquiler)\b"
)
_FLIGHTS_HEADING = re.compile(
    r"^\W*(?:(?:your|ihre|vos|sus|je|uw|i vostri) )?(?:flights?|fluge|vluchten|vols?|voli|vuelos|voos)"
    r"(?: details)?\W*$",
    re.M,
)


def find_action(text: Text) -> Action:
    """What the letter does to the booking, as its subject or its beginning says."""
    subject, opening = fold(text.subject), fold(text.body[:1500])
    if says_partly_cancelled(fold(text.body)):
        return "change"
    if says_cancelled(subject) or says_cancelled(opening):
        return "cancel"
    return "change" if says_changed(subject) or says_changed(opening) else "create"


_BOOKING = re.compile(
    r"your (?:booking|reservation|itinerary|trip)|e-?ticket|reiseplan"
    r"|ihre (?:buchung|reise)|votre reservation|tu reserva"
)
