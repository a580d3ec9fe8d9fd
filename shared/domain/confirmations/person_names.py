"""Names of people as letters write them: with titles, surname first, several in a line, in letters of Japan."""

import re

from shared.domain.confirmations import passenger_words as words
from shared.domain.parsing.text import fold

TITLE = (
    r"(?:mr|mrs|ms|miss|mx|de heer|mevrouw|meneer|de hr|mstr|dr|prof|herr|frau|hr|m|mme|mlle|monsieur|madame"
    r"|sr|sra|srta|senor|senora|sig|sig\.ra|signor|signora|dott|dott\.ssa|dhr|mevr|mw|mvr|don|dona|d|dna)"
)
_NAME_WORD = r"[^\W\d_][^\W\d_'’-]*(?:['’-][^\W\d_]+)*\.?"
_PERSON_NAME = rf"{_NAME_WORD}(?: {_NAME_WORD}){{1,4}}"
TITLED = re.compile(
    rf"^\W*(?:\d{{1,2}} ?[.):]?\s*)?{TITLE}\.? +({_PERSON_NAME}?)\s*(?:\(|,|\t|\||-|$|  "
    rf"|(?<= )(?:{words.ADULT}|{words.CHILD})(?![a-z]))"
)
_CAPITALS = r"[A-ZÀ-Þ][A-ZÀ-Þ'’-]+"
_SLASHED = re.compile(
    rf"(?<![A-Za-zÀ-Þ/])({_CAPITALS}(?: {_CAPITALS}){{0,3}} ?/ ?{_CAPITALS}(?: {_CAPITALS}){{0,3}})(?=\s*(?:\("
    rf"|,|\t"
    rf"|\||\*|$|  |様|\d\.\d))"
)
_SLASHED_SMALL = re.compile(
    r"^\W*([^\W\d_]{2,}(?: [^\W\d_]{2,})?/[^\W\d_]{2,}(?: [^\W\d_]+){0,2})\s*(?:\(|,|\t|\||$|  )"
)
_LEADING = re.compile(
    rf"^\W*(?:\d{{1,2}} ?[.):]?\s*)?({_PERSON_NAME})\s*"
    r"(?:\(|,|\t|\||$|  | [-–—·•] |\s(?:\d{1,2}[A-K]\b|\d{3}-?\d{10}))"
)
_IDEOGRAPHS = r"[\u3040-\u30ff\u3400-\u9fff\u3005ー]"
_NOBODY = r"は|お一人|お客|皆|各位"
_JAPANESE = re.compile(
    rf"^(?!.*(?:{_NOBODY}))\W*(?:\d{{1,2}} ?[.):]?\s*)?({_IDEOGRAPHS}{{1,8}}\s?{_IDEOGRAPHS}{{1,8}}?) ?様"
)
_END = re.compile(
    r"\s{2,}|[\t|(]| [-·•] |,? ?e?-?ticket|(?<![A-Za-z])\d"
    r"|,? (?:adulte?|adt|adulto|child|chd|enfant|erwachsener?|volwassene)\b",
    re.I,
)
_TITLE_BEHIND = re.compile(r"(?:MRS?|MS|MISS|MSTR|MME|MLLE|HERR|FRAU|SRA?)\.?$")
_SEVERAL = re.compile(r",|;| and | und | et | y | e | en |&|、")
_SEVERAL_TITLED = re.compile(_SEVERAL.pattern + r"| / ")
_NUMBERED = re.compile(r"(?:^|\s+)\d{1,2}[.)] ?(?=[^\W\d_])")  # "1. Mr Robin Sample  2. Mrs Kim Sample"
_SLASHED_WHOLE = re.compile(r"[^\W\d_]{2,}/[^\W\d_]{2,}(?: [^\W\d_]+){0,2}")
_NAME_PART = re.compile(r"[^\W\d_]+(?:['’.-]+[^\W\d_]+)*")
_TITLES = re.compile(rf"^(?:{TITLE}\.? +)+")
_PERSON_ROLE = re.compile(rf" ?\((?:{words.ADULT}|{words.CHILD})(?![a-z])[^()]{{0,20}}\)", re.I)
_OF_INFANT = re.compile(rf"[,;] ?[^,;()]{{3,40}} \((?:{words.INFANT})(?![a-z])[^()]{{0,20}}\)", re.I)
_BRACKETED = re.compile(r" ?\([^()]{0,20}\)")


def read_slashed(line: str) -> list[str]:
    """Names as tickets write them: "PRYCE/OWEN MR"."""
    return [m[1] for m in _SLASHED.finditer(line) if is_name(m[1].replace("/", " ")) and len(m[1].replace(" ", "")) > 5]


def has_title_behind(name: str) -> bool:
    return bool(_TITLE_BEHIND.search(name))


def read_leading_name(line: str) -> str | None:
    """The name a line begins with, behind its number, title or the word for a child."""
    if slashed := read_slashed(line):
        return slashed[0]
    if match := _JAPANESE.match(line):
        return match[1]
    if (match := _SLASHED_SMALL.match(line)) and is_name(match[1].replace("/", " ")):
        return match[1]
    line = _BRACKETED.sub("", line)
    small = fold(line)
    match = TITLED.match(small) or _OF_CHILD.match(small) or _LEADING.match(small)
    name = line[match.start(1) : match.end(1)] if match else ""
    return name if is_name(name) else None


_OF_CHILD = re.compile(
    rf"^\W*(?:\d{{1,2}} ?[.):]?\s*)?(?:{words.CHILD}|{words.INFANT}|{words.ADULT}"
    rf"|{words.PERSON})(?: \d)?\s?[:\t]? +({_PERSON_NAME})"
    rf"\s*(?:\(|,|\t|\||$|  | - )"
)


def split_people(rest: str, label: str) -> tuple[list[str], bool]:
    """The people a text begins with, to the number of a ticket or the next column, and whether their number is unsure.

    `label`: the folded words before it, which may speak of one person. "SURNAME PARTS, GIVEN NAMES" is one.
    """
    if len(_NUMBERED.findall(rest)) > 1:
        rest = _NUMBERED.sub(", ", rest).lstrip(", ")
    rest = _PERSON_ROLE.sub("", _OF_INFANT.sub("", rest)) if "(" in rest else rest
    written = _END.split(rest.strip(" *•·-–"), maxsplit=1)[0].strip()
    parts = [part.strip() for part in written.split(" / ")]
    if len(parts) == 2 and all(map(is_name, parts)) and not words.is_of_one(label):
        return (parts, False) if set(parts[0].split()) & set(parts[1].split()) else ([written], True)
    tickets = [part.strip() for part in _SEVERAL.split(written)]
    if len(tickets) > 1 and all(map(_SLASHED_WHOLE.fullmatch, tickets)):
        return tickets, False
    if (_SLASHED.match(written + " ") and len(written.replace(" ", "")) > 5) or _SLASHED_SMALL.match(written):
        return [written] if is_name(written.replace("/", " ")) else [], False
    if written.endswith("様") and not re.search(_NOBODY, written):  # "ナガトモ ハルカ 様": letters without case
        return [part for part in _SEVERAL.split(written) if len(part.strip(" 様").split()) in (1, 2)], False
    parts = [part.strip() for part in _SEVERAL_TITLED.split(written) if part.strip()]
    names = [_strip_title(part) for part in parts]
    titled = any(name != part for name, part in zip(names, parts, strict=True))
    if len(parts) == 2 and "," in written and not titled:
        return _split_at_comma(parts, label)
    people = [n for n in names if is_name(n)]
    return (people if len(people) == len(names) or words.is_of_one(label) else []), False


def _split_at_comma(parts: list[str], label: str) -> tuple[list[str], bool]:
    """Two people, or a surname and the given names: sure where a part is one word, or a surname stands in both."""
    first, second = (set(fold(part).split()) for part in parts)
    whole = " ".join(parts)
    if not is_name(whole):
        return [n for n in parts if is_name(n)][:1], False
    if first & second and all(map(is_name, parts)):
        return parts, False
    if words.is_of_one(label) or min(len(first), len(second)) == 1 or parts[0].isupper():
        return [whole], False
    if len(first) == len(second) == 2 and not words.SEVERAL_IN_SPAIN.search(label):
        return parts, False
    return [whole], True


def _strip_title(name: str) -> str:
    """ "Frau Dr. Annegret Lindemann" without what is no part of the name."""
    name = name.strip()
    match = _TITLES.match(fold(name))
    return name[match.end() :] if match else name


def is_name(text: str) -> bool:
    """Two to six words in capitals, or with a capital each but for particles, and none of a letter's own words."""
    parts = [w for w in text.strip(" .,").split() if w not in "/様"]
    if not 2 <= len(parts) <= 6 or any(map(str.isdigit, text)):
        return False
    smalls = [fold(w).strip(".,()*") for w in parts]
    if any(w in words.NOT_NAMES or not _NAME_PART.fullmatch(w) for w in smalls):
        return False
    return all(w[0].isupper() or small in words.PARTICLES for w, small in zip(parts, smalls, strict=True))


def order_words(name: str) -> str:
    """A name as it is compared: words in order of the alphabet, without titles."""
    parts = [w for w in re.split(r"[\s/,]+", fold(name).strip(" .,*")) if not re.fullmatch(rf"{TITLE}\.?", w)]
    return " ".join(sorted(parts))
