"""Reader of a forwarded mail: one tree of parts, whose statements about the same flight or stay are joined."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Calendar as Entries

from shared.domain.confirmations import attached_files, flights, html_page, prices, schema_org
from shared.domain.confirmations.attached_files import FileContent
from shared.domain.confirmations.balance_letters import read_balance
from shared.domain.confirmations.booking_state import judge_states
from shared.domain.confirmations.clean_text import clean, to_one_line
from shared.domain.confirmations.confirmation_numbers import find_confirmation
from shared.domain.confirmations.forwarding import Text, unwrap
from shared.domain.confirmations.joining import join_readings, join_statements
from shared.domain.confirmations.mail_dates import MailDates
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
from shared.domain.confirmations.open_choices import offer_choices
from shared.domain.confirmations.other_letters import is_receipt_of_extra, name_other
from shared.domain.confirmations.phrases import strip_subject
from shared.domain.confirmations.silent_letters import WHOLE
from shared.domain.confirmations.stays import read_stays
from shared.domain.parsing.text import fold
from shared.domain.possible_flights import Leg, find_clashes, judge_times

# What no flight and no stay can be: times that its airports' clocks exclude, and years far from the letter's.

_DAYS_AHEAD = 760  # flights are sold for a year, stays for two
_DAYS_BEHIND = 760  # of an old letter that someone forwards
_DAYS_BEHIND_DIRECT = 45  # of a letter that comes from its sender, perhaps a receipt
_MOST_NIGHTS = 120


def settle_booking(booking: Booking, posted: date | None, forwarded: bool, world: TravelFacts) -> Booking:
    """The booking with the day of arrival that its clocks allow; what cannot be is open and doubtful."""
    booking = replace(booking, doubts=[*booking.doubts, *_doubt_year(booking, posted, forwarded)])
    return _settle_nights(booking) if isinstance(booking, BookedStay) else _settle_arrival(booking, world)


def doubt_untimed_legs(bookings: list[Booking]) -> None:
    """A letter that gives the clock of some flights gives it of all: where one lacks it, its lines were misread."""
    legs = [b for b in bookings if isinstance(b, BookedLeg) and b.action != "cancel"]
    untimed = [leg for leg in legs if leg.departure_time is None and not _has_doubt(leg)]
    if len(untimed) < len(legs):
        reason = "The letter gives the times of other flights, and those of this one were not recognised."
        for leg in untimed:
            leg.doubts.append(Doubt("departure_time", reason, (), leg.flight_number or ""))


def doubt_clashes(bookings: list[Booking], world: TravelFacts) -> None:
    """No one takes two flights of one booking at once: the later one is asked for its time."""
    legs: dict[Leg, BookedLeg] = {}
    for b in bookings:
        if isinstance(b, BookedLeg) and b.action != "cancel" and b.origin and b.destination and not _has_doubt(b):
            ends = (b.departure_date, b.departure_time), (b.arrival_date, b.arrival_time)
            legs[Leg(b.flight_number or "", world.route(b.origin, b.destination), *ends)] = b
    for number in {b.confirmation_number for b in legs.values()}:
        for first, second in find_clashes(leg for leg, b in legs.items() if b.confirmation_number == number):
            reason = f"It leaves before {first.name or 'the flight before it'} lands."
            legs[second].doubts.append(Doubt("departure_time", reason, (), second.name))


def _has_doubt(leg: BookedLeg) -> bool:
    return any(d.field in ("departure_time", "arrival_time") for d in leg.doubts)


def _doubt_year(booking: Booking, posted: date | None, forwarded: bool) -> list[Doubt]:
    """A doubt about a day that is far from the letter's own."""
    is_flight = isinstance(booking, BookedLeg)
    name, about = ("departure_date", "flight_number") if is_flight else ("check_in_date", "hotel_name")
    day = getattr(booking, name)
    if posted is None or day is None or booking.action == "cancel":
        return []
    behind = _DAYS_BEHIND if forwarded else _DAYS_BEHIND_DIRECT
    if -behind <= (day - posted).days <= _DAYS_AHEAD:
        return []
    reason = "The day is far from the one on which the letter was sent."
    return [Doubt(name, reason, (day.isoformat(),), getattr(booking, about) or "")]


_WHOLE_DAYS = "An entry of whole days may end on the day of leaving or after it."


def _settle_nights(stay: BookedStay) -> BookedStay:
    if stay.check_out_date:
        stay = replace(stay, doubts=[d for d in stay.doubts if d.reason != _WHOLE_DAYS])
    if stay.check_in_date is None or stay.check_out_date is None:
        return stay
    nights = (stay.check_out_date - stay.check_in_date).days
    if 0 < nights <= _MOST_NIGHTS:
        return stay
    values = (stay.check_in_date.isoformat(), stay.check_out_date.isoformat())
    doubt = Doubt("check_out_date", f"That would be {nights} nights.", values, stay.hotel_name or "")
    return replace(stay, check_out_date=None, doubts=[*stay.doubts, doubt])


def _settle_arrival(leg: BookedLeg, world: TravelFacts) -> BookedLeg:
    """Sets the day of arrival: the one stated, unless only another is possible."""
    if not (leg.origin and leg.destination and leg.departure_date and leg.departure_time and leg.arrival_time):
        return leg
    departs = (leg.departure_date, leg.departure_time)
    landing = judge_times(world.route(leg.origin, leg.destination), departs, leg.arrival_time, leg.arrival_date)
    is_unsure_day = leg.arrival_date in (None, leg.departure_date)  # many write the day of departure for both ends
    if landing.verdict != "contradicted" or (landing.day and is_unsure_day):
        return replace(leg, arrival_date=landing.day)
    clock = tuple(at.strftime("%H:%M") for at in (leg.departure_time, leg.arrival_time))
    doubt = Doubt("arrival_time", landing.reason, clock, leg.flight_number or "")
    doubts = leg.doubts if any(d.field == "arrival_time" for d in leg.doubts) else [*leg.doubts, doubt]
    return replace(leg, departure_time=None, arrival_time=None, arrival_date=None, doubts=doubts)


# Flights and stays in calendar entries attached to a mail (iCalendar, RFC 5545).

MAX_CALENDAR_CHARACTERS = 100_000  # characters of one attached calendar
_MAX_ENTRIES = 20  # entries of a mail
_LODGING = re.compile(
    r"\b(?:hotel|inn|resort|hostel|check[ -]?in|stay at|your stay|room|lodging|unterkunft|aufenthalt|anreise|sejour"
    r"|hebergement|estancia|alojamiento|soggiorno|verblijf)\b"
)

_ANY_FLIGHT = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z]{2}|[A-Z]\d|\d[A-Z]) ?\d{1,4}(?![A-Za-z0-9])")
_STREET = re.compile(r"\d|\b(?:street|str|road|avenue|lane|calle|carrer|rue|via|viale|rua|straat|weg|platz|strasse)\b")
_HOUSE = re.compile(r"\W*\d{1,4}[A-Za-z]?\s*(?:,|$)")
_LABEL_OF_TITLE = re.compile(r"^(?:hotel|stay|accommodation|unterkunft|hébergement|alojamiento|alloggio)\s*:\s*", re.I)
_TITLE_WORDS = re.compile(
    r"(?:(?:your |ihr |votre |tu |su |uw |je )?(?:stay|hotel stay|hotel booking|hotel reservation|reservation|booking"
    r"|aufenthalt|hotelaufenthalt|ubernachtung|sejour|estancia|soggiorno|verblijf|check-?in)\b"
    r"(?: (?:at|in|im|bei|a|au|en|presso|bij|the|the hotel|l'hotel)\b)?\s?[:-]?\s*)+"
)


def read_calendar_entries(
    texts: list[str], posted: date | None, sender: str, world: TravelFacts
) -> Iterator[tuple[str, Booking]]:
    """The bookings of all entries; text that is no calendar is ignored."""
    entries = [pair for text in texts[:_MAX_ENTRIES] for pair in _read_entries(text)]
    for entry, called_off in entries[:_MAX_ENTRIES]:
        # The words of an entry; those of its HTML form (X-ALT-DESC) where it has no other description.
        parts = [str(entry.get(name, ""))[:4000] for name in ("SUMMARY", "LOCATION", "DESCRIPTION")]
        if not parts[2].strip():
            parts[2] = html_page.read_page(str(entry.get("X-ALT-DESC", ""))[:20_000])[0][:4000]
        is_of_flight = _ANY_FLIGHT.search(f"{parts[0]}\n{parts[2]}")
        place = _find_place(parts[1], world) if is_of_flight else None
        titles = _place_title(parts[0], parts[1], place, world) if is_of_flight else parts[:2]
        words = clean("\n".join([*titles, parts[2]]))
        starts, ends = _read_moment(entry, "DTSTART"), _read_moment(entry, "DTEND")
        dates = MailDates(fold(words), posted)
        legs = [_check_origin(leg, place) for leg in flights.read_legs(words, dates, world, sender)]
        action: Action = "cancel" if called_off else "create"
        bookings: list[Booking] = [*legs]
        if len(legs) == 1:
            bookings = [_set_entry_times(legs[0], starts, ends, world)]
        elif not legs and (stay := _read_stay(entry, words, starts, ends, dates, world)):
            bookings = [stay]
        for booking in bookings:
            yield words, replace(booking, action=action, doubts=[*booking.doubts, *_doubt_entry(booking, entry)])


def _find_place(location: str, world: TravelFacts) -> str | None:
    """The one airport that the place of an entry names; None for a route, an address or a city of several airports."""
    codes = [m[0] for m in re.finditer(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])", location) if world.clock_of(m[0])]
    named = [codes_named for line in location.split("\n") for _, _, codes_named in world.places(line[:120])]
    if len(set(codes)) == 1 and all(codes[0] in airports for airports in named):
        return codes[0]
    if codes or len(named) > 1:
        return None
    return next(iter(named[0])) if named and len(named[0]) == 1 else world.airport(location[:120])


def _place_title(title: str, location: str, place: str | None, world: TravelFacts) -> list[str]:
    """The title and the place of an entry as lines of a letter. The place is where a flight leaves: its code goes to
    the city of the title that it is an airport of, or on a line of its own before a title that names another."""
    if place is None:
        is_route = bool(re.search(r"[A-Z]{3}\W+(?:to\W+)?[A-Z]{3}", location))
        return [title, location] if is_route else [title]
    for start, end, codes in world.places(title[:160]):
        if place in codes:
            named = title[start:end]
            return [title if place in named else f"{title[:end]} ({place}){title[end:]}"]
    return [f"From: ({place})", title]


def _check_origin(leg: BookedLeg, place: str | None) -> BookedLeg:
    """The leg with a question where its entry's place is not the airport it leaves from."""
    if place is None or leg.origin in (place, None):
        return leg
    doubt = Doubt("origin", "The place of the entry is another airport.", (leg.origin, place), leg.flight_number or "")
    return replace(leg, origin=None, doubts=[*leg.doubts, doubt])


def _read_entries(text: str) -> list[tuple[Any, bool]]:
    """Each entry, and whether it is cancelled. VTIMEZONE is dropped: expanding its rules can take any time."""
    lines, inside = [], False
    for line in text[:MAX_CALENDAR_CHARACTERS].replace("\r\n", "\n").split("\n"):
        name = line.strip().upper()
        inside = inside or name == "BEGIN:VTIMEZONE"
        if not inside:
            lines.append(line)
        inside = inside and name != "END:VTIMEZONE"
    try:
        calendars = Entries.from_ical("\r\n".join(lines).strip() + "\r\n", multiple=True)
        return [
            (entry, "CANCEL" in f"{calendar.get('METHOD', '')} {entry.get('STATUS', '')}".upper())
            for calendar in calendars
            for entry in calendar.walk("VEVENT")
        ]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return []


def _doubt_entry(booking: Booking, entry: Any) -> list[Doubt]:
    """Questions about an entry that repeats, and about a flight on the clock of a zone that is of no known place."""
    is_flight = isinstance(booking, BookedLeg)
    moments = [(entry.get(name), _read_moment(entry, name)) for name in ("DTSTART", "DTEND")]
    day = "departure_date" if is_flight else "check_in_date"
    repeats = entry.get("RRULE") or entry.get("RDATE")
    doubts = [Doubt(day, "The entry repeats: each of its days is a booking.")] if repeats else []
    if is_flight and any(isinstance(at, datetime) and not at.tzinfo and v.params.get("TZID") for v, at in moments):
        doubts.append(Doubt("departure_time", "The zone of the entry is not known."))
    return doubts


def _read_moment(entry: Any, name: str) -> date | datetime | None:
    value = getattr(entry.get(name), "dt", None)
    return value if isinstance(value, date) else None


def _set_entry_times(leg: BookedLeg, starts: date | None, ends: date | None, world: TravelFacts) -> BookedLeg:
    """The leg at the times of its entry, on the clocks of its airports; what its words say otherwise is doubtful."""
    departs, arrives = (
        _to_local(m, a and world.clock_of(a)) for m, a in ((starts, leg.origin), (ends, leg.destination))
    )
    if departs[0] is None:
        return leg
    timed = replace(leg, departure_date=departs[0], departure_time=departs[1])
    if arrives[0] is not None and arrives[1] is not None and 0 <= (arrives[0] - departs[0]).days <= 2:
        timed = replace(timed, arrival_date=arrives[0], arrival_time=arrives[1])
    booking = join_statements([timed, replace(leg, arrival_date=None)])  # words seldom say the day of landing in full
    return booking if isinstance(booking, BookedLeg) else timed


def _to_local(moment: date | None, zone: str | None) -> tuple[date | None, time | None]:
    if not isinstance(moment, datetime):
        return moment, None
    if moment.tzinfo is not None:
        if zone is None:
            return None, None
        moment = moment.astimezone(ZoneInfo(zone))
    return moment.date(), moment.time().replace(microsecond=0, tzinfo=None)


def _choose_name(place: str, summary: str) -> str | None:
    """The hotel's name of an entry's place, or its title where the place is no more than an address."""
    first, _, rest = place.partition(",")
    if first.strip() and not _STREET.search(fold(first)) and not _HOUSE.match(rest):
        return first.strip()
    title = summary[match.end() :] if (match := _TITLE_WORDS.match(fold(summary))) else summary
    return title.strip() or None


def _read_stay(
    entry: Any, words: str, starts: date | None, ends: date | None, dates: MailDates, world: TravelFacts
) -> BookedStay | None:
    """An entry over nights that speaks of lodging. Where it has no hours, its last day may be the one of leaving or
    the one before: its words may say, else it is asked for."""
    summary, place = (to_one_line(str(entry.get(name, "")), 120) for name in ("SUMMARY", "LOCATION"))
    names = (place.split(",")[0], place, summary)
    hotel = next(((slug, name) for name in names if (slug := world.hotel(name))), None)
    if starts is None or ends is None or not (hotel or _LODGING.search(fold(words))):
        return None
    timed = isinstance(starts, datetime) and isinstance(ends, datetime)
    first, last = (m.date() if isinstance(m, datetime) else m for m in (starts, ends))
    if first >= last:
        return None
    slug, name = hotel or (None, _choose_name(place, summary))
    name = name and _LABEL_OF_TITLE.sub("", name)
    days = () if timed else (last.isoformat(), (last - timedelta(days=1)).isoformat())
    doubts = [Doubt("check_out_date", _WHOLE_DAYS, days, name or "")]
    stay = BookedStay(
        hotel_id=slug,
        hotel_name=name or None,
        check_in_date=first,
        check_out_date=last if timed else None,
        doubts=[] if timed else doubts,
    )
    stays = [replace(s, hotel_id=None, hotel_name=None, room_type=None) for s in read_stays(words, "", dates, world)]
    joined = join_statements([stay, *stays[:1]])
    return joined if isinstance(joined, BookedStay) else stay


# Barcodes of boarding passes (IATA Resolution 792, bar coded boarding pass, "M1..."): the flights they state.
#
# The day of a flight is written without its year, and the compartment is a letter that airlines use as they like: some
# print the fare's letter, "F" in economy too. What the standard leaves open stays open.

_HEAD = re.compile(r"[MS]([1-9])(.{20})([E ])", re.S)
_HEAD_CHARACTERS = 23
_LEG = re.compile(
    r"(?P<number>[A-Z0-9 ]{7})(?P<origin>[A-Z]{3})(?P<destination>[A-Z]{3})(?P<carrier>[A-Z0-9]{2}[A-Z0-9 ])"
    # Some airlines fill number and day up with blanks behind them, where the standard has zeros before them.
    r"(?P<flight>(?=[0-9]+ *[A-Z ])[0-9 ]{4})[A-Z ](?P<day>[0-9]{3}|[0-9]{2} |[0-9]  )(?P<compartment>[A-Z ]?)"
)
_LEG_CHARACTERS = 37  # up to and with the size of what follows
_ISSUED = re.compile(r">[0-9A-Z][0-9A-F]{2}...(\d)(\d{3})", re.S)
_CABINS = {"C": "business", "J": "business", "Y": "economy"}
_MOST_DAYS_APART = 180  # of a flight and the day its pass was sent, where the pass does not state its own


def read_barcodes(
    texts: list[str], around: date | None, world: TravelFacts, stated: Sequence[BookedLeg] = ()
) -> list[BookedLeg]:
    """The flights of boarding passes, each once, with how many names bear one.

    The year is that of the flight as `stated` elsewhere, of the day the pass was issued, or of `around`, a day near it.
    """
    legs: dict[tuple[object, ...], tuple[BookedLeg, set[str]]] = {}
    for text in texts:
        if not (head := _HEAD.match(text)):
            continue
        for leg in _read_legs(text, int(head[1]), around, world, stated):
            key = (leg.flight_number, leg.origin, leg.destination, leg.departure_date, leg.confirmation_number)
            legs.setdefault(key, (leg, set()))[1].add(head[2].strip())
    return [replace(leg, passengers=len(names)) for leg, names in legs.values()]


def _read_legs(
    text: str, count: int, around: date | None, world: TravelFacts, stated: Sequence[BookedLeg]
) -> list[BookedLeg]:
    legs, at = [], _HEAD_CHARACTERS
    days = [leg.departure_date for leg in stated if leg.departure_date]
    issued = _find_issue_day(text, around)
    for _ in range(count):
        if not (match := _LEG.match(text, at)):
            break
        day = next((d for d in days if d.timetuple().tm_yday == int(match["day"])), None)
        legs.append(_build_leg(match, day or _find_day(int(match["day"]), issued, around), world))
        size = text[at + _LEG_CHARACTERS - 2 : at + _LEG_CHARACTERS]
        at += _LEG_CHARACTERS + (int(size, 16) if re.fullmatch(r"[0-9A-F]{2}", size) else 0)
    return legs


def _build_leg(match: re.Match[str], day: date | None, world: TravelFacts) -> BookedLeg:
    carrier = match["carrier"].strip()
    airline = world.by_icao(carrier) if len(carrier) == 3 else carrier
    number = int(match["flight"])
    origin, destination = (match[end] if world.clock_of(match[end]) else None for end in ("origin", "destination"))
    return BookedLeg(
        confirmation_number=match["number"].strip() or None,
        airline=airline,
        flight_number=f"{airline}{number}" if airline and number else None,
        origin=origin,
        destination=destination,
        departure_date=day,
        cabin_class=_CABINS.get(match["compartment"]),
    )


def _find_day(day_of_year: int, issued: date | None, around: date | None) -> date | None:
    """The day of that number that follows the issue of the pass, or is nearest to the day around which it was sent."""
    if issued:
        years = (issued.year, issued.year + 1)
        return next((day for y in years if (day := _count_day(y, day_of_year)) and day >= issued), None)
    if around is None:
        return None
    days = [day for y in (around.year - 1, around.year, around.year + 1) if (day := _count_day(y, day_of_year))]
    nearest = min(days, key=lambda day: abs((day - around).days), default=None)
    return nearest if nearest and abs((nearest - around).days) <= _MOST_DAYS_APART else None


def _count_day(year: int, day_of_year: int) -> date | None:
    if not 1 <= day_of_year <= 366:
        return None
    day = date(year, 1, 1) + timedelta(days=day_of_year - 1)
    return day if day.year == year else None


def _find_issue_day(text: str, around: date | None) -> date | None:
    """The day the pass was issued: the last digit of its year is stated, the decade is the one around the letter."""
    match = _ISSUED.match(text, _HEAD_CHARACTERS + _LEG_CHARACTERS)
    if match is None or around is None:
        return None
    days = [
        day
        for year in range(around.year - 9, around.year + 2)
        if year % 10 == int(match[1]) and (day := _count_day(year, int(match[2])))
    ]
    nearest = min(days, key=lambda day: abs((day - around).days), default=None)
    return nearest if nearest and abs((nearest - around).days) <= _MOST_DAYS_APART else None


def read_mail(raw: bytes, world: TravelFacts) -> MailReading:
    """All that the letters of a mail state, joined; files that were not read are named. Raises UnreadableMail."""
    letters = open_mail(raw)
    reading = join_readings([_read_letter(letter, world) for letter in letters])
    again = letters if reading.missing or not reading.bookings else []  # most mails are read once
    texts = [(letter, [*letter.texts, *(html_page.read_page(p)[0] for p in letter.pages)]) for letter in again]
    if not reading.bookings:
        stated = (read_balance([unwrap(t, letter) for t in own], world) for letter, own in reversed(texts))
        other = next((name for _, own in texts for t in own if (name := name_other(fold(t)))), "")
        balance = next((b for b in stated if b), None)
        silent = [d for d in reading.doubts if d.field in WHOLE and balance is None][:1]
        doubt = Doubt("attached_file_not_read", "An attached file may hold the booking and was not read.")
        unread = [doubt] if reading.unread and balance is None else []
        reading = replace(reading, doubts=[*silent, *unread], balance=balance, other=other)
    elif reading.missing:
        bodies = [unwrap(t, letter).body for letter, own in texts for t in own if t.strip()]
        offer_choices(reading.bookings, bodies, letters[0].posted, world)
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
    entries, entry_texts = _read_invites(letter, texts, world)
    words = [reading for t in texts if (reading := read_words(t, world))]
    tickets = [_read_file_text(content, letter, world) for content in contents]
    legs = [b for reading in (*data, entries, *words, *tickets) for b in reading.bookings if isinstance(b, BookedLeg)]
    pasted = read_barcodes([line for t in letter.texts for line in t.splitlines()], letter.posted, world, legs)
    codes = [_read_codes(content, letter, legs, world) for content in contents]
    codes.append(MailReading("text", False, [*pasted]))
    _drop_counts(tickets, [*data, *words])
    reading_of_all = join_readings([*data, *codes, entries, *words, *tickets], certain=len(data) + len(codes) + 1)
    is_forwarded = reading_of_all.forwarded or letter.attached or strip_subject(letter.subject)[1]
    bookings = [settle_booking(b, letter.posted, is_forwarded, world) for b in reading_of_all.bookings]
    doubt_untimed_legs(bookings)
    doubt_clashes(bookings, world)
    reading_of_all = replace(reading_of_all, bookings=bookings)
    actions = {find_action(t) for t in texts}
    _apply_action("cancel" if "cancel" in actions else "change" if "change" in actions else "create", reading_of_all)
    _fill_numbers(reading_of_all.bookings, texts)
    price = _find_price([t.body for t in texts], [t for content in contents for t in content.texts[:1]], world)
    price.of_extra = price.of_extra or any(is_receipt_of_extra(t) for t in texts)
    reading_of_all = _judge_state(reading_of_all, [*texts, *entry_texts], contents, [*documents, *items], codes, letter)
    sender = next((t.sender for t in texts if t.forwarded and t.sender), letter.sender)
    set_prices(reading_of_all.bookings, _add_points(reading_of_all.bookings, price), sender, world)
    if not reading_of_all.bookings:
        unread += [UnreadFile(content.name, "no flight and no stay was recognised in it") for content in contents]
    return replace(reading_of_all, unread=[*letter.unread, *unread])


def _judge_state(
    reading: MailReading,
    texts: list[Text],
    contents: list[FileContent],
    documents: list[Any],
    codes: list[MailReading],
    letter: MailLetter,
) -> MailReading:
    """The reading without what the letter calls off, and with a question where no part of it proves a booking."""
    texts = [*texts, *(unwrap(t, letter) for content in contents for t in content.texts if t.strip())]
    is_proved = (
        schema_org.says_confirmed(documents) or any(c.bookings for c in codes) or any(c.is_pass for c in contents)
    )
    bookings, doubts = judge_states(reading.bookings, texts, is_proved)
    doubts += [doubt for content in contents for doubt in _doubt_pass(content, bookings, letter.posted)]
    return replace(reading, bookings=bookings, doubts=list(dict.fromkeys([*reading.doubts, *doubts])))


def _doubt_pass(content: FileContent, bookings: list[Booking], posted: date | None) -> list[Doubt]:
    """A question about a pass that its airline took back, or that ends before its flight or its letter."""
    days = [b.departure_date for b in bookings if isinstance(b, BookedLeg) and b.departure_date]
    latest = max([*days, *([posted] if posted else [])], default=None)
    if not bookings or not (content.is_void or (content.ends and latest and content.ends < latest)):
        return []
    reason = "The attached pass is marked as void." if content.is_void else "The attached pass ends before that."
    return [Doubt("not_confirmed", reason)]


def _drop_counts(tickets: list[MailReading], others: list[MailReading]) -> None:
    """Drops the passengers of attached tickets, of which each traveller has one, where the letter counts them."""
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
    # Text laid out with blanks, its columns divided by tabs as the cells of a page are.
    texts = [unwrap(re.sub(r"(?<=\S) {3,}(?=\S)", "\t", t), letter) for t in content.texts if t.strip()]
    readings = [reading for t in texts if (reading := read_words(t, world, is_ticket=True))]
    return max(readings, key=lambda r: (not r.missing, r.confidence, len(r.bookings)), default=MailReading())


def _read_invites(letter: MailLetter, texts: list[Text], world: TravelFacts) -> tuple[MailReading, list[Text]]:
    """What attached calendar entries state, and their words; the letter around them may call them off."""
    off = bool(letter.invites) and any(find_action(t) == "cancel" for t in texts)
    bookings: list[Booking] = []
    entries: list[Text] = []
    for words, booking in read_calendar_entries(letter.invites, letter.posted, letter.sender, world):
        entry = Text(words, strip_subject(letter.subject)[0], letter.sender, False, letter.posted)
        entries.append(entry)
        booking.confirmation_number = find_confirmation(entry)
        bookings.append(replace(booking, action="cancel") if off else booking)
    return MailReading("text", False, bookings), entries


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
