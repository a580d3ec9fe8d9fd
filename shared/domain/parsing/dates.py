"""Dates as bills print them: text goes in, days come out once the whole bill has told which number is the day."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

_MONTHS = {
    1: "jan january janvier janv enero ene gennaio gen janeiro januar janner jaenner januari",
    2: "feb february fevrier fev fevr febrero febbraio fevereiro februar februari",
    3: "mar march mars marzo marco marz maerz mrz maart mrt",
    4: "apr april avril avr abril abr aprile",
    5: "may mai mayo maggio mag maio mei maj",
    6: "jun june juin junio giugno giu junho juni",
    7: "jul july juillet juil julio luglio lug julho juli",
    8: "aug august aout agosto ago augustus",
    9: "sep sept september septembre septiembre settembre set setembro",
    10: "oct october octobre octubre ottobre ott outubro out oktober okt",
    11: "nov november novembre noviembre novembro",
    12: "dec december decembre diciembre dic dicembre dezembro dez dezember",
}
_MONTH = {name: number for number, names in _MONTHS.items() for name in names.split()}
_NAME = "|".join(sorted(_MONTH, key=len, reverse=True))
DATE = re.compile(
    r"(?<![\w/.-])(?:"
    r"(?P<y1>\d{4})[-/.](?P<m1>\d{1,2})[-/.](?P<d1>\d{1,2})"
    r"|(?P<a>\d{1,2})(?P<sep>[-/.])(?P<b>\d{1,2})(?P=sep)(?P<y2>\d{4}|\d{2})"
    rf"|(?P<d3>\d{{1,2}})(?:\.|er|st|nd|rd|th|º)?[ -]?(?:de )?(?P<m3>{_NAME})"
    r"\.?[ ,-]{0,2}(?:de )?(?P<y3>\d{4}|\d{2})"
    rf"|(?P<m4>{_NAME})\.? (?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y4>\d{{4}})"
    r")(?![\w/]|[.,-]\d)"
)
SHORT = re.compile(
    r"\s*(?:(?P<a>\d{1,2})(?P<sep>[-/.])(?P<b>\d{1,2})\.?"
    rf"|(?P<d3>\d{{1,2}})\.?[ -]?(?P<m3>{_NAME})\b\.?|(?P<m4>{_NAME})\b\.? (?P<d4>\d{{1,2}}))(?=[\s|;,]|$)"
)
Order = Literal["dmy", "mdy"]


def month_names() -> str:
    """Every name of a month, as one choice of a regular expression."""
    return _NAME


def month_of(name: str) -> int:
    return _MONTH[name]


@dataclass(frozen=True, slots=True)
class Written:
    """A date as written: year (None when left out), and the two numbers or day and month."""

    year: int | None
    first: int
    second: int
    sep: str  # "" when the month is certain: then first is the month and second the day

    def day(self, order: Order, year: int | None = None) -> date | None:
        month, day = (self.first, self.second) if not self.sep or order == "mdy" else (self.second, self.first)
        known = self.year or year
        for m, d in ((month, day), (day, month)) if self.sep else ((month, day),):
            try:
                return date(known, m, d) if known else None
            except ValueError:
                continue
        return None


def _year(text: str) -> int:
    return int(text) if len(text) == 4 else 2000 + int(text)


def written(found: re.Match[str]) -> Written:
    """A match of DATE or SHORT, read."""
    parts = found.groupdict()
    if parts.get("y1"):
        return Written(int(parts["y1"]), int(parts["m1"]), int(parts["d1"]), "")
    for day, month, year in (("d3", "m3", "y3"), ("d4", "m4", "y4")):
        if parts[day]:
            return Written(_year(parts[year]) if parts.get(year) else None, _MONTH[parts[month]], int(parts[day]), "")
    short = parts.get("y2")
    return Written(_year(short) if short else None, int(parts["a"]), int(parts["b"]), parts["sep"])


def dates_in(text: str) -> Iterator[tuple[Written, int, int]]:
    for found in DATE.finditer(text):
        yield written(found), found.start(), found.end()


def order_of(all_written: Iterable[Written], american: bool) -> Order:
    """Which number is the day: what is possible for all, then a point, then the shorter stay, then the currency."""
    unsure = [w for w in all_written if w.sep]
    if any(w.first > 12 for w in unsure) or any(w.sep == "." for w in unsure):
        return "dmy"
    if any(w.second > 12 for w in unsure):
        return "mdy"
    dmy, mdy = _span(unsure, "dmy"), _span(unsure, "mdy")
    if dmy != mdy:
        return "dmy" if dmy < mdy else "mdy"
    return "mdy" if american else "dmy"


def _span(all_written: list[Written], order: Order) -> int:
    days = [d for w in all_written if (d := w.day(order, 2000))]
    return (max(days) - min(days)).days if days else 0
