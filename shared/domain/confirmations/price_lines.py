"""Amounts in the lines and tables of a letter, each with the words that belong to it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from shared.domain.confirmations import price_words as words
from shared.domain.parsing.amounts import CODES, DIGITS, find_amounts, parse_number
from shared.domain.parsing.dates import DATE, NAMED_DATE
from shared.domain.parsing.text import fold

_MAX_CHARACTERS = 500
_HEADING_LINES = 3  # lines above an amount that may say what it is
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # the ASCII signs of East Asian type
_YEN = re.compile(r"(?<=\d)\s?円")
_CODE_APART = re.compile(rf"\(?(?<![A-Za-z])({'|'.join(CODES)})\)?\s?[:=]?\s{{0,12}}(?=\d)")
_VALUE = re.compile(
    rf"\W*(?:[A-Z]{{3}}|[A-Za-z]{{0,3}}[$€£¥₩₹]|R\$)?\s?(?:{DIGITS})\s?(?:[A-Z]{{3}}|[$€£¥₩₹]|{words.UNIT})?\W*"
    rf"|[-\s]*",
    re.I,
)
_CURRENCY = rf"(?:[$€£¥₩₹]|(?:{'|'.join(map(str.lower, CODES))})\b)"
_NUMBER_FIRST = re.compile(
    rf"(?<![\w.,$€£¥])({DIGITS})(?! ?{_CURRENCY}) ?((?:[a-z][a-z+&'.-]* ){{0,4}}?(?:{words.UNIT}))"
)
_UNIT_FIRST = re.compile(
    rf"((?:[a-z+&'-]+ ){{0,3}}?(?:{words.UNIT}))((?: [a-z]+){{0,3}}?数?[ )]?(?:\s*[:=\t]\s*|\s+))({DIGITS})"
    r"(?![\d/:-]|[.,]?\d)"
)
_ANY_UNIT = re.compile(words.UNIT)
_UNIT_LABEL = re.compile(rf"(?:[\w&+'-]+ ){{0,3}}?(?:{words.UNIT})(?: [\w&+'-]+){{0,2}}\s*[:=]?\s*")
_PRICED = re.compile(r"\d[.,]\d{2}(?!\d)")
_STOPS = re.compile(r"(?<!incl)(?<!inkl)(?<!\bca)(?<!\bn[or])[.;!?|](?:\s|$)|\t")
_AFTER = re.compile(r"[.;!?|\t,](?:\s|$)|\t|\s(?:and|und|et|y|e|en|plus)\s|\+|\((?!税込)")
_JOINTS = re.compile(r"[\s:=+&(),*-]*(?:\b(?:and|und|et|y|e|en|plus|および)\b)?[\s:=+&(),*-]*")
_DIGIT = re.compile(r"\d")
_PLUS = re.compile(r"[+&]|\b(?:and|und|et|y|e|en|plus)\b|および")


@dataclass(frozen=True)
class Mention:
    """One amount. `unit` is empty for money; else the folded words of the unit, with the programme before it."""

    value: Decimal
    unit: str
    currencies: tuple[str, ...]
    start: int
    end: int
    label: str = ""  # the folded words before it
    after: str = ""
    beside_points: bool = False  # money named in one breath with points
    beside_money: bool = False
    dated: bool = False  # its label holds a day

    @property
    def words(self) -> str:
        return f"{self.label} {self.unit} {self.after}"

    @property
    def alone(self) -> bool:
        """No words beside it but the unit and its programme; both may stand on its left too: "Pontos Azul: 12.400"."""
        bare = not re.search(r"\w", self.label) or bool(_UNIT_LABEL.fullmatch(self.label))
        return bare and not re.search(r"\w", self.after)


def list_price_lines(text: str) -> Iterator[tuple[str, str]]:
    """Lines that hold a number, each with its label, and the folded lines above it.

    A cell under a heading, and a value on the line below its label, are put on one line with it.
    """
    above: list[str] = []
    last: list[str] = []
    for raw in text.split("\n"):
        line = _YEN.sub(" JPY", raw[:_MAX_CHARACTERS].translate(_FULL_WIDTH)).strip()
        if not line:
            continue
        if not _DIGIT.search(line):
            above, last = [*above, fold(line)][-_HEADING_LINES:], [cell.strip() for cell in line.split("\t")]
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        heading = " ".join(above[-_HEADING_LINES:])
        for joined in _join_labels(cells, last):
            if _DIGIT.search(joined):
                yield _CODE_APART.sub(r"\1 ", joined), heading
        above, last = [], cells


def _join_labels(cells: list[str], last: list[str]) -> list[str]:
    """The line or row in pieces of one label each."""
    values = [bool(_VALUE.fullmatch(cell)) for cell in cells]
    labels_above = bool(last) and not any(_DIGIT.search(cell) for cell in last)
    if all(values) and labels_above and len(last) == len(cells):
        return [f"{label}: {cell}" for label, cell in zip(last, cells, strict=True)]
    if len(cells) > 2 and len(cells) % 2 == 0 and values == [False, True] * (len(cells) // 2):
        return [f"{label}: {cell}" for label, cell in zip(cells[::2], cells[1::2], strict=True)]
    return ["\t".join(cells)]


def find_mentions(line: str) -> list[Mention]:
    """The amounts of one line from left to right, each with the words beside it."""
    small = fold(line)
    mentions = [Mention(a.value, "", a.currencies, a.start, a.end) for a in find_amounts(line) if a.currencies]
    mentions = sorted([*mentions, *_find_points(small, mentions)], key=lambda m: m.start)
    out: list[Mention] = []
    for at, mention in enumerate(mentions):
        end = mentions[at + 1].start if at + 1 < len(mentions) else len(small)
        before = small[mentions[at - 1].end if at else 0 : mention.start]
        out.append(_add_words(mention, before, small[mention.end : end], out[-1] if out else None))
    return out


def _find_points(small: str, money: list[Mention]) -> Iterator[Mention]:
    if not _ANY_UNIT.search(small):  # most lines have none, and the patterns below are slow to find that out
        return
    taken = [(m.start, m.end) for m in money]
    for pattern, digits, unit in ((_NUMBER_FIRST, 1, 2), (_UNIT_FIRST, 3, 1)):
        for match in pattern.finditer(small):
            start, end = match.span(digits) if unit == 2 else match.span()
            if any(s < end and start < e for s, e in taken):
                continue
            value = parse_number(match[digits])
            if value is None or (1990 <= value <= 2099 and len(match[digits]) == 4):  # a year
                continue
            taken.append(match.span())
            words_between = match[2] if unit == 1 else ""
            yield replace(Mention(value, match[unit].strip(), (), *match.span()), label=words_between.strip(" :=\t"))


def _add_words(mention: Mention, before: str, after: str, last: Mention | None) -> Mention:
    """Words up to the end of the sentence; an amount joined to the last one by "+" or "and" shares its words."""
    joined = last is not None and bool(_JOINTS.fullmatch(before))
    sentence = [p for p in _STOPS.split(before) if p.strip()]
    own = _PRICED.split(sentence[-1])[-1] if sentence else ""  # words behind an amount without a currency
    label = last.label if joined and last else own
    plus = joined and bool(_PLUS.search(before))
    plain = NAMED_DATE.sub(" ", DATE.sub(" ", label))
    return replace(
        mention,
        label=f"{plain} {mention.label}".strip(),
        after=_AFTER.split(after, maxsplit=1)[0].strip(),
        dated=plain != label,
        beside_points=plus and last is not None and bool(last.unit) and not mention.unit,
        beside_money=bool(mention.unit) and (plus or bool(re.match(r"\s*\+\s*\S{0,4}\d", after))),
    )
