"""Reader of a forwarded mail: tries JSON-LD, microdata, calendar entries and plain text, and keeps the best reading."""

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from shared.domain.confirmations import calendar_entries, flights, html_page, prices, schema_org, stays
from shared.domain.confirmations.clean_text import clean, to_one_line
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.confirmations.mail_parts import MailLetter, open_mail
from shared.domain.confirmations.model import (
    BookedLeg,
    BookedStay,
    Booking,
    MailPrice,
    MailReading,
    Source,
    TravelFacts,
)
from shared.domain.confirmations.phrases import (
    CONFIRMATION,
    FORWARDED,
    FROM,
    HEADER,
    SUBJECT,
    says_cancelled,
    says_unsettled,
    strip_subject,
)
from shared.domain.parsing.text import fold

MAX_LINES = 3_000
MAX_LINE_CHARACTERS = 600
NOT_READ = "attached_file_not_read"
_NUMBER = re.compile(r"^[\s:#.\t|-]*(?:is|ist|est|es|e)?[\s:#\t]*([A-Z0-9][A-Z0-9-]{4,24})(?![A-Za-z0-9])")
_DOTTED = re.compile(r"^[\s:#\t]*(\d{3,4}(?:\.\d{3}){2})(?![\d.]\d)")
_IN_SUBJECT = re.compile(r"#\s?([A-Z0-9]{5,20})\b|\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])([A-Z0-9]{6})\b|\b(\d{7,12})\b")
_WITH_LETTERS = re.compile(r"^(?=.*\d)[A-Z0-9-]+$|^[A-Z]{6}$")


@dataclass
class Text:
    """One readable text of a letter, freed of what forwarding put around it."""

    body: str
    subject: str
    sender: str
    forwarded: bool
    posted: date | None


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
    texts = [_unwrap(t, letter) for t in (*letter.texts, *(visible for visible, _ in pages)) if t.strip()]
    price = _find_price([t.body for t in texts], world)
    documents = [d for page in letter.pages for d in html_page.read_json_ld(page)]
    items = [item for _, bookings in pages for item in bookings]
    readings = []
    forms: tuple[tuple[Source, list[Any]], ...] = (("jsonld", documents), ("microdata", items))
    for source, documents_found in forms:
        bookings, doubts = schema_org.read_reservations(documents_found, world) if documents_found else ([], [])
        if bookings:
            sender = letter.sender
            readings.append(MailReading(source, False, _set_prices(bookings, price, sender, world), doubts))
    readings += [r for t in texts if (r := _read_words(t, world))]
    return readings + [r for r in [_read_invites(letter, texts, price, world)] if r]


def _read_invites(letter: MailLetter, texts: list[Text], price: MailPrice, world: TravelFacts) -> MailReading | None:
    """What attached calendar entries state; the letter around them may say the number and the price."""
    number_in_text = next((number for t in texts if (number := _find_confirmation(t))), None)
    off = any(says_cancelled(fold(words)) for words in (letter.subject, *(t.body[:1500] for t in texts)))
    bookings: list[Booking] = []
    for words, booking in calendar_entries.read_calendar_entries(letter.invites, letter.posted, letter.sender, world):
        entry = Text(words, strip_subject(letter.subject)[0], letter.sender, False, letter.posted)
        booking.confirmation_number = _find_confirmation(entry) or number_in_text
        bookings.append(replace(booking, action="cancel") if off else booking)
    return MailReading("text", False, _set_prices(bookings, price, letter.sender, world)) if bookings else None


def _find_price(bodies: list[str], world: TravelFacts) -> MailPrice:
    """What the first text that says anything about it says was paid."""
    mail_prices = [prices.find_price(body, world) for body in bodies]
    return next(
        (p for p in mail_prices if p.points is not None or p.cash is not None),
        mail_prices[0] if mail_prices else MailPrice(),
    )


def _unwrap(content: str, letter: MailLetter) -> Text:
    lines = [line[:MAX_LINE_CHARACTERS].rstrip() for line in clean(content).split("\n", MAX_LINES)[:MAX_LINES]]
    text = Text("\n".join(lines), strip_subject(letter.subject)[0], letter.sender, False, letter.posted)
    for _ in range(3):  # a forward of a forward
        marks = list(FORWARDED.finditer(fold(text.body)))
        at = marks[0].end() if marks else _find_headers(text.body)
        if at is None:
            break
        text = _open_forwarded(text, text.body[at:])
    return text


def _find_headers(body: str) -> int | None:
    """Where a block of at least three header lines begins, as some programs put one before what they forward."""
    run, at, start = 0, 0, 0
    for line in body.split("\n"):
        small = fold(line.lstrip("> "))
        if HEADER.match(small):
            start = at if run == 0 else start
            run += 1
            if run == 3 and SUBJECT.search(fold(body[start : start + 600]).replace("\n", " ")) is None:
                pass
            if run == 3:
                return start
        else:
            run = 0
        at += len(line) + 1
    return None


def _open_forwarded(outer: Text, rest: str) -> Text:
    """The forwarded letter: its own subject and sender, its lines without marks of quoting."""
    lines = [re.sub(r"^(?:\s?>)+ ?", "", line) for line in rest.split("\n")]
    subject, sender, start = outer.subject, outer.sender, 0
    for at, line in enumerate(lines[:30]):
        small = fold(line.strip())
        if not HEADER.match(small):
            if small and start:
                break
            continue
        start = at + 1
        if match := SUBJECT.match(small):
            subject = to_one_line(line.strip()[match.end() :], 200)
        elif match := FROM.match(small):
            sender = to_one_line(re.sub(r"<[^>]*>|\[mailto:[^\]]*\]", "", line.strip()[match.end() :]), 120)
    return Text("\n".join(lines[start:]), strip_subject(subject)[0], sender, True, outer.posted)


def _read_words(text: Text, world: TravelFacts) -> MailReading | None:
    """What plain words state; None without a booking."""
    folded = fold(text.body)
    dates = MailDates(folded, text.posted)
    bookings: list[Booking] = list(flights.read_legs(text.body, dates, world, text.sender))
    if not bookings and (lodging := stays.read_stay(text.body, text.subject, dates, world)):
        bookings = [lodging]
    number = _find_confirmation(text)
    off = says_cancelled(fold(text.subject)) or says_cancelled(folded[:1500])
    if off and number:
        bookings = [replace(b, action="cancel") for b in bookings] or [BookedLeg(action="cancel")]
    elif not number and not any(isinstance(b, BookedStay) or b.departure_date for b in bookings):
        return None
    if not bookings or (not number and not _BOOKING.search(folded)):
        return None
    for booking in bookings:
        booking.confirmation_number = number
    doubts = ["not_confirmed"] if says_unsettled(folded[:1500]) and not off else []
    price = prices.find_price(text.body, world)
    passengers = _count_passengers(folded)
    for booking in bookings:
        if isinstance(booking, BookedLeg):
            booking.passengers = passengers
    return MailReading("text", text.forwarded, _set_prices(bookings, price, text.sender, world), doubts)


_BOOKING = re.compile(
    r"your (?:booking|reservation|itinerary|trip)|e-?ticket|reiseplan"
    r"|ihre (?:buchung|reise)|votre reservation|tu reserva"
)


def _find_confirmation(text: Text) -> str | None:
    """The one number the mail calls so; with several the first, as airlines put their own before those of partners."""
    lines = text.body.split("\n")
    for at, line in enumerate(lines):
        small = fold(line)
        for label in CONFIRMATION.finditer(small):
            below = next((ln for ln in lines[at + 1 : at + 3] if ln.strip()), "")
            for rest in (line[label.end() :], below if not line[label.end() :].strip(" :#.\t") else ""):
                if dotted := _DOTTED.match(rest):
                    return dotted[1].replace(".", "")
                if (match := _NUMBER.match(rest)) and _WITH_LETTERS.match(match[1]):
                    return match[1]
    if CONFIRMATION.search(fold(text.subject)) or "booking" in fold(text.subject):
        match = _IN_SUBJECT.search(text.subject)
        return next((g for g in match.groups() if g), None) if match else None
    return None


_COUNT = re.compile(
    r"\b(?:passengers?|travell?ers?|guests?|reisende|passagiere?|passagers?|pasajeros?|passageiros?"
    r"|passeggeri)\s?[:\t]\s?(\d)(?![\d.,])|\b(\d) (?:passengers?|travell?ers|adults?)\b"
)
_NAMED = re.compile(
    r"^\W*(?:passenger(?: name)?|travell?er(?: name)?|reisender|passagier|passager|pasajero|passageiro"
    r"|passeggero)s?(?: \d)?\s?[:\t]\s?([^\d\n]{3,})$",
    re.M,
)


def _count_passengers(folded: str) -> int | None:
    if match := _COUNT.search(folded):
        return int(match[1] or match[2]) or None
    names = {n.strip() for line in _NAMED.findall(folded) for n in re.split(r",|;| and ", line) if n.strip()}
    return len(names) if 0 < len(names) <= 9 else None


def _set_prices(bookings: list[Booking], price: MailPrice, sender: str, world: TravelFacts) -> list[Booking]:
    """The bookings with what was paid: one reservation bears the mail's price, several only what each says itself."""
    groups: dict[object, list[Booking]] = {}
    for b in bookings:
        groups.setdefault((b.type, b.confirmation_number), []).append(b)
    for group in groups.values():
        if group[0].action == "create":
            (_set_flight_price if isinstance(group[0], BookedLeg) else _set_stay_price)(
                group, price, len(groups) == 1, sender, world
            )
    return bookings


def _set_flight_price(group: list[Booking], price: MailPrice, alone: bool, sender: str, world: TravelFacts) -> None:
    legs = [b for b in group if isinstance(b, BookedLeg)]
    own = {(leg.cash_paid, leg.taxes_currency) for leg in legs if leg.cash_paid is not None}
    award = (alone and price.points is not None) or price.award
    cash, currency = (price.cash, price.currency) if alone and not own else (None, None)
    if len(own) == 1:
        cash, currency = own.pop()
    taxes = (price.taxes, price.taxes_currency) if price.taxes is not None else (cash, currency)
    for at, leg in enumerate(legs):
        leg.kind = "award" if award else "cash"
        leg.passengers = leg.passengers or None
        if len(own) > 1 and not award:
            continue
        leg.cash_paid = None
        if award:
            leg.program = leg.program or _find_program(price, leg.airline, sender, world)
            leg.points_spent = None if not alone or price.points is None else 0 if at else price.points
            leg.taxes_paid = None if not alone or taxes[0] is None else taxes[0] * (0 if at else 1)
            leg.taxes_currency = taxes[1] if alone else None
        else:
            leg.program = None
            leg.cash_paid = None if cash is None else cash * (0 if at else 1)
            leg.taxes_currency = currency


def _find_program(price: MailPrice, airline: str | None, sender: str, world: TravelFacts) -> str | None:
    """The programme the points are of: as named with them, else the sender's if it is the airline's own."""
    own = world.program_of(airline) if airline else None
    if price.program:
        return price.program
    return own if own and world.program_of(world.airline(sender) or "") == own else None


def _set_stay_price(group: list[Booking], price: MailPrice, alone: bool, _sender: str, _world: TravelFacts) -> None:
    for stay in (b for b in group if isinstance(b, BookedStay)):
        award = stay.cash_total is None and (price.award or (alone and price.points is not None))
        stay.kind = "award" if award else "cash"
        if award:
            stay.original_points = price.points if alone else None
        elif stay.cash_total is None and alone and price.cash is not None:
            stay.cash_total, stay.cash_rate_currency = price.cash, price.currency
