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
    TravelFacts,
)
from shared.domain.confirmations.other_letters import cut_cancelled, is_of_railway, says_partly_cancelled
from shared.domain.confirmations.passengers import count_passengers
from shared.domain.confirmations.phrases import says_cancelled, says_changed, says_unsettled
from shared.domain.parsing.text import fold


def read_words(text: Text, world: TravelFacts, is_ticket: bool = False) -> MailReading | None:
    """What plain words state; None without a booking. A ticket is one, also where it does not call itself so."""
    is_partial = says_partly_cancelled(fold(text.body))
    text = replace(text, body=cut_cancelled(text.body)) if is_partial else text
    folded = fold(text.body)
    dates = MailDates(folded, text.posted)
    legs = [] if is_of_railway(folded) else flights.read_legs(text.body, dates, world, text.sender)
    lodging = (
        stays.read_stays_beside_flights(text.body, dates, world)
        if legs
        else stays.read_stays(text.body, text.subject, dates, world, text.sender)
    )
    bookings: list[Booking] = [*legs, *lodging]
    number = find_confirmation(text)
    action = find_action(text)
    if action == "cancel" and number:
        bookings = [replace(b, action="cancel") for b in bookings] or [BookedLeg(action="cancel")]
    elif not number and not any(isinstance(b, BookedStay) or b.departure_date for b in bookings):
        return None
    if not bookings or (not number and not is_ticket and not _BOOKING.search(folded)):
        return None
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


_PARTLY_CANCELLED = Doubt("action", "The letter cancels a part of the booking.")
_FLIGHTS_NOT_READ = Doubt("flights", "The letter has a section of flights, and no flight of it was read.")
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
