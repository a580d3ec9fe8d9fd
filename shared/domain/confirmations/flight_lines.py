"""The lines of a letter as its flights are read from them: plain signs, without old plans, stops and other clocks."""

import re
from dataclasses import dataclass

from shared.domain.confirmations.old_plans import INSTEAD, drop_old_columns, find_old_lines
from shared.domain.parsing.dates import DATE, NAMED_DATE
from shared.domain.parsing.text import fold

# Tables with one column for each flight and one row for each fact, turned so that each flight has its own lines.

_NUMBER = re.compile(r"^[^\d\t]{0,30}?(?<![A-Za-z0-9])(?:[A-Z][A-Z0-9]|[0-9][A-Z])[ -]{0,2}\d{1,4}\s*$")
_MOST_ROWS = 25  # of one table, above and below the row of the numbers
_FEWEST_ROWS = 3


def turn_columns(lines: list[str]) -> list[str]:
    """The lines, with each table whose flights stand side by side written flight after flight: "Departure	10:55"."""
    out: list[str] = []
    at = 0
    while at < len(lines):
        flights = _count_flights(lines[at])
        rows = _collect_rows(lines, at, flights) if flights else []
        if sum(len(row) == flights + 1 for row in rows) < _FEWEST_ROWS:
            out.append(lines[at])
            at += 1
            continue
        heads = _take_heads(out, flights)
        for column in range(flights):
            out.append("")
            out += [head[column] for head in heads]
            out += [f"{row[0]}\t{row[column + 1]}" for row in rows]
        out.append("")
        at += _measure_rows(lines, at, flights)
    return out


def _split_cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("\t")] if "\t" in line else [line.strip()]


def _count_flights(line: str) -> int:
    """How many flights a row of nothing but their numbers and its label names; 0 for other lines."""
    if "\t" not in line or len(line) > 300:
        return 0
    cells = [cell for cell in _split_cells(line) if cell]
    numbers = sum(bool(_NUMBER.match(cell)) for cell in cells)
    return numbers if numbers > 1 and len(cells) == numbers + 1 and not _NUMBER.match(cells[0]) else 0


def _collect_rows(lines: list[str], at: int, flights: int) -> list[list[str]]:
    reach = _measure_rows(lines, at, flights)
    return [_split_cells(line) for line in lines[at : at + reach] if line.strip()]


def _measure_rows(lines: list[str], at: int, flights: int) -> int:
    """The lines from the row of the numbers to the last that has a label and a cell for each flight."""
    last = at
    for n in range(at, min(len(lines), at + 2 * _MOST_ROWS)):
        if lines[n].strip():
            if len(_split_cells(lines[n])) != flights + 1:
                break
            last = n
    return last - at + 1


def _take_heads(out: list[str], flights: int) -> list[list[str]]:
    """The rows above the numbers, taken from `out`: with a label ("Date", ...) or without ("Outbound", "Return")."""
    heads: list[list[str]] = []
    first = len(out)
    for n in range(len(out) - 1, max(-1, len(out) - _MOST_ROWS), -1):
        if not out[n].strip():
            continue
        cells = _split_cells(out[n])
        if len(cells) == flights + 1:
            heads.insert(0, [f"{cells[0]}\t{cell}" for cell in cells[1:]])
        elif len(cells) == flights and flights > 1:
            heads.insert(0, cells)
        else:
            break
        first = n
    del out[first:]
    return heads


# Clock times as letters of some countries write them ("20.55", "7u05", "午後6:35"), rewritten with a colon.

_HOUR_AND_MINUTE = re.compile(r"(\d{1,2})時(\d{2})分")
_HALF = re.compile(r"午([前後])\s?(\d{1,2})(?::(\d{2})|時(?!間))(?![:\d])")
_HAS_WRITTEN_CLOCK = re.compile(r"(?<![\d:.])\d{1,2}[:h]\d{2}(?![\d:])", re.I)
_DUTCH = re.compile(r"(?<![\w.:,])(\d{1,2})u([0-5]\d)(?!\w)")
_POINT = r"(?<![\w.,:/-])([01]?\d|2[0-3])\.([0-5]\d)(?![\w.:%/]|,\d| ?(?:kg|km|cm|lbs?|mb)\b)"
_LABEL = (
    r"partenza|arrivo|parte|arriva|ore|dalle|alle|decollo|atterraggio|abflug|ankunft|abflugzeit|ankunftszeit|ab|an|um"
    r"|vertrek|vertrektijd|aankomst|aankomsttijd|om|dep|arr|depart(?:s|ure)?|arriv(?:es|al)|departs at|salida|llegada"
    r"|partida|saida|chegada|depart|arrivee|kl"
)
_ALONE = re.compile(
    rf"(?:^|(?<=\t))(\s*(?:(?:{_LABEL})\.?\s?:?\s*)?){_POINT}"
    r"(?=\s?(?:uhr|h|u|ore)?\.?\s*(?:\(?\+\d\)?)?\s*(?:$|\t|\())",
    re.I | re.M,
)
_LABELLED = re.compile(rf"(\b(?:{_LABEL})\b\.?[^\d\n\t:]{{0,25}}[:\t ]\s?){_POINT}", re.I)
_BESIDE_CODE = re.compile(
    rf"((?<![A-Za-z])[A-Z]{{3}}\)? ?[,·|]? ?){_POINT}"
    rf"|()(?:{_POINT})(?=\s{{1,4}}(?:[A-ZÀ-Þ][\w'’ /.-]{{1,30}})?\(?[A-Z]{{3}}(?![A-Za-z]))"
)
_TO = r" ?(?:-|>|→|/) ?"
_RANGE = re.compile(rf"(){_POINT}(?={_TO}\d{{1,2}}\.\d{{2}}(?![\d.,]))|((?<=\d:\d\d){_TO}){_POINT}")
_JOINED = re.compile(r"(?<=\([A-Z]{3}\))(\s{1,4}(?:[01]\d|2[0-3]))([0-5]\d)(?=\+\d|\s|$)")
_OF_FLIGHT = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z]{2}|[A-Z]\d|\d[A-Z]) ?\d{2,4}(?![\d.,])|\([A-Z]{3}\)"
    r"|(?<![A-Z])[A-Z]{3} ?[-→>/] ?[A-Z]{3}(?![A-Z])"
)
_MONEY = re.compile(r"[€£$¥]|(?<![A-Z])(?:EUR|USD|GBP|CHF|AUD|CAD|SEK|NOK|DKK|SGD|BRL)(?![A-Z])")
_NEAR = 4  # lines from a flight to its times
_CLOCK_BEGINNING = 100_000


def write_japanese_clocks(text: str) -> str:
    """ "6時35分" and "午後6:35" as "6:35" and "18:35"."""
    text = _HOUR_AND_MINUTE.sub(r"\1:\2", text)
    return _HALF.sub(_write_half, text) if "午" in text else text


def _write_half(match: re.Match[str]) -> str:
    hour, minute = int(match[2]), match[3] or "00"
    if hour > 12:
        return f"{hour}:{minute}"
    return f"{hour % 12 + (12 if match[1] == '後' else 0)}:{minute}"


def write_colons(lines: list[str]) -> list[str]:
    """The lines of a letter that writes no time with a colon, with its "7u05" and, next to flights, its "20.55" so.

    "20.55" may be a price or a day: it counts only alone in its cell, behind a label or next to an airport, and in no
    line with money.
    """
    beginning = "\n".join(lines)[:_CLOCK_BEGINNING]
    if _HAS_WRITTEN_CLOCK.search(beginning):
        return lines
    if _DUTCH.search(beginning):
        return [_DUTCH.sub(r"\1:\2", line) for line in lines]
    flown = {
        n
        for at, line in enumerate(lines)
        if _OF_FLIGHT.search(line[:400])
        for n in range(max(0, at - _NEAR), min(len(lines), at + _NEAR + 1))
    }
    lines = [_write_points(line) if at in flown and "." in line else line for at, line in enumerate(lines)]
    # "Sydney (SYD) 1615   London (LHR) 0645+1": a year follows one airport of a line and not two.
    joined = {at for at in flown if len(lines[at]) < 400 and len(_JOINED.findall(lines[at])) > 1}
    return [_JOINED.sub(r"\1:\2", line) if at in joined else line for at, line in enumerate(lines)]


def _write_points(line: str) -> str:
    if _MONEY.search(line) or len(line) > 400:
        return line
    for pattern in (_ALONE, _LABELLED, _BESIDE_CODE, _RANGE):
        line = pattern.sub(_write_colon, line)
    return line


def _write_colon(match: re.Match[str]) -> str:
    lead, hour, minute = [g for g in match.groups() if g is not None]
    return f"{lead}{hour}:{minute}"


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
