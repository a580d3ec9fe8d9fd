"""The days of the stays of a letter: behind labels, as a range, as a day and a number of nights, or in a sentence."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from shared.domain.confirmations.confirmation_numbers import find_confirmation
from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.mail_dates import DateMention, MailDates
from shared.domain.confirmations.stay_labels import IN, LABEL_PARTS, OTHER_LABELS, OUT
from shared.domain.confirmations.stay_nights import NIGHT_WORD, find_nights, read_nights
from shared.domain.parsing.text import fold

# The days of a stay written as a range, or as its first day and its nights.

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


def _find_days(small: str, dates: MailDates) -> list[DateMention]:
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
        days = (
            [DateMention(earlier, days[0].start, days[0].end), days[1]]
            if (last - earlier).days <= _MOST_NIGHTS
            else days
        )
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


_LABELS = re.compile(
    rf"(?:^|[\t|/]|\s\s|[-•,;·]\s|】\S{{0,8}}\s|(?<=\s)(?=check))[^\w\t]*(?:(?P<into>{IN})|(?P<out>{OUT}))(?![\w-])"
    r"(?! (?:opens|time|uhrzeit|policy|online))"
)
_GLUED_HEADS = re.compile(rf"^(\W*(?:{IN})) +((?:{OUT})(?: +[a-z]+)?\W*)$")
_CHECK = re.compile(r"check|チェック|宿泊")
_LABEL = re.compile(r"^[^:：\t]{2,40}[:：\t]")
_CLOCK = re.compile(
    r"\(?(?:\b(?:from|by|until|before|after|ab|bis|a partir d[eao]s?|des|jusqu.a|avant|desde|hasta|dalle|entro|ate|as"
    r"|vanaf|tot|at|um)\b"
    r" ?)*\d{1,2}(?:[:.h]\d{2}|h)? ?(?:uhr|[ap]\.?m\.?|h|hrs|noon)?\)?"
)
_HEADER_LINES = 5  # below a row of labels, in which their days stand
_FAR = 40  # characters between a verb and its day


@dataclass(frozen=True)
class _Entry:
    into: bool
    hotel: bool  # its label is of hotels alone
    day: DateMention
    line: int


@dataclass(frozen=True)
class StaySpan:
    """The days of one stay and the lines they stand in; no days where the letter leaves them open."""

    arrives: date | None
    leaves: date | None
    first: int
    last: int


def find_spans(lines: list[str], dates: MailDates, hotels_only: bool = False) -> list[StaySpan]:
    """The days of each stay, in the order of the letter; `hotels_only` for labels no flight has."""
    entries = [e for e in _find_labelled_days(lines, dates) if e.hotel or not hotels_only]
    if not _has_own_numbers(entries, lines):
        # Each day once for each side: a summary and the details name the same stay.
        unique: dict[tuple[bool, date | None], _Entry] = {}
        for entry in entries:
            unique.setdefault((entry.into, entry.day.day), entry)
        entries = list(unique.values())
    into, out = ([e for e in entries if e.into is side] for side in (True, False))
    if len(into) == 1 and not out and (nights := find_nights(lines)) and (day := into[0].day.day):
        return [StaySpan(day, day + timedelta(days=nights), into[0].line, into[0].line)]
    if (into or out) and not hotels_only and len(into) != len(out) and (spans := find_other_spans(lines, dates)):
        return spans
    if not into or not out:
        return []
    if len(into) != len(out):
        return [StaySpan(None, None, min(e.line for e in entries), max(e.line for e in entries))]
    return [
        StaySpan(a.day.day, b.day.day, min(a.line, b.line), max(a.line, b.line)) for a, b in zip(into, out, strict=True)
    ]


def find_other_spans(lines: list[str], dates: MailDates) -> list[StaySpan]:
    """The days of a stay without labels, in a letter that speaks of nights or rooms."""
    if not any(NIGHT_WORD.search(fold(line)) for line in lines):
        return []
    spans = [StaySpan(*span) for span in find_ranges(lines, dates)]
    return spans or _find_in_sentences(lines, dates)


def _has_own_numbers(entries: list[_Entry], lines: list[str]) -> bool:
    """Whether each day of arrival stands below its own confirmation number, as those of several rooms do."""
    starts = [0, *(e.line for e in entries if e.into)]
    blocks = ["\n".join(lines[a:b]) for a, b in itertools.pairwise(starts)]
    numbers = [find_confirmation(Text(block, "", "", False, None)) for block in blocks]
    return len(numbers) > 1 and None not in numbers and len(set(numbers)) == len(numbers)


def _find_labelled_days(lines: list[str], dates: MailDates) -> list[_Entry]:
    """The days behind their labels, on the same line, in the row below, or on the line below."""
    entries: list[_Entry] = []
    for at, line in enumerate(lines):
        small = fold(line)
        if not any(part in small for part in LABEL_PARTS):
            continue
        small = _GLUED_HEADS.sub(r"\1\t\2", small)
        if not (labels := list(_LABELS.finditer(small))):
            continue
        ends = [*(m.start() for m in labels[1:]), len(small)]
        pieces = [small[m.end() : end] for m, end in zip(labels, ends, strict=True)]
        days = [dates.first(piece) for piece in pieces]
        beside = OTHER_LABELS.sub("", "\t".join(pieces))
        if not any(days) and not re.search(r"[^\W_]", _CLOCK.sub("", beside) if len(labels) > 1 else beside):
            days = _find_days_below(lines[at + 1 : at + 1 + _HEADER_LINES], len(labels), dates)
        entries += [
            _Entry(m["into"] is not None, bool(_CHECK.search(m[0])), day, at)
            for m, day in zip(labels, days, strict=True)
            if day
        ]
    return entries


def _find_days_below(lines: list[str], count: int, dates: MailDates) -> list[DateMention | None]:
    """The days of a row of labels, in its order: in the lines below, up to the next label."""
    days: list[DateMention | None] = []
    for line in lines[: _HEADER_LINES if count > 1 else 2]:
        small = fold(line)
        if _LABELS.search(small) or (_LABEL.match(line) and not dates.first(small)):
            break
        days += dates.find(small)
        if len(days) >= count:
            return days[:count]
    return [None] * count


_ARRIVING = re.compile(
    r"\b(?:arriving|arrive|check(?:ing)?[ -]in|arrival|anreise|anreisen|ankunft|arrivee|arrivant|arriverez|llegada"
    r"|llegando|llegan?|entrada"
    r"|arrivo|arrivando|arrivera|chegada|chegando|aankomst|aankomend|inchecken)\b"
)
_LEAVING = re.compile(
    r"\b(?:leaving|leave|departing|depart|departure|check(?:ing)?[ -]out|abreise|abreisen|partant|repartant|partirez"
    r"|salida|saliendo|salen?"
    r"|partenza|partendo|ripartenza|saida|saindo|partida|vertrek|vertrekkend|uitchecken)\b"
)


def _find_in_sentences(lines: Sequence[str], dates: MailDates) -> list[StaySpan]:
    """ "arriving Thursday 10 June 2027 and leaving on Monday 14 June": the one day behind either verb."""
    for at, line in enumerate(lines):
        small = fold(line)
        into = _find_behind(_ARRIVING, small, dates)
        if len(into) != 1:
            continue
        arrives = into.pop()
        out = _find_behind(_LEAVING, small, dates) or _find_behind(_LEAVING, small, MailDates("", arrives, dates.order))
        if len(out) == 1:
            return [StaySpan(arrives, out.pop(), at, at)]
    return []


def _find_behind(pattern: re.Pattern[str], small: str, dates: MailDates) -> set[date]:
    days = set()
    for match in pattern.finditer(small):
        day = dates.first(small[match.end() : match.end() + _FAR])
        days |= {day.day} if day and day.day else set()
    return days
