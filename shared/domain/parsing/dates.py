"""Written dates and clock times: names of months and weekdays in many languages, and the forms of bills and mails.

Every pattern expects folded text (`parsing.text.fold`). If either number of a date can be the day,
`WrittenDate` keeps both, and the reader of the whole document decides which order it uses.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, time
from itertools import chain
from typing import Literal

from shared.domain.parsing.text import fold

Order = Literal["dmy", "mdy"]

_MONTHS = {
    1: "jan january janvier janv enero ene gennaio gen janeiro januar janner jaenner januari"
    " stycznia styczen ocak января янв ledna tammikuuta ianuarie ιανουαριου ιαν",
    2: "feb february fevrier fev fevr febrero febbraio fevereiro februar februari lutego luty subat февраля фев"
    " unora helmikuuta februarie φεβρουαριου φεβ",
    3: "mar march mars marzo marco marz maerz mrz maart mrt marts marca marzec mart марта мар"
    " brezna maaliskuuta marcius martie μαρτιου μαρ",
    4: "apr april avril avr abril abr aprile kwietnia kwiecien nisan апреля апр"
    " dubna huhtikuuta aprilis aprilie απριλιου απρ",
    5: "may mai mayo maggio mag maio mei maj maja mayis мая kvetna toukokuuta majus μαιου μαι",
    6: "jun june juin junio giugno giu junho juni czerwca czerwiec haziran июня июн"
    " cervna kesakuuta junius iunie ιουνιου ιουν",
    7: "jul july juillet juil julio luglio lug julho juli lipca lipiec temmuz июля июл"
    " cervence heinakuuta julius iulie ιουλιου ιουλ",
    8: "aug august aout agosto ago augustus sierpnia sierpien agustos augusti августа авг"
    " srpna elokuuta augusztus αυγουστου αυγ",
    9: "sep sept september septembre septiembre settembre set setembro wrzesnia wrzesien eylul сентября сен сент"
    " zari syyskuuta szeptember septembrie σεπτεμβριου σεπ",
    10: "oct october octobre octubre ottobre ott outubro out oktober okt pazdziernika pazdziernik ekim октября окт"
    " rijna lokakuuta octombrie οκτωβριου οκτ",
    11: "nov november novembre noviembre novembro listopada listopad kasim ноября ноя"
    " listopadu marraskuuta noiembrie νοεμβριου νοε",
    12: "dec december decembre diciembre dic dicembre dezembro dez dezember"
    " grudnia grudzien aralik декабря дек desember prosince joulukuuta decembrie δεκεμβριου δεκ",
}
# Short names that are also words of other languages ("sie", "lis", "ara"): they count only beside a year.
_BESIDE_YEAR = (
    "sty oca",
    "lut sub febr",
    "maret marc",
    "kwi nis",
    "mei",
    "cze haz",
    "lip tem",
    "sie agt agu ags",
    "wrz eyl szept",
    "paz eki",
    "lis kas",
    "gru ara des",
)
# Of Thai the full and the short names, of Arabic those of the Gulf and Egypt; then Hebrew and Ukrainian.
_OTHER_MONTHS = (
    "มกราคม ม.ค. يناير ינואר січня",
    "กุมภาพันธ์ ก.พ. فبراير פברואר лютого",
    "มีนาคม มี.ค. مارس מרץ березня",
    "เมษายน เม.ย. أبريل ابريل אפריל квітня",
    "พฤษภาคม พ.ค. مايو מאי травня",
    "มิถุนายน มิ.ย. يونيو יוני червня",
    "กรกฎาคม ก.ค. يوليو יולי липня",
    "สิงหาคม ส.ค. أغسطس اغسطس אוגוסט серпня",
    "กันยายน ก.ย. سبتمبر ספטמבר вересня",
    "ตุลาคม ต.ค. أكتوبر اكتوبر אוקטובר жовтня",
    "พฤศจิกายน พ.ย. نوفمبر נובמבר листопада",
    "ธันวาคม ธ.ค. ديسمبر דצמבר грудня",
)
_MONTH_NUMBERS = {fold(name): number for number, names in _MONTHS.items() for name in names.split()} | {
    fold(name): number for number, names in enumerate(_OTHER_MONTHS, 1) for name in names.split()
}
_NUMBERS_BESIDE_YEAR = _MONTH_NUMBERS | {
    name: number for number, names in enumerate(_BESIDE_YEAR, 1) for name in names.split()
}
_WEEKDAYS = (
    "monday mon montag mo lundi lun lunes lunedi segunda-feira segunda seg maandag ma",
    "tuesday tues tue dienstag di mardi mar martes martedi terca-feira terca ter dinsdag",
    "wednesday weds wed mittwoch mi mercredi mer miercoles mie mercoledi quarta-feira quarta qua woensdag wo",
    "thursday thurs thur thu donnerstag do jeudi jeu jueves jue giovedi gio quinta-feira quinta qui donderdag",
    "friday fri freitag fr vendredi ven viernes vie venerdi sexta-feira sexta sex vrijdag vr",
    "saturday sat samstag sa samedi sam sabado sab sabato zaterdag za",
    "sunday sun sonntag so dimanche dim domingo dom domenica zondag zo",
)
_WEEKDAY_NUMBERS = {name: number for number, names in enumerate(_WEEKDAYS) for name in names.split()}
_JAPANESE_WEEKDAYS = {letter: number for number, letter in enumerate("月火水木金土日")}


def _join_names(names: Iterable[str]) -> str:
    """One choice of a regular expression, the longer names first."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


MONTH = _join_names(_MONTH_NUMBERS)
_ANY_MONTH = _join_names(_NUMBERS_BESIDE_YEAR)
_DAY_MONTH = rf"(?P<d3>\d{{1,2}})(?:\.|er|st|nd|rd|th|º)?[ /-]?(?:de )?(?P<m3>{MONTH})"
_MONTH_DAY = rf"(?P<m4>{MONTH})\.? (?P<d4>\d{{1,2}})(?:st|nd|rd|th)?"
DATE = re.compile(
    r"(?<![\w/.-])(?:"
    r"(?P<y1>\d{4})[-/.](?P<m1>\d{1,2})[-/.](?P<d1>\d{1,2})"
    r"|(?P<a>\d{1,2})(?P<sep>[-/.])(?P<b>\d{1,2})(?P=sep)(?P<y2>\d{4}|\d{2})"
    r"|(?P<a6>\d{1,2})\. (?P<b6>\d{1,2})\. (?P<y6>\d{4})"
    rf"|(?P<y7>\d{{4}})\. (?P<m7>{_ANY_MONTH})\.? (?P<d7>\d{{1,2}})\.?"
    rf"|{_DAY_MONTH.replace(MONTH, _ANY_MONTH)}\.?[ ,/-]{{0,2}}(?:de )?(?P<y3>\d{{4}}|\d{{2}})"
    rf"|{_MONTH_DAY},? (?P<y4>\d{{4}})"
    r")(?![\w/]|[.,-]\d|:\d\d)"  # "7 Jun 12:10" has no year
)
# A date without a year at the start of a line, in numbers or with the name of the month.
SHORT_DATE = re.compile(
    r"\s*(?:(?P<a>\d{1,2})(?P<sep>[-/.])(?P<b>\d{1,2})\.?"
    rf"|(?P<d3>\d{{1,2}})\.?[ -]?(?P<m3>{MONTH})\b\.?|(?P<m4>{MONTH})\b\.? (?P<d4>\d{{1,2}}))(?=[\s|;,]|$)"
)
# A date without a year anywhere in a text, with the name of the month.
NAMED_DATE = re.compile(rf"(?<![\w.])(?:{_DAY_MONTH}|{_MONTH_DAY})(?![\w]|[ ,.-]{{1,2}}\d{{2,4}}\b(?!:))")
_CELL = re.compile(  # a whole cell of a table; names that are no month's are rejected later
    r"(?:(?P<y1>\d{4})(?P<s1>[./ -])(?P<m1>\d{1,2})(?P=s1)(?P<d1>\d{1,2})"
    r"|(?P<a>\d{1,2})(?P<sep>[./ -])(?P<b>\d{1,2})(?P=sep)(?P<y2>\d{4}|\d{2}))(?:(?:t|,? )\d{1,2}:\d{2}.{0,20})?"
    r"|(?P<d3>\d{1,2})(?:\.|st|nd|rd|th)?[ ./-]?(?P<m3>[a-z]{3,10})\.?,?[ ./-]?(?P<y3>\d{4}|\d{2})"
    r"|(?P<m4>[a-z]{3,10})\.? ?(?P<d4>\d{1,2})(?:st|nd|rd|th)?,? (?P<y4>\d{4}|\d{2})"
    r"|(?P<y5>\d{4})(?P<m5>\d{2})(?P<d5>\d{2})(?:\d{4,6})?(?:[.\[].{0,30})?",
    re.ASCII,
)
# Short names of months are words of other languages ("out", "set", "ago"): in prose only long or English ones count.
_IN_PROSE = _join_names({n for n in _MONTH_NUMBERS if len(n) > 3} | {names[:3] for names in _MONTHS.values()})
_DAY_IN_PROSE = re.compile(
    rf"\b(?:(?P<d3>\d{{1,2}})(?:st|nd|rd|th)? (?P<m3>{_IN_PROSE})"
    rf"|(?P<m4>{_IN_PROSE})\.? (?P<d4>\d{{1,2}})(?:st|nd|rd|th)?)\b"
)
_WEEKDAY = _join_names(_WEEKDAY_NUMBERS)
_WEEKDAY_BEFORE = re.compile(rf"(?<![a-z])({_WEEKDAY})\.?,?\s*(?:the |den |le |el |il )?$")
_WEEKDAY_AFTER = re.compile(rf",? ?\(({_WEEKDAY}|[月火水木金土日])\.?\)")
_CLOCK = re.compile(
    r"(?<![\d:.])(\d{1,2})(?::|h| h |\.(?=\d{2} ?(?:uhr|uur\b|[ap]\.?m\b|h\b|hrs\b)))(\d{2})(?!\d)(?::\d{2})?"
    r"(?:[^\S\t\n]*(a(?:\. ?)?m\.?|p(?:\. ?)?m\.?)(?! \d{3,4}\b(?!:))|([ap]))?(?:h|hrs|uhr|uur)?(?![a-z])"
    r"|(?:\b(?:um|kl\.?|klo|ore|alle|as|om|at|dep|arr) ?)(\d{1,2})\.(\d{2})(?![\d.])()()(?![a-z])"
    r"|(?<![\d:.,/+-])([01]\d|2[0-3])([0-5]\d) ?(?:hrs?|hours|h|uhr|uur)\b(?! ?\(\d)()()"  # "0950hrs"
)
_FULL_HOUR = re.compile(r"\b(\d{1,2})\s*(a(?:\. ?)?m|p(?:\. ?)?m)\b")


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date as written: the year (None when left out), and the two numbers or month and day."""

    year: int | None
    first: int
    second: int
    separator: str  # "" when the month is certain: then first is the month and second the day

    def exact(self, order: str, year: int | None = None) -> date | None:
        """The day in this order; None if there is no such day."""
        month_first = not self.separator or order == "mdy"
        month, day = (self.first, self.second) if month_first else (self.second, self.first)
        try:
            return date(self.year or year or 0, month, day)
        except ValueError:
            return None

    def day(self, order: Order, year: int | None = None) -> date | None:
        """The day in this order, or else in the other."""
        return self.exact(order, year) or self.exact("dmy" if order == "mdy" else "mdy", year)


def read_date(match: re.Match[str]) -> WrittenDate:
    """Reads a match of one of the patterns above."""
    parts = match.groupdict()
    for n in "15":
        if parts.get(f"y{n}"):
            return WrittenDate(_parse_year(parts[f"y{n}"]), int(parts[f"m{n}"]), int(parts[f"d{n}"]), "")
    if parts.get("a6"):
        return WrittenDate(_parse_year(parts["y6"]), int(parts["a6"]), int(parts["b6"]), ".")
    for n in "347":
        if parts.get(f"d{n}"):
            month = _NUMBERS_BESIDE_YEAR.get(parts[f"m{n}"], 0)
            return WrittenDate(_parse_year(parts.get(f"y{n}")), month, int(parts[f"d{n}"]), "")
    return WrittenDate(_parse_year(parts.get("y2")), int(parts["a"]), int(parts["b"]), parts["sep"])


def _parse_year(text: str | None) -> int | None:
    """A year of four or two digits; Thailand counts from 543 years before others, and no paper is of their 2500."""
    if not text:
        return None
    year = int(text) if len(text) == 4 else 2000 + int(text)
    return year - 543 if 2500 <= year < 2600 else year


def find_dates(folded: str) -> Iterator[tuple[WrittenDate, int, int]]:
    """Every date with a year, with its start and end."""
    for match in DATE.finditer(folded):
        yield read_date(match), match.start(), match.end()


def find_days_of_year(folded: str) -> set[tuple[int, int]]:
    """Month and day of every date in prose that names its month or is written year first."""
    dates = [read_date(m) for pattern in (DATE, _DAY_IN_PROSE) for m in pattern.finditer(folded)]
    return {(d.first, d.second) for d in dates if not d.separator}


def parse_day(text: str, orders: Iterable[str]) -> date | None:
    """The day in a cell of a table, by the first of these orders (mdy, dmy) that gives a real date.

    "yymd" reads 26/09/15 as 15 September 2026.
    """
    text = fold(text.strip())
    match = _CELL.fullmatch(text) if len(text) <= 40 else None
    if match is None:
        return None
    written = read_date(match)
    if not written.separator:
        return written.exact("mdy")
    for order in orders:
        if order == "yymd" and len(match["y2"]) == 2:
            day = WrittenDate(2000 + int(match["a"]), int(match["b"]), int(match["y2"]), "").exact("mdy")
        else:
            day = written.exact(order) if order in ("dmy", "mdy") else None
        if day is not None:
            return day
    return None


def choose_order(dates: Iterable[WrittenDate], american: bool) -> Order:
    """Decides which number is the day: by what is possible for all, a point, the shorter stay, the currency."""
    unsure = [w for w in dates if w.separator]
    if any(w.first > 12 for w in unsure) or any(w.separator == "." for w in unsure):
        return "dmy"
    if any(w.second > 12 for w in unsure):
        return "mdy"
    dmy, mdy = _count_days(unsure, "dmy"), _count_days(unsure, "mdy")
    if dmy != mdy:
        return "dmy" if dmy < mdy else "mdy"
    return "mdy" if american else "dmy"


def _count_days(dates: Sequence[WrittenDate], order: Order) -> int:
    days = [d for w in dates if (d := w.day(order, 2000))]
    return (max(days) - min(days)).days if days else 0


def find_weekday(before: str, after: str = "") -> int | None:
    """The weekday right before a date, or in brackets right after it; Monday is 0."""
    match = _WEEKDAY_BEFORE.search(before[-24:]) or _WEEKDAY_AFTER.match(after[:24])
    return _WEEKDAY_NUMBERS.get(match[1], _JAPANESE_WEEKDAYS.get(match[1])) if match else None


def find_times(folded: str) -> Iterator[time]:
    """Clock times with minutes, on the 24 or the 12 hour clock."""
    return (clock for clock, _ in find_placed_times(folded))


def find_placed_times(folded: str) -> Iterator[tuple[time, int]]:
    """The same, each with its place in the text."""
    return _read_times(_CLOCK, folded)


def first_time(folded: str) -> time | None:
    """The first clock time of a text, also one without minutes ("4 pm")."""
    placed = next(chain(_read_times(_CLOCK, folded), _read_times(_FULL_HOUR, folded)), None)
    return placed[0] if placed else None


def _read_times(pattern: re.Pattern[str], folded: str) -> Iterator[tuple[time, int]]:
    for match in pattern.finditer(folded):
        groups = [g for g in match.groups() if g]
        hour, minute = int(groups[0]), int(groups[1]) if len(groups) > 1 and groups[1].isdigit() else 0
        half = groups[-1][:1] if groups[-1][:1] in ("a", "p") else ""
        if half and not 1 <= hour <= 12:
            continue
        hour = hour % 12 + (12 if half == "p" else 0) if half else hour
        if hour < 24 and minute < 60:
            yield time(hour, minute), match.start()
