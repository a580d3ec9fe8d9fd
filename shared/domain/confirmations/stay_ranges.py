"""The days of a stay written as a range, or as its first day and its nights."""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from shared.domain.confirmations.mail_dates import Day, MailDates
from shared.domain.confirmations.stay_nights import NIGHT_WORD, read_nights
from shared.domain.parsing.text import fold

_RANGE = re.compile(
    r"^\W*(?:stay(?: dates?)?|dates?(?: of stay)?|your stay|(?:ihr )?aufenthalt|reisezeitraum|zeitraum|reisedaten"
    r"|(?:votre )?sejour"
    r"|(?:su |tu )?estancia|fechas|estadia|datas|(?:il (?:suo|tuo) )?soggiorno|periodo|(?:uw |je )?verblijf"
    r"|宿泊期間|滞在期間|期間"
    r"|from|du|vom|von|del|dal|de|van)(?![a-z])"
)
_NAME = r"[a-z]{3,12}\.?"
_ON = r"(?:(?!de )[a-z]{2,13}(?:-feira)?\.?,? ){0,2}"  # "Friday, the", "le ven."
_TO = (
    r" ?(?:-|~|〜|→|>|\bto\b|\buntil\b|\btill\b|\bthrough\b|\bbis(?: zum)?\b|\bau\b|\bjusqu'au\b|\bal?\b"
    r"|\bhasta(?: el)?\b|\bate\b|\bao\b"
    r"|\bfino al\b|\btot(?: en met)?\b|\bt/m\b|\band\b|\bund\b|から) ?"
)
_TH = r"(?:\.|st|nd|rd|th|er|º)?"
_FORMS = (
    # 5 - 7 March 2027, 5. bis Sonntag, 7. März 2027
    (
        re.compile(
            rf"(?<![\d.:/])(\d{{1,2}}){_TH}{_TO}({_ON})(\d{{1,2}}){_TH}"
            rf"((?: de)? (?!de )({_NAME}),?(?: de)? (\d{{4}}))\b"
        ),
        r"\1 \5 \6 - \2\3\4",
    ),
    # March 5 - 7, 2027
    (re.compile(rf"\b({_NAME}) (\d{{1,2}}){_TH}{_TO}(\d{{1,2}}){_TH},? (\d{{4}})\b"), r"\2 \1 \4 - \3 \1 \4"),
    # 5. - 7.3.2027
    (re.compile(r"(?<![\d.])(\d{1,2})\. ?(?:-|bis) ?(\d{1,2})\.(\d{1,2})\.(\d{4})\b"), r"\1.\3.\4 - \2.\3.\4"),
    (re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日(.{0,5}?)(?:-|~|〜|から) ?(\d{1,2})日"), r"\1-\2-\3 - \1-\2-\5"),
)
# The first day without a year: "Fri 5 March - Sun 7 March 2027", "5.3. - 7.3.2027", "Mar 30 - Apr 2, 2027"
_YEAR_LATER = re.compile(
    rf"(?<![\d.:/])(\d{{1,2}}){_TH}(?: de)? ({_NAME})"
    rf"(?=,?{_TO}{_ON}\d{{1,2}}{_TH}(?: de)? {_NAME},?(?: de)? (\d{{4}})\b)"
    rf"|\b({_NAME}) (\d{{1,2}}){_TH}(?={_TO}{_ON}{_NAME} \d{{1,2}}{_TH},? (\d{{4}})\b)"
)
_YEAR_LATER_IN_NUMBERS = re.compile(
    rf"(?<![\d.:/])(\d{{1,2}})([./])(\d{{1,2}})(?:\.|(?=[^\d./]))(?={_TO}{_ON}\d{{1,2}}[./]\d{{1,2}}[./](\d{{4}})\b)"
)
_YEAR_FIRST = re.compile(r"(\d{4})年(\d{1,2}月\d{1,2}日.{0,5}?)(-|~|〜|から) ?(?=\d{1,2}月)")
_BETWEEN = re.compile(
    rf"[\s.,(]*(?:\w{{1,13}}\.?\)?[\s,]*)?(?:[(,]? ?(?:from |ab )?\d{{1,2}}[:.]\d\d(?: uhr)?\)?)?{_TO}[\s(]*{_ON}"
)
_OTHER_DAYS = re.compile(
    r"cancel|storn|annul|valid|gultig|valable|valid[oa]|offer|angebot|offre|oferta|offerta|aanbieding|\bsave\b"
    r"|\bsale\b|\boff\b|%|book by"
    r"|closed|geschlossen|ferme|cerrad|chius|gesloten|キャンセル"
)
_STARTS = re.compile(
    r"\b(?:from|starting|beginning|commencing|arriving|arrival|check-?in|ab(?: dem)?|vom|anreise|a partir d[ue]"
    r"|a compter du|du|arrivee|des le"
    r"|desde(?: el)?|a partir del?|llegada|entrada|dal|a partire dal|arrivo|chegada|vanaf|aankomst)\b|より|から"
    r"|\d{1,2}泊\d{1,2}日"
)
_MOST_NIGHTS = 60
_SENTENCE = re.compile(r"(?<=[a-z)]{2}[.!?;])\s+(?=[^\W\d]|[¿¡])|(?<=\d{4}[.!?;])\s+")
Sentences = list[tuple[int, str]]  # each with the number of its line
RangeOfDays = tuple[date | None, date | None, int, int]  # the two days and the first and the last line


def find_ranges(lines: list[str], dates: MailDates) -> list[RangeOfDays]:
    """The days of the one stay of a letter; both are None where its lines name several that could be them."""
    smalls = [(at, write_out_range(part)) for at, line in enumerate(lines) for part in _SENTENCE.split(fold(line))]
    ranges = list(_list_labelled(smalls, dates)) or list(_list_connected(smalls, dates))
    if not ranges:
        return [span for at, small in smalls if (span := _count_nights(small, at, dates))][:1]
    days = [day for r in ranges for day in r[:2] if day]
    whole = [r for r in ranges if days and r[:2] == (min(days), max(days))]
    return [whole[0]] if whole else [(None, None, ranges[0][2], ranges[-1][3])]


def _list_labelled(smalls: Sentences, dates: MailDates) -> Iterator[RangeOfDays]:
    """The pairs of days in lines that begin with a word for a stay or name nights or rooms."""
    for at, small in smalls:
        days = _find_days(small, dates)
        if len(days) == 2 and (_RANGE.match(small) or NIGHT_WORD.search(small)) and not _OTHER_DAYS.search(small):
            yield days[0].day, days[1].day, at, at


def _find_days(small: str, dates: MailDates) -> list[Day]:
    """The days of a line; the first of two to which the year of the second was given may be of the year before."""
    days = dates.find(small) if re.search(r"\d", small) else []
    if (
        len(days) == 2
        and (first := days[0].day)
        and (last := days[1].day)
        and first > last
        and (first.month, first.day) != (2, 29)
    ):
        earlier = first.replace(year=first.year - 1)
        days = [Day(earlier, days[0].start, days[0].end), days[1]] if (last - earlier).days <= _MOST_NIGHTS else days
    return days


def write_out_range(small: str) -> str:
    """A folded line with both days of a range written in full."""
    for pattern, form in _FORMS:
        small = pattern.sub(form, small)
    small = _YEAR_FIRST.sub(r"\1年\2\3\1年", small)
    small = _YEAR_LATER.sub(lambda m: f"{m[1] or m[5]} {m[2] or m[4]} {m[3] or m[6]}", small)
    return _YEAR_LATER_IN_NUMBERS.sub(r"\1\2\3\2\4", small)


def _list_connected(smalls: Sentences, dates: MailDates) -> Iterator[RangeOfDays]:
    """The pairs of days with a word between them that makes them a range."""
    for at, small in smalls:
        days = _find_days(small, dates) if not _OTHER_DAYS.search(small) else []
        if len(days) == 2 and _BETWEEN.fullmatch(small[days[0].end : days[1].start]):
            first, last = days[0].day, days[1].day
            if first and last and 0 < (last - first).days <= _MOST_NIGHTS:
                yield first, last, at, at


def _count_nights(small: str, at: int, dates: MailDates) -> RangeOfDays | None:
    """ "3 nights from 5 March 2027": the first day and how long."""
    nights = read_nights(small)
    days = dates.find(small) if nights and _STARTS.search(small) else []
    if len(days) != 1 or len(nights) != 1 or not days[0].day:
        return None
    return days[0].day, days[0].day + timedelta(days=nights.pop()), at, at
