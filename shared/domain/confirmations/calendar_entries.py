"""Flights and stays in calendar entries attached to a mail (iCalendar, RFC 5545)."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Calendar as Entries

from shared.domain.confirmations import flights, html_page
from shared.domain.confirmations.clean_text import clean, to_one_line
from shared.domain.confirmations.joining import join_statements
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.confirmations.model import Action, BookedLeg, BookedStay, Booking, TravelFacts
from shared.domain.confirmations.stays import read_stays
from shared.domain.parsing.text import fold

MAX_CALENDAR_CHARACTERS = 100_000  # characters of one attached calendar
_MAX_ENTRIES = 20  # entries of a mail
_LODGING = re.compile(
    r"\b(?:hotel|inn|resort|hostel|check[ -]?in|stay at|your stay|room|lodging|unterkunft|aufenthalt|anreise|sejour"
    r"|hebergement|estancia"
    r"|alojamiento|soggiorno|verblijf)\b"
)

_STREET = re.compile(r"\d|\b(?:street|str|road|avenue|lane|calle|carrer|rue|via|viale|rua|straat|weg|platz|strasse)\b")
_HOUSE = re.compile(r"\W*\d{1,4}[A-Za-z]?\s*(?:,|$)")
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
        words = _read_words(entry)
        starts, ends = _read_moment(entry, "DTSTART"), _read_moment(entry, "DTEND")
        dates = MailDates(fold(words), posted)
        legs = flights.read_legs(words, dates, world, sender)
        action: Action = "cancel" if called_off else "create"
        if len(legs) == 1:
            yield words, replace(_set_entry_times(legs[0], starts, ends, world), action=action)
        elif legs:
            yield from ((words, replace(leg, action=action)) for leg in legs)
        elif stay := _read_stay(entry, words, starts, ends, dates, world):
            yield words, replace(stay, action=action)


def _read_words(entry: Any) -> str:
    """The words of an entry; those of its HTML form (X-ALT-DESC) where it has no other description."""
    parts = [str(entry.get(name, ""))[:4000] for name in ("SUMMARY", "LOCATION", "DESCRIPTION")]
    if not parts[2].strip():
        parts[2] = html_page.read_page(str(entry.get("X-ALT-DESC", ""))[:20_000])[0][:4000]
    return clean("\n".join(parts))


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
    words = replace(leg, arrival_date=None)  # they seldom say the day of landing in full
    joined = join_statements([timed, words])
    return joined if isinstance(joined, BookedLeg) else timed


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
    named = next(((slug, name) for name in names if (slug := world.hotel(name))), None)
    if starts is None or ends is None or not (named or _LODGING.search(fold(words))):
        return None
    timed = isinstance(starts, datetime) and isinstance(ends, datetime)
    first, last = (m.date() if isinstance(m, datetime) else m for m in (starts, ends))
    if first >= last:
        return None
    slug, name = named or (None, _choose_name(place, summary))
    stay = BookedStay(
        hotel_id=slug, hotel_name=name or None, check_in_date=first, check_out_date=last if timed else None
    )
    stated = [replace(s, hotel_id=None, hotel_name=None, room_type=None) for s in read_stays(words, "", dates, world)]
    joined = join_statements([stay, *stated[:1]])
    return joined if isinstance(joined, BookedStay) else stay
