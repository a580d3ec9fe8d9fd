"""Reader of a forwarded mail: tries JSON-LD, microdata, calendar entries and plain text, and keeps the best reading."""

from dataclasses import replace
from typing import Any

from shared.domain.confirmations import calendar_entries, html_page, prices, schema_org
from shared.domain.confirmations.confirmation_numbers import find_confirmation
from shared.domain.confirmations.forwarding import Text, unwrap
from shared.domain.confirmations.mail_parts import MailLetter, open_mail
from shared.domain.confirmations.mail_prices import set_prices
from shared.domain.confirmations.mail_words import read_words
from shared.domain.confirmations.model import Booking, Doubt, MailPrice, MailReading, Source, TravelFacts
from shared.domain.confirmations.phrases import says_cancelled, strip_subject
from shared.domain.parsing.text import fold

NOT_READ = Doubt("attached_file_not_read", "An attached file may hold the booking and was not read.")


def read_mail(raw: bytes, world: TravelFacts) -> MailReading:
    """The best reading of the letters of a mail. Raises Unreadable."""
    letters = open_mail(raw)
    readings = [r for letter in letters for r in _read_letter(letter, world)]
    best = max(readings, key=_rank, default=MailReading())
    if not best.bookings and any(letter.closed for letter in letters):
        best = MailReading(doubts=[NOT_READ])
    inside = any(letter.attached for letter in letters)
    return replace(best, forwarded=best.forwarded or inside or strip_subject(letters[0].subject)[1])


def _rank(reading: MailReading) -> tuple[bool, bool, float, int]:
    """Bookings first, then those that can be stored, then the more reliable form and the more of them."""
    return bool(reading.bookings), not reading.missing, reading.confidence, len(reading.bookings)


def _read_letter(letter: MailLetter, world: TravelFacts) -> list[MailReading]:
    pages = [html_page.read_page(page) for page in letter.pages]
    texts = [unwrap(t, letter) for t in (*letter.texts, *(visible for visible, _ in pages)) if t.strip()]
    price = _find_price([t.body for t in texts], world)
    documents = [d for page in letter.pages for d in html_page.read_json_ld(page)]
    items = [item for _, bookings in pages for item in bookings]
    readings = []
    forms: tuple[tuple[Source, list[Any]], ...] = (("jsonld", documents), ("microdata", items))
    for source, documents_found in forms:
        bookings, doubts = schema_org.read_reservations(documents_found, world) if documents_found else ([], [])
        if bookings:
            sender = letter.sender
            readings.append(MailReading(source, False, set_prices(bookings, price, sender, world), doubts))
    readings += [r for t in texts if (r := read_words(t, world))]
    return readings + [r for r in [_read_invites(letter, texts, price, world)] if r]


def _read_invites(letter: MailLetter, texts: list[Text], price: MailPrice, world: TravelFacts) -> MailReading | None:
    """What attached calendar entries state; the letter around them may say the number and the price."""
    number_in_text = next((number for t in texts if (number := find_confirmation(t))), None)
    off = any(says_cancelled(fold(words)) for words in (letter.subject, *(t.body[:1500] for t in texts)))
    bookings: list[Booking] = []
    for words, booking in calendar_entries.read_calendar_entries(letter.invites, letter.posted, letter.sender, world):
        entry = Text(words, strip_subject(letter.subject)[0], letter.sender, False, letter.posted)
        booking.confirmation_number = find_confirmation(entry) or number_in_text
        bookings.append(replace(booking, action="cancel") if off else booking)
    return MailReading("text", False, set_prices(bookings, price, letter.sender, world)) if bookings else None


def _find_price(bodies: list[str], world: TravelFacts) -> MailPrice:
    """What the first text that says anything about it says was paid."""
    mail_prices = [prices.find_price(body, world) for body in bodies]
    return next(
        (p for p in mail_prices if p.points is not None or p.cash is not None),
        mail_prices[0] if mail_prices else MailPrice(),
    )
