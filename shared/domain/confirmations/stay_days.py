"""The days of the stays of a letter: behind labels, as a range, as a day and a number of nights, or in a sentence."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from shared.domain.confirmations.confirmation_numbers import find_confirmation
from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.mail_dates import Day, MailDates
from shared.domain.confirmations.stay_labels import IN, LABEL_PARTS, OTHER_LABELS, OUT
from shared.domain.confirmations.stay_nights import NIGHT_WORD, find_nights
from shared.domain.confirmations.stay_ranges import find_ranges
from shared.domain.parsing.text import fold

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
    day: Day
    line: int


@dataclass(frozen=True)
class Span:
    """The days of one stay and the lines they stand in; no days where the letter leaves them open."""

    arrives: date | None
    leaves: date | None
    first: int
    last: int


def find_spans(lines: list[str], dates: MailDates, hotels_only: bool = False) -> list[Span]:
    """The days of each stay, in the order of the letter; `hotels_only` for labels no flight has."""
    entries = [e for e in _find_labelled_days(lines, dates) if e.hotel or not hotels_only]
    if not _has_own_numbers(entries, lines):
        entries = _drop_repeats(entries)
    into, out = ([e for e in entries if e.into is side] for side in (True, False))
    if len(into) == 1 and not out and (nights := find_nights(lines)) and (day := into[0].day.day):
        return [Span(day, day + timedelta(days=nights), into[0].line, into[0].line)]
    if (into or out) and not hotels_only and len(into) != len(out) and (spans := find_other_spans(lines, dates)):
        return spans
    if not into or not out:
        return []
    if len(into) != len(out):
        return [Span(None, None, min(e.line for e in entries), max(e.line for e in entries))]
    return [
        Span(a.day.day, b.day.day, min(a.line, b.line), max(a.line, b.line)) for a, b in zip(into, out, strict=True)
    ]


def find_other_spans(lines: list[str], dates: MailDates) -> list[Span]:
    """The days of a stay without labels, in a letter that speaks of nights or rooms."""
    if not any(NIGHT_WORD.search(fold(line)) for line in lines):
        return []
    spans = [Span(*span) for span in find_ranges(lines, dates)]
    return spans or _find_in_sentences(lines, dates)


def _has_own_numbers(entries: list[_Entry], lines: list[str]) -> bool:
    """Whether each day of arrival stands below its own confirmation number, as those of several rooms do."""
    starts = [0, *(e.line for e in entries if e.into)]
    blocks = ["\n".join(lines[a:b]) for a, b in itertools.pairwise(starts)]
    numbers = [find_confirmation(Text(block, "", "", False, None)) for block in blocks]
    return len(numbers) > 1 and None not in numbers and len(set(numbers)) == len(numbers)


def _drop_repeats(entries: list[_Entry]) -> list[_Entry]:
    """Each day once for each side: a summary and the details name the same stay."""
    unique: dict[tuple[bool, date | None], _Entry] = {}
    for entry in entries:
        unique.setdefault((entry.into, entry.day.day), entry)
    return list(unique.values())


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


def _find_days_below(lines: list[str], count: int, dates: MailDates) -> list[Day | None]:
    """The days of a row of labels, in its order: in the lines below, up to the next label."""
    days: list[Day | None] = []
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


def _find_in_sentences(lines: Sequence[str], dates: MailDates) -> list[Span]:
    """ "arriving Thursday 10 June 2027 and leaving on Monday 14 June": the one day behind either verb."""
    for at, line in enumerate(lines):
        small = fold(line)
        into = _find_behind(_ARRIVING, small, dates)
        if len(into) != 1:
            continue
        arrives = into.pop()
        out = _find_behind(_LEAVING, small, dates) or _find_behind(_LEAVING, small, MailDates("", arrives, dates.order))
        if len(out) == 1:
            return [Span(arrives, out.pop(), at, at)]
    return []


def _find_behind(pattern: re.Pattern[str], small: str, dates: MailDates) -> set[date]:
    days = set()
    for match in pattern.finditer(small):
        day = dates.first(small[match.end() : match.end() + _FAR])
        days |= {day.day} if day and day.day else set()
    return days
