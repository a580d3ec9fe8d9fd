"""Hotel stays in the plain text of a confirmation: hotel, days, room type and the end of free cancellation."""

import re
from collections.abc import Iterator
from datetime import date

from shared.domain.confirmations.clean_text import to_one_line
from shared.domain.confirmations.mail_dates import Day, MailDates
from shared.domain.confirmations.model import BookedStay, TravelFacts
from shared.domain.confirmations.phrases import CONFIRMATION
from shared.domain.parsing.text import fold

_IN = re.compile(
    r"^\W*(?:check[ -]?in|arrival|arriving|arrive|anreise|ankunft|arrivee|llegada|fecha de entrada"
    r"|entrada|chegada|arrivo|aankomst)\b(?! opens)"
)
_OUT = re.compile(
    r"^\W*(?:check[ -]?out|departure|departing|depart|abreise|depart|salida|fecha de salida|saida"
    r"|partida|partenza|vertrek)\b"
)
_DATES = re.compile(
    r"^\W*(?:stay(?: dates?)?|dates?(?: of stay)?|your stay|aufenthalt|sejour|estancia|estadia"
    r"|soggiorno|verblijf)\b"
)
_HOTEL = re.compile(
    r"^\W*(?:hotel(?: name)?|property(?: name)?|name of (?:the )?hotel|unterkunft|etablissement"
    r"|alojamiento|struttura|accommodation)\s?[:\t]\s?(.+)$"
)
_ROOM = re.compile(
    r"^\W*(?:room(?: type| description)?|zimmer(?:typ|kategorie)?|type de chambre|chambre|habitacion"
    r"|tipo de habitacion|camera|quarto|kamer)\s?[:\t]\s?(.+)$"
)
_BY = re.compile(
    r"cancel(?:l?ation)?[^.\n]{0,60}?\b(?:by|before|until|till|prior to)\b|free cancell?ation"
    r"|kostenlos(?:e)? stornier\w*|annulation (?:gratuite|sans frais)"
    r"|cancelacion gratuita|cancelamento gratuito|cancellazione gratuita|kosteloos annuleren"
)
_LABEL = re.compile(r"^[^:\t]{2,40}[:\t]")
_SUBJECT = re.compile(r"\s[-|:]\s|\b(?:for|at|in|im|bei|a|en|au|presso)\b(?: the)? ")
_PROSE = re.compile(r"[.!?]\s*$|\b(?:thank|dear|hello|hi|hallo|bonjour|hola|we|your|you|please|view|click|http)\b")
_MAX_NAMES = 40


def read_stays(text: str, subject: str, dates: MailDates, world: TravelFacts) -> list[BookedStay]:
    """The stays of a text: those of which it names the day of arrival and the one of leaving."""
    booking = _read_stay(text, subject, dates, world)
    return [booking] if booking else []


def _read_stay(text: str, subject: str, dates: MailDates, world: TravelFacts) -> BookedStay | None:
    """The stay of a text, if it names the day of arrival and a later one of leaving."""
    lines = [line for line in text.split("\n") if line.strip()]
    arrives, leaves = _find_labelled_day(lines, _IN, dates), _find_labelled_day(lines, _OUT, dates)
    if arrives is None or leaves is None:
        arrives, leaves = _find_span(lines, dates)
    if arrives is None or leaves is None:
        return None
    booking = BookedStay(free_cancellation_until=_find_free_until(lines, dates), room_type=_find_value(lines, _ROOM))
    if arrives.day and leaves.day and arrives.day < leaves.day:
        booking.check_in_date, booking.check_out_date = arrives.day, leaves.day
    booking.hotel_id, booking.hotel_name = _find_hotel(lines, subject, world)
    return booking


def _find_labelled_day(lines: list[str], label: re.Pattern[str], dates: MailDates) -> Day | None:
    """The day behind a label, on its line or on the one below."""
    for at, line in enumerate(lines):
        small = fold(line)
        if not (match := label.match(small)):
            continue
        if day := dates.first(small[match.end() :]):
            return day
        below = fold(lines[at + 1]) if at + 1 < len(lines) else ""
        if not _LABEL.match(below.split(" ")[0]) and (day := dates.first(below)) and day.start < 16:
            return day
    return None


def _find_span(lines: list[str], dates: MailDates) -> tuple[Day | None, Day | None]:
    """ "Stay: 4 May 2026 - 7 May 2026"."""
    for line in lines:
        small = fold(line)
        if _DATES.match(small) and len(days := dates.find(small)) == 2:
            return days[0], days[1]
    return None, None


def _find_free_until(lines: list[str], dates: MailDates) -> date | None:
    for line in lines:
        small = fold(line)
        if (match := _BY.search(small)) and (day := dates.first(small[match.start() :])):
            return day.day
    return None


def _find_value(lines: list[str], label: re.Pattern[str]) -> str | None:
    for line in lines:
        if match := label.match(fold(line)):
            return to_one_line(line[match.start(1) :], 120) or None
    return None


def _find_hotel(lines: list[str], subject: str, world: TravelFacts) -> tuple[str | None, str | None]:
    """The known hotel and its name: the first of the likely names that is one, else the likeliest as it stands."""
    likely = list(_list_names(lines, subject))
    for name in likely[:_MAX_NAMES]:
        if slug := world.hotel(name):
            return slug, name
    return None, likely[0] if likely else None


def _list_names(lines: list[str], subject: str) -> Iterator[str]:
    """What might be the hotel's name: its label's value, then lines without a label, then the end of the subject."""
    if labelled := _find_value(lines, _HOTEL):
        yield labelled
    first = next((i for i, line in enumerate(lines) if _IN.match(fold(line)) or _DATES.match(fold(line))), len(lines))
    for line in reversed(lines[:first]):
        name = to_one_line(line.replace("\t", " "), 120)
        small = fold(name)
        prose = _LABEL.match(line) or _PROSE.search(small) or CONFIRMATION.match(small)
        if 4 <= len(name) <= 90 and not prose:
            yield name
    pieces = _SUBJECT.split(subject)
    yield from (to_one_line(p, 120) for p in reversed(pieces[1:]) if len(p) > 3)
