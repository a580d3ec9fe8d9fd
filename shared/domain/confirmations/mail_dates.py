"""Dates of one mail, resolved by its own evidence: its certain dates, weekdays, language and the day it was sent."""

import re
from dataclasses import dataclass
from datetime import date

from shared.domain.parsing.dates import DATE, NAMED_DATE, WrittenDate, find_dates, find_weekday, read_date

_ASIAN = re.compile(r"(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日|(\d{4})년 ?(\d{1,2})월 ?(\d{1,2})일")
_ISO_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})t(?=\d{2}:\d{2})")
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


@dataclass(frozen=True)
class Day:
    """One date of a text with its place; `day` is None where the text does not settle which day it is."""

    day: date | None
    start: int
    end: int


class MailDates:
    """How this one mail writes dates: what its certain dates tell about the uncertain ones."""

    def __init__(self, folded: str, posted: date | None) -> None:
        self.posted = posted
        self.order = _find_order(folded)

    def find(self, folded: str) -> list[Day]:
        """The dates of a line, from left to right; those without a year only where no other stands there."""
        text = _rewrite_dates(folded)
        days = [Day(self._resolve(w, text[:start], text[end:]), start, end) for w, start, end in find_dates(text)]
        return days or [
            Day(self._resolve_year(read_date(m), text[: m.start()]), m.start(), m.end())
            for m in NAMED_DATE.finditer(text)
        ]

    def first(self, folded: str) -> Day | None:
        return next(iter(self.find(folded)), None)

    def _resolve(self, written: WrittenDate, before: str, after: str) -> date | None:
        if written.separator in ("", "."):
            return written.day("dmy")
        days = {written.exact("dmy"), written.exact("mdy")} - {None}
        if len(days) == 1:
            return days.pop()
        if (weekday := find_weekday(before, after)) is not None:
            fitting = [d for d in days if d and d.weekday() == weekday]
            return fitting[0] if len(fitting) == 1 else None
        return written.exact(self.order) if self.order else None

    def _resolve_year(self, written: WrittenDate, before: str) -> date | None:
        """The next such day after the mail was sent, where the day of the week agrees."""
        weekday = find_weekday(before)
        if self.posted is None or weekday is None:
            return None
        for year in (self.posted.year, self.posted.year + 1):
            day = written.exact("mdy", year)
            if day and day.weekday() == weekday and -2 <= (day - self.posted).days <= 360:
                return day
        return None


def _rewrite_dates(folded: str) -> str:
    """East Asian dates and ISO moments in the form the date pattern reads, as long as before."""

    def same_length(match: re.Match[str]) -> str:
        year, month, day = [g for g in match.groups() if g]
        return f"{year}-{month}-{day}".ljust(len(match[0]))

    return _ISO_MOMENT.sub(r"\1 ", _ASIAN.sub(same_length, folded))


def _find_order(folded: str) -> str | None:
    """Which number comes first, if the dates of the mail that can be only one day agree."""
    orders: set[str] = set()
    text = _rewrite_dates(folded)
    for match in DATE.finditer(text):
        written = read_date(match)
        if written.separator in ("", ".") or written.first == written.second:
            continue
        days = {order: day for order in ("dmy", "mdy") if (day := written.exact(order))}
        weekday = find_weekday(text[max(0, match.start() - 16) : match.start()], text[match.end() : match.end() + 16])
        if len(days) == 2 and weekday is not None:
            days = {order: day for order, day in days.items() if day.weekday() == weekday}
        if len(days) == 1:
            orders |= days.keys()
    if not orders and len(set(_DAY_FIRST.findall(text))) > 1 and not _ENGLISH.search(text):
        return "dmy"
    return orders.pop() if len(orders) == 1 else None
