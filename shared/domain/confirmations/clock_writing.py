"""Clock times as letters of some countries write them ("20.55", "7u05", "午後6:35"), rewritten with a colon."""

import re

_HOUR_AND_MINUTE = re.compile(r"(\d{1,2})時(\d{2})分")
_HALF = re.compile(r"午([前後])\s?(\d{1,2})(?::(\d{2})|時(?!間))(?![:\d])")
_HAS_CLOCK = re.compile(r"(?<![\d:.])\d{1,2}[:h]\d{2}(?![\d:])", re.I)
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
_OF_FLIGHT = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z]{2}|[A-Z]\d|\d[A-Z]) ?\d{2,4}(?![\d.,])|\([A-Z]{3}\)"
    r"|(?<![A-Z])[A-Z]{3} ?[-→>/] ?[A-Z]{3}(?![A-Z])"
)
_MONEY = re.compile(r"[€£$¥]|(?<![A-Z])(?:EUR|USD|GBP|CHF|AUD|CAD|SEK|NOK|DKK|SGD|BRL)(?![A-Z])")
_NEAR = 4  # lines from a flight to its times
_BEGINNING = 100_000


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
    beginning = "\n".join(lines)[:_BEGINNING]
    if _HAS_CLOCK.search(beginning):
        return lines
    if _DUTCH.search(beginning):
        return [_DUTCH.sub(r"\1:\2", line) for line in lines]
    flown = {
        n for at, line in enumerate(lines) if _OF_FLIGHT.search(line[:400]) for n in range(at - _NEAR, at + _NEAR + 1)
    }
    return [_write_points(line) if at in flown and "." in line else line for at, line in enumerate(lines)]


def _write_points(line: str) -> str:
    if _MONEY.search(line) or len(line) > 400:
        return line
    for pattern in (_ALONE, _LABELLED, _BESIDE_CODE, _RANGE):
        line = pattern.sub(_write_colon, line)
    return line


def _write_colon(match: re.Match[str]) -> str:
    lead, hour, minute = [g for g in match.groups() if g is not None]
    return f"{lead}{hour}:{minute}"
