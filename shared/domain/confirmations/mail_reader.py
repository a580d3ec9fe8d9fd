"""Reader of a forwarded mail: one tree of parts, whose statements about the same flight or stay are joined."""

import re
from dataclasses import replace
from typing import Any

from shared.domain.confirmations import attached_files, calendar_entries, html_page, prices, schema_org
from shared.domain.confirmations.attached_files import FileContent
from shared.domain.confirmations.boarding_barcodes import read_barcodes
from shared.domain.confirmations.confirmation_numbers import find_confirmation
from shared.domain.confirmations.forwarding import Text, unwrap
from shared.domain.confirmations.joining import join_readings
from shared.domain.confirmations.mail_parts import MailLetter, open_mail
from shared.domain.confirmations.mail_prices import set_prices
from shared.domain.confirmations.mail_words import find_action, read_words
from shared.domain.confirmations.model import (
    Action,
    BookedLeg,
    BookedStay,
    Booking,
    Doubt,
    MailPrice,
    MailReading,
    Source,
    TravelFacts,
    UnreadFile,
)
from shared.domain.confirmations.phrases import strip_subject
from shared.domain.confirmations.plausibility import doubt_untimed_legs, settle_booking
from shared.domain.confirmations.silent_letters import WHOLE

NOT_READ = Doubt("attached_file_not_read", "An attached file may hold the booking and was not read.")


def read_mail(raw: bytes, world: TravelFacts) -> MailReading:
    """All that the letters of a mail state, joined; files that were not read are named. Raises Unreadable."""
    letters = open_mail(raw)
    reading = join_readings([_read_letter(letter, world) for letter in letters])
    if not reading.bookings:
        silent = [d for d in reading.doubts if d.field in WHOLE][:1]
        reading = replace(reading, doubts=[*silent, *([NOT_READ] if reading.unread else [])])
    inside = any(letter.attached for letter in letters)
    return replace(reading, forwarded=reading.forwarded or inside or strip_subject(letters[0].subject)[1])


def _read_letter(letter: MailLetter, world: TravelFacts) -> MailReading:
    """What all parts of one letter state, the most reliable first, with the price of the letter."""
    pages = [html_page.read_page(page) for page in letter.pages]
    texts = [unwrap(t, letter) for t in (*letter.texts, *(visible for visible, _ in pages)) if t.strip()]
    documents = [d for page in letter.pages for d in html_page.read_json_ld(page)]
    items = [item for _, page_items in pages for item in page_items]
    contents, unread = attached_files.read_files(letter.files)
    data = [_read_data("jsonld", documents, letter, world), _read_data("microdata", items, letter, world)]
    entries = _read_invites(letter, texts, world)
    words = [reading for t in texts if (reading := read_words(t, world))]
    tickets = [_read_file_text(content, letter, world) for content in contents]
    stated = [b for reading in (*data, entries, *words, *tickets) for b in reading.bookings if isinstance(b, BookedLeg)]
    codes = [_read_codes(content, letter, stated, world) for content in contents]
    _drop_counts(tickets, [*data, *words])
    joined = join_readings([*data, *codes, entries, *words, *tickets], certain=len(data) + len(codes) + 1)
    is_forwarded = joined.forwarded or letter.attached or strip_subject(letter.subject)[1]
    settled = [settle_booking(b, letter.posted, is_forwarded, world) for b in joined.bookings]
    doubt_untimed_legs(settled)
    joined = replace(joined, bookings=settled)
    actions = {find_action(t) for t in texts}
    _apply_action("cancel" if "cancel" in actions else "change" if "change" in actions else "create", joined)
    _fill_numbers(joined.bookings, texts)
    price = _find_price([t.body for t in texts], [t for content in contents for t in content.texts[:1]], world)
    sender = next((t.sender for t in texts if t.forwarded and t.sender), letter.sender)
    set_prices(joined.bookings, _add_points(joined.bookings, price), sender, world)
    if not joined.bookings:
        unread += [UnreadFile(content.name, "no flight and no stay was recognised in it") for content in contents]
    return replace(joined, unread=[*letter.unread, *unread])


def _drop_counts(tickets: list[MailReading], others: list[MailReading]) -> None:
    """Without the passengers of attached tickets, of which each traveller has one, where the letter counts them."""
    legs = [b for reading in others for b in reading.bookings if isinstance(b, BookedLeg)]
    if any(leg.passengers for leg in legs):
        for leg in (b for reading in tickets for b in reading.bookings if isinstance(b, BookedLeg)):
            leg.passengers = None
        for reading in tickets:
            reading.doubts = [d for d in reading.doubts if d.field != "passengers"]


def _read_data(source: Source, documents: list[Any], letter: MailLetter, world: TravelFacts) -> MailReading:
    """What the page states as data of schema.org, and in the barcodes they carry."""
    bookings, doubts = schema_org.read_reservations(documents, world, letter.posted) if documents else ([], [])
    reading = MailReading(source, False, bookings, doubts) if bookings else MailReading()
    stated = [b for b in bookings if isinstance(b, BookedLeg)]
    legs = read_barcodes(schema_org.list_ticket_tokens(documents), letter.posted, world, stated)
    return join_readings([reading, MailReading("text", False, [*legs])]) if bookings and legs else reading


def _read_codes(content: FileContent, letter: MailLetter, stated: list[BookedLeg], world: TravelFacts) -> MailReading:
    """What the barcodes and the data of an attached file state."""
    legs = read_barcodes(content.barcodes, content.day or letter.posted, world, stated)
    bookings, _ = schema_org.read_reservations(content.documents, world, letter.posted)
    return join_readings([MailReading("text", False, [*legs]), MailReading("text", False, bookings)])


def _read_file_text(content: FileContent, letter: MailLetter, world: TravelFacts) -> MailReading:
    """What the text of an attached file states, in the better of its accounts."""
    texts = [unwrap(_mark_columns(t), letter) for t in content.texts if t.strip()]
    readings = [reading for t in texts if (reading := read_words(t, world, is_ticket=True))]
    return max(readings, key=lambda r: (not r.missing, r.confidence, len(r.bookings)), default=MailReading())


def _mark_columns(text: str) -> str:
    """Text laid out with blanks, its columns divided by tabs as the cells of a page are."""
    return re.sub(r"(?<=\S) {3,}(?=\S)", "\t", text)


def _read_invites(letter: MailLetter, texts: list[Text], world: TravelFacts) -> MailReading:
    """What attached calendar entries state; the letter around them may call them off."""
    off = bool(letter.invites) and any(find_action(t) == "cancel" for t in texts)
    bookings: list[Booking] = []
    for words, booking in calendar_entries.read_calendar_entries(letter.invites, letter.posted, letter.sender, world):
        entry = Text(words, strip_subject(letter.subject)[0], letter.sender, False, letter.posted)
        booking.confirmation_number = find_confirmation(entry)
        bookings.append(replace(booking, action="cancel") if off else booking)
    return MailReading("text", False, bookings)


def _apply_action(action: Action, joined: MailReading) -> None:
    """What the words of the letter say of the whole: a change is one of all it shows, a contradiction is doubtful."""
    for booking in joined.bookings:
        if action == "change" and booking.action == "create":
            booking.action = "change"
        elif action == "cancel" and booking.action == "create":
            about = booking.flight_number if isinstance(booking, BookedLeg) else booking.hotel_name
            reason = "The words of the letter speak of a cancellation, its data of a booking."
            booking.doubts.append(Doubt("action", reason, ("create", "cancel"), about or ""))


def _fill_numbers(bookings: list[Booking], texts: list[Text]) -> None:
    """The number of the letter for bookings whose own part names none, where all are of one kind."""
    lacking = [b for b in bookings if b.confirmation_number is None]
    if lacking and len({b.type for b in bookings}) == 1:
        number = next((number for t in texts if (number := find_confirmation(t))), None)
        for booking in lacking:
            booking.confirmation_number = number


def _find_price(bodies: list[str], file_texts: list[str], world: TravelFacts) -> MailPrice:
    """What the first text that says anything of it says was paid; attached files are asked where no text does."""
    for group in (bodies, file_texts):
        prices_read = [p for body in group if _is_stated(p := prices.find_price(body, world))]
        if prices_read:
            return _compare_prices(prices_read)
    return prices.find_price(bodies[0], world) if bodies else MailPrice()


def _add_points(bookings: list[Booking], price: MailPrice) -> MailPrice:
    """The price with the points that data of the mail name; doubtful where they are not those of the letter."""
    points = [price.points] if price.points is not None else []
    stays = [b for b in bookings if isinstance(b, BookedStay)]
    if len(stays) > 1 and all(stay.original_points is not None for stay in stays):
        points, bookings = [], [b for b in bookings if not isinstance(b, BookedStay)]  # each stay has its own
    for booking in bookings:
        name = "points_spent" if isinstance(booking, BookedLeg) else "original_points"
        points += [] if getattr(booking, name) is None else [getattr(booking, name)]
        setattr(booking, name, None)
    if len(set(points)) > 1:
        doubt = Doubt("kind", "The parts of the mail name different points.", tuple(dict.fromkeys(points)))
        return replace(price, points=None, cash=None, doubts=[*price.doubts, doubt])
    return replace(price, points=points[0], award=True) if points else price


def _is_stated(price: MailPrice) -> bool:
    amounts = (price.points, price.cash, price.nightly_points, price.per_person, price.doubts)
    return any(amount not in (None, []) for amount in amounts)


def _compare_prices(prices_read: list[MailPrice]) -> MailPrice:
    """The first price; doubtful where another text of the same letter names other points or another total."""
    first = prices_read[0]
    points = list(dict.fromkeys(p.points for p in prices_read if p.points is not None))
    totals = list(dict.fromkeys(p.cash for p in prices_read if p.cash is not None))
    if len(points) > 1 or (len(totals) > 1 and not points):
        values = tuple(f"{value:,}" for value in (points if len(points) > 1 else totals)[:4])
        doubt = Doubt("kind", "The texts of the letter name different prices.", values)
        return replace(first, points=None, cash=None, doubts=[*first.doubts, doubt])
    return first
