"""Days and times as mails write them: a text goes in; each day with its place comes out, None where it is ambiguous."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time, timedelta

from shared.domain.parsing.dates import DATE, Written, month_names, month_of, written

_ASIAN = re.compile(r"(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日|(\d{4})년 ?(\d{1,2})월 ?(\d{1,2})일")
_ISO_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})t(?=\d{2}:\d{2})")
_WEEKDAYS = (
    "monday mon montag mo lundi lun lunes lunedi segunda-feira segunda seg maandag ma",
    "tuesday tues tue dienstag di mardi mar martes martedi terca-feira terca ter dinsdag",
    "wednesday weds wed mittwoch mi mercredi mer miercoles mie mercoledi quarta-feira quarta qua woensdag wo",
    "thursday thurs thur thu donnerstag do jeudi jeu jueves jue giovedi gio quinta-feira quinta qui donderdag",
    "friday fri freitag fr vendredi ven viernes vie venerdi sexta-feira sexta sex vrijdag vr",
    "saturday sat samstag sa samedi sam sabado sab sabato zaterdag za",
    "sunday sun sonntag so dimanche dim domingo dom domenica zondag zo",
)
_DAYS = {name: number for number, names in enumerate(_WEEKDAYS) for name in names.split()}
_WEEKDAY = re.compile(
    rf"(?<![a-z])({'|'.join(sorted(_DAYS, key=len, reverse=True))})\.?,?\s*(?:the |den |le |el "
    rf"|il )?$"
)
_BEHIND = re.compile(rf",? ?\(({'|'.join(sorted(_DAYS, key=len, reverse=True))})\.?\)")
# Languages in which nobody writes the month first, by words that stand in their confirmations and not in English ones.
_DAY_FIRST = re.compile(
    r"\b(?:anreise|abreise|ankunft|abflug|(?:buchungs|reservierungs|bestatigungs)(?:nummer|code)|gesamt(?:preis|betrag)?"
    r"|ihre|arrivee|depart le|votre|montant|numero d[e']|reservation :|llegada|salida|localizador|importe|reserva"
    r"|prenotazione|partenza|arrivo|totale|partida|chegada|boekingsnummer|reserveringsnummer|aankomst|vertrek|totaal)\b"
)
_ENGLISH = re.compile(
    r"\b(?:confirmation (?:number|code)|booking (?:reference|number)|record locator|departure|arrival"
    r"|your (?:booking|reservation|stay|flight)|check-?in:|total (?:price|cost|charge))\b"
)
_TIME = re.compile(
    r"(?<![\d:.])(\d{1,2})(?::|h| h |\.(?=\d{2} ?uhr))(\d{2})(?!\d)(?::\d{2})?\s*(a\.?m\.?|p\.?m\.?)?(?![a-z])"
)
_SHORT = re.compile(
    rf"(?<![\w.])(?:(\d{{1,2}})(?:\.|st|nd|rd|th)?[ -]?(?:de )?({month_names()})|({month_names()})\.? (\d{{1,2}})(?:st"
    rf"|nd|rd|th)?)"
    r"(?![\w]|[ ,.-]{1,2}\d{2,4}\b(?!:))"
)


@dataclass(frozen=True)
class Day:
    """One day of a text; `day` is None where the text does not settle which."""

    day: date | None
    start: int
    end: int


class Calendar:
    """How this one mail writes days: what its certain days tell about the uncertain ones."""

    def __init__(self, folded: str, posted: date | None) -> None:
        self.posted = posted
        self.order = _order(folded)

    def days(self, folded: str) -> list[Day]:
        """The days of a line, from left to right."""
        text = plain_days(folded)
        found = [
            Day(self._day(written(m), text[: m.start()], text[m.end() :]), m.start(), m.end())
            for m in DATE.finditer(text)
        ]
        if not found:
            found = [Day(self._yearless(m, text[: m.start()]), m.start(), m.end()) for m in _SHORT.finditer(text)]
        return found

    def first(self, folded: str) -> Day | None:
        return next(iter(self.days(folded)), None)

    def _day(self, seen: Written, before: str, after: str) -> date | None:
        if not seen.sep or seen.sep == ".":
            return seen.day("dmy")
        both = {_exact(seen, "dmy"), _exact(seen, "mdy")} - {None}
        if len(both) == 1:
            return both.pop()
        if (weekday := _weekday(before, after)) is not None:
            fitting = [d for d in both if d and d.weekday() == weekday]
            return fitting[0] if len(fitting) == 1 else None
        return _exact(seen, self.order) if self.order else None

    def _yearless(self, found: re.Match[str], before: str) -> date | None:
        """The next such day after the mail was sent, where the day of the week agrees."""
        weekday = _weekday(before)
        if self.posted is None or weekday is None:
            return None
        month, number = month_of(found[2] or found[3]), int(found[1] or found[4])
        for year in (self.posted.year, self.posted.year + 1):
            try:
                day = date(year, month, number)
            except ValueError:
                continue
            if self.posted - timedelta(days=2) <= day <= self.posted + timedelta(days=360) and day.weekday() == weekday:
                return day
        return None


def plain_days(folded: str) -> str:
    """Forms other readers do not know, rewritten in place: as long as before."""

    def same_length(found: re.Match[str]) -> str:
        year, month, day = [g for g in found.groups() if g]
        return f"{year}-{month}-{day}".ljust(len(found[0]))

    return _ISO_MOMENT.sub(r"\1 ", _ASIAN.sub(same_length, folded))


def _exact(seen: Written, order: str) -> date | None:
    day, month = (seen.first, seen.second) if order == "dmy" else (seen.second, seen.first)
    try:
        return date(seen.year or 0, month, day)
    except ValueError:
        return None


def _order(folded: str) -> str | None:
    """Which number comes first, if the days of the mail that can be only one thing agree."""
    orders: set[str] = set()
    text = plain_days(folded)
    for found in DATE.finditer(text):
        seen = written(found)
        if seen.sep and seen.sep != "." and seen.first != seen.second:
            fits = [o for o in ("dmy", "mdy") if _exact(seen, o)]
            weekday = _weekday(text[max(0, found.start() - 16) : found.start()], text[found.end() : found.end() + 16])
            if len(fits) == 2 and weekday is not None:
                fits = [o for o in fits if (d := _exact(seen, o)) and d.weekday() == weekday]
            if len(fits) == 1:
                orders.add(fits[0])
    if not orders and len(set(_DAY_FIRST.findall(text))) > 1 and not _ENGLISH.search(text):
        return "dmy"
    return orders.pop() if len(orders) == 1 else None


def _weekday(before: str, after: str = "") -> int | None:
    """As it stands in front of a day, or in brackets behind it."""
    found = _WEEKDAY.search(before[-24:]) or _BEHIND.match(after[:24])
    return _DAYS.get(found[1]) if found else None


def times(folded: str) -> Iterator[time]:
    """Clock times, with halves of the day where they are written."""
    for found in _TIME.finditer(folded):
        hour, half = int(found[1]), (found[3] or "")[:1]
        if half and not 1 <= hour <= 12:
            continue
        hour = hour % 12 + (12 if half == "p" else 0) if half else hour
        if hour < 24 and int(found[2]) < 60:
            yield time(hour, int(found[2]))
