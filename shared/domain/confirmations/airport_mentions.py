"""Airports in the lines of a letter, by each of the ways of writing them."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from shared.domain.confirmations.flight_lines import Line
from shared.domain.confirmations.letter_languages import WORDS
from shared.domain.confirmations.model import TravelFacts
from shared.domain.parsing.amounts import CODES
from shared.domain.parsing.dates import find_times
from shared.domain.parsing.text import fold

_BRACKETS = re.compile(r"[(\[]\s?(?:[A-Z][a-z]+,? ?){0,2}([A-Z]{3})(?:\s?[,/-] ?[^()\[\]\n]{0,30})?[)\]]")
_ARROW = r"(?:-|>|->|=>|→|➔|➝|➜|✈|⇒|⟶|↔|~|〜|～|/|▶|►|»|\bto\b|\bnach\b|\bbis\b|\ba\b|\bà\b|\bnaar\b|発)"
_PAIR = re.compile(
    rf"(?<![A-Za-z])([A-Z]{{3}})\s*{_ARROW}+\s*"
    r"(?:[A-ZÀ-Þ][\w'.-]*[a-zß-ÿ] ){0,3}([A-Z]{3})(?![A-Za-z])"  # the second city's name may stand before its code
)
_TIMED = re.compile(
    r"(?<![A-Za-z])([A-Z]{3})[ \t]+(?:[\d/.-]{8,10}[ \t]+)?\d{1,2}[:h]\d{2}"
    r"|\d{1,2}[:h]\d{2}(?: ?[AaPp]\.?[Mm]\.?)?[ \t]+([A-Z]{3})(?![A-Za-z])"
    r"|(?<![A-Za-z])([A-Z]{3})[ \t]+\d{3,4}[APN](?![\w:])"  # "ORD   205P"
    r"|(?<![A-Za-z])([A-Z]{3}) ?\((?:T|Terminal) ?[0-9A-Z]{1,2}\)"  # "DEL (T3)"
)
LABELLED = re.compile(
    r"^\W*(?:from|to|origin|destination|depart\w*|arriv\w*|departing|leaving|von|nach|abflug\w*|ankunft\w*|hin|zuruck"
    r"|de|a|au|origen|destino|salida|llegada|partenza|arrivo|da"
    r"|partida|chegada|para|vertrek\w*|aankomst\w*|van|naar|出発\w*|到着\w*)\b"
)
_CODE = re.compile(r"(?<![A-Za-z0-9/])([A-Z]{3})(?![A-Za-z0-9])")
_NEIGHBOURS = re.compile(r"(?<![A-Za-z0-9/])([A-Z]{3})[ \t]*(?:[-/>→]+[ \t]*)?(?<![A-Z])([A-Z]{3})(?![A-Za-z0-9])")
_JOINED = re.compile(r"(?<![A-Z])([A-Z]{3})([A-Z]{3})(?![A-Z])")
_STATION = re.compile(r"[^()\d]{0,25}\(([QXZ][A-Z]{2})\)")  # IATA's codes of railway stations begin so
_STATE_BEHIND = re.compile(r"[ *]{1,3}[A-Z]{2}\d{1,2}(?!\w)")
_DAY_IN_CAPITALS = re.compile(r"(?<!\d)\d{1,2}[A-Z]{3}(?![A-Z])")
_CELL = re.compile(r"[^\t|]+")
_LONE = re.compile(r"^\W*([A-Z]{3})(?:\W+\1)?\W*$")
_TIMED_NAME = re.compile(r"\d[:h.]\d{2}[^\n]*[ \t][A-ZÀ-Þ][\w'.-]{2,} $")  # "08:45 PM  Clark CRK"
_CALENDAR = frozenset(
    re.findall(
        r"\w+",
        "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC MON TUE WED THU FRI SAT SUN",
    )
)
# Three-letter words of mails that are also airport codes.
_NOT_AIRPORTS = frozenset(
    re.findall(
        r"\w+",
        "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC MON TUE WED THU FRI SAT SUN USD EUR GBP AUD CAD CHF JPY INR"
        " GMT UTC EST EDT CST CDT PST PDT MST BST CET PNR REF THE AND FOR TAX FEE VAT NON MRS PDF ADT CHD INF PAX BAG"
        " ECO AIR CAR ONE ALL NEW NOT YES YOU OUR ANY DAY VIA DEP ARR ETD ETA STD STA TBA SMS APP FAQ WEB NUM TEL SSR"
        " MAI OUT SET DEZ AGO ABR ENE DIC OKT MEI MRT LUN JUE DOM FLY CLS OPS MIN MAX KGS LBS",
    )
)
_MAX_NAMED_LINES = 250
_MAX_NAME_LINE = 160


class AirportMention(NamedTuple):
    """An airport named at one place of a letter; several codes where the name alone does not tell which."""

    line: int
    at: int
    codes: frozenset[str]


@lru_cache(maxsize=1)
def _compile_ways() -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    """For each language: the word before where a flight lands, up to the place; and the one before where it leaves."""
    return [
        (
            re.compile(rf"(?<!\w)(?:{fold(words.to)})\s+(?:the )?[^\d\t,;:>]{{0,40}}$"),
            re.compile(rf"(?:[)\]\s])(?:{fold(words.off_from)})\s+[^\d\t;:>/-]{{0,40}}$"),
        )
        for words in WORDS.values()
    ]


_SUFFIXES = re.compile(r"['’](?:y?[ae]|n[ae])\b[^\n]{0,60}['’]n?[dt][ae]n\b")  # Turkish: "Londra'ya İstanbul'dan"


def names_end_first(small: str, first: int, second: int) -> bool:
    """Whether a line names where the flight lands before where it leaves: "to Munich (MUC) from Frankfurt (FRA)"."""
    before, between = small[max(0, first - 60) : first], small[first:second]
    if _SUFFIXES.search(small[max(0, first - 40) : second + 40]):
        return True
    return any(
        (lands := to.search(before)) and not leaves.search(f" {before[: lands.start()]}") and leaves.search(between)
        for to, leaves in _compile_ways()
    )


Way = Callable[[Line, TravelFacts], Iterator[tuple[int, str]]]


def find_bracketed(line: Line, _world: TravelFacts) -> Iterator[tuple[int, str]]:
    yield from ((m.start(1), m[1]) for m in _BRACKETS.finditer(line.text))


def find_paired(line: Line, _world: TravelFacts) -> Iterator[tuple[int, str]]:
    for m in _PAIR.finditer(line.text):
        yield m.start(1), m[1]
        yield m.start(2), m[2]


def find_timed(line: Line, _world: TravelFacts) -> Iterator[tuple[int, str]]:
    yield from ((m.start(m.lastindex or 0), m[m.lastindex or 0]) for m in _TIMED.finditer(line.text))


def find_labelled(line: Line, _world: TravelFacts) -> Iterator[tuple[int, str]]:
    if LABELLED.match(line.small):
        yield from ((m.start(1), m[1]) for m in _CODE.finditer(line.text))


def find_lone(line: Line, world: TravelFacts) -> Iterator[tuple[int, str]]:
    """A code that is a whole line or cell, two codes side by side, or one right next to the name of its city."""
    codes = [m for m in _CODE.finditer(line.text) if _is_airport(m[1], world)]
    if not codes or len(codes) > 8:
        return
    lone = [c for c in _CELL.finditer(line.text) if _LONE.match(c[0])]
    side = [m for m in _NEIGHBOURS.finditer(line.text) if all(_is_airport(code, world) for code in m.groups())]
    places = list(_list_places(line.text[:_MAX_NAME_LINE], world)) if len(codes) <= 4 else []
    for m in codes:
        behind_name = m.end() == len(line.text.rstrip()) and _TIMED_NAME.search(line.text[: m.start()])
        within = bool(behind_name) or any(c.start() <= m.start() < c.end() for c in lone)
        paired = any(m.start() in (n.start(1), n.start(2)) for n in side) and (len(codes) == 2 or len(side) == 1)
        beside = any(
            start <= m.start() <= end + 2 and m[1] in codes_of and end - start > 4 for start, end, codes_of in places
        )
        if (within or beside or paired) and (beside or world.is_served(m[1])):
            yield m.start(), m[1]


def _list_places(text: str, world: TravelFacts) -> Iterator[tuple[int, int, frozenset[str]]]:
    """The places a text names; a code printed with a name says which airport of the city it is."""
    for start, end, codes in world.places(text):
        printed = {m[1] for m in _CODE.finditer(text[start:end]) if _is_airport(m[1], world)}
        printed = printed & codes if text[start:end].isupper() else printed  # "MONTEGO BAY" has no code in it
        yield start, end, frozenset(printed) if len(printed) == 1 else codes


def find_joined(line: Line, world: TravelFacts) -> Iterator[tuple[int, str]]:
    """ "HKGSEA", as reservation systems print a route, on a line with its day."""
    if _DAY_IN_CAPITALS.search(line.text):
        for m in _JOINED.finditer(line.text):
            is_sure = _STATE_BEHIND.match(line.text, m.end())  # "BOMGOI HK1"
            if all(_is_airport(code, world) and (is_sure or world.is_served(code)) for code in m.groups()):
                yield m.start(1), m[1]
                yield m.start(2), m[2]


def _counts(code: str, way: Way, world: TravelFacts) -> bool:
    """Words such as FOR are airports in brackets or in a pair, if they are flown to."""
    if way in (find_bracketed, find_paired) and code not in _CALENDAR and code not in CODES and world.is_served(code):
        return True
    return _is_airport(code, world)


def _is_airport(code: str, world: TravelFacts) -> bool:
    if code in _NOT_AIRPORTS or world.clock_of(code) is None:
        return False
    return code not in CODES or world.is_served(code)


CODE_WAYS: tuple[Way, ...] = (find_bracketed, find_paired, find_timed, find_labelled, find_lone, find_joined)


def find_codes(lines: list[Line], ways: tuple[Way, ...], world: TravelFacts) -> list[AirportMention]:
    """The airports whose codes stand in the lines, each place once, in order."""
    places = []
    for number, line in enumerate(lines):
        if line.blank or line.bare.isspace():
            continue
        codes = {at: code for way in ways for at, code in way(line, world) if _counts(code, way, world)}
        places += [AirportMention(number, at, frozenset((codes[at],))) for at in sorted(codes)]
    return places


def find_named(lines: list[Line], near: set[int], world: TravelFacts) -> list[AirportMention]:
    """Airports by their names, on lines that are little more than such a name or that tell a time or a direction.

    `near`: the lines of flights; only what is not far from one counts.
    """
    places: list[AirportMention] = []
    numbers = [n for n, line in enumerate(lines) if not line.blank and not line.bare.isspace()]
    close = sorted(numbers, key=lambda n: min((abs(n - f) for f in near), default=0))[:_MAX_NAMED_LINES]
    for number in sorted(close):
        places += _find_named_in(lines[number], number, world)
    return places


def _find_named_in(line: Line, number: int, world: TravelFacts) -> Iterator[AirportMention]:
    if len(line.text) > _MAX_NAME_LINE:
        return
    direct = bool(LABELLED.match(line.small)) or any(True for _ in find_times(line.bare))
    for cell in _CELL.finditer(line.text):
        places = list(_list_places(cell[0], world))
        if direct and not places and (code := world.airport(cell[0])):
            places = [(0, 0, frozenset((code,)))]
        covered = sum(end - start for start, end, _ in places)
        letters = sum(map(str.isalpha, cell[0]))
        if places and (direct or covered >= 0.45 * letters):
            for start, end, codes in places:
                # "to Munich": a small word next to it can count as part of the name
                station = _STATION.match(cell[0], end)  # "Köln Hbf (QKL)"
                if station and world.clock_of(station[1]) is None:
                    continue
                capital = next((at for at in range(start, end) if cell[0][at].isupper()), start)
                yield AirportMention(number, cell.start() + capital, codes)
