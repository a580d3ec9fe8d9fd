"""The lines of a letter as its flights are read from them: plain signs, without old plans, stops and other clocks."""

import re
from dataclasses import dataclass

from shared.domain.confirmations.clock_writing import write_colons, write_japanese_clocks
from shared.domain.confirmations.flight_columns import turn_columns
from shared.domain.confirmations.old_plans import INSTEAD, drop_old_columns, find_old_lines
from shared.domain.parsing.dates import DATE, NAMED_DATE
from shared.domain.parsing.text import fold

# Full-width signs of Japanese letters, the many dashes, and the blanks of web pages.
_PLAIN = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    ord(sign): plain
    for signs, plain in (("‐‑‒–—―−", "-"), ("\u3000\u00a0\u2007\u2009\u202f", " "), ("\u200b\u00ad\ufeff\u2060", None))
    for sign in signs
}
_NOT_PLAIN = re.compile("[" + "".join(map(chr, _PLAIN)) + "]+")
# What a time or a place in the same line belongs to, if not to the flight.
_ASIDE = (
    r"boarding(?! pass)|gates? (?:opens?|closes?|closing)|check-?in|bag(?:gage)? drop|counter|lounge|embarque"
    r"|embarquement"
    r"|imbarco|instappen|einstieg|boardingzeit|be at the gate|last call|meet|transfer time|latest|until"
    r"|bis spatestens"
    r"|搭乗手続|保安検査|搭乗開始|搭乗時刻|搭乗口"
)
_ASIDE_TIME = re.compile(
    rf"(?:{_ASIDE})[^\d\n\t|]{{0,40}}(?:at |by |um |a las |alle |as |om )?\d{{1,2}}[:.h]\d{{2}}(?: ?[ap]\.?m\b\.?)?"
)
_ASIDE_LABEL = re.compile(rf"^\W*(?:{_ASIDE})(?: time| closes?| closing)?\W*$")
_LENGTH_LABEL = (
    r"duration|total time|travel time|flight time|flying time|journey time|elapsed|dauer|flugzeit|reisezeit|duree"
    r"|temps de vol|duracion|tiempo de vuelo|durata|tempo di volo|duracao|tempo de voo|duur|reistijd|vluchtduur"
    r"|所要時間|飛行時間"
)
_HOURS = r"h|hrs?|hours?|std\.?|hr|uur|ore|時間"
_LENGTH = re.compile(
    rf"(?:{_LENGTH_LABEL})[^\d\n]{{0,20}}\d{{1,2}}[^\n\t|]{{0,3}}?\d{{0,2}}(?: ?(?:h|hrs?|min|m)\b)?"
    rf"|\(?\b\d{{1,2}} ?(?:{_HOURS})[ ,.]{{0,2}}\d{{1,2}} ?(?:m|mins?|minutes?|minuten|分)\b\.?\)?"
    r"|\(\d{1,2}[:h]\d{2} ?h?\)|(?<![\d:.h])\b\d{1,2} ?(?:hrs?|hours?|std)\b|\b\d{1,2}h(?: ?\d{2}m)\b"
)
_IN_BRACKETS = re.compile(r"\((\d{1,2}[:h]\d{2}(?: ?h)?)\)")
_STOP = re.compile(
    r"\b(?:layover|lay-over|stopover|connection time|connecting time|time between flights|change (?:planes|of plane)"
    r"|\d stops?\b|umsteige\w*|aufenthalt|correspondance|escala\b|tiempo de conexion|scalo|overstap\w*|transfer in"
    r"|tid mellan flyg|乗り継き|乗継)"
)
_BEGINNING = 100_000
_COLON_TIME = re.compile(r"\b\d{1,2}:\d{2}\b")
_HOURS_LONG = re.compile(
    r"\b\d{1,2} ?h ?[0-5]\d\b"
)  # how long a flight takes, in a letter whose clock times have a colon
_JOINED_TIME = re.compile(r"\b\d{1,2}h\d{2}\b")
_HOURS_APART = re.compile(r"\b\d{1,2} h [0-5]\d\b")  # the same in one that writes clock times as "17h20"
_STOPS = re.compile(
    r"\b(?:\d|one|two|una?|dos|deux|zwei|due|duas?|een|twee) ?(?:stops?|escalas?|scal[oi]|umstiege?|zwischenstopps?"
    r"|correspondances?|overstap\w*|conexion(?:es)?|umsteige\w*|paradas?)\b"
)
_OFFER = re.compile(
    r"you (?:may|might|could) (?:also )?like|(?:flights?|fares?|prices?|offers?) from [^a-z]|book (?:now"
    r"|your next)|recommended for you"
    r"|upgrade to|jetzt buchen|das konnte (?:ihnen|dir)|vous aimerez|te puede interesar|ti potrebbe|おすすめ|upgraden"
)
_DIGIT = re.compile(r"\d")
_HAS_CLOCK = re.compile(r"\d[:.h]\d{2}")
# What is blanked, each with what its every match holds a part of: most lines hold none of it.
_BLANKED = (
    (_ASIDE_TIME, [_HAS_CLOCK]),
    (_LENGTH, [re.compile(rf"\d ?(?:{_HOURS})|\(\d"), re.compile(_LENGTH_LABEL)]),
    (INSTEAD, [_HAS_CLOCK]),
)


_CLOCK = re.compile(r"\b\d{1,2}[:.h]\d{2}\b")
# Of a letter that tells of a change: "con salida prevista a las 07:05, saldrá a las 07:50".
_AS_PLANNED = re.compile(
    r"\b(?:scheduled|planned|due|previst[oa]s?|programad[oa]s?|prevue?s?|programmee?s?|geplante?[nr]?|vorgesehene?[nr]?"
    r"|previst[oi]|geplande?)\b[^\d\n]{0,30}\d{1,2}[:.h]\d{2}(?: ?[ap]\.?m\b\.?)?(?=[^\n]*\d[:.h]\d{2})"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: as written, folded, and folded without what does not tell when or where the flight goes."""

    text: str
    small: str
    bare: str

    @property
    def blank(self) -> bool:
        return not self.text.strip(" \t-=_*|")


def to_plain(text: str) -> str:
    """Full-width signs, dashes and blanks as the plain ones; Japanese clock times with a colon."""
    if text.isascii():
        return text
    text = _NOT_PLAIN.sub(lambda run: run[0].translate(_PLAIN), text)
    return write_japanese_clocks(text) if "時" in text or "午" in text else text


def split_lines(text: str, changed: bool) -> list[Line]:
    """The lines that count; of a letter that tells of a change, without those of the old plan."""
    raw = turn_columns(drop_old_columns(write_colons(to_plain(text).split("\n"))))
    smalls = [fold(line) for line in raw]
    old = find_old_lines(raw, smalls, changed)
    lines = []
    length = _choose_length(text[:_BEGINNING])
    for at, (line, small) in enumerate(zip(raw, smalls, strict=True)):
        if at in old or _OFFER.search(small):
            lines.append(Line("", "", ""))
        else:
            label = next((smalls[n] for n in range(at - 1, max(-1, at - 4), -1) if smalls[n].strip()), "")
            bare = _blank_aside(length.sub(_blank_match, small) if length else small, label)
            lines.append(Line(line, small, _blank_planned(bare) if changed else bare))
    return lines


def _choose_length(text: str) -> re.Pattern[str] | None:
    """How the letter writes how long a flight takes, if it writes clock times in another way."""
    colon, joined, apart = (len(p.findall(text)) for p in (_COLON_TIME, _JOINED_TIME, _HOURS_APART))
    if colon > 1:
        return _HOURS_LONG if colon >= apart else _JOINED_TIME
    return _HOURS_APART if joined > 1 and joined >= apart else None


def _blank_match(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _blank_planned(bare: str) -> str:
    """A sentence of a change without the time that was planned, where three times tell of old and new."""
    if "\t" in bare or len(_CLOCK.findall(bare)) < 3:
        return bare
    return _AS_PLANNED.sub(lambda m: " " * len(m[0]), bare, count=1)


def _blank_aside(small: str, above: str) -> str:
    """The line with blanks for the times of boarding, the lengths of flights and stops between them."""
    if _STOP.search(small):
        if not _names_day(small):
            return " " * len(small)
        small = _STOPS.sub(lambda m: " " * len(m[0]), small)
    if not _DIGIT.search(small):
        return small
    if "\t" not in small and _ASIDE_LABEL.match(above) and len(small.strip()) < 20:
        return " " * len(small)
    if len(_IN_BRACKETS.findall(small)) in (2, 4):  # "Paris (18h45) - Rome (20h50)": no lengths of a flight
        small = _IN_BRACKETS.sub(r" \1 ", small)
    for pattern, parts in _BLANKED:
        if any(part.search(small) for part in parts):
            small = pattern.sub(lambda m: " " * len(m[0]), small)
    return _blank_aside_cells(small, above) if "\t" in small and "\t" in above else small


def _names_day(small: str) -> bool:
    """Whether a line has a day: "Tue 8 June 2027 · 1 stop" heads a journey and tells of no stop."""
    return bool(_STOPS.search(small)) and bool(DATE.search(small) or NAMED_DATE.search(small))


def _blank_aside_cells(small: str, above: str) -> str:
    """The cells below a heading such as Boarding or Gate."""
    cells, heads = small.split("\t"), above.split("\t")
    if any(map(str.isdigit, above)):
        return small
    aside = [at for at, head in enumerate(heads) if _ASIDE_LABEL.match(head)]
    return "\t".join(" " * len(cell) if at in aside else cell for at, cell in enumerate(cells))
