"""Dates of one mail, resolved by its own evidence: its certain dates, weekdays, language and the day it was sent."""

import re
from dataclasses import dataclass
from datetime import date

from shared.domain.parsing.dates import DATE, NAMED_DATE, WrittenDate, find_dates, find_weekday, read_date

_ASIAN = re.compile(r"(\d{4})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?日|(\d{4})년 ?(\d{1,2})월 ?(\d{1,2})일")
_ASIAN_SHORT = re.compile(r"(?<!\d)(1[0-2]|[1-9])月(\d{1,2})日")
_ENGLISH_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_ISO_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})t(?=\d{2}:\d{2})")
# Languages in which nobody writes the month first, by words that stand in their confirmations and not in English ones.
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
class Day:
    """One date of a text with its place; `day` is None where the text does not settle which day it is."""

    day: date | None
    start: int
    end: int


class MailDates:
    """How this one mail writes dates: what its certain dates tell about the uncertain ones."""

    def __init__(self, folded: str, posted: date | None, usual: str | None = None) -> None:
        """`usual`: the order of the sender's letters, for a letter that does not show its own."""
        self.posted = posted
        self.order = _find_order(folded) or usual
        self.full = {d for w, _, _ in find_dates(_rewrite_dates(folded)) if (d := self._resolve(w, "", ""))}

    def find(self, folded: str) -> list[Day]:
        """The dates of a line, from left to right; those without a year only where no other stands there."""
        text = _rewrite_dates(folded)
        days = [Day(self._resolve(w, text[:start], text[end:]), start, end) for w, start, end in find_dates(text)]
        return (
            days
            or [
                Day(self._resolve_year(read_date(m), text[: m.start()], text[m.end() :]), m.start(), m.end())
                for m in NAMED_DATE.finditer(text)
            ]
            or self._find_numbers(text)
        )

    def _find_numbers(self, text: str) -> list[Day]:
        """Day and month in numbers alone, beside a clock time or a day of the week, where the order is known."""
        days = []
        for m in _SHORT.finditer(text):
            first, second = int(m[1]), int(m[2] or m[3])
            order = "dmy" if m[3] or first > 12 else "mdy" if second > 12 else self.order
            before, after = text[: m.start()], text[m.end() :]
            if order and (find_weekday(before, after) is not None or _CLOCK.search(text)):
                month, day = (first, second) if order == "mdy" else (second, first)
                resolved = self._resolve_year(WrittenDate(None, month, day, ""), before, after)
                days.append(Day(resolved, m.start(), m.end()))
        return days

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
            if len(fitting) != 2:  # 3 December and 12 March of a year can be the same day of the week
                return fitting[0] if fitting else None
        return written.exact(self.order) if self.order else None

    def _resolve_year(self, written: WrittenDate, before: str, after: str) -> date | None:
        """The year of another date of the letter with that day; else the next such day after the letter was sent.

        A day of the week beside it has to agree.
        """
        weekday = find_weekday(before, after)
        same = {day for day in self.full if day == written.exact(self.order or "mdy", day.year)}
        if self.posted:
            years = (self.posted.year - 1, self.posted.year, self.posted.year + 1)
            days = [d for year in years if (d := written.exact(self.order or "mdy", year))]
            coming = [d for d in days if -2 <= (d - self.posted).days <= 360]
        else:
            coming = []
        for day in (*sorted(same), *coming[:1]):
            if weekday is None or day.weekday() == weekday:
                return day if len(same) < 2 or weekday is not None else None
        return None


def _rewrite_dates(folded: str) -> str:
    """East Asian dates and ISO moments in the form the date pattern reads, as long as before."""

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
    return _ISO_MOMENT.sub(r"\1 ", folded)


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
