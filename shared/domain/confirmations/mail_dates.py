"""Dates of one mail, resolved by its own evidence: its certain dates, weekdays, language and the day it was sent."""

import re
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from datetime import date

from shared.domain.parsing.dates import MONTH, NAMED_DATE, WrittenDate, find_dates, find_weekday, read_date

_DIGIT = re.compile(r"\d")
_ASIAN = re.compile(r"(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日|(\d{4})년 ?(\d{1,2})월 ?(\d{1,2})일")
_ASIAN_SHORT = re.compile(r"(?<!\d)(1[0-2]|[1-9])月(\d{1,2})日")
_ENGLISH_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_ISO_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})t(?=\d{2}:\d{2})")
_GLUED = re.compile(rf"(?<![a-z0-9])[a-z]{{2,3}}(?=\d{{1,2}}[ .]?(?:{MONTH})(?![a-z]))")  # "sa13 fev 2027"
# Languages in which no one writes the month first, by words that stand in their confirmations and not in English ones.
_DAY_FIRST = re.compile(
    r"\b(?:anreise|abreise|ankunft|abflug|(?:buchungs|reservierungs|bestatigungs)(?:nummer|code)|gesamt(?:preis"
    r"|betrag)?"
    r"|ihre|arrivee|depart le|votre|montant|numero d[e']|reservation :|llegada|salida|localizador|importe|reserva"
    r"|prenotazione|partenza|arrivo|totale|partida|chegada|boekingsnummer|reserveringsnummer|aankomst|vertrek"
    r"|totaal)\b"
)
# "02/03 13:20", "Fr 02.03."; no time such as 14.05 and no share of 1/2
_SHORT = re.compile(r"(?<![\w/.,-])(\d{1,2})(?:/(\d{1,2})|\.(\d{1,2})\.)(?![\w/]|[.,:-]?\d)")
_CLOCK = re.compile(r"\d{1,2}[:h]\d{2}")
_ENGLISH = re.compile(
    r"\b(?:confirmation (?:number|code)|booking (?:reference|number)|record locator|departure|arrival"
    r"|your (?:booking|reservation|stay|flight)|check-?in:|total (?:price|cost|charge))\b"
)


@dataclass(frozen=True)
class DateMention:
    """One date of a text with its place; `day` is None where the text does not settle which day it is."""

    day: date | None
    start: int
    end: int


class MailDates:
    """How this one mail writes dates: what its certain dates tell about the uncertain ones."""

    def __init__(self, folded: str, posted: date | None, usual: str | None = None) -> None:
        """`usual`: the order of the sender's letters, for a letter that does not show its own."""
        self.posted = posted
        self.beside: date | None = None
        text = rewrite_dates(folded)
        dates = [date for line in text.split("\n") if _DIGIT.search(line) for date in _find_dates_beside(line)]
        self.order = _find_order(text, dates) or usual
        self.full = {d for w, _, _ in dates if (d := self._resolve(w, "", ""))}

    def find(self, folded: str) -> list[DateMention]:
        """The dates of a line, from left to right; one without a year next to another is the day nearest to it."""
        text = rewrite_dates(folded)
        days = [
            DateMention(self._resolve(w, text[:start], text[end:]), start, end) for w, start, end in find_dates(text)
        ]
        other = next((d.day for d in days if d.day), None)
        short = [
            DateMention(
                self._resolve_year(read_date(m), text[: m.start()], text[m.end() :], other or self.beside),
                m.start(),
                m.end(),
            )
            for m in NAMED_DATE.finditer(text)
            if not any(d.start < m.end() and m.start() < d.end for d in days)
        ]
        return sorted([*days, *short], key=lambda d: d.start) or self._find_numbers(text)

    def nearest_to(self, day: date) -> "MailDates":
        """The same for a text in which days without a year are those nearest to one day."""
        other = copy(self)
        other.beside = day
        return other

    def _find_numbers(self, text: str) -> list[DateMention]:
        """Day and month in numbers alone, next to a clock time or a day of the week, where the order is known."""
        days = []
        for m in _SHORT.finditer(text):
            first, second = int(m[1]), int(m[2] or m[3])
            order = "dmy" if m[3] or first > 12 else "mdy" if second > 12 else self.order
            before, after = text[: m.start()], text[m.end() :]
            if order and (find_weekday(before, after) is not None or _CLOCK.search(text)):
                month, day = (first, second) if order == "mdy" else (second, first)
                day_found = self._resolve_year(WrittenDate(None, month, day, ""), before, after)
                days.append(DateMention(day_found, m.start(), m.end()))
        return days

    def list_possible(self, folded: str) -> set[date]:
        """The days of a line; of one that the text does not settle all that it can be."""
        days = {mention.day for mention in self.find(folded)}
        orders = {w.exact(order) for w, _, _ in find_dates(rewrite_dates(folded)) for order in ("dmy", "mdy")}
        return {day for day in (days | orders if None in days else days) if day}

    def first(self, folded: str) -> DateMention | None:
        return next(iter(self.find(folded)), None)

    def _resolve(self, written: WrittenDate, before: str, after: str) -> date | None:
        named = written.separator in ("", ".")
        days = {written.day("dmy")} if named else {written.exact("dmy"), written.exact("mdy")}
        weekday = find_weekday(before, after)
        fitting = [d for d in days if d and weekday in (None, d.weekday())]
        if len(fitting) < 2:  # 3 December and 12 March of a year can be the same day of the week
            return fitting[0] if fitting else None
        return written.exact(self.order) if self.order else None

    def _resolve_year(self, written: WrittenDate, before: str, after: str, beside: date | None = None) -> date | None:
        """The year of another date of the letter with that day; else the next such day after the letter was sent.

        A day of the week next to it has to agree. With `beside` the day nearest to that one.
        """
        weekday = find_weekday(before, after)
        if beside:
            days = self._list_years(written, beside)
            day = min(days, key=lambda d: abs((d - beside).days), default=None)
            return day if day and (weekday is None or day.weekday() == weekday) else None
        same = {day for day in self.full if day == written.exact(self.order or "mdy", day.year)}
        if self.posted:
            days = self._list_years(written, self.posted)
            coming = [d for d in days if -2 <= (d - self.posted).days <= 360]
            coming += [d for d in days if d not in coming and self._is_among_others(d, coming)]
            if len(coming) > 1 and weekday is None:
                return None
        else:
            coming = []
        for day in (*sorted(same), *coming):
            if weekday is None or day.weekday() == weekday:
                return day if len(same) < 2 or weekday is not None else None
        return None

    def _list_years(self, written: WrittenDate, day: date) -> list[date]:
        years = (day.year - 1, day.year, day.year + 1)
        return [d for year in years if (d := written.exact(self.order or "mdy", year))]

    def _is_among_others(self, day: date, coming: list[date]) -> bool:
        """Whether the other dates to come of the letter are of that day's year rather than of the next such day."""
        ahead = [d for d in self.full if self.posted and 14 < (d - self.posted).days < 540]
        near = any(abs((d - day).days) < 45 for d in ahead)
        return near and not any(abs((d - c).days) < 180 for d in ahead for c in coming)


def rewrite_dates(folded: str) -> str:
    """East Asian dates, ISO moments and "sa13 fev" in the form the date pattern reads, as long as before."""

    def same_length(match: re.Match[str]) -> str:
        year, month, day = [g for g in match.groups() if g]
        return f"{year}-{month}-{day}".ljust(len(match[0]))

    if "月" in folded:
        folded = _ASIAN.sub(same_length, folded)
        folded = _ASIAN_SHORT.sub(
            lambda m: f"{m[2]}{_ENGLISH_MONTHS[int(m[1]) - 1]}".ljust(len(m[0]))[: len(m[0])], folded
        )
    elif "년" in folded:
        folded = _ASIAN.sub(same_length, folded)
    folded = _GLUED.sub(lambda m: " " * len(m[0]), folded)
    return _ISO_MOMENT.sub(r"\1 ", folded)


def _find_dates_beside(line: str) -> Iterator[tuple[WrittenDate, str, str]]:
    """The dates of a line, each with the words on either side in which a day of the week may stand."""
    for written, start, end in find_dates(line):
        yield written, line[max(0, start - 16) : start], line[end : end + 16]


def _find_order(text: str, dates: list[tuple[WrittenDate, str, str]]) -> str | None:
    """Which number comes first, if the dates of the mail that can be only one day agree."""
    orders: set[str] = set()
    for written, before, after in dates:
        if written.separator in ("", ".") or written.first == written.second:
            continue
        days = {order: day for order in ("dmy", "mdy") if (day := written.exact(order))}
        weekday = find_weekday(before, after)
        if len(days) == 2 and weekday is not None:
            days = {order: day for order, day in days.items() if day.weekday() == weekday}
        if len(days) == 1:
            orders |= days.keys()
    if not orders and not _ENGLISH.search(text) and len(set(_DAY_FIRST.findall(text))) > 1:
        return "dmy"
    return orders.pop() if len(orders) == 1 else None
