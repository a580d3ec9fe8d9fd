"""The bytes of a mail go in; what it states, from its best form, comes out."""

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
    bare_subject,
    says_cancelled,
    says_unsettled,
)
from shared.domain.parsing.text import fold

MOST_LINES = 3_000
LONGEST_LINE = 600
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
    readings = [r for letter in letters for r in _letter(letter, world)]
    best = max(readings, key=_worth, default=MailReading())
    if not best.bookings and any(letter.closed for letter in letters):
        best = MailReading(doubts=[NOT_READ])
    inside = any(letter.attached for letter in letters)
    return replace(best, forwarded=best.forwarded or inside or bare_subject(letters[0].subject)[1])


def _worth(reading: MailReading) -> tuple[bool, bool, float, int]:
    """Bookings first, then those that can be stored, then the more reliable form and the more of them."""
    return bool(reading.bookings), not reading.missing, reading.confidence, len(reading.bookings)


def _letter(letter: MailLetter, world: TravelFacts) -> list[MailReading]:
    pages = [html_page.read(page) for page in letter.pages]
    texts = [_text(t, letter) for t in (*letter.texts, *(shown for shown, _ in pages)) if t.strip()]
    price = _price([t.body for t in texts], world)
    documents = [d for page in letter.pages for d in html_page.scripts(page)]
    items = [item for _, found in pages for item in found]
    readings = []
    forms: tuple[tuple[Source, list[Any]], ...] = (("jsonld", documents), ("microdata", items))
    for source, given in forms:
        found, doubts = schema_org.bookings(given, world) if given else ([], [])
        if found:
            sender = letter.sender
            readings.append(MailReading(source, False, _priced(found, price, sender, world), doubts))
    readings += [r for t in texts if (r := _in_words(t, world))]
    return readings + [r for r in [_in_invites(letter, texts, price, world)] if r]


def _in_invites(letter: MailLetter, texts: list[Text], price: MailPrice, world: TravelFacts) -> MailReading | None:
    """What attached calendar entries state; the letter around them may say the number and the price."""
    said = next((number for t in texts if (number := _confirmation(t))), None)
    off = any(says_cancelled(fold(words)) for words in (letter.subject, *(t.body[:1500] for t in texts)))
    found: list[Booking] = []
    for words, booking in calendar_entries.read(letter.invites, letter.posted, letter.sender, world):
        entry = Text(words, bare_subject(letter.subject)[0], letter.sender, False, letter.posted)
        booking.confirmation_number = _confirmation(entry) or said
        found.append(replace(booking, action="cancel") if off else booking)
    return MailReading("text", False, _priced(found, price, letter.sender, world)) if found else None


def _price(bodies: list[str], world: TravelFacts) -> MailPrice:
    """What the first text that says anything about it says was paid."""
    found = [prices.find_price(body, world) for body in bodies]
    return next((p for p in found if p.points is not None or p.cash is not None), found[0] if found else MailPrice())


def _text(given: str, letter: MailLetter) -> Text:
    lines = [line[:LONGEST_LINE].rstrip() for line in clean(given).split("\n", MOST_LINES)[:MOST_LINES]]
    made = Text("\n".join(lines), bare_subject(letter.subject)[0], letter.sender, False, letter.posted)
    for _ in range(3):  # a forward of a forward
        marks = list(FORWARDED.finditer(fold(made.body)))
        at = marks[0].end() if marks else _headers_in(made.body)
        if at is None:
            break
        made = _inner(made, made.body[at:])
    return made


def _headers_in(body: str) -> int | None:
    """Where a block of at least three header lines begins, as some programs put one before what they forward."""
    run, at, begun = 0, 0, 0
    for line in body.split("\n"):
        small = fold(line.lstrip("> "))
        if HEADER.match(small):
            begun = at if run == 0 else begun
            run += 1
            if run == 3 and SUBJECT.search(fold(body[begun : begun + 600]).replace("\n", " ")) is None:
                pass
            if run == 3:
                return begun
        else:
            run = 0
        at += len(line) + 1
    return None


def _inner(outer: Text, rest: str) -> Text:
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
        if found := SUBJECT.match(small):
            subject = to_one_line(line.strip()[found.end() :], 200)
        elif found := FROM.match(small):
            sender = to_one_line(re.sub(r"<[^>]*>|\[mailto:[^\]]*\]", "", line.strip()[found.end() :]), 120)
    return Text("\n".join(lines[start:]), bare_subject(subject)[0], sender, True, outer.posted)


def _in_words(text: Text, world: TravelFacts) -> MailReading | None:
    """What plain words state; None without a booking."""
    folded = fold(text.body)
    dates = MailDates(folded, text.posted)
    found: list[Booking] = list(flights.legs(text.body, dates, world, text.sender))
    if not found and (lodging := stays.stay(text.body, text.subject, dates, world)):
        found = [lodging]
    number = _confirmation(text)
    off = says_cancelled(fold(text.subject)) or says_cancelled(folded[:1500])
    if off and number:
        found = [replace(b, action="cancel") for b in found] or [BookedLeg(action="cancel")]
    elif not number and not any(isinstance(b, BookedStay) or b.departure_date for b in found):
        return None
    if not found or (not number and not _BOOKING.search(folded)):
        return None
    for booking in found:
        booking.confirmation_number = number
    doubts = ["not_confirmed"] if says_unsettled(folded[:1500]) and not off else []
    price = prices.find_price(text.body, world)
    passengers = _passengers(folded)
    for booking in found:
        if isinstance(booking, BookedLeg):
            booking.passengers = passengers
    return MailReading("text", text.forwarded, _priced(found, price, text.sender, world), doubts)


_BOOKING = re.compile(
    r"your (?:booking|reservation|itinerary|trip)|e-?ticket|reiseplan"
    r"|ihre (?:buchung|reise)|votre reservation|tu reserva"
)


def _confirmation(text: Text) -> str | None:
    """The one number the mail calls so; with several the first, as airlines put their own before those of partners."""
    lines = text.body.split("\n")
    for at, line in enumerate(lines):
        small = fold(line)
        for label in CONFIRMATION.finditer(small):
            below = next((ln for ln in lines[at + 1 : at + 3] if ln.strip()), "")
            for rest in (line[label.end() :], below if not line[label.end() :].strip(" :#.\t") else ""):
                if dotted := _DOTTED.match(rest):
                    return dotted[1].replace(".", "")
                if (found := _NUMBER.match(rest)) and _WITH_LETTERS.match(found[1]):
                    return found[1]
    if CONFIRMATION.search(fold(text.subject)) or "booking" in fold(text.subject):
        found = _IN_SUBJECT.search(text.subject)
        return next((g for g in found.groups() if g), None) if found else None
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


def _passengers(folded: str) -> int | None:
    if found := _COUNT.search(folded):
        return int(found[1] or found[2]) or None
    names = {n.strip() for line in _NAMED.findall(folded) for n in re.split(r",|;| and ", line) if n.strip()}
    return len(names) if 0 < len(names) <= 9 else None


def _priced(found: list[Booking], price: MailPrice, sender: str, world: TravelFacts) -> list[Booking]:
    """The bookings with what was paid: one reservation bears the mail's price, several only what each says itself."""
    groups: dict[object, list[Booking]] = {}
    for b in found:
        groups.setdefault((b.type, b.confirmation_number), []).append(b)
    for group in groups.values():
        if group[0].action == "create":
            (_pay_flight if isinstance(group[0], BookedLeg) else _pay_stay)(
                group, price, len(groups) == 1, sender, world
            )
    return found


def _pay_flight(group: list[Booking], price: MailPrice, alone: bool, sender: str, world: TravelFacts) -> None:
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
            leg.program = leg.program or _program(price, leg.airline, sender, world)
            leg.points_spent = None if not alone or price.points is None else 0 if at else price.points
            leg.taxes_paid = None if not alone or taxes[0] is None else taxes[0] * (0 if at else 1)
            leg.taxes_currency = taxes[1] if alone else None
        else:
            leg.program = None
            leg.cash_paid = None if cash is None else cash * (0 if at else 1)
            leg.taxes_currency = currency


def _program(price: MailPrice, airline: str | None, sender: str, world: TravelFacts) -> str | None:
    """The programme the points are of: as named with them, else the sender's if it is the airline's own."""
    own = world.program_of(airline) if airline else None
    if price.program:
        return price.program
    return own if own and world.program_of(world.airline(sender) or "") == own else None


def _pay_stay(group: list[Booking], price: MailPrice, alone: bool, _sender: str, _world: TravelFacts) -> None:
    for stay in (b for b in group if isinstance(b, BookedStay)):
        award = stay.cash_total is None and (price.award or (alone and price.points is not None))
        stay.kind = "award" if award else "cash"
        if award:
            stay.original_points = price.points if alone else None
        elif stay.cash_total is None and alone and price.cash is not None:
            stay.cash_total, stay.cash_rate_currency = price.cash, price.currency
